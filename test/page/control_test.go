package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A control is something on the page that can be used, and what comes of it. It is
// tried by mouse, and by every way that the keyboard has to the same.
type control struct {
	name   string
	is     string       // a selector of the elements that it is
	called string       // a regular expression of their names, if the selector finds others too
	option string       // of a select: the value that is chosen, or * for each
	fresh  bool         // the page is loaded anew for it: it leaves behind what no key takes back
	from   string       // keys that lead there from the beginning of the run
	lead   func(*visit) // what else leads there
	after  string       // keys that take back, from the beginning of the run, what no undo takes back
	mouse  func(*visit) // what is done by mouse: a click, if it is not said
	keys   []way        // what is done by keyboard: Tab to it and Enter, if it is not said
	want   string       // what is true then, and was not before
}

// A way is how something is done with the keyboard alone.
type way func(*visit)

// A fixture is a page with a text, and the controls that are tried there.
type fixture struct {
	name     string
	text     string
	scripted bool // checks end as the test says
	controls []control
}

// A census knows all controls, and which of them were ever on a page.
type census struct {
	rows string // as JSON: [selector, name, option] of every control

	mu    sync.Mutex
	tried int // how many controls
	seen  map[int]bool
	told  map[string]bool // what was said to be missing
}

func newCensus(t testing.TB, all []fixture) *census {
	t.Helper()
	var rows [][3]string
	for _, s := range all {
		for _, c := range s.controls {
			rows = append(rows, [3]string{c.is, c.called, c.option})
		}
	}
	data, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return &census{rows: string(data), seen: map[int]bool{}, told: map[string]bool{}}
}

// watching remembers which elements listen to what a user does.
const watching = `(() => {
	const add = EventTarget.prototype.addEventListener;
	window.listeners = new Set();
	EventTarget.prototype.addEventListener = function (kind, ...more) {
		if (this instanceof Element && /^(click|dblclick|contextmenu|pointerdown|mousedown|change|input)$/.test(kind)) listeners.add(this);
		return add.call(this, kind, ...more);
	};
})()`

// nameOf is what a screen reader calls an element, more or less.
const nameOf = `((e) => e.getAttribute("aria-label") ?? (e.labels?.[0] ?? e).innerText?.trim().split("\n")[0] ?? "")`

// counting lists the controls of the page that no row of the table is about, and the
// rows that are about some. It is done often: selectors that many rows have are looked for
// once, and names, which lay out the page, are asked for only where a row has one.
const counting = `((rows) => {
	const name = ` + nameOf + `;
	const usable = "button, select, input, textarea, a[href], summary, [contenteditable], [role=button], [role=slider], [role=tab], [role=menuitem], [tabindex='0']";
	const all = new Set([...document.querySelectorAll(usable), ...[...window.listeners].filter((e) => e.isConnected)].filter((e) => e.checkVisibility()));
	const bySelector = window.bySelector ??= Map.groupBy(rows.map(([is, called, option], i) => ({is, i, called, option, pattern: new RegExp(called)})), (row) => row.is);
	const known = new Set(), seen = new Set(), names = new Map(), options = new Map();
	const named = (e) => names.get(e) ?? names.set(e, name(e)).get(e);
	for (const [is, mine] of bySelector) for (const e of document.querySelectorAll(is)) {
		if (!all.has(e)) continue;
		for (const row of mine) if (!row.called || row.pattern.test(named(e))) {
			known.add(e);
			seen.add(row.i);
			if (row.option != "") options.set(e, (options.get(e) ?? new Set()).add(row.option));
		}
	}
	const unknown = [...all].filter((e) => !known.has(e)).map((e) => "<" + e.tagName.toLowerCase() + " class=" + JSON.stringify(e.getAttribute("class") ?? "") + "> " + JSON.stringify(name(e).slice(0, 60)));
	for (const e of all) {
		const chosen = options.get(e) ?? new Set();
		if (e.tagName == "SELECT" && !chosen.has("*")) for (const {value} of e.options) if (!chosen.has(value)) unknown.push("the option " + value + " of " + name(e));
	}
	return {unknown: [...new Set(unknown)], seen: [...seen]};
})`

// count looks at all that is on the page.
func (c *census) count(v *visit) {
	v.t.Helper()
	found := eval[struct {
		Unknown []string `json:"unknown"`
		Seen    []int    `json:"seen"`
	}](v.page, counting+"("+c.rows+")")
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, what := range found.Unknown {
		if !c.told[what] {
			v.t.Errorf("%s: %s is not in the table of controls", v.trying, what)
		}
		c.told[what] = true
	}
	for _, i := range found.Seen {
		c.seen[i] = true
	}
}

// visit opens the page of a fixture.
func (s *fixture) visit(t testing.TB) *visit {
	t.Helper()
	d := newFakeLab(s.text)
	d.real = !s.scripted
	v := &visit{page: open(t, "about:blank"), lab: d, url: serve(t, labOf(t, d))}
	if _, err := chromedp.Call(v.ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: watching}); err != nil {
		t.Fatal(err)
	}
	v.media("prefers-reduced-motion", "reduce") // what moves is hard to click
	return v
}

// load opens the page anew, without what the last one left behind.
func (v *visit) load(s *fixture) {
	v.t.Helper()
	v.lab.loads++
	v.do(chromedp.MouseEvent(chromedp.MouseMoved, 0, 0), chromedp.Navigate(fmt.Sprintf("%s/?%d", v.url, v.lab.loads)))
	v.until(`document.querySelector("textarea")?.value == ` + quote(s.text) + ` && document.querySelector(".count")?.innerText.startsWith("0 of ") && document.querySelector("h1").innerText != ""`)
}

// situation says what must be left before another control can be tried.
func situation(text string) string {
	return `document.querySelector("dialog[open], .tour-card, [role=menu]") ? "open" : document.activeElement.matches("textarea, select, input") ? "typing" :
		document.querySelector("main[aria-busy=true]") ? "busy" : document.querySelector("textarea").value != ` + quote(text) + ` ? "text" :
		[...document.querySelectorAll(".plot, .events .scroll")].some((e) => e.scrollLeft + e.scrollTop > 0) ? "moved" : ""`
}

// back goes back to the beginning, by keys: out of whatever is open, to the text that
// there was, and to where nothing has happened yet.
func (v *visit) back(s *fixture) {
	v.t.Helper()
	v.do(chromedp.MouseEvent(chromedp.MouseMoved, 0, 0))
	for range 40 {
		switch is := eval[string](v.page, situation(s.text)); is {
		case "moved":
			v.key(kb.Escape + kb.End) // so that all that follows the cursor moves
			v.frame()
			fallthrough
		case "":
			v.key(kb.Escape + kb.Home)
			v.until(`document.querySelector(".count").innerText.startsWith("0 of ") && !document.querySelector(".dot.focus")`)
			v.frame()
			return
		case "busy":
			v.until(`document.querySelector("main[aria-busy=false]")`)
		case "text":
			v.key("u")
		default:
			v.key(kb.Escape)
		}
		v.frame()
	}
	v.t.Fatalf("%s: there is no way back to the text of %s", v.trying, s.name)
}

// frame waits until the page was painted.
func (v *visit) frame() {
	v.t.Helper()
	eval[bool](v.page, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// try uses the controls of a fixture, one after the other; only some, if they are named.
func (s *fixture) try(t testing.TB, all *census, only ...string) {
	v := s.visit(t)
	v.load(s)
	for _, c := range s.controls {
		if len(only) > 0 && !slices.Contains(only, c.name) {
			continue
		}
		within(t, c.name, func(t testing.TB) {
			mine := *v.page
			mine.t = t
			(&visit{&mine, v.lab, v.url, all}).try(s, &c, all)
			v.asked = mine.asked
		})
	}
}

// within runs a part of a test under a name of its own, where tests can have parts.
func within(t testing.TB, name string, part func(testing.TB)) {
	if t, ok := t.(*testing.T); ok {
		t.Run(name, func(t *testing.T) { part(t) })
		return
	}
	part(t)
}

// try uses a control by mouse, and by each way that the keyboard has.
func (v *visit) try(s *fixture, c *control, all *census) {
	mouse, keys := c.mouse, c.keys
	if mouse == nil {
		mouse = func(v *visit) { v.clickOn(c.is, c.called) }
	}
	if keys == nil {
		keys = []way{tabbed(c.is, c.called, kb.Enter)}
	}
	for i, use := range append([]way{mouse}, keys...) {
		v.trying = fmt.Sprintf("%s, %s, by keyboard %d", s.name, c.name, i)
		if i == 0 {
			v.trying = fmt.Sprintf("%s, %s, by mouse", s.name, c.name)
		}
		v.start(s, c)
		all.count(v)
		if eval[bool](v.page, "Boolean("+c.want+")") {
			v.t.Fatalf("%s: %s is so before anything was done", v.trying, c.want)
		}
		use(v)
		v.until(c.want)
		all.count(v)
		if c.after != "" {
			v.back(s)
			v.key(c.after)
		}
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.tried++
}

// start brings a page to where a control can be used.
func (v *visit) start(s *fixture, c *control) {
	v.t.Helper()
	if c.fresh {
		v.load(s)
	} else {
		v.back(s)
	}
	if c.from != "" {
		v.key(c.from)
		v.frame() // words come and go, and pictures move to make room for them
	}
	if c.lead != nil {
		c.lead(v)
	}
}

// finding is the first control that a selector and a regular expression find, and that
// can be used.
func finding(is, called string) string {
	return `[...document.querySelectorAll(` + quote(is) + `)].find((e) => e.checkVisibility() && !e.disabled && (!document.querySelector("dialog[open]") || e.closest("dialog[open]")) && new RegExp(` + quote(called) + `).test(` + nameOf + `(e)))`
}

// where waits for a control that does not move, and returns the middle of it, which
// nothing must cover.
func (v *visit) where(is, called string) (x, y float64) {
	v.t.Helper()
	v.until("Boolean(" + finding(is, called) + ")")
	if v.all != nil {
		v.all.count(v)
	}
	at := eval[struct {
		X, Y  float64
		Under string
	}](v.page, `(async () => {
		const find = () => `+finding(is, called)+`;
		const middle = (e) => { const b = (e.querySelector(":scope > .body, :scope > circle, :scope > text") ?? e).getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; };
		const frame = () => new Promise((done) => requestAnimationFrame(done));
		find()?.scrollIntoView({block: "nearest", inline: "nearest"});
		for (let last = ""; ; await frame()) {
			const e = find();
			if (!e || String(middle(e)) != last) { last = e ? String(middle(e)) : ""; continue; } // it comes, or moves
			const [X, Y] = middle(e), hit = document.elementFromPoint(X, Y);
			// The diagram finds by their places what is too thin to be hit.
			const its = e.contains(hit) || (getComputedStyle(e).pointerEvents == "none" && hit && hit.closest(".plot") && hit.closest(".plot") == e.closest(".plot"));
			return {X, Y, Under: its ? "" : hit?.outerHTML.slice(0, 100) ?? "nothing: it is out of sight"};
		}
	})()`)
	if at.Under != "" {
		v.t.Fatalf("%s %s is under %s", is, called, at.Under)
	}
	return at.X, at.Y
}

// clickOn clicks a control.
func (v *visit) clickOn(is, called string, with ...chromedp.MouseOption) {
	v.t.Helper()
	x, y := v.where(is, called)
	v.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y), chromedp.MouseClickXY(x, y, with...))
}

// pointAt brings the mouse to a control.
func (v *visit) pointAt(is, called string) {
	v.t.Helper()
	x, y := v.where(is, called)
	v.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y))
}

// tabTo brings the focus to a control with Tab alone. How often that takes is counted
// first, since to ask each time takes long; whether it got there is what counts.
func (v *visit) tabTo(is, called string) {
	v.t.Helper()
	v.until("Boolean(" + finding(is, called) + ")")
	for range 40 {
		far := eval[int](v.page, `((wanted) => {
			const over = document.querySelector("dialog[open]") ?? document;
			const all = [...over.querySelectorAll("a[href], button, input, select, textarea, [tabindex]")].filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility());
			const from = all.indexOf(document.activeElement), to = all.indexOf(wanted);
			return wanted === document.activeElement && wanted.tabIndex >= 0 ? 0 : to < 0 || from < 0 ? 1 : (to - from + all.length) % all.length;
		})(`+finding(is, called)+`)`)
		if far == 0 {
			return
		}
		v.key(strings.Repeat(kb.Tab, far))
	}
	v.t.Fatalf("%s: Tab never gets to %s %s", v.trying, is, called)
}
