// A small run fills its panel: moments and lanes are moved apart, while distances on
// paper (offsets, bends, font sizes) stay as they are.

import type { Doc } from "./document";
import type { Arrow, Label, Layout } from "./layout";
import { rowOf } from "./place";

let last: { of: Doc; x: number; y: number; to: Doc } | undefined;

/** stretched returns a document whose diagram is that many times wider and higher. */
export function stretched(d: Doc, x: number, y: number): Doc {
	if (x === 1 && y === 1) return d;
	if (last?.of !== d || last.x !== x || last.y !== y) last = { of: d, x, y, to: { ...d, layout: layout(d.layout, x, y) } };
	return last.to;
}

function layout(l: Layout, sx: number, sy: number): Layout {
	const { pitch } = l.page;
	const to = pitch * sy;
	/** onLane moves a label that belongs to a lane. */
	const onLane = (label: Label | undefined, x: number): { label?: Label } => (label ? { label: { ...label, at: { ...label.at, x: label.at.x + x * (sx - 1) } } } : {});
	/** onWay moves a label that lies on an arrow: with its middle. */
	const onWay = ({ label }: Arrow): { label?: Label } => {
		if (!label) return {};
		const y = (p: { lane: number; dy: number }) => rowOf(l, p.lane) * pitch + p.dy;
		const middle = label.box ? { x: label.box.at.x + label.box.wide / 2, y: y(label.box.at) + label.box.high / 2 } : { x: label.at.x, y: y(label.at) };
		const by = { x: middle.x * (sx - 1), y: middle.y * (sy - 1) };
		const move = <P extends { x: number; lane: number; dy: number }>(p: P): P => ({ ...p, x: p.x + by.x, lane: 0, dy: y(p) + by.y });
		return { label: { ...label, at: move(label.at), ...(label.box ? { box: { ...label.box, at: move(label.box.at) } } : {}) } };
	};
	return {
		...l,
		page: { ...l.page, plot: l.page.plot * sx, pitch: to },
		window: { ...l.window, margin: l.window.margin * sx, room: l.window.room * sx },
		lives: (l.lives ?? []).map((s) => ({ ...s, x1: s.x1 * sx, x2: s.x2 * sx })),
		bars: (l.bars ?? []).map((b) => ({ ...b, x1: b.x1 * sx, x2: b.x2 * sx, ...onLane(b.label, b.label?.at.x ?? 0) })),
		uprights: (l.uprights ?? []).map((u) => ({ ...u, x: u.x * sx, ...onLane(u.label, u.x) })),
		arrows: (l.arrows ?? []).map((a) => ({ ...a, from: { ...a.from, x: a.from.x * sx }, to: { ...a.to, x: a.to.x * sx }, ...onWay(a) })),
		dots: (l.dots ?? []).map((d) => ({ ...d, at: { ...d.at, x: d.at.x * sx }, ...onLane(d.label, d.at.x) })),
		marks: (l.marks ?? []).map((m) => ({ ...m, at: { ...m.at, x: m.at.x * sx }, ...onLane(m.label, m.at.x) })),
		ticks: (l.ticks ?? []).map((t) => ({ ...t, x: t.x * sx })),
	};
}
