// A graph of resources: which processes have units of which, and which ask for more. It
// is shown as far as it is reduced at the cursor.

import { type Arc, along, arcsOf, lineOf } from "./arcs";
import { arcSaid } from "./arcs";
import { opens } from "./opener";
import type { Line, Room } from "./room";
import { onWay } from "./sites";
import type { Spot, Stage } from "./stage";

/** An Arc, and where it is drawn. */
interface Drawn extends Arc {
	line: Line;
	at?: Spot; // position of the number of units, if there are several
}

const half = { wide: 22, high: 15 }; // half the size of a box

/** boxesIn puts the boxes of resources into a room. */
export function boxesIn({ d, locks }: Stage, room: Room): void {
	if (d.scene.shape === "resources") for (const { x, y } of locks) room.take({ x: x - half.wide, y: y - half.high, wide: 2 * half.wide, high: 2 * half.high });
}

/** arcsAt returns the edges, with unoccupied places for their numbers. */
export function arcsAt(stage: Stage, room: Room): Drawn[] {
	const { d, frame, spots, locks, radius } = stage;
	if (d.scene.shape !== "resources") return [];
	const arcs = arcsOf(d, frame);
	return arcs.flatMap((arc) => {
		const [p, r] = [spots[arc.proc], locks[arc.resource]];
		if (!p || !r) return [];
		const line = lineOf(arc, arcs, p, edge(r, p), radius, { x: 0, y: 4 });
		return [{ ...arc, line, ...(arc.units > 1 ? { at: onWay(room, (t) => along(line, t), String(arc.units), 0.4) } : {}) }];
	});
}

/** Resources are boxes with a dot for each unit, filled if a process has it, and the edges. */
export function Resources({ stage, arcs }: { stage: Stage; arcs: Drawn[] }) {
	const { d, frame, locks } = stage;
	const trapped = new Set((d.graph?.findLast((g) => g.event <= frame.at)?.cycles ?? []).flat());
	return (
		<g class="resources">
			{arcs.map(({ line, at, ...arc }) => (
				<g key={`${arc.proc} ${arc.resource} ${arc.has}`} class={`arc ${arc.has ? "has" : "asks"}${trapped.has(arc.proc) ? " cycle" : ""}`} {...opens({ what: "edge", link: arc })} aria-label={arcSaid(d, arc)}>
					<title>{arcSaid(d, arc)}</title>
					<line class="reach" {...line} />
					<line {...line} marker-end={trapped.has(arc.proc) ? "url(#tip-cycle)" : "url(#tip)"} />
					{at && <text {...at} dy="0.35em">{arc.units}</text>}
				</g>
			))}
			{locks.map((s, k) => <Box key={k} stage={stage} at={s} resource={k} taken={arcs.reduce((n, a) => n + (a.has && a.resource === k ? a.units : 0), 0)} />)}
		</g>
	);
}

/** edge returns the side of a box that a process is on. */
function edge(box: Spot, from: Spot): Spot {
	return { x: box.x + (from.x < box.x ? -half.wide : half.wide), y: box.y };
}

const mostDots = 4;

function Box({ stage: { d }, at, resource, taken }: { stage: Stage; at: Spot; resource: number; taken: number }) {
	const units = d.scene.units?.[resource] ?? 0;
	const name = d.scene.locknames?.[resource] ?? "";
	return (
		<g class="resource" transform={`translate(${at.x} ${at.y})`}>
			<title>{`${name}: ${units - taken} of ${units} free`}</title>
			<rect x={-half.wide} y={-half.high} width={2 * half.wide} height={2 * half.high} rx="3" />
			<text y="-2">{name}</text>
			{units <= mostDots
				? Array.from({ length: units }, (_, i) => <circle key={i} class={i < taken ? "taken" : ""} cx={(i - (units - 1) / 2) * 9} cy="7" r="3" />)
				: <text class="small" y="11">{units - taken} of {units}</text>}
		</g>
	);
}
