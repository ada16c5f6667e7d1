package page

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/stile-lock/stile/internal/lab/document"
	"github.com/stile-lock/stile/lab/scenarios"
)

var everywhere = flag.Bool("everywhere", false, "look at the pictures of groups at every moment, which takes long")

// moments are the cursors at which the picture of a run is looked at: the beginning and
// the end, the first entry, the middle, and where most is drawn.
func moments(d *document.Document) []int {
	first, busiest, most, flying := 0, 0, 0, 0
	for i, e := range d.Events {
		switch e.Kind {
		case "send", "duplicate":
			flying++
		case "receive", "drop":
			flying--
		case "enter", "lead":
			if first == 0 {
				first = i + 1
			}
		}
		if flying > most {
			busiest, most = i+1, flying
		}
	}
	all := []int{0, first, len(d.Events) / 2, busiest, len(d.Events)}
	edges := 0
	for _, g := range d.Graph {
		if len(g.Edges) > edges {
			edges = len(g.Edges)
			all[1] = g.Event
		}
	}
	if *everywhere {
		for i := range d.Events {
			all = append(all, i)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// crowded lists what of the picture of a group cannot be read: words on words, words
// that something else lies on or that do not fit into what they are in, and what leaves
// the picture.
const crowded = `(() => {
	const picture = document.querySelector(".picture"), edge = picture.getBoundingClientRect(), bad = [];
	const seen = (e) => e.checkVisibility({opacityProperty: true, visibilityProperty: true});
	const all = (what) => [...picture.querySelectorAll(what)].filter(seen).map((e) => ({e, b: e.getBoundingClientRect(), owner: e.closest(".process, .letter, .pill, .token, .lock, .resource, .site, .wait, .arc") ?? e}));
	const name = ({e, owner}) => JSON.stringify((owner.getAttribute("class") ?? owner.tagName).split(" ")[0] + " " + (e.textContent || owner.querySelector("text")?.textContent || e.tagName));
	const words = all("text").filter(({b}) => b.width > 0).map((w) => ({...w, b: {left: w.b.left + 0.5, right: w.b.right - 0.5, top: w.b.top + w.b.height * 0.16, bottom: w.b.bottom - w.b.height * 0.16}}));
	const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
	const inside = (a, b, by) => a.left >= b.left - by && a.right <= b.right + by && a.top >= b.top - by && a.bottom <= b.bottom + by;
	for (const [i, w] of words.entries()) for (const o of words.slice(i + 1)) if (meet(w.b, o.b)) bad.push(name(w) + " lies on " + name(o));
	const far = (b, x, y) => Math.hypot(Math.max(Math.abs(b.left - x), Math.abs(b.right - x)), Math.max(Math.abs(b.top - y), Math.abs(b.bottom - y)));
	const near = (b, x, y) => Math.hypot(Math.max(0, b.left - x, x - b.right), Math.max(0, b.top - y, y - b.bottom));
	const round = ({b}) => [(b.left + b.right) / 2, (b.top + b.bottom) / 2, (b.right - b.left) / 2];
	for (const c of all("circle:not(.target)")) {
		const [x, y, r] = round(c), hollow = c.e.matches(".halo, .trapped");
		for (const w of words) if (w.owner !== c.owner && !(w.owner.matches(".token") && c.owner.matches(".process")) && near(w.b, x, y) < r - 0.5 && !(hollow && far(w.b, x, y) < r)) bad.push(name(c) + " crosses " + name(w));
	}
	for (const s of all(".pill rect, .lock rect, .resource rect, .star, .tick")) for (const w of words) if (w.owner !== s.owner && meet(w.b, s.b)) bad.push(name(s) + " crosses " + name(w));
	for (const s of all(".site rect, .cell")) for (const w of words) if (meet(w.b, s.b) && !inside(w.b, s.b, 1) && !w.owner.matches(".letter, .wait")) bad.push("the edge of " + name(s) + " crosses " + name(w));
	for (const w of words) {
		const own = w.owner.querySelector(":scope > rect") ?? (w.e.matches(".far") ? null : w.owner.querySelector(":scope > circle.body, :scope > circle"));
		if (own && own !== w.e && !inside(w.b, own.getBoundingClientRect(), 1)) bad.push(name(w) + " does not fit in");
	}
	for (const s of all("circle, rect, text, line, path")) if (!s.e.closest("defs") && !inside(s.b, edge, 1)) bad.push(name(s) + " leaves the picture");
	return [...new Set(bad)];
})`

// looking shows a text as if it had been typed, and looks at its picture at some
// cursors. What is said below a picture makes it smaller or larger: only then is the next
// frame waited for, since there are many pictures.
const looking = `(async (text, moments, look) => {
	const next = new MessageChannel(), task = () => new Promise((done) => { next.port1.onmessage = done; next.port2.postMessage(0); });
	const area = document.querySelector("textarea"), press = (key, shiftKey) => dispatchEvent(new KeyboardEvent("keydown", {key, shiftKey}));
	const fits = () => (p => p.clientHeight == p.querySelector("svg")?.getAttribute("height"))(document.querySelector(".picture"));
	area.value = text;
	area.dispatchEvent(new Event("input", {bubbles: true}));
	area.dispatchEvent(new Event("blur"));
	do await task(); while (document.querySelector("main").ariaBusy == "true");
	const bad = [];
	press("Home");
	let at = 0;
	for (const to of moments) {
		for (; at < to; at++) press("ArrowRight", true);
		for (await task(); !fits(); await task()) await new Promise(requestAnimationFrame);
		for (const what of await look()) bad.push("at " + document.querySelector(".count").innerText + ": " + what);
	}
	if (area.value != text || document.querySelector("#editor-fault").innerText || !document.querySelector(".count").innerText.startsWith(at + " ")) bad.push("it is not shown");
	return bad;
})`

// looked opens scenarios in one page of a width, and says what is found in the picture
// of each group.
func looked(t testing.TB, width int64, names ...string) {
	p := show(t, example(t, "raymond-a"))
	p.do(chromedp.EmulateViewport(width, 800))
	p.media("prefers-reduced-motion", "reduce")
	// Half of the time would go by for the other panels.
	eval[bool](p, `(s => (s.replaceSync("main > :not(.scene) > * { content-visibility: hidden }"), document.adoptedStyleSheets = [s], true))(new CSSStyleSheet())`)
	for _, name := range names {
		text := example(t, name)
		at, err := json.Marshal(moments(document.Run(text, document.Options{})))
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range eval[[]string](p, fmt.Sprintf("%s(%s, %s, %s)", looking, quote(text), at, crowded)) {
			t.Errorf("%s, %d wide, %s", name, width, bad)
		}
	}
}

// In the picture of every scenario, on wide pages and narrow ones, all words can be
// read, and nothing is cut off.
func TestNothingIsCrowded(t *testing.T) {
	files, err := fs.Glob(scenarios.Files, "*.stile")
	if err != nil || len(files) < 100 {
		t.Fatalf("there are %d scenarios: %v", len(files), err)
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, ".stile")
	}
	for _, width := range []int64{1280, 400} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			looked(t, width, some(4, files)...)
		})
	}
}

// plotCrowded lists what of the diagram's own words cannot be read: the time of the cursor
// if the names of the lanes cover it, and what is said of cuts and the like where other
// words are.
const plotCrowded = `(async () => {
	for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame); // it is scrolled to the cursor
	const bad = [], name = (e) => JSON.stringify(e.textContent), box = (e) => e.getBoundingClientRect();
	const now = document.querySelector(".now-line span"), names = document.querySelector(".plot-names");
	if (box(now).left < box(names).right) bad.push(name(now) + " is under the names");
	const said = [...document.querySelectorAll(".plot-words > .words:last-child text")];
	const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + a.height * 0.16 < b.bottom - b.height * 0.16 && b.top + b.height * 0.16 < a.bottom - a.height * 0.16;
	for (const e of [...document.querySelectorAll(".plot-words text, .axis text"), now]) for (const u of said) if (e != u && meet(box(e), box(u))) bad.push(name(u) + " lies on " + name(e));
	return [...new Set(bad)];
})`

// In the diagram too the time of the cursor and what is said of cuts can be read, however
// narrow the page is. TestNothingIsCrowded looks at pictures of groups alone.
func TestDiagramIsNotCrowded(t *testing.T) {
	t.Parallel()
	texts := []string{
		example(t, "ricart-agrawala-partition"), example(t, "bakery-choosing"),
		"title Cut\nalgorithm ricart-agrawala\nprocesses 3\nat 0 P1 asks\nat 1.6 partition 3 | 1,2\nat 1.7 heal\n",
		"title Cuts\nalgorithm ricart-agrawala\nprocesses 5\nat 0 P1 asks\nat 0.5 partition 5 | 1,2,3,4\nat 1 heal\nat 6 partition 1 | 2,3,4,5\nat 6.2 heal\nat 8 P2 asks\nat 20 P3 asks\n",
	}
	p := show(t, texts[0])
	p.media("prefers-reduced-motion", "reduce")
	for _, width := range []int64{1280, 400} {
		p.do(chromedp.EmulateViewport(width, 800))
		for range 2 { // by time, and by event
			for i, text := range texts {
				at, err := json.Marshal(moments(document.Run(text, document.Options{})))
				if err != nil {
					t.Fatal(err)
				}
				for _, bad := range eval[[]string](p, fmt.Sprintf("%s(%s, %s, %s)", looking, quote(text), at, plotCrowded)) {
					t.Errorf("text %d, %d wide, %s", i, width, bad)
				}
			}
			p.key("t")
			p.until(`document.querySelector("main[aria-busy=false]")`)
		}
	}
}
