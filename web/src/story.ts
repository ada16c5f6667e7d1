// What the list of events tells when it is read once: which events are one step,
// where each message was when, and where a moment is in the diagram.

import type { Doc, Happening } from "./document";

/** A message, from where it was sent to what became of it. */
export interface Message {
	msg: number;
	name: string;
	kind: number; // in Doc.kinds
	from: number;
	to: number;
	sent: number; // the event
	ended: number; // the event; Infinity if it is under way to the end
	how: "arrives" | "lost" | "open";
	fields: [string, string][];
	text: string; // the sentence of its sending
}

export interface Story {
	stepOf: Int32Array; // of each event, the number of its step
	starts: number[]; // of each step, its first event
	messages: Map<number, Message>;
	flights: Message[][]; // who is under way at every so many events
}

const told = new WeakMap<Doc, Story>();
const every = 512; // events between two of Story.flights

/** storyOf reads the events of a document, once. */
export function storyOf(doc: Doc): Story {
	let story = told.get(doc);
	if (!story) told.set(doc, (story = read(doc)));
	return story;
}

function read(doc: Doc): Story {
	const { events } = doc;
	const kinds = new Map(doc.kinds.map((k, i) => [k.name, i]));
	const story: Story = { stepOf: new Int32Array(events.length), starts: [], messages: new Map(), flights: [] };
	const flying = new Map<number, Message>();
	for (const [i, e] of events.entries()) {
		if (i % every === 0) story.flights.push([...flying.values()]);
		if (!e.part || i === 0) story.starts.push(i);
		story.stepOf[i] = story.starts.length - 1;
		if (!e.msg) continue;
		if (e.kind === "send" || e.kind === "duplicate") {
			const m: Message = {
				msg: e.msg, name: e.name ?? "", kind: kinds.get(e.name ?? "") ?? 0, from: e.proc, to: e.peer,
				sent: i, ended: Infinity, how: "open", fields: e.fields ?? [], text: e.text,
			};
			story.messages.set(e.msg, m);
			flying.set(e.msg, m);
		} else end(flying, e, i);
	}
	return story;
}

function end(flying: Map<number, Message>, e: Happening, i: number): void {
	const m = flying.get(e.msg!);
	if (!m) return;
	m.ended = i;
	m.how = e.kind === "receive" ? "arrives" : "lost";
	flying.delete(m.msg);
}

/** underWay are the messages that were sent and have not ended when so many events have happened. */
export function underWay(doc: Doc, cursor: number): Message[] {
	const { flights, messages } = storyOf(doc);
	const at = Math.min(Math.floor(cursor / every), flights.length - 1);
	const all = (flights[at] ?? []).filter((m) => m.ended >= cursor);
	for (let i = Math.max(at, 0) * every; i < cursor; i++) {
		const e = doc.events[i]!;
		if (e.kind !== "send" && e.kind !== "duplicate") continue;
		const m = messages.get(e.msg ?? 0);
		if (m && m.sent === i && m.ended >= cursor) all.push(m);
	}
	return all;
}

/** stepBefore is the cursor before the step that has just happened. */
export function stepBefore(doc: Doc, cursor: number): number {
	if (cursor <= 0) return 0;
	const { stepOf, starts } = storyOf(doc);
	return starts[stepOf[cursor - 1]!]!;
}

/** stepAfter is the cursor after the step that comes next. */
export function stepAfter(doc: Doc, cursor: number): number {
	if (cursor >= doc.events.length) return doc.events.length;
	const { stepOf, starts } = storyOf(doc);
	return starts[stepOf[cursor]! + 1] ?? doc.events.length;
}

/** clockOf is a time of the run in its unit, as people read it. */
export function clockOf(doc: Doc, at: number): string {
	return String(Math.round((at / doc.unit) * 1e4) / 1e4);
}

/** timeAt is when the last event before a cursor was. */
export function timeAt(doc: Doc, cursor: number): number {
	return cursor > 0 ? doc.events[cursor - 1]!.at : 0;
}

/** placeOf is how far right of where the plot begins an event is. */
export function placeOf(doc: Doc, event: number, byEvent: boolean): number {
	const { from, to, margin, room } = doc.layout.window;
	if (event < 0) return margin;
	const at = byEvent ? storyOf(doc).stepOf[event]! : doc.events[event]!.at;
	return margin + ((at - from) * room) / (to - from);
}

/** cursorAt is the cursor after all that is not right of a place in the plot. */
export function cursorAt(doc: Doc, x: number, byEvent: boolean): number {
	let low = 0;
	let high = doc.events.length;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (placeOf(doc, mid, byEvent) <= x) low = mid + 1;
		else high = mid;
	}
	return low;
}
