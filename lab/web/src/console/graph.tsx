// The wait-for graph: which transactions and requests wait for which.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useSize } from "../look";
import { Panel, Quiet, Trouble, Who, arrows } from "./bits";
import { useFeed } from "./feed";
import { count, some } from "./format";
import { Name, plain, short } from "./name";
import { at } from "./patch";
import { type Plan, type Spot, planOf } from "./plan";
import { toLock } from "./route";
import type { Graph as Doc, Edge, Vertex } from "./views";
import { Victims } from "./victims";

const sizes = { wide: 164, high: 44, along: 110, across: 16 };
const pad = 12; // around the graph
const narrow = 560; // pixels of width below which the graph goes down

export function Graph() {
	const feed = useFeed<Doc>("graph");
	const d = feed.doc.value;
	return (
		<div class="graph">
			<h1 class="unseen">Wait-for graph</h1>
			<Trouble why={feed.trouble.value} />
			<Quiet silent={d?.silent} />
			{d && <Cycles d={d} />}
			{d?.cut && <p class="notice warn">There are more waits than are shown here.</p>}
			{d && <Parts d={d} />}
		</div>
	);
}

function Parts({ d }: { d: Doc }) {
	const all = Object.entries(d.edges);
	return (
		<div class="graph-parts">
			<Panel title="Who waits for whom" class="graph-part" aside={`${some(Object.keys(d.vertices).length, "transaction or request", "transactions and requests")}, ${some(all.length, "wait")}`}>
				{all.length === 0 ? <p class="nothing">Nothing waits at present.</p> : <Picture d={d} />}
			</Panel>
			<div class="graph-side">
				<Panel title="Victims" aside="what had to abort lately"><Victims victims={d.victims ?? {}} /></Panel>
				{all.length > 0 && <Panel title="Waits" class="waits-part" aside="the same in words"><Waits d={d} all={all} /></Panel>}
			</div>
		</div>
	);
}

/** vertexOf returns a vertex, also one that only edges mention. */
function vertexOf(d: Doc, id: string): Vertex {
	return at(d.vertices, id) ?? { who: id, node: "" };
}

function Cycles({ d }: { d: Doc }): JSX.Element | null {
	const line = (cycle: string[], words: string) => (
		<p key={cycle.join("\n")}>{[...cycle, cycle[0]!].map((id, i) => <span key={i}>{i > 0 && " → "}<b><Who of={vertexOf(d, id)} /></b></span>)}: {words}</p>
	);
	const [sure, maybe] = [d.deadlocks ?? [], d.possible ?? []];
	if (sure.length + maybe.length === 0) return null;
	return (
		<div class={`notice ${sure.length > 0 ? "alarm" : "warn"}`} role="status">
			{sure.map((c) => line(c, "a deadlock. Each waits for the next, and one of them will have to abort."))}
			{maybe.map((c) => line(c, "possibly a deadlock. What the members have said is not of one moment, or not all of these waits are certain."))}
		</div>
	);
}

function Waits({ d, all }: { d: Doc; all: [string, Edge][] }) {
	const most = useSignal(200);
	return (
		<div class="wide">
			<table class="list waits" role="table" onKeyDown={arrows}>
				<thead><tr role="row"><th scope="col">who</th><th scope="col">waits for</th><th scope="col">at lock</th></tr></thead>
				<tbody>{all.slice(0, most.value).map(([key, e]) => <tr key={key} role="row"><th scope="row"><Who of={vertexOf(d, e.from)} /></th><td><Who of={vertexOf(d, e.to)} /></td><td><a data-row href={toLock(e.lock)}><Name of={e.lock} cut /></a></td></tr>)}</tbody>
			</table>
			{all.length > most.value && <button type="button" class="link" onClick={() => (most.value += 500)}>{count(all.length - most.value)} more</button>}
		</div>
	);
}

/** Several is a vertex, or with more it stands for that many. */
type Several = Vertex & { more?: number };

/** What is drawn: vertices, and edges between them. */
interface Drawn {
	vertices: Map<string, Several>;
	edges: { key: string; edge: Edge }[];
}

/**
 * drawnOf draws those that wait for the same, and that nothing waits for, as one if they are
 * more than a few.
 */
export function drawnOf(d: Doc, few: number): Drawn {
	const known = new Map<string, Vertex>(Object.entries(d.vertices));
	const edges = Object.entries(d.edges).map(([key, edge]) => ({ key, edge }));
	for (const { edge } of edges) for (const id of [edge.from, edge.to]) if (!known.has(id)) known.set(id, vertexOf(d, id));
	const awaited = new Set(edges.map(({ edge }) => edge.to));
	const out = new Map<string, string[]>();
	for (const { edge } of edges) out.set(edge.from, [...(out.get(edge.from) ?? []), `${edge.to}\n${edge.lock}`]);
	const alike = new Map<string, string[]>();
	for (const [id, to] of out) if (!awaited.has(id)) alike.set(to.sort().join("\n\n"), [...(alike.get(to.join("\n\n")) ?? []), id]);
	const hidden = new Set<string>();
	const vertices = new Map<string, Several>(known);
	for (const ids of alike.values()) {
		if (ids.length <= few + 1) continue;
		const [first, ...others] = ids.slice(few);
		for (const id of others) hidden.add(id);
		vertices.set(first!, { ...known.get(first!)!, more: ids.length - few });
	}
	for (const id of hidden) vertices.delete(id);
	return { vertices, edges: edges.filter(({ edge }) => !hidden.has(edge.from)) };
}

/** linksOf returns the pairs of a list of cycles. */
function linksOf(cycles: string[][] | undefined): Set<string> {
	return new Set((cycles ?? []).flatMap((c) => c.map((id, i) => `${id}\n${c[(i + 1) % c.length]!}`)));
}

/** How sure it is that something is part of a deadlock. */
type Sure = "" | "sure" | "maybe";

function Picture({ d }: { d: Doc }) {
	const room = useSignal(900);
	const ref = useSize<HTMLDivElement>(({ width }) => (room.value = width));
	const down = room.value < narrow;
	const wide = down ? 118 : sizes.wide;
	const inside = (id: string): Sure => ((d.deadlocks ?? []).some((c) => c.includes(id)) ? "sure" : (d.possible ?? []).some((c) => c.includes(id)) ? "maybe" : "");
	const { drawn, plan, both } = useMemo(() => {
		const drawn = drawnOf(d, down ? 1 : 4);
		const first = { sure: 0, maybe: 1, "": 2 };
		const ids = [...drawn.vertices.keys()].sort((a, b) => first[inside(a)] - first[inside(b)]);
		const all = drawn.edges.map((e) => e.edge);
		const links = new Set(all.map(({ from, to }) => `${from}\n${to}`));
		return { drawn, plan: planOf(ids, all, { ...sizes, wide, along: down ? 64 : sizes.along }, room.value - 2 * pad, down), both: new Set(all.filter(({ from, to }) => links.has(`${to}\n${from}`))) };
	}, [d.vertices, d.edges, d.deadlocks, d.possible, room.value]);
	const [sure, maybe] = [linksOf(d.deadlocks), linksOf(d.possible)];
	const kind = ({ from, to }: Edge): Sure => (sure.has(`${from}\n${to}`) ? "sure" : maybe.has(`${from}\n${to}`) ? "maybe" : "");
	const size = { width: `${plan.wide + 2 * pad}px`, height: `${plan.high + 2 * pad}px` };
	return (
		<div class="graph-scroll" ref={ref} tabIndex={0} role="group" aria-label="the wait-for graph; the table of waits says the same in words">
			<div class="graph-sheet" style={size} aria-hidden="true">
				<svg style={size} viewBox={`${-pad} ${-pad} ${plan.wide + 2 * pad} ${plan.high + 2 * pad}`}>
					<defs>
						{["", "sure", "maybe"].map((k) => <marker key={k} id={`end-${k}`} orient="auto" markerUnits="userSpaceOnUse" markerWidth="10" markerHeight="9" refX="9" refY="4.5"><path class={`graph-end ${k}`} d="M0 0L10 4.5L0 9z" /></marker>)}
					</defs>
					{drawn.edges.map(({ key, edge }) => <WireOf key={key} edge={edge} plan={plan} kind={kind(edge)} back={both.has(edge)} wide={wide} down={down} />)}
				</svg>
				{[...drawn.vertices].map(([id, v]) => <Box key={id} v={v} spot={plan.spots.get(id)!} kind={inside(id)} wide={wide} />)}
			</div>
		</div>
	);
}

function Box({ v, spot, kind, wide }: { v: Several; spot: Spot; kind: Sure; wide: number }) {
	const place = { width: `${wide}px`, height: `${sizes.high}px`, transform: `translate(${spot.x + pad - wide / 2}px, ${spot.y + pad - sizes.high / 2}px)` };
	if (v.more) return <div class="vertex many" style={place}><b>{count(v.more)} more</b><small>wait for the same</small></div>;
	const holds = v.holds ?? [];
	const about = `${plain(v.who)}${v.node ? `, at ${plain(v.node)}` : ""}${v.tx ? `, transaction ${v.tx}` : ""}${holds.length > 0 ? `; holds ${holds.map(plain).join(", ")}` : ""}`;
	return (
		<div class={`vertex ${kind}`} style={place} title={about}>
			<b><Who of={v} cut /></b>
			<small>{v.tx ? `tx ${v.tx} · ` : ""}{holds.length === 1 ? <>holds <Name of={holds[0]!} /></> : holds.length > 1 ? `holds ${count(holds.length)}` : <>at <Name of={v.node} /></>}</small>
		</div>
	);
}

interface WireProps {
	edge: Edge;
	plan: Plan;
	kind: Sure;
	back: boolean; // there is one in the other direction
	wide: number;
	down: boolean;
}

function WireOf({ edge, plan, kind, back, wide, down }: WireProps) {
	const [from, to] = [plan.spots.get(edge.from), plan.spots.get(edge.to)];
	if (!from || !to) return null;
	const way = plan.ways.get(edge);
	const { path, mid } = way ? between(from, way, to, wide, down) : inCycle(from, to, wide, back);
	return (
		<g class={`wire ${kind}`}>
			<path d={path} marker-end={`url(#end-${kind})`}><title>{`waits at ${plain(edge.lock)}`}</title></path>
			<text x={mid.x} y={mid.y - 4}>{short(edge.lock, 16)}</text>
		</g>
	);
}

/** between returns a wire from layer to layer. */
function between(from: Spot, way: Spot[], to: Spot, wide: number, down: boolean): { path: string; mid: Spot } {
	const start = down ? { x: from.x, y: from.y + sizes.high / 2 } : { x: from.x + wide / 2, y: from.y };
	const end = down ? { x: to.x, y: to.y - sizes.high / 2 - 2 } : { x: to.x - wide / 2 - 2, y: to.y };
	const all = [start, ...way, end];
	const parts = all.slice(1).map((b, i) => {
		const a = all[i]!;
		const half = down ? (b.y - a.y) / 2 : (b.x - a.x) / 2;
		return down ? `C${a.x} ${a.y + half} ${b.x} ${b.y - half} ${b.x} ${b.y}` : `C${a.x + half} ${a.y} ${b.x - half} ${b.y} ${b.x} ${b.y}`;
	});
	const [a, b] = [all[0]!, all[1]!];
	return { path: `M${start.x} ${start.y}${parts.join("")}`, mid: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } };
}

/** inCycle returns a wire from the edge of one box to that of another, a little bent to the right. */
function inCycle(from: Spot, to: Spot, wide: number, back: boolean): { path: string; mid: Spot } {
	const long = Math.hypot(to.x - from.x, to.y - from.y) || 1;
	const bend = back ? 26 : 0;
	const off = { x: (-(to.y - from.y) / long) * bend, y: ((to.x - from.x) / long) * bend };
	const mid = { x: (from.x + to.x) / 2 + off.x, y: (from.y + to.y) / 2 + off.y };
	const [a, b] = [edgeOf(from, mid, wide, 0), edgeOf(to, mid, wide, 3)];
	// Between neighbours there is no room for words: they go below.
	const beside = Math.abs(to.y - from.y) < sizes.high && Math.abs(to.x - from.x) < wide + 110;
	const label = { x: mid.x + off.x * 0.5, y: beside ? mid.y + sizes.high / 2 + 18 : mid.y + off.y * 0.2 };
	return { path: `M${a.x} ${a.y}Q${mid.x} ${mid.y} ${b.x} ${b.y}`, mid: label };
}

/** edgeOf returns where a line from the middle of a box leaves it. */
function edgeOf(box: Spot, to: Spot, wide: number, gap: number): Spot {
	const [dx, dy] = [to.x - box.x, to.y - box.y];
	const t = Math.min(dx === 0 ? Infinity : (wide / 2 + gap) / Math.abs(dx), dy === 0 ? Infinity : (sizes.high / 2 + gap) / Math.abs(dy));
	return Number.isFinite(t) ? { x: box.x + dx * Math.min(1, t), y: box.y + dy * Math.min(1, t) } : box;
}
