// What happened before what: the order of the events of each process, and of
// sending before receiving. It follows trace.Causality.

import type { Doc, Happening } from "./document";

/** How an event stands to the one in focus. */
type Relation = "past" | "future" | "concurrent" | "focus";

const names = ["concurrent", "past", "future", "focus"] as const;
const CONCURRENT = 0, PAST = 1, FUTURE = 2, FOCUS = 3;

/** How all events stand to one of them. */
export interface Relations {
	focus: number;
	codes: Uint8Array;
	vector: number[]; // of each lane, how many of its events are in the past of the focus, itself included
}

const kept = new WeakMap<Doc, Relations>();

/** relationsTo works out how all events stand to one. */
export function relationsTo(doc: Doc, focus: number): Relations {
	const last = kept.get(doc);
	if (last?.focus === focus) return last;
	const relations: Relations = { focus, codes: new Uint8Array(doc.events.length).fill(CONCURRENT), vector: doc.names.map(() => 0) };
	const { codes } = relations;
	codes[focus] = FOCUS;
	spread(doc.events, focus, codes);
	gather(doc.events, focus, codes);
	for (let i = 0; i <= focus; i++) {
		const lane = laneOf(doc.events[i]!);
		if (lane >= 0 && (codes[i] === PAST || i === focus)) relations.vector[lane]!++;
	}
	kept.set(doc, relations);
	return relations;
}

/** relation says how an event stands to the focus. */
export function relation(r: Relations, event: number): Relation {
	return names[r.codes[event] ?? CONCURRENT]!;
}

/** laneOf is whose event it is, or -1: that a message is lost is nobody's. */
function laneOf(e: Happening): number {
	return e.kind === "drop" ? -1 : e.proc;
}

function begins(e: Happening): boolean {
	return e.kind === "send" || e.kind === "duplicate";
}

/** gather finds the past of an event, from it backwards. */
function gather(events: Happening[], focus: number, codes: Uint8Array): void {
	const lanes = new Set<number>();
	const wanted = new Set<number>(); // messages whose arrival is in the past
	for (let i = focus; i >= 0; i--) {
		const e = events[i]!;
		const lane = laneOf(e);
		const within = i === focus || lanes.has(lane) || (begins(e) && wanted.has(e.msg!));
		if (!within) continue;
		if (i !== focus) codes[i] = PAST;
		if (lane >= 0) lanes.add(lane);
		if (begins(e)) wanted.delete(e.msg!);
		if (e.kind === "receive" || (i === focus && e.kind === "drop")) wanted.add(e.msg ?? 0);
	}
}

/** spread finds the future of an event, from it onwards. */
function spread(events: Happening[], focus: number, codes: Uint8Array): void {
	const lanes = new Set<number>();
	const sent = new Set<number>(); // messages that carry its influence
	if (laneOf(events[focus]!) < 0) return;
	for (let i = focus; i < events.length; i++) {
		const e = events[i]!;
		const lane = laneOf(e);
		const within = i === focus || lanes.has(lane) || (e.msg !== undefined && !begins(e) && sent.has(e.msg));
		if (!within) continue;
		if (i !== focus) codes[i] = FUTURE;
		if (lane >= 0) lanes.add(lane);
		if (begins(e)) sent.add(e.msg!);
	}
}

/** compare says in a sentence how two events relate. */
export function compare(doc: Doc, a: number, b: number): string {
	const [first, second] = a <= b ? [a, b] : [b, a];
	const one = said(doc, first);
	const other = said(doc, second);
	switch (relation(relationsTo(doc, first), second)) {
		case "future":
			return `“${one}” happened before “${other}”: it can have caused it.`;
		case "past":
			return `“${other}” happened before “${one}”: it can have caused it.`;
		case "focus":
			return `“${one}” is one and the same event.`;
		default:
			return `“${one}” and “${other}” are concurrent: neither can have caused the other, whatever the clock says.`;
	}
}

function said(doc: Doc, event: number): string {
	return doc.events[event]!.text.replace(/\.$/, "");
}
