// A panel that scrolls, and shows at its edges that there is more. Of long lists only the
// visible rows exist.

import { useSignal } from "@preact/signals";
import { type ComponentChildren, type RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useSize, whenResized } from "./look";

interface ScrollProps {
	label: string;
	children: ComponentChildren;
	inner?: RefObject<HTMLDivElement | null>;
	onScroll?: (element: HTMLDivElement) => void;
	onKeyDown?: (e: KeyboardEvent) => void;
}

export function Scroll({ label, children, inner, onScroll, onKeyDown }: ScrollProps) {
	const own = useRef<HTMLDivElement>(null);
	const ref = inner ?? own;
	useEdges(ref);
	return (
		<div class="scroller">
			<div
				class="scroll"
				ref={ref}
				tabIndex={0}
				role="group"
				aria-label={label}
				onKeyDown={(e) => {
					sideways(e);
					onKeyDown?.(e);
				}}
				onScroll={(e) => {
					edges(e.currentTarget)();
					onScroll?.(e.currentTarget);
				}}
			>
				{children}
			</div>
		</div>
	);
}

const spare = 8; // rows above and below what is visible

/** useRows returns which rows of a list in a panel should exist, if all are equally high. */
export function useRows(count: number, row: number) {
	const top = useSignal(0);
	const high = useSignal(200);
	const ref = useSize<HTMLDivElement>((size) => (high.value = size.height));
	const from = Math.max(0, Math.min(count, Math.floor(top.value / row)) - spare);
	const to = Math.min(count, Math.ceil((top.value + high.value) / row) + spare);
	return { ref, top, high, from, to };
}

/**
 * sideways keeps left and right for users who came here by keyboard, as long as there is
 * more in that direction: elsewhere these keys are steps.
 */
function sideways(e: KeyboardEvent & { currentTarget: HTMLElement }): void {
	const it = e.currentTarget;
	const more = { ArrowRight: it.scrollLeft + it.clientWidth < it.scrollWidth - 2, ArrowLeft: it.scrollLeft > 2 }[e.key];
	if (more && it.matches(":focus-visible")) e.stopPropagation();
}

/**
 * useEdges lets the surroundings of an element show where there is more of it, whenever
 * sizes change.
 */
export function useEdges(ref: RefObject<HTMLElement | null>): void {
	useLayoutEffect(() => {
		const element = ref.current!;
		const ends = [element, ...element.children].map((it) => whenResized(it, () => edges(element)));
		return () => ends.forEach((end) => end());
	}, []);
}

/** edges checks in which directions there is more, and returns a function that shows it. */
export function edges(element: HTMLElement): () => void {
	const { scrollLeft, scrollTop, clientWidth, clientHeight, scrollWidth, scrollHeight } = element;
	const more: string[] = [];
	if (scrollLeft + clientWidth < scrollWidth - 2) more.push("right");
	if (scrollTop + clientHeight < scrollHeight - 2) more.push("below");
	return () => {
		const said = element.parentElement!.dataset;
		if (said.more !== more.join(" ")) said.more = more.join(" ");
	};
}
