// The whole graph of resources, as it is in the text: which processes can end, in which
// order, and which are deadlocked. What has been reduced at the cursor is paler.

import { useSignal } from "@preact/signals";
import { type Arc, along, arcsOf, lineOf } from "./arcs";
import type { Doc } from "./document";
import { frameAt } from "./frames";
import { useSize } from "./look";
import type { Line } from "./room";
import { cursor } from "./shown";

const pitch = { process: 44, resource: 60 }; // minimum room for each
const row = { processes: 44, resources: 216, high: 258 };
const radius = 17;
const half = { wide: 23, high: 15 }; // half the size of a box

export function Whole({ d }: { d: Doc }) {
	const width = useSignal(360);
	const ref = useSize<HTMLDivElement>((s) => (width.value = s.width));
	const boxes = d.scene.units ?? [];
	const wide = Math.max(Math.min(width.value, 640), d.names.length * pitch.process, boxes.length * pitch.resource);
	const across = (i: number, of: number) => ((i + 0.5) * wide) / of;
	const procs = d.names.map((_, i) => ({ x: across(i, d.names.length), y: row.processes }));
	const locks = boxes.map((_, i) => ({ x: across(i, boxes.length), y: row.resources }));
	const tops = locks.map(({ x, y }) => ({ x, y: y - half.high }));
	const order = d.events.filter((e) => e.kind === "reduce").map((e) => e.proc); // processes that end, in order
	const looks = (proc: number) => (!order.includes(proc) ? "trapped-in" : order.indexOf(proc) < cursor.value ? "reduced" : "");
	const arcs = arcsOf(d, frameAt(d, 0));
	return (
		<div class="plot whole" ref={ref} tabIndex={0} role="group" aria-label="the whole graph">
			<svg width={wide} height={row.high} viewBox={`0 0 ${wide} ${row.high}`} role="img" aria-label={`${d.title}. ${d.properties.map((p) => p.text).join(". ")}.`}>
				{arcs.map((a) => <Edge key={`${a.proc} ${a.resource} ${a.has}`} arc={a} line={lineOf(a, arcs, procs[a.proc]!, tops[a.resource]!, radius, { x: 5, y: 0 })} looks={looks(a.proc)} />)}
				{procs.map(({ x, y }, i) => (
					<g key={i} class={`node ${looks(i)}`} transform={`translate(${x} ${y})`}>
						<circle r={radius} />
						<text dy="0.35em">{d.names[i]}</text>
						{order.includes(i) && <text class="place" y={-radius - 8}>{order.indexOf(i) + 1}.</text>}
					</g>
				))}
				{locks.map(({ x, y }, k) => (
					<g key={k} class="node" transform={`translate(${x} ${y})`}>
						<rect x={-half.wide} y={-half.high} width={2 * half.wide} height={2 * half.high} rx="3" />
						<text dy="0.35em">{d.scene.locknames?.[k]}</text>
						<text class="place" y={half.high + 15}>{boxes[k]} {boxes[k] === 1 ? "unit" : "units"}</text>
					</g>
				))}
			</svg>
			<p>An arrow to a resource is a request for a unit; an arrow from one is a unit that is held. {order.length > 0 && "1. ends first. "}{order.length < d.names.length && <b>Processes drawn in bold are deadlocked.</b>}</p>
		</div>
	);
}

function Edge({ arc, line, looks }: { arc: Arc; line: Line; looks: string }) {
	return (
		<g class={`edge ${arc.has ? "" : "asks"} ${looks}`}>
			<line {...line} marker-end={looks === "trapped-in" ? "url(#tip-cycle)" : "url(#tip)"} />
			{arc.units > 1 && <text {...along(line, 0.35)} dy="0.35em">{arc.units}</text>}
		</g>
	);
}
