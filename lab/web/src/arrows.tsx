// The messages in the plot. Thousands may be visible, so many share a path.

import { type Relations, relation } from "./causality";
import type { Doc } from "./document";
import type { Arrow, Layout } from "./layout";
import { kindStyle } from "./look";
import { heightOf, pathOf, headOf, shown } from "./place";
import { type Story, storyOf } from "./story";

interface ArrowsProps {
	d: Doc;
	arrows: Arrow[];
	relations: Relations | undefined;
	x1: number; // visible range
	x2: number;
}

const most = 16; // maximum in one path: with more, repainting a path would cover more than what is visible

/** Later ones lie above the others. */
const looks = ["concurrent", "", "future", "past"].flatMap((how) => ["arrives", "lost", "open"].map((end) => ({ how, end })));

export function Arrows({ d, arrows, relations, x1, x2 }: ArrowsProps) {
	const story = storyOf(d);
	const bundles = new Map<string, Arrow[]>();
	for (const a of arrows) {
		const look = `${a.kind} ${relations ? arrowRelation(story, relations, a) : ""} ${a.end}`;
		const bundle = bundles.get(look);
		if (bundle) bundle.push(a);
		else bundles.set(look, [a]);
	}
	return (
		<g class="arrows">
			{d.kinds.map((k, i) => (
				<g key={i} class={k.heavy ? "kind heavy" : "kind"} style={kindStyle(k)}>
					{looks.map(({ how, end }) => {
						const mine = bundles.get(`${i} ${how} ${end}`);
						return mine && (
							<g key={`${how} ${end}`} class={`arrow ${how} ${end}`}>
								{pieces(mine).map((some, j) => <path key={j} d={some.map((a) => pathOf(d.layout, shown(d.layout, a), x1, x2)).join("")} stroke-dasharray={k.dash} />)}
								{pieces(mine).map((some, j) => <path key={-1 - j} class={`end-${end}`} d={some.map((a) => endOf(d.layout, shown(d.layout, a))).join("")} />)}
							</g>
						);
					})}
				</g>
			))}
		</g>
	);
}

function pieces(all: Arrow[]): Arrow[][] {
	return Array.from({ length: Math.ceil(all.length / most) }, (_, i) => all.slice(i * most, (i + 1) * most));
}

/**
 * endOf returns the sign at the end of an arrow: a head, a cross if it is lost, a ring if
 * it is in flight to the end.
 */
function endOf(l: Layout, a: Arrow): string {
	const { x } = a.to;
	const y = heightOf(l, a.to);
	switch (a.end) {
		case "arrives":
			return headOf(l, a);
		case "lost":
			return `M${x - 4} ${y - 4}l8 8M${x - 4} ${y + 4}l8-8`;
		default:
			return `M${x - 2.5} ${y}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0`;
	}
}

/**
 * arrowRelation returns how a message relates to the focus: it is past if its arrival is,
 * future if its sending is.
 */
export function arrowRelation(story: Story, r: Relations, a: Arrow): string {
	const m = story.messages.get(a.message);
	if (!m) return "concurrent";
	const sent = relation(r, m.sent);
	const ended = m.ended === Infinity ? "concurrent" : relation(r, m.ended);
	if (ended === "past" || ended === "focus") return "past";
	if (sent === "future" || sent === "focus") return "future";
	return "concurrent";
}
