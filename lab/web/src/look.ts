// How the page adapts to its screen: sizes that it must know, and whether things may
// move.

import { batch, signal } from "@preact/signals";
import { type RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { KindStyle } from "./layout";

/** Whether motion should be reduced. */
export const calm = signal(matchMedia("(prefers-reduced-motion: reduce)").matches);
matchMedia("(prefers-reduced-motion: reduce)").addEventListener("change", (e) => (calm.value = e.matches));

export interface Size {
	width: number;
	height: number;
}

/** useSize reports the size of an element, now and whenever it changes. */
export function useSize<T extends Element>(tell: (size: Size) => void): RefObject<T | null> {
	const ref = useRef<T>(null);
	useLayoutEffect(() => {
		const element = ref.current;
		if (!element) return;
		const measure = () => {
			const size = { width: element.clientWidth, height: element.clientHeight };
			return () => tell(size);
		};
		measure()();
		return whenResized(element, measure);
	}, []);
	return ref;
}

const measures = new Map<Element, Set<() => () => void>>();

// All sizes are read before any of them causes a change, so that the page is laid out
// only once.
const resized = new ResizeObserver((entries) => {
	const changes = entries.flatMap(({ target }) => [...(measures.get(target) ?? [])].map((measure) => measure()));
	batch(() => changes.forEach((change) => change()));
});

/**
 * whenResized measures something whenever the size of an element changes, and then
 * applies the result. It returns a function that ends this.
 */
export function whenResized(element: Element, measure: () => () => void): () => void {
	const mine = measures.get(element);
	if (mine) mine.add(measure);
	else measures.set(element, new Set([measure]));
	resized.observe(element);
	return () => {
		const all = measures.get(element)!;
		all.delete(measure);
		if (all.size > 0) return;
		measures.delete(element);
		resized.unobserve(element);
	};
}

/**
 * kindStyle returns the colours of a kind of message for light and dark pages: see .kind
 * in app.css.
 */
export function kindStyle(kind: KindStyle | undefined): Record<string, string> {
	return { "--light": kind?.colour ?? "#6b7280", "--dark": kind?.dark ?? "#a0a6b2" };
}
