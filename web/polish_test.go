package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// overlapping lists pairs of what two selectors find that lie on each other, by their
// words.
func overlapping(p *page, one, other string) []string {
	p.t.Helper()
	return eval[[]string](p, fmt.Sprintf(`(() => {
		const all = (what) => [...document.querySelectorAll(what)].filter((e) => e.checkVisibility()).map((e) => ({e, b: e.getBoundingClientRect()}));
		const bad = [];
		for (const x of all(%q)) for (const y of all(%q)) if (x.e !== y.e && x.b.left < y.b.right - 1 && y.b.left < x.b.right - 1 && x.b.top < y.b.bottom - 2 && y.b.top < x.b.bottom - 2) bad.push(x.e.textContent + " / " + y.e.textContent);
		return bad;
	})()`, one, other))
}

// broken is a run that ends with two inside.
const broken = "title Two inside\nalgorithm bakery-naive\nprocesses 3\nschedule steps\nP1 asks\nP2 asks\n" +
	"deliver 1 -> 2 READ\ndeliver 2 -> 1 READ\ndeliver 1 -> 2 VALUE\ndeliver 2 -> 1 VALUE\ndeliver 2 -> 3 READ\ndeliver 3 -> 2 VALUE\n" +
	"deliver 2 -> 1 READ\ndeliver 1 -> 2 VALUE\ndeliver 2 -> 3 READ\ndeliver 3 -> 2 VALUE\ndeliver 1 -> 3 READ\ndeliver 3 -> 1 VALUE\n" +
	"deliver 1 -> 2 READ\ndeliver 2 -> 1 VALUE\ndeliver 1 -> 3 READ\ndeliver 3 -> 1 VALUE\n"

// The time of the cursor lies on no other words, wherever it is, and all of what
// broke can be read.
func TestWordsOfNow(t *testing.T) {
	p := show(t, broken)
	p.key("v")
	p.until(`document.querySelector(".plot-words .on-violation")`)
	for range 12 {
		for _, bad := range overlapping(p, ".now-line span", ".plot-words text, .axis text") {
			t.Errorf("now lies on words: %s", bad)
		}
		p.key(kb.ArrowLeft)
	}
	p.key("v")
	p.until(`document.querySelector(".count").innerText.startsWith("37 ")`)
	p.until(`(b => b.left >= document.querySelector(".plot").getBoundingClientRect().left + 50)(document.querySelector(".plot-words .on-violation").getBoundingClientRect())`)
}

// Words of messages that would be cut in two at the left edge are not there.
func TestWholeWords(t *testing.T) {
	p := show(t, broken)
	p.key(kb.End)
	p.until(`document.querySelector(".plot").scrollLeft > 100`)
	left := `(() => { const edge = document.querySelector(".plot-names").getBoundingClientRect().right; return [...document.querySelectorAll(".plot-words .arrow text")].filter((e) => e.getBoundingClientRect().left < edge - 6).map((e) => e.textContent) })()`
	for range 6 {
		eval[bool](p, `new Promise((done) => { document.querySelector(".plot").scrollLeft -= 17; requestAnimationFrame(() => requestAnimationFrame(() => done(true))) })`)
		for _, bad := range eval[[]string](p, left) {
			t.Errorf("%s is cut in two", bad)
		}
	}
}

// Messages keep out of circles, so that names can be read.
func TestNamesAreFree(t *testing.T) {
	for _, text := range []string{
		"title A grid\nalgorithm maekawa\nprocesses 36\nhold 2\nat 0 P1 asks\nat 0 P20 asks\nat 1 P33 asks\n",
		"title A mesh\nalgorithm ricart-agrawala\nprocesses 8\nhold 2\nat 0 P1 asks\nat 0.5 P5 asks\nat 1 P3 asks\n",
	} {
		p := show(t, text)
		p.media("prefers-reduced-motion", "reduce")
		for range 25 {
			p.key(kb.ArrowRight)
			p.until(`document.querySelector(".picture").getAnimations({subtree: true}).length == 0`) // they start in a circle
			for _, bad := range eval[[]string](p, covered) {
				t.Errorf("a message lies on %s", bad)
			}
		}
	}
}

// covered lists the processes whose circles have a message on them.
const covered = `(() => {
	const round = (e) => { const b = e.getBoundingClientRect(); return {x: b.x + b.width / 2, y: b.y + b.height / 2, r: b.width / 2, name: e.parentNode.getAttribute("aria-label")} };
	const letters = [...document.querySelectorAll(".letter:not(.over) circle")].map(round);
	return [...document.querySelectorAll(".process .body")].map(round).filter((p) => letters.some((l) => Math.hypot(p.x - l.x, p.y - l.y) < p.r + l.r - 3)).map((p) => p.name);
})()`

// A table that is too wide says so, until its end is in sight.
func TestMoreToTheRight(t *testing.T) {
	p := show(t, example(t, "maekawa-grid-3-23"))
	p.until(`document.querySelector(".states .scroller").dataset.more.includes("right")`)
	eval[bool](p, `document.querySelector(".states .scroll").scrollTo(1e4, 1e4), true`)
	p.until(`document.querySelector(".states .scroller").dataset.more == ""`)
}

// slow is a lab whose first answer comes late.
type slow struct {
	bench
	go_ chan bool
}

func (s *slow) Call(ctx context.Context, name string, body []byte, emit func([]byte) error) error {
	if name == "start" {
		select {
		case <-s.go_:
		case <-ctx.Done():
		}
	}
	return s.bench.Call(ctx, name, body, emit)
}

// What is typed before the lab has said what it was started with stays.
func TestLateStart(t *testing.T) {
	for _, start := range []string{"", "title The file\nalgorithm central\nprocesses 2\n"} {
		lab := &slow{bench: bench{start: start}, go_: make(chan bool)}
		p := open(t, serve(t, Handler(lab)))
		p.click("textarea")
		p.key("title Mine\ralgorithm central\rprocesses 3\rat 0 P1 asks")
		close(lab.go_)
		p.until(`document.title.startsWith("Mine")`)
		eval[bool](p, `new Promise((done) => setTimeout(() => done(true), 300))`) // whatever comes late has come
		if got := eval[string](p, `document.querySelector("textarea").value`); !strings.HasPrefix(got, "title Mine") {
			t.Errorf("started with %q: the text is %q", start, got)
		}
	}
}

// Every control is reached by Tab alone, and is seen to have the focus.
func TestTabReachesAll(t *testing.T) {
	p := show(t, example(t, "raymond-a"))
	p.key(kb.ArrowRight + kb.ArrowRight)
	p.see(".letter[tabindex]")
	eval[bool](p, `document.querySelectorAll("button, select, textarea, a[href], [role=button], [role=slider], .plot, .scroll").forEach((e, i) => { if (!e.disabled && e.checkVisibility() && !e.closest(".events li, .editor-gutter")) e.dataset.wanted = i }), true`)
	for range 80 {
		p.key(kb.Tab)
		bad := eval[string](p, `(() => {
			const e = document.activeElement;
			if (e === document.body) return "";
			delete e.dataset.wanted;
			const seen = [e, ...e.children, e.closest(".editor-scroll")].some((x) => x && (getComputedStyle(x).outlineStyle !== "none" && parseFloat(getComputedStyle(x).outlineWidth) >= 1));
			return seen ? "" : e.tagName + "." + (e.getAttribute("class") ?? "");
		})()`)
		if bad != "" {
			t.Errorf("%s does not show that it has the focus", bad)
		}
	}
	if left := eval[[]string](p, `[...document.querySelectorAll("[data-wanted]")].map((e) => e.tagName + " " + (e.getAttribute("aria-label") ?? e.textContent).slice(0, 40))`); len(left) > 0 {
		t.Errorf("never reached: %q", left)
	}
}

// A message is chosen among others by keys alone; so is a group that is cut off.
func TestChosenByKeys(t *testing.T) {
	p := show(t, "title By hand\nalgorithm ricart-agrawala\nprocesses 4\nhold 5\nat 0 P1 asks\n")
	p.key(kb.ArrowRight)
	p.key("m")
	p.until(`document.querySelector("[role=menu]")?.innerText.includes("P1 → P2")`)
	p.key(kb.ArrowRight)
	p.until(`document.querySelector("[role=menu]")?.innerText.includes("P1 → P3")`)
	p.key(kb.ArrowRight + kb.ArrowLeft)
	p.until(`document.querySelector("[role=menu]")?.innerText.includes("P1 → P3")`)
	p.key("x")
	p.until(`document.querySelector("textarea").value.includes("drop 1 -> 3")`)
	p.key("2+")
	p.until(`document.querySelectorAll(".process .chosen").length == 1`)
	p.do(chromedp.Focus(chromedp.CSS(`.process[data-proc="3"]`)), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierShift)))
	p.until(`document.querySelectorAll(".process .chosen").length == 2`)
	p.key("1")
	p.until(`document.querySelector("[role=menu]")?.innerText.includes("cut off P2, P4 together")`)
	p.key("x")
	p.until(`/partition/.test(document.querySelector("textarea").value) && document.querySelectorAll(".process .chosen").length == 0`)
	p.key("1h")
	p.until(`/heal/.test(document.querySelector("textarea").value)`)
}

// The list of events is walked through by keys.
func TestEventsByKeys(t *testing.T) {
	p := show(t, example(t, "raymond-a"))
	p.do(chromedp.Focus(chromedp.CSS(".events .scroll")))
	p.key(kb.ArrowDown + kb.ArrowDown + kb.ArrowDown + kb.ArrowUp)
	p.at("2 of 39")
}
