// Who has units of which resource, and who asks for more: the edges of a graph of
// resources.

import type { Doc } from "./document";
import { field } from "./stage";
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
