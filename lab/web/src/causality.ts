// What happened before what: the order of the events of each process, and of sending
// before receiving. It follows trace.Causality.

import type { Doc, Happening } from "./document";

/** How an event relates to those in focus. */
type Relation = "past" | "future" | "concurrent" | "focus";

const names = ["concurrent", "past", "future", "focus"] as const;
const CONCURRENT = 0, PAST = 1, FUTURE = 2, FOCUS = 3;

/** How all events relate to those of a dot. */
export interface Relations {
	focus: number; // event in focus
	codes: Uint8Array;
	vector: number[]; // for each lane, how many of its events are in the past of that event, itself included
}

const kept = new WeakMap<Doc, Relations>();

/**
 * relationsTo computes how all events relate to one event and those with the same dot.
 * These follow one another, so that what comes after the first of them is their future,
 * and what comes before the last is their past.
 */
export function relationsTo(doc: Doc, focus: number, dot: number[]): Relations {
	const before = kept.get(doc);
	if (before?.focus === focus) return before;
	const codes = new Uint8Array(doc.events.length).fill(CONCURRENT);
	const last = dot.at(-1)!;
	spread(doc.events, dot[0]!, codes);
	const vector = gather(doc, last, codes);
	for (const i of dot) codes[i] = FOCUS;
	const relations = { focus, codes, vector: focus === last ? vector : gather(doc, focus) };
	kept.set(doc, relations);
	return relations;
}

/** relation returns how an event relates to the focus. */
export function relation(r: Relations, event: number): Relation {
	return names[r.codes[event] ?? CONCURRENT]!;
}

/** dotRelation returns how a dot relates to the focus: as any of its events does. */
export function dotRelation({ codes }: Relations, steps: number[]): Relation {
	let how: number = CONCURRENT;
	for (const i of steps) {
		const code = codes[i] ?? CONCURRENT;
		if (code === FOCUS || code === PAST) return names[code]!;
		if (code === FUTURE) how = FUTURE;
	}
	return names[how]!;
}

/** laneOf returns the lane of an event, or -1: the loss of a message belongs to no lane. */
function laneOf(e: Happening): number {
	return e.kind === "drop" ? -1 : e.proc;
}

function begins(e: Happening): boolean {
	return e.kind === "send" || e.kind === "duplicate";
}

/** gather finds the past of an event, going backwards from it, and counts it by lane. */
function gather(doc: Doc, focus: number, codes?: Uint8Array): number[] {
	const vector = doc.names.map(() => 0);
	const lanes = new Set<number>();
	const wanted = new Set<number>(); // messages whose arrival is in the past
	for (let i = focus; i >= 0; i--) {
		const e = doc.events[i]!;
		const lane = laneOf(e);
		const within = i === focus || lanes.has(lane) || (begins(e) && wanted.has(e.msg!));
		if (!within) continue;
		if (codes) codes[i] = PAST;
		if (lane >= 0) {
			lanes.add(lane);
			vector[lane]!++;
		}
		if (begins(e)) wanted.delete(e.msg!);
		if (e.kind === "receive" || (i === focus && e.kind === "drop")) wanted.add(e.msg ?? 0);
	}
	return vector;
}

/** spread finds the future of an event, going forwards from it. */
function spread(events: Happening[], focus: number, codes: Uint8Array): void {
	const lanes = new Set<number>();
	const sent = new Set<number>(); // messages that carry its influence
	if (laneOf(events[focus]!) < 0) return;
	for (let i = focus; i < events.length; i++) {
		const e = events[i]!;
		const lane = laneOf(e);
		const within = i === focus || lanes.has(lane) || (e.msg !== undefined && !begins(e) && sent.has(e.msg));
		if (!within) continue;
		codes[i] = FUTURE;
		if (lane >= 0) lanes.add(lane);
		if (begins(e)) sent.add(e.msg!);
	}
}

/** compare says in a sentence how two events relate, or else others that have the same dots. */
export function compare(doc: Doc, one: number, other: number, dotOf: (event: number) => number[]): string {
	const [a, b] = one <= other ? [one, other] : [other, one];
	const [dotA, dotB] = [dotOf(a), dotOf(b)];
	const pair = caused(doc, [a], [b]) ?? (dotA === dotB ? undefined : caused(doc, dotA, dotB) ?? caused(doc, dotB, dotA));
	if (!pair) return `“${said(doc, a)}” and “${said(doc, b)}” are concurrent: neither can have caused the other, whatever the clock says.`;
	return `“${said(doc, pair[0])}” happened before “${said(doc, pair[1])}”: it may have caused it.`;
}

/**
 * caused finds the last event of a dot that can have caused one of another dot, and the
 * last one there.
 */
function caused(doc: Doc, one: number[], other: number[]): [number, number] | undefined {
	const effect = other.at(-1)!;
	const codes = new Uint8Array(effect + 1);
	gather(doc, effect, codes);
	const cause = one.findLast((i) => i !== effect && codes[i] === PAST);
	return cause === undefined ? undefined : [cause, effect];
}

function said(doc: Doc, event: number): string {
	return doc.events[event]!.text.replace(/\.$/, "");
}
