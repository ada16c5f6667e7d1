import "./browser";
import assert from "node:assert/strict";
import test from "node:test";
import { folded } from "../fold";
import type { Arrow } from "../layout";
import { Along, aboveOf, heightOf, pathOf, rowOf, tall } from "../place";
import { Room } from "../room";
import { stretched } from "../stretch";
import { thingsIn } from "../plot";
import { random } from "./browser";
import { docOf, layoutOf } from "./run";

const arrow = (x1: number, lane1: number, x2: number, lane2: number): Arrow =>
	({ message: 1, kind: 0, sent: 0, ended: 0, from: { x: x1, lane: lane1, dy: 0 }, to: { x: x2, lane: lane2, dy: 0 }, bend: [], end: "arrives", copy: false, relation: "", tip: "" });

test("of a long plot exactly what is in a part is found", () => {
	const next = random(5);
	const all = Array.from({ length: 500 }, () => ({ x1: next(10_000), wide: next(3) === 0 ? next(5000) : next(50) }));
	const along = new Along(all, (t) => t.x1, (t) => t.x1 + t.wide);
	for (let n = 0; n < 200; n++) {
		const from = next(10_000), to = from + next(800);
		const want = all.filter((t) => t.x1 <= to && t.x1 + t.wide >= from);
		assert.deepEqual(new Set(along.within(from, to)), new Set(want));
	}
});

test("an arrow that goes on for ever is drawn as far as it is seen", () => {
	const l = layoutOf(3);
	const far = pathOf(l, arrow(0, 0, 100_000, 2), 400, 800);
	const xs = [...far.matchAll(/[ML]([-\d.]+)/g)].map((m) => Number(m[1]));
	assert.deepEqual(xs, [400, 800]);
	assert.equal(pathOf(l, arrow(10, 0, 20, 1), 0, 100), `M10 ${aboveOf(l)}L20 ${aboveOf(l) + 40}`);
	const things = thingsIn({ d: docOf(3, [], { layout: layoutOf(3, { arrows: [arrow(0, 0, 10, 1), arrow(5000, 0, 5010, 1)] }) }), x1: 0, x2: 400, y1: 0, y2: 400 });
	assert.equal(things.arrows.length, 1);
});

test("lanes of processes that only answer are folded, in large groups", () => {
	const events = [{ kind: "ask", proc: 0 }, { kind: "enter", proc: 29 }];
	const d = docOf(30, events);
	const small = folded(d);
	assert.equal(folded(d), small);
	assert(tall(small.layout) < tall(d.layout) * 0.5);
	assert.deepEqual(small.layout.lanes.filter((l) => l.text).map((l) => l.text), ["P1", "P2–29", "P30"]);
	let last = -1;
	for (let lane = 0; lane < 30; lane++) {
		assert(rowOf(small.layout, lane) > last, `lane ${lane} is not below the one before`);
		last = rowOf(small.layout, lane);
	}
	const few = docOf(8, events);
	assert.equal(folded(few), few);
});

test("a small run fills its panel, and an arrow still goes from lane to lane", () => {
	const d = docOf(3, [], { layout: layoutOf(3, { arrows: [arrow(100, 0, 200, 2)], dots: [{ at: { x: 100, lane: 1, dy: 0 }, steps: [0], relation: "", tip: "" }] }) });
	const wide = stretched(d, 2, 1.5);
	assert.deepEqual([wide.layout.arrows[0]!.from.x, wide.layout.arrows[0]!.to.x, wide.layout.dots[0]!.at.x], [200, 400, 200]);
	assert.equal(heightOf(wide.layout, { lane: 2 }) - heightOf(wide.layout, { lane: 0 }), 1.5 * 80);
	assert.equal(stretched(d, 1, 1), d);
});

test("what is placed avoids what was placed before, as far as there is room", () => {
	const room = Room.of(200, 100);
	room.take({ x: 50, y: 50, r: 20 });
	room.draw({ x1: 0, y1: 10, x2: 200, y2: 10 });
	const box = (x: number, y: number) => ({ x, y, wide: 30, high: 10 });
	assert.deepEqual(room.place([box(40, 45), box(100, 5), box(100, 40)]).at, box(100, 40)); // not on the circle, nor on the line
	assert.deepEqual(room.copy().place([box(100, 40), box(140, 60)]), { at: box(140, 60), free: true });
	assert.equal(room.place([box(190, 40), box(45, 50)]).free, false); // both are bad
});
