// Who has units of which resource, and who asks for more: the edges of a graph of
// resources.

import type { Doc } from "./document";
import type { Line } from "./room";
import { type Spot, between, field } from "./stage";
import type { Frame } from "./state";

/** amounts reads how many units of which resources a value has, such as "2 R1, 1 R3". */
export function amounts(value: string): { resource: number; units: number }[] {
	return [...value.matchAll(/(\d+) R(\d+)/g)].map((m) => ({ units: Number(m[1]), resource: Number(m[2]) - 1 }));
}

/** An Arc says that a process has units of a resource, or asks for them. */
export interface Arc {
	proc: number;
	resource: number;
	units: number;
	has: boolean; // else it asks
}

/** arcsOf are the edges of the graph in a frame. */
export function arcsOf(d: Doc, frame: Frame): Arc[] {
	return d.names.flatMap((_, proc) => [
		...amounts(field(frame, proc, "has")).map((a) => ({ proc, has: true, ...a })),
		...amounts(field(frame, proc, "asks for")).map((a) => ({ proc, has: false, ...a })),
	]);
}

/**
 * lineOf is where an arc is drawn, from a process to the side of a box or back. Who has
 * some and asks for more has two, so far apart.
 */
export function lineOf(arc: Arc, all: Arc[], process: Spot, box: Spot, radius: number, apart: Spot): Line {
	const two = all.some((o) => o.proc === arc.proc && o.resource === arc.resource && o.has !== arc.has);
	const off = two ? (arc.has ? -1 : 1) : 0;
	const [p, r] = [process, box].map(({ x, y }) => ({ x: x + off * apart.x, y: y + off * apart.y })) as [Spot, Spot];
	return arc.has ? between(r, p, 0, radius + 5) : between(p, r, radius + 3, 3);
}

/** along is a point on a line. */
export function along({ x1, y1, x2, y2 }: Line, t: number): Spot {
	return { x: x1 + (x2 - x1) * t, y: y1 + (y2 - y1) * t };
}
