package page

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// parts opens an empty page that has the modules of the console which decide something, under
// the names of their files.
func parts(t *testing.T) *page {
	t.Helper()
	browser(t)
	const all = `
		import * as patch from "./patch"; import * as sse from "./sse"; import * as format from "./format";
		import * as plan from "./plan"; import * as series from "./series"; import * as chart from "./chart";
		import * as names from "./name"; import * as route from "./route"; import * as graph from "./graph";
		Object.assign(window, { patch, sse, format, plan, series, chart, names, route, graph });`
	dir := t.TempDir()
	entry := filepath.Join(dir, "parts.ts")
	here, err := filepath.Abs("src/console")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(entry, []byte(strings.ReplaceAll(all, `"./`, `"`+here+"/")), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "-modfile=../tools/go.mod", "esbuild", entry, "--bundle", "--format=iife", "--charset=ascii", "--target=es2022",
		"--resolve-extensions=.tsx,.ts,.mjs", "--tsconfig=tsconfig.json", "--log-level=warning").Output()
	if err != nil {
		t.Fatalf("the parts cannot be bundled: %v", err)
	}
	p := open(t, "about:blank")
	eval[bool](p, string(out)+"; true")
	return p
}

// same compares the value of an expression with another one, as JSON.
func (p *page) same(expression, want string) {
	p.t.Helper()
	got := eval[string](p, `JSON.stringify(`+expression+`)`)
	var a, b any
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		p.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		p.t.Fatalf("%s: %v", got, err)
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if string(x) != string(y) {
		p.t.Errorf("%s is %s, want %s", expression, x, y)
	}
}

// literal is a text as JSON, which is also how scripts write it.
func literal(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Merge patches: the examples of RFC 7386, appendix A, whose targets have no null, and names
// that all objects have.
func TestConsolePatches(t *testing.T) {
	t.Parallel()
	p := parts(t)
	for _, x := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"__proto__":{"a":1}}`, `{"__proto__":{"b":2},"constructor":{"c":3}}`, `{"__proto__":{"a":1,"b":2},"constructor":{"c":3}}`},
		{`{"__proto__":1,"toString":2}`, `{"__proto__":null}`, `{"toString":2}`},
	} {
		p.same(`patch.merged(JSON.parse(`+literal(x[0])+`), JSON.parse(`+literal(x[1])+`))`, x[2])
	}
	for what, expression := range map[string]string{
		"what does not change is another object": `(() => { const was = { a: { x: 1 }, b: { y: { z: 2 } } }, is = patch.merged(was, { b: { y: { z: 3 } } }); return is.a === was.a && is !== was && is.b !== was.b && was.b.y.z === 2; })()`,
		"nothing changes":                        `(() => { const was = { a: { x: 1 } }; return patch.merged(was, { a: {} }).a === was.a; })()`,
		"it has what all objects have":           `patch.at({}, "constructor") === undefined && patch.at(undefined, "x") === undefined && patch.at(JSON.parse('{"__proto__":7}'), "__proto__") === 7`,
	} {
		if !eval[bool](p, expression) {
			t.Error(what)
		}
	}
	p.same(`patch.ordered({ b: 1, a: 2, "10": 3 }, ["10", "a", "none", "b"])`, `[3,2,1]`)
}

// A stream is the same events, wherever its pieces end.
func TestConsoleEvents(t *testing.T) {
	t.Parallel()
	p := parts(t)
	p.same(`(() => {
		const text = ": alive\n\nid: 1\nevent: full\ndata: {\"a\":\ndata: 1}\n\nid:2\r\nevent:delta\r\ndata:  x\r\n\r\n: alive\n\ndata\n\nid: 3\revent: error\rdata: y\r\r\nid: 4\nevent: delta\n\n";
		const whole = JSON.stringify(new sse.Parser().push(text));
		const other = [];
		for (let i = 0; i <= text.length; i++) for (const j of [i, Math.min(text.length, i + 1), Math.min(text.length, i + 7)]) {
			const it = new sse.Parser(), got = JSON.stringify([text.slice(0, i), text.slice(i, j), text.slice(j)].flatMap((piece) => it.push(piece)));
			if (got !== whole) other.push([i, j, got]);
		}
		return [JSON.parse(whole), other];
	})()`, `[[{"id":"1","kind":"full","data":"{\"a\":\n1}"},{"id":"2","kind":"delta","data":" x"},{"id":"","kind":"","data":""},{"id":"3","kind":"error","data":"y"}],[]]`)
}

// What cannot be seen in a text is shown, and nothing else changes.
func TestConsoleNames(t *testing.T) {
	t.Parallel()
	p := parts(t)
	for text, want := range map[string]string{
		"orders/17": "orders/17", "": "", "<b>&": "<b>&", "a\u0000b\n": "a‹␀›b‹␊›", "\u202egnp.exe": "‹U+202E›gnp.exe", "a\u200b\u200db": "a‹U+200B›‹U+200D›b",
		"שלום 日本 é ü 👍": "שלום 日本 é ü 👍", "\u2066x\u2069": "‹U+2066›x‹U+2069›", "\u007f\u0085\u2028": "‹␡›‹U+0085›‹U+2028›", "x\U000E0041": "x‹U+E0041›", "\ufeffx": "‹U+FEFF›x",
	} {
		p.same(`names.plain(`+literal(text)+`)`, literal(want))
	}
	p.same(`[names.short("abcdef", 6), names.short("abcdefg", 6), names.short("👍👍👍", 2)]`, `["abcdef","abcde…","👍…"]`)
}

func TestConsoleNumbers(t *testing.T) {
	t.Parallel()
	p := parts(t)
	p.same(`[0, 0.0000042, 0.00042, 0.0042, 0.042, 0.42, 4.2, 42, 99.4, 142, 4000, 400000, -1.5, NaN].map(format.duration)`, `["0 s","4.2 µs","420 µs","4.2 ms","42 ms","420 ms","4.2 s","42 s","99.4 s","2 min 22 s","1 h 6 min","4 d 15 h","−1.5 s","–"]`)
	p.same(`[-3, 0.4, 59.9, 60, 3599, 3600, 200000].map(format.age)`, `["0 s","0 s","59 s","1 min 0 s","59 min 59 s","1 h 0 min","2 d 7 h"]`)
	p.same(`[0, 1, 3, 99, 100, 5000, 50000, 999999].map(format.ago)`, `["now","now","3 s ago","99 s ago","2 min ago","83 min ago","14 h ago","12 d ago"]`)
	p.same(`[undefined, 0, 0.001, 0.5, 9.99, 38.24, 212.4, 12345, 1234567].map(format.rate)`, `["–","0","<0.01","0.50","9.99","38.2","212","12.3k","1.23M"]`)
	p.same(`[format.some(1, "lock"), format.some(1234, "lock"), format.iso(NaN), format.iso(0)]`, `["1 lock","1,234 locks","","1970-01-01T00:00:00.000Z"]`)

	const h = `{ bounds_s: [1, 2, 4, 8], counts: [0, 10, 80, 9, 1] }`
	p.same(`[0.05, 0.5, 0.9, 0.99, 1].map((part) => chart.quantile(`+h+`, part).s)`, `[1.5,3,4,8,8]`)
	p.same(`[chart.shownOf(`+h+`), chart.shownOf({ bounds_s: [1, 2], counts: [0, 0, 0] }), chart.quantile({ bounds_s: [1], counts: [0, 0] }, 0.5).bucket]`, `[{"from":0,"to":5},{"from":0,"to":0},-1]`)

	// A value holds until the next one, and is not drawn where it is not known.
	p.same(`(() => {
		const s = new series.Series();
		s.add(0, 1); s.add(100_000, 4); s.add(100_000, 5); s.add(150_000, 4); s.stop(200_000); s.add(250_000, 2);
		const { all, most } = series.stretches(s.points.value, 300_000);
		return [most, all.map((a) => a.map(({ x, y }) => [Math.round(x * 300), y]))];
	})()`, `[4,[[[0,0.25],[100,0.25],[100,1],[200,1]],[[250,0.5],[300,0.5]]]]`)
	p.same(`(() => { const s = new series.Series(); for (let i = 0; i < 1000; i++) s.add(i * 1000, i); return [s.points.value.length, series.stretches(s.points.value, 999_000).all[0][0].x]; })()`, `[301,0]`)
}

func TestConsoleAddresses(t *testing.T) {
	t.Parallel()
	p := parts(t)
	for _, name := range []string{"orders/17", "a b?c#d&e=f", "%41", hostile, "日本", "..", "__proto__"} {
		p.same(`(({ place, name }) => [place, name])(route.routeOf(route.toLock(`+literal(name)+`)))`, `["lock",`+literal(name)+`]`)
		p.same(`route.routeOf(route.toLocks({ prefix: `+literal(name)+`, sort: "", after: "x" })).query`, `{"prefix":`+literal(name)+`,"after":"x"}`)
	}
	p.same(`["", "#", "#overview", "#nothing", "#lock/%E0%A4%A", "#locks", "#graph", "#elections?x=1"].map((hash) => route.routeOf(hash).place)`, `["overview","overview","overview","overview","overview","locks","graph","elections"]`)
}

// In a wait-for graph no vertex covers another, and all that is no part of a cycle leads on.
func TestConsolePlans(t *testing.T) {
	t.Parallel()
	p := parts(t)
	p.same(`(() => {
		let seed = 1;
		const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
		const sizes = { wide: 100, high: 40, along: 60, across: 10 };
		const wrong = [];
		for (let round = 0; round < 300; round++) {
			const ids = Array.from({ length: 1 + random(30) }, (_, i) => "v" + i);
			const wires = Array.from({ length: random(40) }, () => ({ from: ids[random(ids.length)], to: ids[random(ids.length)] })).filter((w) => w.from !== w.to);
			const next = new Map(ids.map((id) => [id, wires.filter((w) => w.from === id).map((w) => w.to)]));
			const cycles = plan.cyclesOf(ids, next);
			const cycle = new Map(cycles.flatMap((c, i) => c.map((id) => [id, i])));
			const reach = (a, b, seen = new Set()) => a === b || (!seen.has(a) && (seen.add(a), next.get(a).some((c) => reach(c, b, seen))));
			for (const a of ids) for (const b of ids) if ((cycle.get(a) === cycle.get(b)) !== (reach(a, b) && reach(b, a))) wrong.push([round, "cycles", a, b]);
			for (const w of wires) if (cycle.get(w.from) < cycle.get(w.to)) wrong.push([round, "order", w]);
			for (const down of [false, true]) {
				const { spots, ways, wide, high } = plan.planOf(ids, wires, sizes, 700, down);
				if (spots.size !== ids.length) wrong.push([round, "missing"]);
				for (const [i, a] of ids.entries()) {
					const s = spots.get(a);
					if (!(s.x >= 49.9 && s.y >= 19.9 && s.x <= wide - 49.9 && s.y <= high - 19.9)) wrong.push([round, "outside", a, s, wide, high]);
					for (const b of ids.slice(i + 1)) if (Math.abs(s.x - spots.get(b).x) < 100 && Math.abs(s.y - spots.get(b).y) < 40) wrong.push([round, "covers", a, b]);
				}
				for (const w of wires) {
					if (cycle.get(w.from) === cycle.get(w.to)) { if (ways.has(w)) wrong.push([round, "way in a cycle"]); continue; }
					const along = (s) => (down ? s.y : s.x);
					if (along(spots.get(w.to)) <= along(spots.get(w.from)) && cycles[cycle.get(w.to)].length + cycles[cycle.get(w.from)].length === 2) wrong.push([round, "leads back", w]);
				}
			}
		}
		return wrong.slice(0, 5);
	})()`, `[]`)
	// Many that wait for the same are drawn as one; who is waited for is not among them.
	p.same(`(() => {
		const vertices = { h: { who: "h", node: "a" }, x: { who: "x", node: "a" } }, edges = { x: { from: "x", to: "h", lock: "l" } };
		for (let i = 0; i < 20; i++) { vertices["q" + i] = { who: "q", node: "a" }; edges["q" + i] = { from: "q" + i, to: "h", lock: "l" }; }
		edges.y = { from: "q3", to: "x", lock: "m" }; edges.z = { from: "h", to: "unknown", lock: "n" };
		const d = graph.drawnOf({ vertices, edges }, 4);
		return [[...d.vertices].map(([id, v]) => v.more ? id + "+" + v.more : id), d.edges.length];
	})()`, `[["h","x","q0","q1","q2","q3","q4","q5+15","unknown"],9]`)
}
