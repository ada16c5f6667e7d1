import "./browser";
import assert from "node:assert/strict";
import test from "node:test";
import { compare, dotRelation, relation, relationsTo } from "../causality";
import { random } from "./browser";
import { type Brief, docOf, receive, send } from "./run";

test("past and future are those of the happened-before relation", () => {
	const next = random(3);
	const events: Brief[] = [];
	const flying: { msg: number; from: number; to: number }[] = [];
	for (let msg = 1; events.length < 120; ) {
		if (flying.length === 0 || next(2)) {
			const from = next(4), to = (from + 1 + next(3)) % 4;
			events.push(send(msg, from, to));
			flying.push({ msg: msg++, from, to });
		} else {
			const [m] = flying.splice(next(flying.length), 1);
			events.push(receive(m!.msg, m!.to, m!.from));
		}
	}
	const d = docOf(4, events);
	// The transitive closure of process order and of messages.
	const before = events.map((e, i) => new Set<number>(events.flatMap((o, j) => (j < i && (o.proc === e.proc || (e.kind === "receive" && o.kind === "send" && o.msg === e.msg)) ? [j] : []))));
	for (const all of before) for (const j of [...all]) for (const k of before[j]!) all.add(k);
	for (let i = 0; i < events.length; i++) {
		const r = relationsTo(d, i, [i]);
		for (let j = 0; j < events.length; j++) {
			const want = i === j ? "focus" : before[i]!.has(j) ? "past" : before[j]!.has(i) ? "future" : "concurrent";
			assert.equal(relation(r, j), want, `${j} seen from ${i}`);
		}
		assert.deepEqual(r.vector, [0, 1, 2, 3].map((p) => events.filter((e, j) => e.proc === p && (j === i || before[i]!.has(j))).length));
		const [j] = [(i * 7 + 11) % events.length];
		if (i !== j) assert.equal(compare(d, i, j, (x) => [x]).includes("are concurrent"), !before[i]!.has(j) && !before[j]!.has(i));
	}
});

test("a dot is all that a process did at a moment", () => {
	// P1 asks and sends twice at once; P2 answers the first.
	const d = docOf(3, [{ kind: "ask" }, { ...send(1, 0, 1), part: true }, { ...send(2, 0, 2), part: true }, receive(1, 1, 0), receive(2, 2, 0)]);
	const dot = [0, 1, 2];
	const r = relationsTo(d, 2, dot);
	assert.equal(dotRelation(r, dot), "focus");
	assert.equal(dotRelation(r, [3]), "future"); // of the first message, although the last event is another
	assert.equal(dotRelation(r, [4]), "future");
	const other = relationsTo(docOf(3, d.events), 3, [3]);
	assert.equal(dotRelation(other, dot), "past");
	assert.equal(dotRelation(other, [4]), "concurrent");
	assert.equal(compare(d, 2, 3, (e) => (e < 3 ? dot : [e])), "“event 1” happened before “event 3”: it may have caused it.");
});
