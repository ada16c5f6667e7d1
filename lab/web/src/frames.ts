// The state at a cursor: the key frame before it, and the changes since.

import type { Delta, Doc, Key } from "./document";
import { firstOf } from "./search";

export interface Frame {
	at: number;
	states: (readonly [string, string])[][]; // fields of each lane
	status: string[];
	waits: string[];
}

interface Kept {
	frame: Frame;
	next: number; // first delta that is not in it
	shown: Frame; // what is shown of it
}

const kept = new WeakMap<Doc, Kept>();

/** frameAt returns the state after that many events. */
export function frameAt(doc: Doc, cursor: number): Frame {
	const last = kept.get(doc);
	if (last?.frame.at === cursor) return last.shown;
	const key = keyBefore(doc, cursor);
	// It is usually not far from where it was last looked at.
	const from = last && last.frame.at < cursor && last.frame.at >= key.event ? last : { frame: { ...key, at: key.event }, next: after(doc.deltas, key.event) };
	const { states, status, waits } = from.frame;
	const frame = { at: cursor, states: [...states], status: [...status], waits: [...waits] };
	let next = from.next;
	for (; next < doc.deltas.length && doc.deltas[next]!.event <= cursor; next++) apply(frame, doc.deltas[next]!);
	const shown = midStep(doc, cursor) ? unexplained(frame) : frame;
	kept.set(doc, { frame, next, shown });
	return shown;
}

/**
 * midStep returns whether a cursor is between two events of one step. States are those after
 * the step there, and some of its messages are not sent yet.
 */
export function midStep(doc: Doc, cursor: number): boolean {
	return cursor > 0 && doc.events[cursor]?.part === true;
}

/** unexplained leaves out why lanes wait: the reasons are those before the step. */
function unexplained(frame: Frame): Frame {
	return { ...frame, waits: frame.waits.map((why, i) => (why || frame.status[i] === "waiting" ? "waits" : "")) };
}

/**
 * changedAt returns what changed from one cursor to another: for each lane the names of
 * its fields, "" for its status and "?" for why it waits.
 */
export function changedAt(doc: Doc, from: number, to: number): Map<number, Set<string>> {
	const changed = new Map<number, Set<string>>();
	if (to === 0) return changed;
	for (let i = after(doc.deltas, from); i < doc.deltas.length && doc.deltas[i]!.event <= to; i++) {
		const { proc, set, status, wait } = doc.deltas[i]!;
		let names = changed.get(proc);
		if (!names) changed.set(proc, (names = new Set()));
		for (const [name] of set ?? []) names.add(name);
		if (status !== undefined) names.add("");
		if (wait !== undefined) names.add("?");
	}
	return changed;
}

function keyBefore({ keys }: Doc, cursor: number): Key {
	return keys[Math.max(0, firstOf(keys.length, (i) => keys[i]!.event > cursor) - 1)]!;
}

/** after returns the place of the first delta after a cursor. */
function after(deltas: Delta[], cursor: number): number {
	return firstOf(deltas.length, (i) => deltas[i]!.event > cursor);
}

function apply(frame: Frame, { proc, set, status, wait }: Delta): void {
	if (set) {
		const fields = [...(frame.states[proc] ?? [])];
		for (const [name, value] of set) {
			const i = fields.findIndex((f) => f[0] === name);
			if (value === null) {
				if (i >= 0) fields.splice(i, 1);
			} else if (i >= 0) fields[i] = [name, value];
			else fields.push([name, value]);
		}
		frame.states[proc] = fields;
	}
	if (status !== undefined) frame.status[proc] = status;
	if (wait !== undefined) frame.waits[proc] = wait;
}
