// A graph of resources: who has units of which, and who asks for more. It is shown as
// far as it is reduced at the cursor.

import { type Spot, type Stage, between, field } from "./stage";
import { cursor } from "./state";

/** amounts reads how many units of which resources a value has, such as "2 R1, 1 R3". */
export function amounts(value: string): { resource: number; units: number }[] {
	return [...value.matchAll(/(\d+) R(\d+)/g)].map((m) => ({ units: Number(m[1]), resource: Number(m[2]) - 1 }));
}

interface Arc {
	proc: number;
	resource: number;
	units: number;
	has: boolean; // else it asks
}

/** arcsOf are the edges of the graph at the cursor. */
function arcsOf({ d, frame }: Stage): Arc[] {
	return d.names.flatMap((_, proc) => [
		...amounts(field(frame, proc, "has")).map((a) => ({ proc, has: true, ...a })),
		...amounts(field(frame, proc, "asks for")).map((a) => ({ proc, has: false, ...a })),
	]);
}

const half = { wide: 22, high: 15 }; // of a box

/** Resources are boxes with a dot for each unit, full if somebody has it, and the edges. */
export function Resources({ stage }: { stage: Stage }) {
	const { d, spots, locks, radius } = stage;
	const arcs = arcsOf(stage);
	const trapped = new Set((d.graph?.findLast((g) => g.event <= cursor.value)?.cycles ?? []).flat());
	return (
		<g class="resources">
			{arcs.map(({ proc, resource, units, has }) => {
				const [p, r] = [spots[proc], locks[resource]];
				if (!p || !r) return null;
				const [a, b] = has ? [edge(r, p), p] : [p, edge(r, p)];
				const title = `${d.names[proc]} ${has ? "has" : "asks for"} ${units} ${d.scene.locknames?.[resource]}`;
				return (
					<g key={`${proc} ${resource} ${has}`} class={`arc ${has ? "has" : "asks"}${trapped.has(proc) ? " cycle" : ""}`}>
						<title>{title}</title>
						<line {...between(a, b, has ? 0 : radius + 3, has ? radius + 5 : 3)} marker-end={trapped.has(proc) ? "url(#tip-cycle)" : "url(#tip)"} />
						{units > 1 && <text x={a.x + (b.x - a.x) * 0.38} y={a.y + (b.y - a.y) * 0.38} dy="0.35em">{units}</text>}
					</g>
				);
			})}
			{locks.map((s, k) => <Box key={k} stage={stage} at={s} resource={k} taken={arcs.reduce((n, a) => n + (a.has && a.resource === k ? a.units : 0), 0)} />)}
		</g>
	);
}

/** edge is the side of a box that a process is on. */
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
