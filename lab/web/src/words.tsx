// The words of the plot, above everything else in it. What comes after the cursor is
// paler, and what would be cut off at an edge is left out.

import { arrowRelation } from "./arrows";
import { type Relations, dotRelation } from "./causality";
import type { Doc } from "./document";
import type { Label, Layout, Upright } from "./layout";
import { kindStyle } from "./look";
import { besideUpright, heightOf } from "./place";
import { type Things, markRelation } from "./plot";
import { storyOf } from "./story";

/** wordsIn returns the things that have words. */
export function wordsIn({ lives, ...all }: Things): Things {
	const said = <T extends { label?: Label }>(list: T[]) => list.filter((t) => t.label);
	return { lives, bars: said(all.bars), arrows: said(all.arrows), dots: said(all.dots), marks: said(all.marks), uprights: said(all.uprights) };
}

interface WordsProps {
	d: Doc;
	things: Things;
	relations: Relations | undefined;
	now: number; // position of the cursor
	edge: number; // beginning of what is visible
	end: number; // end of what is visible
}

export function Words({ d, things, relations, now, edge, end }: WordsProps) {
	const l = d.layout;
	const { bars, arrows, dots, marks, uprights } = things;
	const story = storyOf(d);
	const later = (label: Label) => (middle(label) > now ? " later" : "");
	const whole = (label: Label | undefined): label is Label => label !== undefined && extent(label)[0] >= edge && extent(label)[1] <= end;
	return (
		<>
			<g class="words">
				{bars.map(({ label, means, lane, x1 }) => whole(label) && <Text key={`${lane} ${x1}`} l={l} label={label} class={`on-${means}${later(label)}`} />)}
				{dots.map(({ label, steps }) => whole(label) && <Text key={steps[0]} l={l} label={label} class={(relations ? dotRelation(relations, steps) : "") + later(label)} />)}
				{marks.map((m) => whole(m.label) && <Text key={`${m.at.lane} ${m.at.x} ${m.means}`} l={l} label={m.label} class={markRelation(d, relations, m) + later(m.label)} />)}
			</g>
			{d.kinds.map((k, i) => (
				<g key={i} class="kind" style={kindStyle(k)}>
					{arrows.map(({ kind, label, message, to }, j) => kind === i && whole(label) && (
						<g key={message} class={`arrow ${relations ? arrowRelation(story, relations, arrows[j]!) : ""}${to.x > now ? later(label) : ""}`}>
							<ArrowLabel l={l} label={label} />
						</g>
					))}
				</g>
			))}
			<g class="words">
				{uprights.map(({ label, x, means }, i) => {
					const seen = label && x <= end && within(short(label, end - edge), [edge, end], uprights, i);
					return seen && <Text key={`${x} ${means}`} l={l} label={besideUpright(l, seen)} class={`on-${means}${x > now ? " later" : ""}`} />;
				})}
			</g>
		</>
	);
}

/** extent returns the extent of a label, assuming letters of usual width. */
function extent({ at, box, text, size, anchor }: Label): [from: number, to: number] {
	if (box) return [box.at.x, box.at.x + box.wide];
	const wide = text.length * size * 0.56;
	const from = at.x - (anchor === "middle" ? wide / 2 : anchor === "end" ? wide : 0);
	return [from, from + wide];
}

function middle(label: Label): number {
	const [from, to] = extent(label);
	return (from + to) / 2;
}

/**
 * short keeps what comes before the colon of a label that there is no room for: the list
 * of events has the rest.
 */
function short(label: Label, room: number): Label {
	const [from, to] = extent(label);
	return to - from > room ? { ...label, text: label.text.replace(/:.*/, " …") } : label;
}

/**
 * within moves a label to where all of it can be seen, as far as its neighbours allow: at
 * the left edge its beginning as long as its end can be seen; at the right edge it is
 * otherwise left out.
 */
function within(label: Label, [edge, end]: [number, number], uprights: Upright[], i: number): Label | undefined {
	const [from, to] = extent(label);
	const at = (x: number): Label => ({ ...label, anchor: "start", at: { ...label.at, x } });
	const inRow = (u: Upright) => u.label?.at.dy === label.at.dy;
	if (from < edge && (to >= edge || uprights[i]!.x >= edge)) {
		const next = uprights.slice(i + 1).find(inRow)?.label;
		return at(Math.max(from, Math.min(edge, (next ? extent(next)[0] : Infinity) - (to - from) - 6)));
	}
	if (to <= end) return label;
	const last = uprights.slice(0, i).findLast(inRow)?.label;
	const x = end - (to - from);
	return x >= Math.max(edge, last ? extent(last)[1] + 6 : edge) ? at(x) : undefined;
}

function ArrowLabel({ l, label }: { l: Layout; label: Label }) {
	const { box } = label;
	return (
		<g class={box ? "boxed" : ""}>
			{box && <rect x={box.at.x} y={heightOf(l, box.at)} width={box.wide} height={box.high} rx={box.high / 2} />}
			<Text l={l} label={label} />
		</g>
	);
}

function Text({ l, label, class: name }: { l: Layout; label: Label; class?: string }) {
	return <text class={name} x={label.at.x} y={heightOf(l, label.at)} font-size={label.size} text-anchor={label.anchor as "start" | "middle" | "end"}>{label.text}</text>;
}
