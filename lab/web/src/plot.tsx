// What is painted in the plot: lives, bars, arrows, dots and marks. Their words are in
// words.tsx.

import { Arrows } from "./arrows";
import { type Relations, dotRelation, relation } from "./causality";
import type { Doc } from "./document";
import type { Arrow, Bar, Dot, Layout, Life, Mark, Upright } from "./layout";
import { Along, aboveOf, belowOf, heightOf, tall, rowOf } from "./place";
import { laid } from "./shown";
import { cursorAt, placeOf } from "./story";

/** A layout, indexed so that a part of it is found quickly. */
interface Shelf {
	arrows: Along<Arrow>;
	bars: Along<Bar>;
	lives: Along<Life>;
	dots: Along<Dot>;
	marks: Along<Mark>;
}

const shelves = new WeakMap<Layout, Shelf>();

/** shelfOf sorts a layout along the plot, once. */
export function shelfOf(l: Layout): Shelf {
	let shelf = shelves.get(l);
	if (!shelf) {
		shelf = {
			arrows: new Along(l.arrows ?? [], (a) => Math.min(a.from.x, a.to.x) - 60, (a) => Math.max(a.from.x, a.to.x) + 60),
			bars: new Along(l.bars ?? [], (b) => b.x1, (b) => b.x2),
			lives: new Along(l.lives ?? [], (s) => s.x1, (s) => s.x2),
			dots: new Along(l.dots ?? [], (d) => d.at.x - 40, (d) => d.at.x + 40),
			marks: new Along(l.marks ?? [], (m) => m.at.x - 60, (m) => m.at.x + 60),
		};
		shelves.set(l, shelf);
	}
	return shelf;
}

/** A part of the plot. */
export interface Part {
	d: Doc;
	x1: number;
	x2: number;
	y1: number;
	y2: number;
}

/** What is in it. */
export interface Things {
	lives: Life[];
	bars: Bar[];
	arrows: Arrow[];
	dots: Dot[];
	marks: Mark[];
	uprights: Upright[];
}

/** What of a layout is in a part of the plot. */
export function thingsIn({ d, x1, x2, y1, y2 }: Part): Things {
	const l = d.layout;
	const shelf = shelfOf(l);
	const least = (y1 - aboveOf(l)) / l.page.pitch - 1;
	const most = (y2 - aboveOf(l)) / l.page.pitch + 1;
	const seen = (...lanes: number[]) => Math.max(...lanes.map((i) => rowOf(l, i))) >= least && Math.min(...lanes.map((i) => rowOf(l, i))) <= most;
	return {
		lives: shelf.lives.within(x1, x2).filter((s) => seen(s.lane)),
		bars: shelf.bars.within(x1, x2).filter((b) => seen(b.lane)),
		arrows: shelf.arrows.within(x1, x2).filter((a) => seen(a.from.lane, a.to.lane)),
		dots: shelf.dots.within(x1, x2).filter((o) => seen(o.at.lane)),
		marks: shelf.marks.within(x1, x2).filter((m) => seen(m.at.lane)),
		uprights: (l.uprights ?? []).filter((u) => u.x >= x1 - 50 && u.x <= x2 + 50),
	};
}

export function Plotted({ part, things, relations }: { part: Part; things: Things; relations: Relations | undefined }) {
	const { d, x1, x2 } = part;
	const l = d.layout;
	const { lives, bars, arrows, dots, marks, uprights } = things;
	return (
		<g>
			<Hatching />
			<g class="lives">
				{lives.map((s) => (
					<line key={`${s.lane} ${s.x1}`} class={s.paused ? "paused" : ""} x1={s.x1} x2={s.x2} y1={heightOf(l, s)} y2={heightOf(l, s)} />
				))}
			</g>
			<Axis l={l} x1={x1} x2={x2} />
			<g class="bars">{bars.map((b) => <BarOf key={`${b.lane} ${b.x1} ${b.means}`} l={l} b={b} />)}</g>
			<g class="uprights">{uprights.map((u) => <UprightOf key={`${u.x} ${u.means}`} l={l} u={u} />)}</g>
			<Arrows d={d} arrows={arrows} relations={relations} x1={x1} x2={x2} />
			<g class="dots">{dots.map((o) => <DotOf key={o.steps[0]} l={l} o={o} relations={relations} />)}</g>
			<g class="marks">{marks.map((m) => <MarkOf key={`${m.at.lane} ${m.at.x} ${m.means}`} l={l} m={m} how={markRelation(d, relations, m)} />)}</g>
		</g>
	);
}

/** Hatching is the pattern of what is violated. */
function Hatching() {
	return (
		<defs>
			<pattern id="broken" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
				<rect width="6" height="6" class="paper" />
				<rect width="3" height="6" class="alarm" />
			</pattern>
		</defs>
	);
}

function Axis({ l, x1, x2 }: { l: Layout; x1: number; x2: number }) {
	const y = tall(l) - 8;
	return (
		<g class="axis">
			{(l.ticks ?? []).filter((t) => t.x >= x1 && t.x <= x2).map((t) => <text key={t.at} x={t.x} y={y} text-anchor="middle">{t.text}</text>)}
		</g>
	);
}

function BarOf({ l, b }: { l: Layout; b: Bar }) {
	return (
		<rect class={`bar ${b.means}`} x={b.x1} y={heightOf(l, b) - b.height / 2} width={Math.max(1, b.x2 - b.x1)} height={b.height} rx={Math.min(3, b.height / 2)}>
			<title>{b.tip}</title>
		</rect>
	);
}

function UprightOf({ l, u }: { l: Layout; u: Upright }) {
	return (
		<line class={`upright ${u.means}`} x1={u.x} x2={u.x} y1={aboveOf(l) - 18} y2={tall(l) - belowOf(l) + 18}>
			<title>{u.tip}</title>
		</line>
	);
}

function DotOf({ l, o, relations }: { l: Layout; o: Dot; relations: Relations | undefined }) {
	const how = relations ? dotRelation(relations, o.steps) : "";
	return <circle class={`dot ${how}`} data-event={o.steps.at(-1)} cx={o.at.x} cy={heightOf(l, o.at)} r={how === "focus" ? 6 : 3.5} />;
}

const dotsOf = new WeakMap<Layout, Int32Array>(); // dot of each event, from 1

/** dotAt returns the dot of an event. */
export function dotAt(l: Layout, event: number): Dot | undefined {
	const dots = l.dots ?? [];
	let all = dotsOf.get(l);
	if (!all) {
		all = new Int32Array(dots.reduce((n, { steps }) => Math.max(n, steps.at(-1)! + 1), 0));
		for (let i = 0; i < dots.length; i++) for (const step of dots[i]!.steps) all[step] = i + 1;
		dotsOf.set(l, all);
	}
	return dots[(all[event] ?? 0) - 1];
}

/** withDot returns the events that have the same dot as one, in order. */
export function withDot(l: Layout | null, event: number): number[] {
	return (l && dotAt(l, event)?.steps) ?? [event];
}

/**
 * markRelation returns how a mark relates to the focus: as the last event of its process
 * there does.
 */
export function markRelation(d: Doc, relations: Relations | undefined, { at }: Mark): string {
	if (!relations) return "";
	const byEvent = laid.value === "event";
	for (let i = cursorAt(d, at.x + 0.5, byEvent) - 1; i >= 0 && placeOf(d, i, byEvent) > at.x - 0.5; i--) {
		if (d.events[i]!.proc === at.lane) return relation(relations, i);
	}
	return "";
}

function MarkOf({ l, m, how }: { l: Layout; m: Mark; how: string }) {
	return (
		<g class={`mark ${m.means} ${how}`} transform={`translate(${m.at.x} ${heightOf(l, m.at)})`}>
			<title>{m.tip}</title>
			<Sign means={m.means} />
		</g>
	);
}

/** Sign is the shape of a mark: the same as in exported pictures. */
export function Sign({ means }: { means: string }) {
	switch (means) {
		case "crash":
			return <path d="M-6-6L6 6M-6 6L6-6" class="thick" />;
		case "restart":
			return <path d="M-5 5L0-6L5 5z" />;
		case "pause":
			return <path d="M-3-6V6M3-6V6" class="thick" />;
		case "resume":
			return <path d="M-4-6L6 0L-4 6z" />;
		case "suspect":
			return <><path d="M0-8L8 0L0 8L-8 0z" /><text y="3.5">?</text></>;
		case "trust":
			return <><path d="M0-8L8 0L0 8L-8 0z" /><path d="M-3 0L-1 3L3-3" /></>;
		case "timer":
			return <path d="M-4-5H4L-4 5H4z" />;
		case "lead":
			return <path d="M0-7L2-2L7-2L3 1L5 6L0 3L-5 6L-3 1L-7-2L-2-2z" class="full" />;
		case "denied":
			return <><path d="M-5-5H5V5H-5z" /><path d="M-3-3L3 3M-3 3L3-3" /></>;
		case "ended":
			return <><path d="M-5-5H5V5H-5z" /><path d="M-3 0L-1 3L3-3" /></>;
		case "abort":
			return <><path d="M-7-5H7V5H-7z" /><text y="3.5">!</text></>;
		case "violation":
			return <><circle r="10" /><g transform="translate(0 -20)"><path d="M0-8L8 6H-8z" class="warning" /><path d="M0-4V1M0 3V4.5" class="bang" /></g></>;
		default:
			return <><circle r="6" /><text y="3.5">i</text></>;
	}
}
