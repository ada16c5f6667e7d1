import "./browser";
import assert from "node:assert/strict";
import test from "node:test";
import { effect } from "@preact/signals-core";
import { Feed } from "../console/feed";
import type { View } from "../console/views";

interface Doc extends View {
	rate: number;
	gone?: number;
	done?: boolean;
}

// The node of these tests: each stream that is opened is a script of events.
const scripts: string[][] = [];
let streams = 0;

globalThis.fetch = (async (url: string) => {
	if (!String(url).includes("stream")) return new Response(JSON.stringify({ node: "a", who: "anyone", reads: true }));
	streams++;
	const events = scripts.shift() ?? [];
	return new Response(new ReadableStream({
		start(out) {
			for (const e of events) out.enqueue(new TextEncoder().encode(e));
		},
	}));
}) as unknown as typeof fetch;

const event = (id: number, kind: string, data: object) => `id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;

/** come waits until something is so. */
function come(is: () => boolean): Promise<void> {
	return new Promise((done) => {
		const stop = effect(() => {
			if (is()) queueMicrotask(() => (stop(), done()));
		});
	});
}

test("a document follows its changes, and ends when nothing will change", async () => {
	scripts.push([event(1, "full", { at_ms: 1, rate: 1, gone: 2 }), ": alive\n\n", event(2, "delta", { at_ms: 2, rate: 5, gone: null }), event(3, "error", { error: "no majority", final: false }), event(4, "delta", { rate: 6 })]);
	const feed = new Feed<Doc>("test", {}, false);
	const troubles: string[] = [];
	effect(() => void troubles.push(feed.trouble.value));
	await come(() => feed.doc.value?.rate === 6); // an error that passes ends nothing
	assert.deepEqual(feed.doc.value, { at_ms: 2, rate: 6 });
	assert.deepEqual(troubles, ["", "no majority", ""]);
	assert.equal(streams, 1);
	feed.close();
});

test("events that are missing are noticed, and the document is asked for again", async () => {
	const before = streams;
	scripts.push([event(1, "full", { at_ms: 1, rate: 1 }), event(3, "delta", { rate: 3 })], [event(1, "full", { at_ms: 4, rate: 4 })]);
	const feed = new Feed<Doc>("test", {}, false);
	await come(() => feed.doc.value?.rate === 4);
	assert.equal(streams, before + 2);
	feed.close();
});

test("a change of nothing is no document", async () => {
	scripts.push([event(1, "delta", { rate: 3 })], [event(1, "full", { at_ms: 4, rate: 4, done: true })]);
	const feed = new Feed<Doc>("test", {}, false);
	await come(() => feed.doc.value !== undefined);
	assert.equal(feed.doc.value?.rate, 4);
	feed.close();
});
