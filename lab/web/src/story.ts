// What the list of events shows when it is read once: which events form one step, where
// each message was when, and where a moment is in the diagram.

import type { Doc, Happening } from "./document";

/** A message, from its sending to its end. */
export interface Message {
	msg: number;
	name: string;
	kind: number; // index in Doc.kinds
	from: number;
	to: number;
	sent: number; // event
	ended: number; // event; Infinity if it is in flight to the end
	how: "arrives" | "lost" | "open";
	fields: [string, string][];
	text: string; // sentence of its sending
}

export interface Story {
	stepOf: Int32Array; // step number of each event
	starts: number[]; // first event of each step
	messages: Messages;
	flights: Int32Array[]; // numbers of the messages in flight, at regular intervals of events
}

/**
 * The messages of a run, by their numbers. There may be a hundred thousand, of which few
 * are ever looked at: for the others only their beginning and end are kept.
 */
class Messages {
	private readonly sent: Int32Array; // event before which each was sent; 0 if it was not
	private readonly over: Int32Array; // event before which each ended
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

	/** sentAt returns the event that sent a message, or -1. */
	sentAt(msg: number): number {
		return (this.sent[msg] ?? 0) - 1;
	}

	/** endedAt returns the event that ended a message, or Infinity. */
	endedAt(msg: number): number {
		return (this.over[msg] || Infinity) - 1;
	}

	/** get returns a message, always the same object, if it was ever sent. */
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

/** underWay returns the messages that were sent and have not ended after that many events. */
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

/**
 * numberOf returns the number of an event's step, from 1. The verdict belongs to the last
 * step before it, because nothing happens after that.
 */
export function numberOf(doc: Doc, event: number): number {
	const { stepOf } = storyOf(doc);
	return stepOf[doc.kind === "graph" ? event : Math.min(event, Math.max(0, doc.ended - 1))]! + 1;
}

/** stepBefore returns the cursor before the step that has just happened. */
export function stepBefore(doc: Doc, cursor: number): number {
	if (cursor <= 0) return 0;
	const { stepOf, starts } = storyOf(doc);
	return starts[stepOf[cursor - 1]!]!;
}

/** stepAfter returns the cursor after the next step. */
export function stepAfter(doc: Doc, cursor: number): number {
	if (cursor >= doc.events.length) return doc.events.length;
	const { stepOf, starts } = storyOf(doc);
	return starts[stepOf[cursor]! + 1] ?? doc.events.length;
}

/** clockOf formats a time of the run in its unit. */
export function clockOf(doc: Doc, at: number): string {
	return String(Math.round((at / doc.unit) * 1e4) / 1e4);
}

/** timeAt returns the time of the last event before a cursor. */
export function timeAt(doc: Doc, cursor: number): number {
	return cursor > 0 ? doc.events[cursor - 1]!.at : 0;
}

/** placeOf returns the distance of an event from the beginning of the plot. */
export function placeOf(doc: Doc, event: number, byEvent: boolean): number {
	const { from, to, margin, room } = doc.layout.window;
	if (event < 0) return margin;
	const at = byEvent ? storyOf(doc).stepOf[event]! + 1 : doc.events[event]!.at;
	return margin + ((at - from) * room) / (to - from);
}

/** cursorAt returns the cursor after everything that is not right of a place in the plot. */
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
