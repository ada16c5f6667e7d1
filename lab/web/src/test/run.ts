// Small runs for tests, as the lab would describe them.

import type { Delta, Doc, Happening, Key } from "../document";
import type { Layout } from "../layout";

/** An event, of which a test says only what matters. */
export type Brief = Partial<Happening> & { kind: string };

/** layoutOf returns an empty layout of some lanes, in which a tick is ten pixels. */
export function layoutOf(lanes: number, more: Partial<Layout> = {}): Layout {
	return {
		page: { width: 900, height: 400, left: 50, plot: 1000, top: 40, pitch: 40, axis: 300 },
		window: { from: 0, to: 100, end: 100, unit: 1, margin: 0, room: 1000, whole: true, messages: 0, allmessages: 0, entries: 0, allentries: 0, part: "" },
		title: [], part: { text: "", x: 0, y: 0 }, footer: [],
		lanes: Array.from({ length: lanes }, (_, lane) => ({ text: `P${lane + 1}`, x: 0, lane, dy: 4 })),
		kinds: [], lives: [], bars: [], uprights: [], arrows: [], dots: [], marks: [], ticks: [], axis: { text: "", x: 0, y: 0 }, legend: [], leftout: 0,
		...more,
	};
}

/** docOf returns a run of some processes with these events, one tick apart. */
export function docOf(processes: number, events: Brief[], more: Partial<Doc> = {}): Doc {
	const names = Array.from({ length: processes }, (_, i) => `P${i + 1}`);
	const key: Key = { event: 0, states: names.map(() => []), status: names.map(() => "idle"), waits: names.map(() => "") };
	return {
		title: "Test", kind: "lock",
		algorithm: { name: "test", title: "Test", authors: "", year: 0, paper: "", wrong: "", weaker: "", fixed: "", network: "fifo", deaths: false },
		names, steps: false, unit: 1, network: "fifo", badges: [], kinds: [],
		events: events.map((e, i) => ({ at: i, proc: 0, peer: -1, text: `event ${i}.`, ...e })),
		ended: events.length, lines: [], layout: layoutOf(processes), keys: [key], deltas: [],
		scene: { shape: "complete", title: "", places: [], links: [], groups: [] },
		measures: [], properties: [], violations: [], expects: [], end: null,
		...more,
	};
}

/** becomes is a change of a status. */
export function becomes(event: number, proc: number, status: string, more: Partial<Delta> = {}): Delta {
	return { event, proc, status, ...more };
}

/** send and receive are the ends of a message. */
export const send = (msg: number, proc: number, peer: number): Brief => ({ kind: "send", msg, proc, peer, name: "REQUEST" });
export const receive = (msg: number, proc: number, peer: number): Brief => ({ kind: "receive", msg, proc, peer, name: "REQUEST" });
