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
	messages: Messages;
	flights: Int32Array[]; // the numbers of those under way at every so many events
}

/**
 * The messages of a run, by their numbers. There may be a hundred thousand, of which few
 * are ever looked at: what is kept of the others is where they begin and end.
 */
class Messages {
	private readonly sent: Int32Array; // the event before which each was sent; 0 if it was not
	private readonly over: Int32Array; // and before which each ended
	private readonly seen = new Map<number, Message>();
	private readonly kinds: Map<string, number>;

	constructor(private readonly doc: Doc) {
		this.sent = new Int32Array(doc.events.length + 1);
		this.over = new Int32Array(doc.events.length + 1);
		this.kinds = new Map(doc.kinds.map((k, i) => [k.name, i]));
	}

	send(msg: number, event: number): void {
		this.sent[msg] = event + 1;
	}

	end(msg: number, event: number): void {
		this.over[msg] = event + 1;
	}

	/** sentAt is the event that sent a message, or -1. */
	sentAt(msg: number): number {
		return (this.sent[msg] ?? 0) - 1;
	}

	/** endedAt is the event that ended a message, or Infinity. */
	endedAt(msg: number): number {
		return (this.over[msg] || Infinity) - 1;
	}

	/** get is a message, always the same one, if it was ever sent. */
	get(msg: number): Message | undefined {
		const sent = this.sentAt(msg);
		if (sent < 0) return undefined;
		let m = this.seen.get(msg);
		if (!m) this.seen.set(msg, (m = this.read(msg, sent)));
		return m;
	}

	private read(msg: number, sent: number): Message {
		const { events } = this.doc;
		const e = events[sent]!;
		const ended = this.endedAt(msg);
		return {
			msg, name: e.name ?? "", kind: this.kinds.get(e.name ?? "") ?? 0, from: e.proc, to: e.peer, sent, ended,
			how: ended === Infinity ? "open" : events[ended]!.kind === "receive" ? "arrives" : "lost", fields: e.fields ?? [], text: e.text,
		};
	}
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
	const story: Story = { stepOf: new Int32Array(events.length), starts: [], messages: new Messages(doc), flights: [] };
	const flying = new Set<number>();
	for (let i = 0; i < events.length; i++) {
		const e = events[i]!;
		if (i % every === 0) story.flights.push(Int32Array.from(flying));
		if (!e.part || i === 0) story.starts.push(i);
		story.stepOf[i] = story.starts.length - 1;
		if (!e.msg) continue;
		if (begins(e)) {
			story.messages.send(e.msg, i);
			flying.add(e.msg);
		} else if (flying.delete(e.msg)) story.messages.end(e.msg, i);
	}
	return story;
}

function begins(e: Happening): boolean {
	return e.kind === "send" || e.kind === "duplicate";
}

/** underWay are the messages that were sent and have not ended when so many events have happened. */
export function underWay(doc: Doc, cursor: number): Message[] {
	const { flights, messages } = storyOf(doc);
	const at = Math.min(Math.floor(cursor / every), flights.length - 1);
	const all: Message[] = [];
	const add = (msg: number) => {
		if (messages.endedAt(msg) >= cursor) all.push(messages.get(msg)!);
	};
	flights[at]?.forEach(add);
	for (let i = Math.max(at, 0) * every; i < cursor; i++) {
		const e = doc.events[i]!;
		if (e.msg && begins(e) && messages.sentAt(e.msg) === i) add(e.msg);
	}
	return all;
}

/** numberOf is the number of the step of an event, from 1. The verdict belongs to the last step before it: nothing happens any more. */
export function numberOf(doc: Doc, event: number): number {
	const { stepOf } = storyOf(doc);
	return stepOf[doc.kind === "graph" ? event : Math.min(event, Math.max(0, doc.ended - 1))]! + 1;
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
	const at = byEvent ? storyOf(doc).stepOf[event]! + 1 : doc.events[event]!.at;
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
