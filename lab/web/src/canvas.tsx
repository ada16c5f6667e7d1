// The plot of the space-time diagram. The lab computes where everything is; here it is painted,
// and only what is visible.

import { computed, effect, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Card } from "./card";
import { relationsTo } from "./causality";
import type { Doc } from "./document";
import { folded } from "./fold";
import { hitArrow, hitDot } from "./hit";
import { useSize } from "./look";
import { openMenu } from "./opener";
import { aboveOf, belowOf, heightOf, rowOf, tall } from "./place";
import { Plotted, dotAt, thingsIn, withDot } from "./plot";
import { cursor, doc, hover, laid, mode, picked, quizzing, seek } from "./shown";
import type { Spot } from "./stage";
import { stretched } from "./stretch";
import { clockOf, cursorAt, numberOf, placeOf, timeAt } from "./story";
import { Words, wordsIn } from "./words";

/** The visible part of the plot, in its own pixels, and its magnification. */
export const view = signal({ left: 0, top: 0, width: 800, height: 400 });

/** Whether all lanes have the same room, even those of processes that only answer. */
export const unfolded = signal(false);

/** zoom magnifies a small group. */
export const zoom = computed(() => {
	const d = doc.value;
	return d?.layout ? Math.max(1, Math.min(mode.value === "" ? 1.2 : 1.7, view.value.height / tall(d.layout))) : 1;
});

const closest = 0.78; // Lanes may move closer, by that factor at most, if all of them are then visible.

/** leastOf returns the height at which all lanes of a document are visible. */
function leastOf(d: Doc): number {
	const { layout } = unfolded.value ? d : folded(d);
	return Math.ceil(aboveOf(layout) + belowOf(layout) + 8 + closest * rowOf(layout, Math.max(0, layout.lanes.length - 1)) * layout.page.pitch);
}

/** The document with its diagram stretched to fill its panel, if it is small. */
export const fitted = computed(() => {
	const d = doc.value && (unfolded.value ? doc.value : folded(doc.value));
	if (!d?.layout) return d; // a graph, which does not run
	const { page } = d.layout;
	const { width, height } = view.value;
	const bound = (by: number, most: number) => Math.max(1, Math.min(most, Math.floor(by * 50) / 50));
	const closer = (by: number) => (by >= closest && by < 1 ? Math.floor(by * 50) / 50 : bound(by, 3.4));
	const lanes = Math.max(1, rowOf(d.layout, d.layout.lanes.length - 1)) * page.pitch;
	return stretched(d, bound((width / zoom.value - page.left - 4) / page.plot, 2.6), closer((height / zoom.value - aboveOf(d.layout) - belowOf(d.layout) - 6) / lanes));
});

const grain = 400; // scrolled pixels after which what is painted changes

/** The painted part of the plot: what is visible and a little more. */
const painted = computed(() => {
	const { left, top, width, height } = view.value;
	const z = zoom.value;
	const snap = (from: number, size: number) => [Math.floor((from / z - 120) / grain) * grain, Math.ceil(((from + size) / z + 120) / grain) * grain] as const;
	const [x1, x2] = snap(left, width);
	const [y1, y2] = snap(top, height);
	return `${Math.max(0, x1)} ${x2} ${Math.max(0, y1)} ${y2}`; // a string, so that nothing is done while it stays the same
});

/** The painted part, and what is in it. */
const part = computed(() => {
	const [x1 = 0, x2 = 0, y1 = 0, y2 = 0] = painted.value.split(" ").map(Number);
	return { d: fitted.value!, x1, x2, y1, y2 };
});
const things = computed(() => thingsIn(part.value));
const words = computed(() => wordsIn(things.value));

const relations = computed(() => {
	const d = fitted.value;
	const known = quizzing.value ? cursor.value : d?.events.length ?? 0;
	return d && hover.value >= 0 && hover.value < known ? relationsTo(d, hover.value, withDot(d.layout, hover.value)) : undefined;
});

let scroller: HTMLElement | null = null;

/** scrollTo moves a place of the plot to the left edge. */
export function scrollTo(x: number): void {
	if (scroller) scroller.scrollLeft = x * zoom.value;
}

export function Plot({ d }: { d: Doc }) {
	const ref = useSize<HTMLDivElement>(({ width, height }) => (view.value = { ...view.value, width, height }));
	useLayoutEffect(() => {
		scroller = ref.current;
		view.value = { ...view.value, left: 0, top: 0 };
		const stop = effect(() => keepInSight(ref.current!));
		return () => {
			stop();
			scroller = null;
		};
	}, []);
	const z = zoom.value;
	const { page } = d.layout;
	const high = tall(d.layout) * z;
	return (
		<div
			class="plot"
			style={{ "--least": `${leastOf(doc.value ?? d)}px` }}
			ref={ref}
			tabIndex={0}
			role="group"
			aria-label="the space-time diagram; the list of events says the same in words"
			onScroll={(e) => {
				const { scrollLeft, scrollTop } = e.currentTarget;
				view.value = { ...view.value, left: scrollLeft, top: scrollTop };
			}}
		>
			<div class="plot-size" style={{ width: `${(page.left + page.plot) * z}px`, height: `${high}px` }}>
				<Names d={d} z={z} high={high} />
				<Canvas d={d} z={z} high={high} />
				<Now d={d} z={z} />
				<WordsAbove d={d} z={z} high={high} />
			</div>
			<Card d={d} relations={relations.value} />
		</div>
	);
}

function Names({ d, z, high }: { d: Doc; z: number; high: number }) {
	const { page, lanes } = d.layout;
	return (
		<svg class="plot-names" width={page.left * z} height={high} viewBox={`0 0 ${page.left} ${high / z}`} aria-hidden="true">
			{lanes.map((l) => <text key={l.lane} x={l.x} y={heightOf(d.layout, l)}>{l.text}</text>)}
		</svg>
	);
}

function Canvas({ d, z, high }: { d: Doc; z: number; high: number }) {
	const svg = useRef<SVGSVGElement>(null);
	const { x1, x2 } = part.value;
	const wide = Math.max(1, Math.min(x2, d.layout.page.plot) - x1);
	const at = (e: MouseEvent) => {
		const box = svg.current!.getBoundingClientRect();
		return { x: x1 + (e.clientX - box.left) / z, y: (e.clientY - box.top) / z };
	};
	return (
		<svg
			ref={svg}
			class={`plot-things${relations.value ? " focused" : ""}`}
			style={{ left: `${(d.layout.page.left + x1) * z}px`, width: `${wide * z}px`, height: `${high}px` }}
			viewBox={`${x1} 0 ${wide} ${high / z}`}
			aria-hidden="true"
			onPointerMove={(e) => point(d, at(e))}
			onPointerLeave={() => (hover.value = -1)}
			onClick={(e) => click(d, at(e), e)}
		>
			<Plotted part={part.value} things={things.value} relations={relations.value} />
		</svg>
	);
}

/** WordsAbove lie above the cursor, so that it does not cross them out. */
function WordsAbove({ d, z, high }: { d: Doc; z: number; high: number }) {
	const { x1, x2 } = part.value;
	const wide = Math.max(1, Math.min(x2, d.layout.page.plot) - x1);
	return (
		<svg class={`plot-words${relations.value ? " focused" : ""}${quizzing.value ? " quizzing" : ""}`} style={{ left: `${(d.layout.page.left + x1) * z}px`, width: `${wide * z}px`, height: `${high}px` }} viewBox={`${x1} 0 ${wide} ${high / z}`} aria-hidden="true">
			<Words d={d} things={words.value} relations={relations.value} now={nowAt(d)} edge={view.value.left / z + 2} end={(view.value.left + view.value.width) / z - d.layout.page.left + 1} />
		</svg>
	);
}

/** nowAt returns the position of the cursor in the plot: just after what has happened. */
function nowAt(d: Doc): number {
	return placeOf(d, cursor.value - 1, laid.value === "event") + (cursor.value > 0 ? 5 : -6);
}

/** timeOf returns the time of a cursor. */
function timeOf(d: Doc, at: number): string {
	return d.steps || laid.value === "event" ? `step ${at > 0 ? numberOf(d, at - 1) : 0}` : clockOf(d, timeAt(d, at));
}

/** halfOf returns about half the width of the words at the cursor. */
function halfOf(time: string): number {
	return 22 + 4 * time.length;
}

/**
 * Whether the names of the lanes would cover the words at the cursor, if these were
 * centred below it.
 */
const early = computed(() => {
	const d = fitted.value;
	return Boolean(d?.layout) && nowAt(d!) * zoom.value - view.value.left < halfOf(timeOf(d!, cursor.value));
});

/**
 * Now shows the position of the cursor: what comes after it is paler. It lies above the
 * plot and is not part of it, so that a step does not repaint all arrows.
 */
function Now({ d, z }: { d: Doc; z: number }) {
	const at = cursor.value;
	const x = (d.layout.page.left + nowAt(d)) * z;
	const bottom = (tall(d.layout) - belowOf(d.layout) + 20) * z;
	const { left, plot } = d.layout.page;
	const end = (left + plot) * z;
	// In a long plot only the painted part is veiled, because layers are limited in size.
	const from = Math.max(x, (left + part.value.x1) * z);
	const to = Math.min(end, (left + part.value.x2) * z);
	const time = timeOf(d, at);
	const half = halfOf(time);
	return (
		<div class="now" aria-hidden="true">
			{at < d.events.length && <div class={quizzing.value ? "veil opaque" : "veil"} style={{ left: `${from}px`, width: `${Math.max(0, to - from)}px`, height: `${bottom}px` }} />}
			<div class="now-line" style={{ left: `${x}px`, height: `${bottom + 16}px` }}>
				<span class={x > end - half ? "late" : early.value ? "early" : ""}>now {time}</span>
			</div>
			<Ring d={d} z={z} event={at - 1} name="current" />
			{picked.value.map((event) => <Ring key={event} d={d} z={z} event={event} name="picked" />)}
		</div>
	);
}

/** Ring marks the event that has just happened, or one chosen for comparison. */
function Ring({ d, z, event, name }: { d: Doc; z: number; event: number; name: string }) {
	const dot = dotAt(d.layout, event);
	if (!dot) return null;
	return <div class={`ring ${name}`} style={{ left: `${(d.layout.page.left + dot.at.x) * z}px`, top: `${heightOf(d.layout, dot.at) * z}px` }} />;
}

/**
 * keepInSight scrolls when the cursor is no longer visible. It does not query the
 * element's position, which would force a layout of the page.
 */
function keepInSight(element: HTMLElement): void {
	const d = fitted.value;
	if (!d?.layout) return;
	const at = (d.layout.page.left + placeOf(d, Math.min(cursor.value, d.events.length) - 1, laid.value === "event")) * zoom.value;
	const lane = cursor.value > 0 ? d.events[cursor.value - 1]?.proc ?? -1 : -1;
	requestAnimationFrame(() => {
		const { left, top, width, height } = view.value;
		const names = d.layout.page.left * zoom.value;
		const to = left + width - 60;
		if (at < left + names + 20 || at > to) element.scrollLeft = at - names - (width - names) * (at > to ? 0.6 : 0.3);
		if (lane < 0) return;
		const y = heightOf(d.layout, { lane }) * zoom.value;
		if (y < top + 20 || y > top + height - 40) element.scrollTop = y - height / 2;
	});
}

function point(d: Doc, spot: Spot): void {
	const dot = hitDot(d, spot);
	hover.value = dot ? dot.steps.at(-1)! : -1;
}

/**
 * click: on an event, the cursor goes there, or with Shift the event is chosen for
 * comparison; on a message, a menu opens; elsewhere the cursor goes to that time.
 */
function click(d: Doc, spot: Spot, e: MouseEvent): void {
	const dot = hitDot(d, spot);
	if (dot && e.shiftKey) return pick(dot.steps.at(-1)!);
	if (dot) return seek(dot.steps.at(-1)! + 1);
	const arrow = hitArrow(d, spot);
	if (arrow) return openMenu({ what: "message", msg: arrow.message, x: e.clientX, y: e.clientY });
	seek(cursorAt(d, spot.x, laid.value === "event"));
}

/** pick chooses an event to compare with another one. */
export function pick(event: number): void {
	const all = picked.value;
	picked.value = all.includes(event) ? all.filter((p) => p !== event) : [...all.slice(-1), event];
}
