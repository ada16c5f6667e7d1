// What can be done about the edges of pictures: which process waits for which, and which has
// or asks for what. A click says what an edge means and since when, and offers what can be done to the
// processes at its ends.

import { type Arc, arcSaid, arcsOf, waitSaid } from "./arcs";
import { type Item, forProcess } from "./deeds";
import type { Doc, Edge } from "./document";
import { frameAt } from "./frames";
import { cursor, seek } from "./shown";
import { clockOf } from "./story";

/** An edge: of a wait-for graph, or of a graph of resources. */
export type Link = Edge | Arc;

/** linkKey identifies an edge. */
export function linkKey(link: Link): string {
	return Object.values(link).join(" ");
}

/** forEdge returns what an edge means, and what can be done about it. */
export function forEdge(d: Doc, link: Link): { title: string; items: Item[] } {
	return "resource" in link ? forArc(d, link) : forWait(d, link);
}

function forWait(d: Doc, edge: Edge): { title: string; items: Item[] } {
	const since = sinceOf(d, edge);
	const event = d.events[since - 1];
	const when = event ? `, since ${d.steps ? `event ${since}` : `${clockOf(d, event.at)} (event ${since})`}` : "";
	const items: Item[] = event ? [{ label: "go to where that began", title: event.text, run: () => seek(since) }] : [];
	for (const proc of [edge.from, edge.to]) {
		// Two processes have the same keys, so none has any here.
		items.push(...forProcess(d, proc).items.map(({ key: _, ...item }) => ({ ...item, label: `${d.names[proc]} ${item.label}` })));
	}
	return { title: `${waitSaid(d, edge)}${when}`, items };
}

/**
 * sinceOf returns the cursor after the event since which a process has been waiting: the
 * edge has existed ever since.
 */
function sinceOf(d: Doc, { from, to, label }: Edge): number {
	let since = 0;
	let there = false;
	for (const g of d.graph ?? []) {
		if (g.event > cursor.value) break;
		const is = g.edges.some((e) => e.from === from && e.to === to && e.label === label);
		if (is && !there) since = g.event;
		there = is;
	}
	return since;
}

function forArc(d: Doc, arc: Arc): { title: string; items: Item[] } {
	const name = d.scene.locknames?.[arc.resource] ?? "";
	const about = new RegExp(`\\b${name}\\b`);
	return { title: `${arcSaid(d, arc)}: ${meaning(d, arc)}`, items: forProcess(d, arc.proc).items.filter((item) => about.test(item.label)) };
}

/** meaning says which process waits for which by an edge of a graph of resources. */
function meaning(d: Doc, { proc, resource, units, has }: Arc): string {
	const all = arcsOf(d, frameAt(d, cursor.value)).filter((a) => a.resource === resource);
	const others = (which: boolean) => all.filter((a) => a.has === which && a.proc !== proc).map((a) => d.names[a.proc]);
	if (has) {
		const ask = others(false);
		return ask.length > 0 ? `${ask.join(", ")} ${ask.length > 1 ? "ask" : "asks"} for it too` : "no other process asks for it";
	}
	const left = (d.scene.units?.[resource] ?? 0) - all.reduce((n, a) => n + (a.has ? a.units : 0), 0);
	if (units <= left) return `${left} free, so it can get ${units === 1 ? "it" : "them"}`;
	return `${left} free, so it waits for ${others(true).join(", ") || "more than exist"}`;
}
