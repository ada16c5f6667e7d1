// Where things of a layout are, and the forms that arrows have: trace.Layout.Path.

import type { Arrow, Layout, Offset, Point } from "./layout";

const above = 34; // room above the first lane, at least

const roomAbove = new WeakMap<Layout, number>();

/** aboveOf is how much room there is above the first lane: enough for the words there. */
export function aboveOf(l: Layout): number {
	let room = roomAbove.get(l);
	if (room === undefined) {
		room = above;
		for (const { label } of [...(l.marks ?? []), ...(l.dots ?? [])]) if (label && label.at.lane <= 0) room = Math.max(room, label.size + 2 - label.at.dy);
		for (const { at } of l.marks ?? []) if (at.lane <= 0) room = Math.max(room, 9 - at.dy);
		roomAbove.set(l, room);
	}
	return room;
}

/** below is how much room there is from the last lane to the end, with the cursor's time and the axis in it. */
export const below = 62;

/** heightOf is a height in the plot. */
export function heightOf(l: Layout, p: { lane: number; dy?: number }): number {
	return aboveOf(l) + p.lane * l.page.pitch + (p.dy ?? 0);
}

/** tall is how tall the plot is. */
export function tall(l: Layout): number {
	return aboveOf(l) + Math.max(0, l.lanes.length - 1) * l.page.pitch + below;
}

/** pathOf is the way of an arrow as SVG has it. */
export function pathOf(l: Layout, a: Arrow): string {
	const from = at(l, a.from);
	const to = at(l, a.to);
	const [one, two] = a.bend ?? [];
	if (one && two) return `M${from.x} ${from.y}C${from.x + one.x} ${from.y + one.y} ${to.x + two.x} ${to.y + two.y} ${to.x} ${to.y}`;
	if (one) return `M${from.x} ${from.y}Q${(from.x + to.x) / 2 + one.x} ${(from.y + to.y) / 2 + one.y} ${to.x} ${to.y}`;
	return `M${from.x} ${from.y}L${to.x} ${to.y}`;
}

function at(l: Layout, p: Point): Offset {
	return { x: p.x, y: heightOf(l, p) };
}

/** A list of things along the plot, of which those in a part of it are found quickly. */
export class Along<T> {
	private readonly starts: Float64Array;
	private readonly furthest: Float64Array; // how far those before it reach

	constructor(private readonly all: T[], left: (t: T) => number, private readonly right: (t: T) => number) {
		this.all = [...all].sort((a, b) => left(a) - left(b));
		this.starts = Float64Array.from(this.all, left);
		this.furthest = new Float64Array(this.all.length);
		let most = -Infinity;
		for (const [i, t] of this.all.entries()) this.furthest[i] = most = Math.max(most, right(t));
	}

	/** within are those that overlap a part. */
	within(from: number, to: number): T[] {
		const found: T[] = [];
		for (let i = this.first(this.furthest, from); i < this.all.length && this.starts[i]! <= to; i++) {
			const t = this.all[i]!;
			if (this.right(t) >= from) found.push(t);
		}
		return found;
	}

	private first(sorted: Float64Array, least: number): number {
		let low = 0;
		let high = sorted.length;
		while (low < high) {
			const mid = (low + high) >> 1;
			if (sorted[mid]! < least) low = mid + 1;
			else high = mid;
		}
		return low;
	}
}
