// How the page looks at the screen it is on: sizes that it must know, and whether
// things may move.

import { signal } from "@preact/signals";
import { type RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { KindStyle } from "./layout";

/** Whether things may glide. */
export const calm = signal(matchMedia("(prefers-reduced-motion: reduce)").matches);
matchMedia("(prefers-reduced-motion: reduce)").addEventListener("change", (e) => (calm.value = e.matches));

export interface Size {
	width: number;
	height: number;
}

/** useSize tells the size of an element, now and whenever it changes. */
export function useSize<T extends Element>(tell: (size: Size) => void): RefObject<T | null> {
	const ref = useRef<T>(null);
	useLayoutEffect(() => {
		const element = ref.current;
		if (!element) return;
		const measure = () => tell({ width: element.clientWidth, height: element.clientHeight });
		measure();
		const observer = new ResizeObserver(measure);
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
	return ref;
}

/** kindStyle has the colours of a kind of message for light and dark pages: see .kind in app.css. */
export function kindStyle(kind: KindStyle | undefined): Record<string, string> {
	return { "--light": kind?.colour ?? "#6b7280", "--dark": kind?.dark ?? "#a0a6b2" };
}
