// Folding: in a large group, lanes of processes that only answer lie close together, so that
// those that ask have room.

import type { Doc } from "./document";
import type { Arrow, Label, Layout } from "./layout";
import { type Folded, rowOf } from "./place";

const fewEnough = 20; // maximum number of lanes that are never folded
const close = 0.28; // height of a folded lane, as a part of a row

const known = new WeakMap<Doc, Doc>();

/** foldable returns the lanes that only answer; none in a group that is small, or where folding gains little. */
function foldable(d: Doc): Set<number> {
	const all = new Set(d.names.keys());
	if (d.names.length <= fewEnough || !d.layout) return new Set();
	for (const e of d.events) if (e.proc >= 0 && !["send", "receive", "start", "suspect", "trust"].includes(e.kind)) all.delete(e.proc);
	return all.size >= 8 ? all : new Set();
}

/** folded returns a document whose diagram has its quiet lanes folded; itself if there are none. */
export function folded(d: Doc): Doc {
	let to = known.get(d);
	if (!to) {
		const quiet = foldable(d);
		known.set(d, (to = quiet.size > 0 ? { ...d, layout: layout(d.layout, quiet) } : d));
	}
	return to;
}

function layout(l: Layout, quiet: Set<number>): Folded {
	const rows: number[] = [];
	let y = 0;
	for (const { lane } of l.lanes) {
		rows[lane] = y;
		y += quiet.has(lane) && (quiet.has(lane + 1) || lane + 1 === l.lanes.length) ? close : 1;
	}
	const { pitch } = l.page;
	const whole: Folded = { ...l, rows };
	/** onWay moves a label that lies on an arrow along with it. */
	const onWay = ({ label, from, to }: Arrow): { label?: Label } => {
		if (!label || quiet.has(from.lane) && quiet.has(to.lane)) return {};
		const part = (at: { lane: number; dy: number }) => (from.lane === to.lane ? 0 : (at.lane * pitch + at.dy - from.lane * pitch) / ((to.lane - from.lane) * pitch));
		const move = <P extends { lane: number; dy: number }>(p: P): P => {
			const at = (rowOf(whole, from.lane) + part(p) * (rowOf(whole, to.lane) - rowOf(whole, from.lane))) * pitch;
			return { ...p, lane: 0, dy: from.lane === to.lane ? rowOf(whole, p.lane) * pitch + p.dy : at };
		};
		const at = move(label.at);
		if (!label.box) return { label: { ...label, at } };
		const by = label.box.at.dy + label.box.at.lane * pitch - (label.at.dy + label.at.lane * pitch);
		return { label: { ...label, at, box: { ...label.box, at: { ...label.box.at, lane: 0, dy: at.dy + by } } } };
	};
	const moved = (l.arrows ?? []).map((a) => onWay(a).label);
	const shown = apart(moved, (label) => aboveRow(label, pitch, rows));
	return { ...whole, lanes: named(l, quiet), arrows: (l.arrows ?? []).map(({ label: _, ...a }, i) => (shown.has(i) ? { ...a, label: moved[i]! } : a)) };
}

/** aboveRow returns the height of a label's baseline in the plot. */
function aboveRow({ at }: Label, pitch: number, rows: number[]): number {
	return (rows[at.lane] ?? 0) * pitch + at.dy;
}

/** apart returns the labels that do not lie on others: those with stamps come first. */
function apart(labels: (Label | undefined)[], high: (label: Label) => number): Set<number> {
	const order = [...labels.keys()].filter((i) => labels[i]).sort((a, b) => Number(labels[b]!.text.includes("(")) - Number(labels[a]!.text.includes("(")) || a - b);
	const taken: { x1: number; x2: number; y: number; size: number }[] = [];
	const shown = new Set<number>();
	for (const i of order) {
		const label = labels[i]!;
		const wide = label.text.length * label.size * 0.6 + 6;
		const x1 = label.at.x - (label.anchor === "middle" ? wide / 2 : label.anchor === "end" ? wide : 0);
		const box = { x1, x2: x1 + wide, y: high(label), size: label.size + 4 };
		if (taken.some((t) => t.x1 < box.x2 && box.x1 < t.x2 && Math.abs(t.y - box.y) < box.size)) continue;
		taken.push(box);
		shown.add(i);
	}
	return shown;
}

/** named gives each block of folded lanes one name. */
function named(l: Layout, quiet: Set<number>): Layout["lanes"] {
	return l.lanes.map((it, i) => {
		if (!quiet.has(it.lane)) return it;
		if (i > 0 && quiet.has(l.lanes[i - 1]!.lane)) return { ...it, text: "" };
		let last = i;
		while (last + 1 < l.lanes.length && quiet.has(l.lanes[last + 1]!.lane)) last++;
		return last === i ? it : { ...it, text: `${it.text}–${l.lanes[last]!.text.replace(/^P/, "")}` };
	});
}
