// What the page has seen of a number over time. Documents come only when something changes, so
// a value holds until the next one.

import { signal } from "@preact/signals";

export interface Point {
	at: number; // ms, by the clock of the node
	value: number; // NaN from when it was not known
}

const span = 300_000; // ms that are kept

/** A Series is a number over the last minutes. */
export class Series {
	readonly points = signal<Point[]>([]);

	/** add notes a value. */
	add(at: number, value: number): void {
		const all = this.points.value;
		const last = all.at(-1);
		if (last && (at <= last.at || Object.is(last.value, value))) return;
		const first = all.findLastIndex((p) => p.at <= at - span);
		this.points.value = [...all.slice(Math.max(0, first)), { at, value }];
	}

	/** stop notes that the value is not known from now on. */
	stop(at: number): void {
		if (this.points.value.length > 0) this.add(at, NaN);
	}
}

/** A part of a series that is known without a break. */
export type Stretch = { x: number; y: number }[];

/**
 * stretches returns a series as steps in a square: x is 1 now and 0 a span ago, y is 1 at the
 * largest value.
 */
export function stretches(points: Point[], now: number): { all: Stretch[]; most: number } {
	const seen = points.filter((_, i) => (points[i + 1]?.at ?? Infinity) > now - span);
	const most = Math.max(0, ...seen.map((p) => p.value).filter(Number.isFinite));
	const all: Stretch[] = [];
	for (const [i, { at, value }] of seen.entries()) {
		if (!Number.isFinite(value)) continue;
		if (i === 0 || !Number.isFinite(seen[i - 1]!.value)) all.push([]);
		const y = most > 0 ? value / most : 0;
		const x = (t: number) => Math.max(0, Math.min(1, 1 - (now - t) / span));
		all.at(-1)!.push({ x: x(at), y }, { x: x(seen[i + 1]?.at ?? now), y });
	}
	return { all, most };
}
