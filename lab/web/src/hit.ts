// What part of the plot is under the pointer. Dots and lines are thin, so being near
// counts.

import type { Doc } from "./document";
import type { Arrow, Dot } from "./layout";
import { heightOf } from "./place";
import { shelfOf } from "./plot";
import type { Spot } from "./stage";

/** hitDot returns the nearest event. */
export function hitDot(d: Doc, { x, y }: Spot): Dot | undefined {
	let best: Dot | undefined;
	let least = 9 * 9;
	for (const dot of shelfOf(d.layout).dots.within(x - 10, x + 10)) {
		const far = (dot.at.x - x) ** 2 + (heightOf(d.layout, dot.at) - y) ** 2;
		if (far < least) [best, least] = [dot, far];
	}
	return best;
}

/** hitArrow returns the nearest message. */
export function hitArrow(d: Doc, spot: Spot): Arrow | undefined {
	let best: Arrow | undefined;
	let least = 7;
	for (const arrow of shelfOf(d.layout).arrows.within(spot.x - 8, spot.x + 8)) {
		const far = distance(d, arrow, spot);
		if (far < least) [best, least] = [arrow, far];
	}
	return best;
}

const pieces = 16; // straight pieces that approximate a bent arrow

function distance(d: Doc, a: Arrow, spot: Spot): number {
	const from = { x: a.from.x, y: heightOf(d.layout, a.from) };
	const to = { x: a.to.x, y: heightOf(d.layout, a.to) };
	const [one, two] = a.bend ?? [];
	let points = [from, to];
	if (one && two) points = [from, { x: from.x + one.x, y: from.y + one.y }, { x: to.x + two.x, y: to.y + two.y }, to];
	else if (one) points = [from, { x: (from.x + to.x) / 2 + one.x, y: (from.y + to.y) / 2 + one.y }, to];
	let least = Infinity;
	let before = from;
	for (let i = 1; i <= pieces; i++) {
		const now = along(points, i / pieces);
		least = Math.min(least, toPiece(before, now, spot));
		before = now;
	}
	return least;
}

/** along returns a point on a curve, by de Casteljau's algorithm. */
function along(points: Spot[], t: number): Spot {
	let left = points;
	while (left.length > 1) left = left.slice(1).map((p, i) => ({ x: left[i]!.x + (p.x - left[i]!.x) * t, y: left[i]!.y + (p.y - left[i]!.y) * t }));
	return left[0]!;
}

function toPiece(a: Spot, b: Spot, p: Spot): number {
	const dx = b.x - a.x;
	const dy = b.y - a.y;
	const long = dx * dx + dy * dy;
	const t = long === 0 ? 0 : Math.max(0, Math.min(1, ((p.x - a.x) * dx + (p.y - a.y) * dy) / long));
	return Math.hypot(a.x + t * dx - p.x, a.y + t * dy - p.y);
}
