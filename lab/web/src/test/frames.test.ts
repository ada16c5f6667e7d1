import "./browser";
import assert from "node:assert/strict";
import test from "node:test";
import { changedAt, frameAt, midStep } from "../frames";
import { random } from "./browser";
import { docOf } from "./run";
import type { Delta, Key } from "../document";

test("the state at a cursor is the same, whatever was looked at before", () => {
	const next = random(7);
	const deltas: Delta[] = [];
	for (let event = 1; event <= 200; event++) {
		const value = next(4) === 0 ? null : String(next(9));
		if (next(3) > 0) deltas.push({ event, proc: next(3), set: [[`f${next(3)}`, value]], ...(next(2) ? { status: ["idle", "waiting", "inside"][next(3)]! } : {}) });
	}
	const events = Array.from({ length: 200 }, () => ({ kind: "note" }));
	const at = (cursor: number) => { // from the beginning, each time
		const states = [0, 1, 2].map(() => new Map<string, string>());
		const status = ["idle", "idle", "idle"];
		for (const d of deltas) {
			if (d.event > cursor) break;
			for (const [name, value] of d.set ?? []) value === null ? states[d.proc]!.delete(name) : states[d.proc]!.set(name, value);
			if (d.status !== undefined) status[d.proc] = d.status;
		}
		return { states: states.map((s) => Object.fromEntries(s)), status };
	};
	const key = (event: number): Key => ({ event, states: at(event).states.map((s) => Object.entries(s)), status: at(event).status, waits: ["", "", ""] });
	const d = docOf(3, events, { deltas, keys: [key(0), key(64), key(128)] });
	for (let n = 0; n < 400; n++) {
		const cursor = n % 3 === 0 ? next(201) : Math.min(200, (n * 5) % 201);
		const frame = frameAt(d, cursor);
		assert.deepEqual({ states: frame.states.map((s) => Object.fromEntries(s)), status: frame.status }, at(cursor), `at ${cursor}`);
	}
});

test("what changed is named, and in the middle of a step no reason is given", () => {
	const d = docOf(2, [{ kind: "ask" }, { kind: "send", msg: 1, part: true }, { kind: "note" }], {
		deltas: [{ event: 1, proc: 0, set: [["clock", "1"]], status: "waiting", wait: "waits for OK from P2" }, { event: 3, proc: 1, set: [["asked", "yes"]] }],
	});
	assert.deepEqual([...changedAt(d, 0, 2)].map(([lane, names]) => [lane, [...names]]), [[0, ["clock", "", "?"]]]);
	assert.equal(changedAt(d, 2, 0).size, 0);
	assert.deepEqual([0, 1, 2, 3].map((at) => midStep(d, at)), [false, true, false, false]);
	assert.equal(frameAt(d, 1).waits[0], "waits");
	assert.equal(frameAt(d, 2).waits[0], "waits for OK from P2");
});
