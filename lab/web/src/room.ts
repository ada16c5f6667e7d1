// Room in the picture of a group. What is placed avoids what was placed before it, as far
// as there is room.

import type { Spot } from "./stage";

/** A box, by its upper left corner. */
export interface Box extends Spot {
	wide: number;
	high: number;
}

/** A circle, by its centre. */
export interface Round extends Spot {
	r: number;
}

export interface Line {
	x1: number;
	y1: number;
	x2: number;
	y2: number;
}

const taken = 1000; // cost of lying on something: more than anything else
const crossed = 3; // cost of lying on a line: as much as three better places

export class Room {
	private constructor(
		private readonly width: number,
		private readonly height: number,
		private readonly boxes: Box[],
		private readonly rounds: Round[],
		private readonly lines: Line[],
	) {}

	/** An empty room. */
	static of(width: number, height: number): Room {
		return new Room(width, height, [], [], []);
	}

	/** copy returns a separate room with the same contents. */
	copy(): Room {
		return new Room(this.width, this.height, [...this.boxes], [...this.rounds], this.lines);
	}

	/** take puts something where it is. */
	take(it: Box | Round): void {
		if ("r" in it) this.rounds.push(it);
		else this.boxes.push(it);
	}

	/** draw puts a line somewhere: words avoid it if they can. */
	draw(line: Line): void {
		this.lines.push(line);
	}

	/**
	 * place takes the best of several places, in order of preference, and returns whether
	 * it is free.
	 */
	place<T extends Box | Round>(places: T[]): { at: T; free: boolean } {
		let best = places[0]!;
		let least = Infinity;
		for (const [i, at] of places.entries()) {
			if (i >= least) break;
			const deep = this.depth(at);
			const cost = i + (deep > 0 ? taken * (1 + deep) : 0) + ("r" in at ? 0 : crossed * this.lines.filter((l) => crosses(l, at)).length);
			if (cost < least) [best, least] = [at, cost];
		}
		this.take(best);
		return { at: best, free: least < taken };
	}

	/** depth returns how far something would overlap what is there, and extend beyond the room. */
	private depth(it: Box | Round): number {
		const box = "r" in it ? { x: it.x - it.r, y: it.y - it.r, wide: 2 * it.r, high: 2 * it.r } : it;
		let deep = Math.max(0, 1 - box.x) + Math.max(0, 1 - box.y) + Math.max(0, box.x + box.wide + 1 - this.width) + Math.max(0, box.y + box.high + 1 - this.height);
		for (const o of this.rounds) deep += Math.max(0, "r" in it ? it.r + o.r - Math.hypot(it.x - o.x, it.y - o.y) : o.r - toBox(o, it));
		for (const o of this.boxes) deep += Math.max(0, "r" in it ? it.r - toBox(it, o) : Math.min(overlap(it.x, it.wide, o.x, o.wide), overlap(it.y, it.high, o.y, o.high)));
		return deep;
	}
}

/** toBox returns the distance of a point from a box. */
function toBox(p: Spot, b: Box): number {
	return Math.hypot(Math.max(0, b.x - p.x, p.x - b.x - b.wide), Math.max(0, b.y - p.y, p.y - b.y - b.high));
}

function overlap(a: number, wide: number, b: number, other: number): number {
	return Math.min(a + wide, b + other) - Math.max(a, b);
}

/** crosses returns whether part of a line is inside a box, by the Liang-Barsky algorithm. */
function crosses({ x1, y1, x2, y2 }: Line, b: Box): boolean {
	let [from, to] = [0, 1];
	for (const [way, low, high] of [[x2 - x1, b.x - x1, b.x + b.wide - x1], [y2 - y1, b.y - y1, b.y + b.high - y1]] as const) {
		if (way === 0) {
			if (low > 0 || high < 0) return false;
			continue;
		}
		from = Math.max(from, Math.min(low / way, high / way));
		to = Math.min(to, Math.max(low / way, high / way));
	}
	return from < to;
}

const brush = document.createElement("canvas").getContext("2d");
const widths = new Map<string, number>();

/** widthOf returns the width of words in the page's font, at a size. */
export function widthOf(words: string, size: number, weight = 400): number {
	const key = `${weight} ${size} ${words}`;
	let wide = widths.get(key);
	if (wide === undefined) {
		if (brush) brush.font = `${weight} ${size}px ${getComputedStyle(document.documentElement).fontFamily}`;
		wide = brush?.measureText(words).width ?? words.length * size * 0.6;
		if (widths.size > 5000) widths.clear();
		widths.set(key, wide);
	}
	return wide;
}
