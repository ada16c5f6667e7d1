import "./browser";
import assert from "node:assert/strict";
import test from "node:test";
import { random } from "./browser";
import { firstOf } from "../search";
import { cursorAt, numberOf, placeOf, stepAfter, stepBefore, storyOf, underWay } from "../story";
import { type Brief, docOf, receive, send } from "./run";

test("a step is all events that belong together", () => {
	const d = docOf(2, [{ kind: "ask" }, { ...send(1, 0, 1), part: true }, receive(1, 1, 0), { ...send(2, 1, 0), part: true }, { kind: "enter" }]);
	const forward = [0];
	while (forward.at(-1)! < d.events.length) forward.push(stepAfter(d, forward.at(-1)!));
	assert.deepEqual(forward, [0, 2, 4, 5]);
	assert.deepEqual([5, 4, 3, 2, 1, 0].map((at) => stepBefore(d, at)), [4, 2, 2, 0, 0, 0]);
	assert.deepEqual([0, 1, 2, 3, 4].map((i) => numberOf(d, i)), [1, 1, 2, 2, 3]);
});

test("messages in flight are those that were sent and have not ended, in runs of any length", () => {
	const next = random();
	const events: Brief[] = [];
	const flying: number[] = [];
	const want: number[][] = [[]];
	for (let msg = 1; events.length < 3000; ) {
		if (flying.length === 0 || next(5) < 3) {
			events.push(send(msg, 0, 1));
			flying.push(msg++);
		} else {
			const [gone] = flying.splice(next(flying.length), 1);
			events.push(next(4) === 0 ? { kind: "drop", msg: gone!, proc: 0 } : receive(gone!, 1, 0));
		}
		want.push([...flying]);
	}
	const d = docOf(2, events);
	for (let at = 0; at <= events.length; at += 7) assert.deepEqual(underWay(d, at).map((m) => m.msg).sort((a, b) => a - b), want[at]!.sort((a, b) => a - b), `at ${at}`);
	const lost = events.findIndex((e) => e.kind === "drop");
	assert.equal(storyOf(d).messages.get(events[lost]!.msg!)!.how, "lost");
	assert.equal(storyOf(d).messages.get(123_456), undefined);
});

test("a place in the plot is a cursor, and a cursor is a place", () => {
	const d = docOf(1, Array.from({ length: 50 }, () => ({ kind: "note" })));
	for (const byEvent of [false, true]) {
		for (let i = 0; i < 50; i++) assert.equal(cursorAt(d, placeOf(d, i, byEvent), byEvent), i + 1);
		assert.equal(cursorAt(d, -1, byEvent), 0);
		assert.equal(cursorAt(d, 1e6, byEvent), 50);
	}
});

test("binary search finds the first, or none", () => {
	for (let n = 0; n < 20; n++) for (let k = 0; k <= n; k++) assert.equal(firstOf(n, (i) => i >= k), k);
});
