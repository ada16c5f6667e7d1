// Sites with their processes and locks, the wait-for graph, and each cycle as a ring.

import type { Edge } from "./document";
import { waitSaid } from "./arcs";
import { opens } from "./opener";
import { type Room, widthOf } from "./room";
import { type Spot, type Stage, between, boxOf, field, named, sitesOf } from "./stage";

/** Sites are boxes with their locks, and lines from locks to the processes that have them. */
export function Sites({ stage }: { stage: Stage }) {
	const { d, frame, spots, locks, width, height } = stage;
	const groups = d.scene.groups;
	return (
		<g class="sites">
			{groups.map((g, i) => {
				const lane = g.members[0] ?? i;
				const status = frame.status[lane] ?? "idle";
				const { left, wide } = boxOf(d, width, i);
				return (
					<g
						key={i}
						class={`site is-${status}`}
						data-proc={lane}
						{...opens({ what: "process", proc: lane })}
						aria-label={`${g.name}, ${status}`}
					>
						<rect x={left} y="26" width={wide} height={height - 32} rx="8" />
						{titleOf(stage, i).map((line, k) => <text key={k} x={left + 8} y={45 + 14 * k}>{line}</text>)}
					</g>
				);
			})}
			{owners(stage).map(({ lock, proc }) => {
				const [a, b] = [locks[lock], spots[proc]];
				return a && b && <path key={`${lock} ${proc}`} class="has-lock" d={curve(stage, a, b, [0, 0.12, -0.12, 0.24, -0.24, 0.36, -0.36, 0.5, -0.5, 0.65, -0.65, 0.85, -0.85], 12, stage.radius + 2).path} />;
			})}
			{locks.map((s, k) => (
				<g key={k} class="lock" transform={`translate(${s.x} ${s.y})`}>
					<rect x="-13" y="-11" width="26" height="22" rx="3" />
					<text dy="0.35em">{d.scene.locknames?.[k]}</text>
				</g>
			))}
		</g>
	);
}

/**
 * titleOf returns the name of a site, and whether it is dead: in two lines if there is no
 * room in one.
 */
function titleOf({ d, frame, width }: Stage, site: number): string[] {
	const g = d.scene.groups[site]!;
	if (frame.status[g.members[0] ?? site] !== "crashed") return [g.name];
	const whole = `${g.name} is dead`;
	return widthOf(whole, 12, 600) + 12 <= boxOf(d, width, site).wide ? [whole] : [g.name, "is dead"];
}

/** signsIn puts the names of sites, and the locks, into a room. */
export function signsIn(stage: Stage, room: Room): void {
	if (stage.d.scene.shape !== "sites") return;
	for (const i of stage.d.scene.groups.keys()) {
		const { left } = boxOf(stage.d, stage.width, i);
		for (const [k, line] of titleOf(stage, i).entries()) room.take({ x: left + 8, y: 33 + 14 * k, wide: widthOf(line, 12, 600), high: 15 });
	}
	for (const { x, y } of stage.locks) room.take({ x: x - 13, y: y - 11, wide: 26, high: 22 });
}

/** owners returns which process has which lock, as the sites of the processes remember it. */
function owners({ d, frame }: Stage): { lock: number; proc: number }[] {
	const all = [];
	for (const g of d.scene.groups) {
		for (const proc of g.procs ?? []) {
			for (const lock of named(field(frame, g.members[0] ?? 0, `${d.names[proc]}.has`))) all.push({ lock, proc });
		}
	}
	return all;
}

/** A wait-for edge, and where it is drawn. */
export interface Wait extends Edge {
	path: string;
	at: Spot; // position of its label
	ring: boolean; // it is part of a cycle
}

/** waitsAt returns the wait-for graph, with unoccupied places for the names of locks. */
export function waitsAt(stage: Stage, room: Room): Wait[] {
	const { d, spots, frame } = stage;
	if (d.scene.shape !== "sites") return [];
	const now = d.graph?.findLast((g) => g.event <= frame.at);
	const inCycle = (from: number, to: number) => now?.cycles.some((c) => c.some((p, i) => p === from && c[(i + 1) % c.length] === to)) ?? false;
	return (now?.edges ?? []).flatMap((e) => {
		const [a, b] = [spots[e.from], spots[e.to]];
		if (!a || !b) return [];
		// Curved, so that two processes that wait for each other form a ring and not a
		// line.
		const { path, way } = curve(stage, a, b, [0.24, 0.4, 0.56, 0.12, -0.24, -0.4, -0.56, -0.75, 0.75, -1, 1], stage.radius + 8, stage.radius + 9);
		return [{ ...e, path, at: onWay(room, way, e.label), ring: inCycle(e.from, e.to) }];
	});
}

/**
 * curve leads from one to another, with the first of several bends that leads around the
 * processes between them. It leaves some room at both ends.
 */
function curve({ d, spots, radius, width, height }: Stage, a: Spot, b: Spot, bends: number[], from: number, to: number): { path: string; way: (t: number) => Spot } {
	const { x1, y1, x2, y2 } = between(a, b, from, to);
	const others = spots.slice(sitesOf(d)).filter((s) => s !== a && s !== b);
	const ways = bends.map((bend) => {
		const mid = { x: (x1 + x2) / 2 + (y1 - y2) * bend, y: (y1 + y2) / 2 + (x2 - x1) * bend };
		return { path: `M${x1} ${y1}Q${mid.x} ${mid.y} ${x2} ${y2}`, way: (t: number) => ({ x: bent(x1, mid.x, x2, t), y: bent(y1, mid.y, y2, t) }) };
	});
	const free = ({ x, y }: Spot) => x > 3 && y > 50 && x < width - 3 && y < height - 8 && others.every((o) => Math.hypot(o.x - x, o.y - y) > radius + 4);
	const steps = Array.from({ length: 11 }, (_, i) => (i + 1) / 12);
	return ways.find(({ way }) => steps.every((t) => free(way(t)))) ?? ways[0]!;
}

/** bent returns a point of a quadratic curve, in one dimension. */
function bent(from: number, by: number, to: number, t: number): number {
	return (1 - t) * (1 - t) * from + 2 * t * (1 - t) * by + t * t * to;
}

/** onWay returns a place for words on a way or next to it, near its middle. */
export function onWay(room: Room, way: (t: number) => Spot, words: string, middle = 0.5): Spot {
	const size = { wide: widthOf(words, 11) + 4, high: 13 };
	const along = [0, -0.08, 0.08, -0.16, 0.16, -0.24, 0.24, -0.32, 0.32].map((by) => way(middle + by));
	const places = [[0, 0], [0, -11], [0, 11], [-14, 0], [14, 0]].flatMap(([dx, dy]) => along.map(({ x, y }) => ({ x: x + dx! - size.wide / 2, y: y + dy! - size.high / 2, ...size })));
	const { at } = room.place(places);
	return { x: at.x + at.wide / 2, y: at.y + at.high / 2 };
}

/** Waits draws the wait-for graph; the edges of a cycle are a ring. */
export function Waits({ stage: { d, spots, radius }, waits }: { stage: Stage; waits: Wait[] }) {
	const trapped = new Set(waits.filter((w) => w.ring).map((w) => w.from));
	return (
		<g class="waits-for">
			{[...trapped].map((i) => spots[i] && <circle key={i} class="trapped" cx={spots[i].x} cy={spots[i].y} r={radius + 7} />)}
			{waits.map((w) => (
				<g key={`${w.from} ${w.to} ${w.label}`} class={w.ring ? "wait cycle" : "wait"} {...opens({ what: "edge", link: { from: w.from, to: w.to, label: w.label } })} aria-label={waitSaid(d, w)}>
					<path class="reach" d={w.path} />
					<path d={w.path} marker-end={w.ring ? "url(#tip-cycle)" : "url(#tip)"} />
					<text {...w.at} dy="0.35em">{w.label}</text>
					<title>{waitSaid(d, w)}</title>
				</g>
			))}
		</g>
	);
}
