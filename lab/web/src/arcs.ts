// The edges of a graph of resources: which processes have units of which resource, and
// which ask for more. And what edges mean, those of wait-for graphs too.

import type { Doc, Edge } from "./document";
import type { Frame } from "./frames";
import type { Line } from "./room";
import { type Spot, between, field } from "./stage";

/** amounts parses the units of resources in a value such as "2 R1, 1 R3". */
export function amounts(value: string): { resource: number; units: number }[] {
	return [...value.matchAll(/(\d+) R(\d+)/g)].map((m) => ({ units: Number(m[1]), resource: Number(m[2]) - 1 }));
}

/** An Arc says that a process has units of a resource, or asks for them. */
export interface Arc {
	proc: number;
	resource: number;
	units: number;
	has: boolean; // otherwise it asks
}

/** arcsOf returns the edges of the graph in a frame. */
export function arcsOf(d: Doc, frame: Frame): Arc[] {
	return d.names.flatMap((_, proc) => [
		...amounts(field(frame, proc, "has")).map((a) => ({ proc, has: true, ...a })),
		...amounts(field(frame, proc, "asks for")).map((a) => ({ proc, has: false, ...a })),
	]);
}

/**
 * lineOf returns where an arc is drawn, from a process to the side of a box or back. A
 * process that has some units and asks for more has two arcs, this far apart.
 */
export function lineOf(arc: Arc, all: Arc[], process: Spot, box: Spot, radius: number, apart: Spot): Line {
	const two = all.some((o) => o.proc === arc.proc && o.resource === arc.resource && o.has !== arc.has);
	const off = two ? (arc.has ? -1 : 1) : 0;
	const [p, r] = [process, box].map(({ x, y }) => ({ x: x + off * apart.x, y: y + off * apart.y })) as [Spot, Spot];
	return arc.has ? between(r, p, 0, radius + 5) : between(p, r, radius + 3, 3);
}

/** along returns a point on a line. */
export function along({ x1, y1, x2, y2 }: Line, t: number): Spot {
	return { x: x1 + (x2 - x1) * t, y: y1 + (y2 - y1) * t };
}

/** arcSaid says what an edge of a graph of resources means. */
export function arcSaid(d: Doc, { proc, resource, units, has }: Arc): string {
	return `${d.names[proc]} ${has ? "has" : "asks for"} ${units} ${d.scene.locknames?.[resource]}`;
}

/** waitSaid says what an edge of a wait-for graph means. */
export function waitSaid(d: Doc, { from, to, label }: Edge): string {
	return `${d.names[from]} waits for ${d.names[to]}, which holds ${label}`;
}
