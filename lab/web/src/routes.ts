// Ways between processes: straight, or bent around the processes between them.

import { type Places, type Spot, sitesOf } from "./stage";

const bends = [0, 0.16, -0.16, 0.3, -0.3, 0.45, -0.45, 0.6, -0.6]; // in order of preference, as parts of the length
const samples = 16; // places of a way that are tried
const most = 40; // with more processes than that, all ways are straight

const keptRight = 0.09; // bend of a path that keeps right

const known = new WeakMap<Spot[], Map<number, number>>();

/** bendOf returns how much the way between two lanes bends to pass no other process. */
export function bendOf(places: Pick<Places, "d" | "spots" | "radius" | "width" | "height">, from: number, to: number): number {
	const { d, spots, radius, width, height } = places;
	if (spots.length > most) return 0;
	if (from > to) return -bendOf(places, to, from);
	let found = known.get(spots);
	if (!found) known.set(spots, (found = new Map()));
	const key = from * spots.length + to;
	let bend = found.get(key);
	if (bend === undefined) {
		const [a, b] = [spots[from]!, spots[to]!];
		const others = spots.filter((_, i) => i >= sitesOf(d) && i !== from && i !== to);
		const free = ({ x, y }: Spot) => x > 2 && y > 2 && x < width - 2 && y < height - 2 && others.every((o) => Math.hypot(o.x - x, o.y - y) > radius + 4);
		bend = bends.find((by) => Array.from({ length: samples - 1 }, (_, i) => along(a, b, by, (i + 1) / samples)).every(free)) ?? 0;
		found.set(key, bend);
	}
	return bend;
}

/** along returns a point of a way, some pixels off to the right. */
export function along(a: Spot, b: Spot, bend: number, t: number, off = 0): Spot {
	const long = Math.hypot(b.x - a.x, b.y - a.y) || 1;
	const by = (2 * t * (1 - t) * bend * long + off) / long;
	return { x: a.x + (b.x - a.x) * t - (b.y - a.y) * by, y: a.y + (b.y - a.y) * t + (b.x - a.x) * by };
}

/**
 * pathBetween returns the path between two lanes, with some room at both ends. A path that
 * keeps right does not meet the one in the other direction.
 */
export function pathBetween(places: Pick<Places, "d" | "spots" | "radius" | "width" | "height">, from: number, to: number, gap: number, end: number, right = false): string {
	const [a, b] = [places.spots[from]!, places.spots[to]!];
	const bend = bendOf(places, from, to) || (right ? keptRight : 0);
	const control = { x: (a.x + b.x) / 2 - (b.y - a.y) * bend, y: (a.y + b.y) / 2 + (b.x - a.x) * bend };
	const [p, q] = [toward(a, control, gap), toward(b, control, end)];
	return bend === 0 ? `M${p.x} ${p.y}L${q.x} ${q.y}` : `M${p.x} ${p.y}Q${control.x} ${control.y} ${q.x} ${q.y}`;
}

function toward(from: Spot, to: Spot, far: number): Spot {
	const long = Math.hypot(to.x - from.x, to.y - from.y) || 1;
	return { x: from.x + ((to.x - from.x) / long) * far, y: from.y + ((to.y - from.y) / long) * far };
}
