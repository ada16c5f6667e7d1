import "./browser";
import assert from "node:assert/strict";
import test from "node:test";
import { random } from "./browser";
import { quantile, shownOf } from "../console/chart";
import { age, ago, duration, iso, rate, some } from "../console/format";
import { drawnOf } from "../console/graph";
import { plain, short } from "../console/name";
import { at, merged, ordered } from "../console/patch";
import { type Wire, cyclesOf, planOf } from "../console/plan";
import { routeOf, toLock, toLocks } from "../console/route";
import { Series, stretches } from "../console/series";
import { Parser } from "../console/sse";

const hostile = `<img src=x onerror=alert(1)><script>alert(2)</script>"'&`;

test("merge patches are those of RFC 7386, and any name is an ordinary one", () => {
	for (const [target, patch, want] of [
		[`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`], [`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`], [`{"a":"b"}`, `{"a":null}`, `{}`],
		[`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`], [`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`], [`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`],
		[`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`], [`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`], [`["a","b"]`, `["c","d"]`, `["c","d"]`],
		[`{"a":"b"}`, `["c"]`, `["c"]`], [`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`], [`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`],
		[`{"__proto__":{"a":1}}`, `{"__proto__":{"b":2},"constructor":{"c":3}}`, `{"__proto__":{"a":1,"b":2},"constructor":{"c":3}}`],
		[`{"__proto__":1,"toString":2}`, `{"__proto__":null}`, `{"toString":2}`],
	]) assert.equal(JSON.stringify(merged(JSON.parse(target!), JSON.parse(patch!))), want, `${target} ${patch}`);
	const was = { a: { x: 1 }, b: { y: { z: 2 } } };
	const is = merged(was, { b: { y: { z: 3 } } }) as typeof was;
	assert(is.a === was.a && is !== was && is.b !== was.b && was.b.y.z === 2, "what does not change is another object");
	assert(at({}, "constructor") === undefined && at(undefined, "x") === undefined && at(JSON.parse('{"__proto__":7}') as Record<string, number>, "__proto__") === 7);
	assert.deepEqual(ordered<number>({ b: 1, a: 2, "10": 3 }, ["10", "a", "none", "b"]), [3, 2, 1]);
});

test("a stream is the same events, wherever its pieces end", () => {
	const text = ': alive\n\nid: 1\nevent: full\ndata: {"a":\ndata: 1}\n\nid:2\r\nevent:delta\r\ndata:  x\r\n\r\n: alive\n\ndata\n\nid: 3\revent: error\rdata: y\r\r\nid: 4\nevent: delta\n\n';
	const whole = new Parser().push(text);
	assert.deepEqual(whole, [{ id: "1", kind: "full", data: '{"a":\n1}' }, { id: "2", kind: "delta", data: " x" }, { id: "", kind: "", data: "" }, { id: "3", kind: "error", data: "y" }]);
	for (let i = 0; i <= text.length; i++) for (const j of [i, Math.min(text.length, i + 1), Math.min(text.length, i + 7)]) {
		const it = new Parser();
		assert.deepEqual([text.slice(0, i), text.slice(i, j), text.slice(j)].flatMap((piece) => it.push(piece)), whole);
	}
});

test("what cannot be seen in a name is shown, and nothing else changes", () => {
	for (const [text, want] of Object.entries({
		"orders/17": "orders/17", "": "", "<b>&": "<b>&", "a\u0000b\n": "a‹␀›b‹␊›", "\u202egnp.exe": "‹U+202E›gnp.exe", "a\u200b\u200db": "a‹U+200B›‹U+200D›b",
		"שלום 日本 é ü 👍": "שלום 日本 é ü 👍", "\u2066x\u2069": "‹U+2066›x‹U+2069›", "\u007f\u0085\u2028": "‹␡›‹U+0085›‹U+2028›", "x\u{E0041}": "x‹U+E0041›", "\ufeffx": "‹U+FEFF›x",
	})) assert.equal(plain(text), want);
	assert.deepEqual([short("abcdef", 6), short("abcdefg", 6), short("👍👍👍", 2)], ["abcdef", "abcde…", "👍…"]);
});

test("numbers, durations and moments", () => {
	assert.deepEqual([0, 0.0000042, 0.00042, 0.0042, 0.042, 0.42, 4.2, 42, 99.4, 142, 4000, 400_000, -1.5, NaN].map(duration), ["0 s", "4.2 µs", "420 µs", "4.2 ms", "42 ms", "420 ms", "4.2 s", "42 s", "99.4 s", "2 min 22 s", "1 h 6 min", "4 d 15 h", "−1.5 s", "–"]);
	assert.deepEqual([-3, 0.4, 59.9, 60, 3599, 3600, 200_000].map(age), ["0 s", "0 s", "59 s", "1 min 0 s", "59 min 59 s", "1 h 0 min", "2 d 7 h"]);
	assert.deepEqual([0, 1, 3, 99, 100, 5000, 50_000, 999_999].map(ago), ["now", "now", "3 s ago", "99 s ago", "2 min ago", "83 min ago", "14 h ago", "12 d ago"]);
	assert.deepEqual([undefined, 0, 0.001, 0.5, 9.99, 38.24, 212.4, 12_345, 1_234_567].map(rate), ["–", "0", "<0.01", "0.50", "9.99", "38.2", "212", "12.3k", "1.23M"]);
	assert.deepEqual([some(1, "lock"), some(1234, "lock"), iso(NaN), iso(0)], ["1 lock", "1,234 locks", "", "1970-01-01T00:00:00.000Z"]);
	const h = { bounds_s: [1, 2, 4, 8], counts: [0, 10, 80, 9, 1] };
	assert.deepEqual([0.05, 0.5, 0.9, 0.99, 1].map((part) => quantile(h, part).s), [1.5, 3, 4, 8, 8]);
	assert.deepEqual([shownOf(h), shownOf({ bounds_s: [1, 2], counts: [0, 0, 0] })], [{ from: 0, to: 5 }, { from: 0, to: 0 }]);
	assert.equal(quantile({ bounds_s: [1], counts: [0, 0] }, 0.5).bucket, -1);
});

test("a value holds until the next one, and is not drawn where it is not known", () => {
	const s = new Series();
	for (const [when, value] of [[0, 1], [100_000, 4], [100_000, 5], [150_000, 4]] as const) s.add(when, value);
	s.stop(200_000);
	s.add(250_000, 2);
	const { all, most } = stretches(s.points.value, 300_000);
	assert.equal(most, 4);
	assert.deepEqual(all.map((a) => a.map(({ x, y }) => [Math.round(x * 300), y])), [[[0, 0.25], [100, 0.25], [100, 1], [200, 1]], [[250, 0.5], [300, 0.5]]]);
	const long = new Series();
	for (let i = 0; i < 1000; i++) long.add(i * 1000, i);
	assert.equal(long.points.value.length, 301);
});

test("addresses hold any name", () => {
	for (const name of ["orders/17", "a b?c#d&e=f", "%41", hostile, "日本", "..", "__proto__"]) {
		const { place, name: found } = routeOf(toLock(name));
		assert.deepEqual([place, found], ["lock", name]);
		assert.deepEqual(routeOf(toLocks({ prefix: name, sort: "", after: "x" })).query, { prefix: name, after: "x" });
	}
	assert.deepEqual(["", "#", "#overview", "#nothing", "#lock/%E0%A4%A", "#locks", "#graph", "#elections?x=1"].map((hash) => routeOf(hash).place), ["overview", "overview", "overview", "overview", "overview", "locks", "graph", "elections"]);
});

test("in a wait-for graph no vertex covers another, and all that is no part of a cycle leads on", () => {
	const next = random();
	const sizes = { wide: 100, high: 40, along: 60, across: 10 };
	for (let round = 0; round < 300; round++) {
		const ids = Array.from({ length: 1 + next(30) }, (_, i) => `v${i}`);
		const wires: Wire[] = Array.from({ length: next(40) }, () => ({ from: ids[next(ids.length)]!, to: ids[next(ids.length)]! })).filter((w) => w.from !== w.to);
		const to = new Map(ids.map((id) => [id, wires.filter((w) => w.from === id).map((w) => w.to)]));
		const cycles = cyclesOf(ids, to);
		const cycle = new Map(cycles.flatMap((c, i) => c.map((id) => [id, i] as const)));
		const reach = (a: string, b: string, seen = new Set<string>()): boolean => a === b || (!seen.has(a) && (seen.add(a), to.get(a)!.some((c) => reach(c, b, seen))));
		for (const a of ids) for (const b of ids) assert.equal(cycle.get(a) === cycle.get(b), reach(a, b) && reach(b, a), `${round}: ${a} ${b}`);
		for (const w of wires) assert(cycle.get(w.from)! >= cycle.get(w.to)!);
		for (const down of [false, true]) {
			const { spots, ways, wide, high } = planOf(ids, wires, sizes, 700, down);
			assert.equal(spots.size, ids.length);
			for (const [i, a] of ids.entries()) {
				const s = spots.get(a)!;
				assert(s.x >= 49.9 && s.y >= 19.9 && s.x <= wide - 49.9 && s.y <= high - 19.9, `${round}: ${a} is outside`);
				for (const b of ids.slice(i + 1)) assert(Math.abs(s.x - spots.get(b)!.x) >= 100 || Math.abs(s.y - spots.get(b)!.y) >= 40, `${round}: ${a} covers ${b}`);
			}
			for (const w of wires) {
				const [from, into] = [cycle.get(w.from)!, cycle.get(w.to)!];
				if (from === into) assert(!ways.has(w));
				else if (cycles[from]!.length + cycles[into]!.length === 2) assert((down ? spots.get(w.to)!.y - spots.get(w.from)!.y : spots.get(w.to)!.x - spots.get(w.from)!.x) > 0, `${round}: leads back`);
			}
		}
	}
});

test("many that wait for the same are drawn as one; who is waited for is not among them", () => {
	const vertices: Record<string, { who: string; node: string }> = { h: { who: "h", node: "a" }, x: { who: "x", node: "a" } };
	const edges: Record<string, { from: string; to: string; lock: string }> = { x: { from: "x", to: "h", lock: "l" } };
	for (let i = 0; i < 20; i++) {
		vertices[`q${i}`] = { who: "q", node: "a" };
		edges[`q${i}`] = { from: `q${i}`, to: "h", lock: "l" };
	}
	edges["y"] = { from: "q3", to: "x", lock: "m" };
	edges["z"] = { from: "h", to: "unknown", lock: "n" };
	const d = drawnOf({ vertices, edges } as unknown as Parameters<typeof drawnOf>[0], 4);
	assert.deepEqual([...d.vertices].map(([id, v]) => (v.more ? `${id}+${v.more}` : id)), ["h", "x", "q0", "q1", "q2", "q3", "q4", "q5+15", "unknown"]);
	assert.equal(d.edges.length, 9);
});
