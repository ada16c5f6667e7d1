// The stage of the picture of the group: where each process is, in pixels, and what the
// fields of its state say about others.

import type { Doc } from "./document";
import type { Frame } from "./frames";
import type { Size } from "./look";

export interface Spot {
	x: number;
	y: number;
}

/** Where every lane is. */
export interface Places extends Size {
	d: Doc;
	radius: number; // of a process
	room: number; // from one process to the next
	spots: Spot[]; // of each lane
	locks: Spot[];
	far: (Spot | undefined)[]; // if circles are too small for names: positions, away from the middle, of the names of every few processes
}

/** Where every lane is, and the state at a cursor. */
export interface Stage extends Places {
	frame: Frame;
}

/** sitesOf returns the number of lanes that are sites. */
export function sitesOf(d: Doc): number {
	return d.kind === "transactions" ? d.scene.groups.length : 0;
}

/** placesOf places all lanes in a picture of that size; circles have at most the largest radius. */
export function placesOf(d: Doc, { width, height }: Size, largest: number): Places {
	const pad = { side: Math.min(25 + largest, width / 7), top: 23 + largest, bottom: 29 + largest };
	const across = range((d.scene.places ?? []).map((p) => p.x));
	const down = range((d.scene.places ?? []).map((p) => p.y));
	const sites = d.scene.shape === "sites";
	if (sites) {
		Object.assign(pad, { side: 10, bottom: 24 });
		Object.assign(across, { from: 0, to: 1 });
		Object.assign(down, { from: 0.1, to: 0.84 });
	}
	if (d.scene.shape === "resources") {
		Object.assign(pad, { side: Math.min(46, width / 6), top: 8, bottom: 8 });
		Object.assign(across, { from: 0, to: 1 });
		Object.assign(down, { from: 0, to: 1 });
	}
	if (d.scene.shape === "grid") Object.assign(pad, { side: Math.min(46, width / 6), top: 44, bottom: 46 }); // for the cells around them
	// Circles and squares should not be stretched too much.
	const grid = d.scene.shape === "grid";
	const wide = Math.min(width - 2 * pad.side, grid ? farthest(d.scene.places.map((p) => p.x)) : Infinity);
	const high = Math.min(height - pad.top - pad.bottom, grid ? farthest(d.scene.places.map((p) => p.y)) : d.scene.shape === "tree" || d.scene.shape === "resources" || sites ? Infinity : (width - 2 * pad.side) * 1.2);
	const top = pad.top + (height - pad.top - pad.bottom - high) / 2;
	const put = (p: Spot): Spot => ({ x: (width - wide) / 2 + across.part(p.x) * wide, y: top + down.part(p.y) * high });
	const spots = (d.scene.places ?? []).map(put);
	// The processes of a site alternate in height, so that there is room for the wait-for
	// edges.
	if (sites) for (const g of d.scene.groups) for (const [i, p] of (g.procs ?? []).entries()) spots[p]!.y += (i % 2 === 0 ? -0.12 : 0.14) * high;
	const room = nearest(spots);
	const radius = Math.max(3, Math.min(largest, grid ? inCell(room) : room * (sites ? 0.27 : 0.34)));
	if (grid) for (const s of spots) s.y -= cellOf({ room }).lift;
	// Messages from site to site go below the names of the sites.
	if (sites) for (const g of d.scene.groups) for (const lane of g.members) spots[lane]!.y = 64;
	if (sites) for (const [i, g] of d.scene.groups.entries()) for (const p of g.procs ?? []) spots[p]!.x = inBox(boxOf(d, width, i), spots[p]!.x, radius + 9);
	const each = Math.max(1, Math.ceil(nameRoom / room));
	const mid = { x: width / 2, y: top + high / 2 };
	const far = spots.map((spot, lane) => {
		if (radius >= least || lane % each > 0) return undefined;
		const [x, y] = [spot.x - mid.x, spot.y - mid.y];
		const long = Math.hypot(x, y) || 1;
		const behind = (o: Spot) => ((o.x - mid.x) * x + (o.y - mid.y) * y) / long > long + 12 && Math.abs((o.x - mid.x) * y - (o.y - mid.y) * x) / long < 20;
		if (spots.some(behind)) return undefined; // there is no room away from the middle
		const out = (radius + 15) / long;
		return { x: Math.max(10, Math.min(width - 10, spot.x + x * out)), y: spot.y + y * out + 3 };
	});
	return { d, width, height, room, spots, locks: (d.scene.locks ?? []).map(put), radius, far };
}

/**
 * farthest returns the maximum distance between the first and the last row or column of a
 * grid: cells stay together.
 */
function farthest(places: number[]): number {
	return Math.max(1, new Set(places).size - 1) * 104;
}

/** inCell returns the radius of a process in a grid: smaller if its vote is below it. */
function inCell(room: number): number {
	return room < voteRoom ? room * 0.28 : Math.min(22, room * 0.25);
}

export const voteRoom = 44; // from one process of a grid to the next, for votes to be shown

/**
 * A Cell of a grid: half its side, and how far its process is above its middle, if a vote
 * is shown below it.
 */
export function cellOf({ room }: Pick<Places, "room">): { half: number; lift: number } {
	return { half: Math.min(room * 0.455, 43), lift: room < voteRoom ? 0 : room < 80 ? 5 : 6 };
}

/** hasHalo returns whether a process waits, even if it is paused or inside another section. */
export function hasHalo(status: string | undefined, wait: string | undefined): boolean {
	return status === "waiting" || ((status === "inside" || status === "paused") && Boolean(wait));
}

/** haloOf returns the radius of the ring around a waiting process. */
export function haloOf(radius: number): number {
	return radius + (radius < 20 ? 2.8 : 4);
}

const nameRoom = 26; // pixels that a name needs beside the next one
export const least = 7.5; // minimum radius of a circle that a name fits into

/** boxOf returns the extent of a site. */
export function boxOf(d: Doc, width: number, site: number): { left: number; wide: number } {
	const wide = (width - 20) / Math.max(1, d.scene.groups.length);
	return { left: 12 + site * wide, wide: wide - 4 };
}

function inBox({ left, wide }: { left: number; wide: number }, x: number, far: number): number {
	return wide < 2 * far ? left + wide / 2 : Math.max(left + far, Math.min(left + wide - far, x));
}

/**
 * range stretches the part of 0 to 1 that is used to all of it; what has no extent stays
 * in the middle.
 */
function range(all: number[]): { from: number; to: number; part(v: number): number } {
	const of = {
		from: Math.min(...all),
		to: Math.max(...all),
		part: (v: number) => (of.to > of.from ? (v - of.from) / (of.to - of.from) : 0.5),
	};
	return of;
}

/** nearest returns the minimum distance between two spots. */
function nearest(spots: Spot[]): number {
	let least = Infinity;
	for (const [i, a] of spots.entries()) {
		for (const b of spots.slice(i + 1)) least = Math.min(least, Math.hypot(a.x - b.x, a.y - b.y));
	}
	return least;
}

/** field returns the value of a field of a lane, or empty. */
export function field(frame: Frame, lane: number, name: string | undefined): string {
	if (!name) return "";
	return frame.states[lane]?.find((f) => f[0] === name)?.[1] ?? "";
}

/**
 * named returns the lanes that a value names: "2 4" are P2 and P4, "<7,3>" is P3's
 * request of 7.
 */
export function named(value: string): number[] {
	if (value === "" || value === "none" || value === "no" || value === "yes") return [];
	const stamp = /^<\d+,(\d+)>$/.exec(value);
	if (stamp) return [Number(stamp[1]) - 1];
	return (value.match(/\d+/g) ?? []).map((n) => Number(n) - 1).filter((n) => n >= 0);
}

/**
 * isOut returns whether a lane is new, or the others have gone on without it: what it has
 * is void.
 */
function isOut({ d, frame }: Stage, lane: number): boolean {
	const { members, fresh } = d.scene;
	if (!members) return false;
	const isNew = (i: number) => field(frame, i, fresh) === "yes";
	return isNew(lane) || frame.status.some((is, i) => is !== "crashed" && !isNew(i) && !named(field(frame, i, members)).includes(lane));
}

/**
 * setOf returns the processes that a lane asks; none if it is in a view of others, which
 * have other sets.
 */
export function setOf({ d, frame }: Stage, lane: number): number[] {
	const { members, groups } = d.scene;
	if (members && named(field(frame, lane, members)).length < d.names.length) return [];
	return groups[lane]?.members ?? [];
}

/** hasToken returns whether a lane has the token: by its field, or because it points at itself. */
export function hasToken(stage: Stage, lane: number): boolean {
	const { d, frame } = stage;
	const { token, pointer, shape } = d.scene;
	const says = token ? !["", "no", "none"].includes(field(frame, lane, token)) : shape === "tree" && pointer !== undefined && named(field(frame, lane, pointer))[0] === lane;
	return says && !isOut(stage, lane);
}

/** awaited returns the lanes from which a lane still needs something. */
export function awaited({ d, frame }: Stage, lane: number): number[] {
	for (const name of d.scene.awaited ?? []) {
		const who = named(field(frame, lane, name));
		if (who.length > 0) return who;
	}
	return [];
}

/**
 * needsOf returns the lanes from which a waiting lane needs something: answers, or the
 * token. A tree has arrows for that.
 */
export function needsOf(stage: Stage, lane: number): number[] {
	const { d, frame, spots } = stage;
	const { shape, got, links, token } = d.scene;
	const named = awaited(stage, lane);
	if (named.length > 0) return named;
	if (d.algorithm.calls || shape === "tree" || shape === "resources") return [];
	if (shape === "star") return links.filter((l) => l.to === lane).map((l) => l.from);
	if (shape === "flags") return links.filter((l) => l.to === lane).map((l) => l.from);
	const set = setOf(stage, lane);
	if (got) {
		const has = namedIn(frame, lane, got);
		return (set.length > 0 ? set : [...spots.keys()]).filter((i) => i !== lane && !has.includes(i));
	}
	return token ? [...spots.keys()].filter((i) => hasToken(stage, i)) : [];
}

function namedIn(frame: Frame, lane: number, name: string): number[] {
	return named(field(frame, lane, name));
}

/** stampOf returns the stamp of a lane's request, or empty. */
export function stampOf({ d, frame }: Stage, lane: number): string {
	const { stamp, stamps, members } = d.scene;
	if (members || !["waiting", "inside"].includes(frame.status[lane] ?? "")) return "";
	const time = stamp ? field(frame, lane, stamp) : field(frame, lane, stamps).split(" ")[lane] ?? "";
	return ["", "0", "none", "-"].includes(time) ? "" : `(${time},${d.names[lane]})`;
}

/** between returns a line from the edge of one circle to that of another. */
export function between(a: Spot, b: Spot, from: number, to: number): { x1: number; y1: number; x2: number; y2: number } {
	const long = Math.hypot(b.x - a.x, b.y - a.y) || 1;
	const ux = (b.x - a.x) / long;
	const uy = (b.y - a.y) / long;
	return { x1: a.x + ux * from, y1: a.y + uy * from, x2: b.x - ux * to, y2: b.y - uy * to };
}
