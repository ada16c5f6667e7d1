// The positions of things in a layout, and the shapes of arrows: trace.Layout.Path.

import type { Arrow, Label, Layout, Offset, Point } from "./layout";
import { firstOf } from "./search";

const above = 34; // minimum room above the first lane

const roomAbove = new WeakMap<Layout, number>();

/** aboveOf returns the room above the first lane: enough for the words there. */
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

const cutRow = 50; // from the last lane to the first row of words about partitions: below the cursor's time

const roomBelow = new WeakMap<Layout, { down: number; room: number }>();

/**
 * belowLanes returns what there is below the last lane: how far the words about
 * partitions are moved down, and the room for these, the cursor's time and the axis.
 */
function belowLanes(l: Layout): { down: number; room: number } {
	let found = roomBelow.get(l);
	if (!found) {
		const rows = (l.uprights ?? []).flatMap(({ label }) => (label && label.at.dy > 0 ? [label.at.dy] : []));
		const first = Math.min(...rows);
		found = rows.length > 0 ? { down: cutRow - first, room: cutRow + Math.max(...rows) - first + 25 } : { down: 0, room: 62 };
		roomBelow.set(l, found);
	}
	return found;
}

/** belowOf returns the room from the last lane to the end. */
export function belowOf(l: Layout): number {
	return belowLanes(l).room;
}

/** besideUpright returns where the words of a line through all lanes are. */
export function besideUpright(l: Layout, label: Label): Label {
	return label.at.dy > 0 ? { ...label, at: { ...label.at, dy: label.at.dy + belowLanes(l).down } } : label;
}

/** heightOf returns a height in the plot. */
export function heightOf(l: Layout, p: { lane: number; dy?: number }): number {
	return aboveOf(l) + rowOf(l, p.lane) * l.page.pitch + (p.dy ?? 0);
}

/** tall returns the height of the plot. */
export function tall(l: Layout): number {
	return aboveOf(l) + rowOf(l, Math.max(0, l.lanes.length - 1)) * l.page.pitch + belowOf(l);
}

/** A layout in which lanes that do little are folded. */
export interface Folded extends Layout {
	rows: number[]; // row of each lane
}

/** rowOf returns the row of a lane, which is part of one if lanes are folded. */
export function rowOf(l: Layout | Folded, lane: number): number {
	return "rows" in l ? l.rows[lane] ?? 0 : lane;
}

/**
 * pathOf returns the path of an arrow for SVG. For a straight one, which may be long, it
 * is the visible part.
 */
export function pathOf(l: Layout, a: Arrow, x1: number, x2: number): string {
	const from = at(l, a.from);
	const to = at(l, a.to);
	const [one, two] = a.bend ?? [];
	if (one && two) return `M${from.x} ${from.y}C${from.x + one.x} ${from.y + one.y} ${to.x + two.x} ${to.y + two.y} ${to.x} ${to.y}`;
	if (one) return `M${from.x} ${from.y}Q${(from.x + to.x) / 2 + one.x} ${(from.y + to.y) / 2 + one.y} ${to.x} ${to.y}`;
	const [begin, end] = [along(from, to, x1, x2), along(to, from, x1, x2)];
	return `M${fine(begin.x)} ${fine(begin.y)}L${fine(end.x)} ${fine(end.y)}`;
}

/**
 * along returns a point itself or, if that is not visible, where the way to another point
 * comes into view.
 */
function along(from: Offset, to: Offset, x1: number, x2: number): Offset {
	const x = Math.max(x1, Math.min(x2, from.x));
	return x === from.x || from.x === to.x ? from : { x, y: from.y + ((to.y - from.y) * (x - from.x)) / (to.x - from.x) };
}

const ring = 4; // half the size of the sign for a message still in flight, with its stroke

/**
 * shown returns an arrow with its end where there is room for the sign there: a message
 * still in flight leads to the very edge.
 */
export function shown(l: Layout, a: Arrow): Arrow {
	const x = l.page.plot - ring;
	if (a.end !== "open" || a.to.x <= x) return a;
	const to = along(at(l, a.to), at(l, a.from), 0, x);
	return { ...a, to: { ...a.to, x: to.x, dy: (a.to.dy ?? 0) + to.y - heightOf(l, a.to) } };
}

const head = { gap: 3, long: 10, half: 4 };

/** headOf returns the triangle at the end of an arrow, which leaves room for a dot. */
export function headOf(l: Layout, a: Arrow): string {
	const from = at(l, a.from);
	const to = at(l, a.to);
	const [one, two] = a.bend ?? [];
	let way = { x: to.x - from.x, y: to.y - from.y };
	if (two) way = { x: -two.x, y: -two.y };
	else if (one) way = { x: way.x / 2 - one.x, y: way.y / 2 - one.y };
	const far = Math.hypot(way.x, way.y) || 1;
	const [ux, uy] = [way.x / far, way.y / far];
	const foot = { x: to.x - ux * (head.gap + head.long), y: to.y - uy * (head.gap + head.long) };
	const side = { x: -uy * head.half, y: ux * head.half };
	return `M${fine(foot.x + side.x)} ${fine(foot.y + side.y)}L${fine(to.x - ux * head.gap)} ${fine(to.y - uy * head.gap)}L${fine(foot.x - side.x)} ${fine(foot.y - side.y)}z`;
}

/** fine rounds to the precision that a picture needs. */
function fine(v: number): number {
	return Math.round(v * 100) / 100;
}

function at(l: Layout, p: Point): Offset {
	return { x: p.x, y: heightOf(l, p) };
}

/** A list of things along the plot that quickly finds those in a part of it. */
export class Along<T> {
	private readonly starts: Float64Array;
	private readonly furthest: Float64Array; // how far those before each extend

	constructor(private readonly all: T[], left: (t: T) => number, private readonly right: (t: T) => number) {
		this.all = [...all].sort((a, b) => left(a) - left(b));
		this.starts = Float64Array.from(this.all, left);
		this.furthest = new Float64Array(this.all.length);
		let most = -Infinity;
		for (const [i, t] of this.all.entries()) this.furthest[i] = most = Math.max(most, right(t));
	}

	/** within returns those that overlap a part. */
	within(from: number, to: number): T[] {
		const found: T[] = [];
		for (let i = firstOf(this.all.length, (k) => this.furthest[k]! >= from); i < this.all.length && this.starts[i]! <= to; i++) {
			const t = this.all[i]!;
			if (this.right(t) >= from) found.push(t);
		}
		return found;
	}
}
