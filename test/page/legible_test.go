package page

import (
	"fmt"
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
	t.Parallel()
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
	p.until(`(b => b.left >= document.querySelector(".plot").getBoundingClientRect().left + 50)(document.querySelector(".plot-words .on-violation")?.getBoundingClientRect() ?? {})`)
}

// The words of a message that has arrived are as dark as its arrow, also right of the cursor;
// and those of events are whole.
func TestWordsOfArrived(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "central-queue"))
	p.key(kb.End)
	p.until(`((e) => e.scrollTop > 100 && e.scrollTop % 24 == 0)(document.querySelector(".events .scroll"))`) // no event is cut in two above
	p.key(kb.Home + "e")
	p.at("11 of 27")
	p.until(`((all) => all[0] && !all[0].classList.contains("later") && all[1].classList.contains("later"))([...document.querySelectorAll(".plot-words .arrow")].filter((e) => e.textContent == "GRANT"))`)
}

// Words of messages that would be cut in two at the left edge are not there; nor are those
// of a violation at the right one, and where there is no room for all of them they are fewer.
func TestWholeWords(t *testing.T) {
	t.Parallel()
	p := show(t, broken)
	p.until(`document.querySelector(".plot").scrollWidth > document.querySelector(".plot").clientWidth + 100 && !document.querySelector(".plot-words .on-violation")`)
	p.key(kb.End)
	p.until(`document.querySelector(".plot").scrollLeft > 100`)
	p.until(`document.querySelector(".plot-words .on-violation")?.textContent.endsWith("was inside")`)
	left := `(() => { const edge = document.querySelector(".plot-names").getBoundingClientRect().right; return [...document.querySelectorAll(".plot-words .arrow text")].filter((e) => e.getBoundingClientRect().left < edge - 6).map((e) => e.textContent) })()`
	for range 6 {
		eval[bool](p, `new Promise((done) => { document.querySelector(".plot").scrollLeft -= 17; requestAnimationFrame(() => requestAnimationFrame(() => done(true))) })`)
		for _, bad := range eval[[]string](p, left) {
			t.Errorf("%s is cut in two", bad)
		}
	}
	p.do(chromedp.EmulateViewport(400, 800))
	p.key(kb.End)
	p.until(`((word, plot) => word?.left >= plot.left && word.right <= plot.right)(...[".plot-words .on-violation", ".plot"].map((s) => document.querySelector(s)?.getBoundingClientRect()))`)
}

// Messages keep out of circles, so that names can be read.
func TestNamesAreFree(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	p := show(t, example(t, "maekawa-grid-3-23"))
	p.until(`document.querySelector(".states .scroller").dataset.more.includes("right")`)
	eval[bool](p, `document.querySelector(".states .scroll").scrollTo(1e4, 1e4), true`)
	p.until(`document.querySelector(".states .scroller").dataset.more == ""`)
}

// Messages have the dashes that the legend shows, however many are in sight.
func TestDashesAsInLegend(t *testing.T) { dashesAsInLegend(t) }

func dashesAsInLegend(t testing.TB) {
	text := "title All ask\nalgorithm ricart-agrawala\nprocesses 30\n"
	for i := range 30 {
		text += fmt.Sprintf("at 0 P%d asks\n", i+1)
	}
	p := show(t, text)
	p.until(`document.querySelector(".plot-things .arrow path")`)
	dashes := func(of string) string {
		return eval[string](p, `[...new Set([...document.querySelectorAll(`+quote(of)+`)].map((e) => e.getAttribute("stroke-dasharray") ?? "none"))].sort().join("; ")`)
	}
	if n := eval[int](p, `[...document.querySelectorAll(".plot-things .arrow path:not([class])")].reduce((n, p) => n + p.getAttribute("d").split("M").length - 1, 0)`); n < 600 {
		t.Errorf("only %d messages are in sight", n)
	}
	if got, want := dashes(".plot-things .arrow path:not([class])"), dashes(".legend .arrow path"); got != want || want == "none" {
		t.Errorf("messages have dashes %q, in the legend %q", got, want)
	}
}
