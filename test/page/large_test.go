package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/stile-lock/stile/internal/lab/document"
)

// hundred is a run of 100 processes and some 50,000 events.
func hundred() string {
	var b strings.Builder
	b.WriteString("title A hundred\nalgorithm ricart-agrawala\nprocesses 100\n")
	for i := range 127 {
		fmt.Fprintf(&b, "at %d P%d asks\n", 4*i, i*37%100+1)
	}
	return b.String()
}

// What is done to the page, until it was painted: a step, and a scroll of the diagram.
const (
	stepping  = `dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}))` + painted
	scrolling = `document.querySelector(".plot").scrollLeft += 120` + painted
	painted   = `, new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`
)

// Of a large run only what is in sight is in the page: few elements, and of arrows that
// go on for ever what is seen of them.
func TestOnlyWhatIsInSight(t *testing.T) {
	t.Parallel()
	p := show(t, hundred())
	p.until(`document.querySelector(".count").innerText.endsWith("of 50673")`)
	for _, spacing := range []string{"by time", "by event"} {
		if spacing == "by event" {
			p.key("t")
			p.until(`document.querySelector(".plot-size").clientWidth > 100_000`)
		}
		for _, part := range []string{"0", "0.5", "1"} {
			eval[bool](p, fmt.Sprintf(`(m => { const b = m.getBoundingClientRect(), at = {bubbles: true, buttons: 1, pointerId: 1, clientX: b.left + b.width * %s, clientY: b.top + 9}; m.setPointerCapture = () => {}; m.dispatchEvent(new PointerEvent("pointerdown", at)) })(document.querySelector(".minimap"))`, part)+painted)
			if n := eval[int](p, `document.querySelectorAll("*").length`); n > 4_000 {
				t.Errorf("at %s of the run, %s, the page has %d elements", part, spacing, n)
			}
			if beyond := eval[[]string](p, beyond); len(beyond) > 0 {
				t.Errorf("at %s of the run, %s, arrows go beyond what is painted: %q", part, spacing, beyond)
			}
		}
	}
	eval[bool](p, `document.querySelector(".states .scroll").scrollTo(0, 1e6), true`)
	p.until(`document.querySelector(".states tbody tr:last-child th")?.innerText == "P100"`)
	if high := eval[[]int](p, `[...document.querySelectorAll(".states tr[class]")].map((r) => Math.round(r.getBoundingClientRect().height)).filter((h) => h != 26)`); len(high) > 0 {
		t.Errorf("rows of states are %d high: what is in sight is found by all being 26", high)
	}
}

// beyond lists arrows that are drawn to where nothing is painted.
const beyond = `(() => {
	const {x, width} = document.querySelector(".plot-things").viewBox.baseVal, bad = [];
	for (const path of document.querySelectorAll(".plot-things .arrow path:not([class])"))
		for (const [, at] of path.getAttribute("d").matchAll(/[ML]([-\d.]+)/g))
			if (at < x || at > x + width + 400) bad.push(at);
	return bad.slice(0, 5);
})()`

// Every message is drawn, however many are one path, and also when one event is in focus.
func TestAllArrows(t *testing.T) {
	t.Parallel()
	text := "title All ask\nalgorithm ricart-agrawala\nprocesses 6\n"
	for i := range 6 {
		text += fmt.Sprintf("at 0 P%d asks\n", i+1)
	}
	want := len(document.Run(text, document.Options{}).Layout.Arrows)
	p := show(t, text)
	for _, state := range []string{"as it is", "with a focus"} {
		drawn := eval[int](p, `[...document.querySelectorAll(".plot-things .arrow path:not([class])")].reduce((n, p) => n + p.getAttribute("d").split("M").length - 1, 0)`)
		heads := eval[int](p, `[...document.querySelectorAll(".plot-things .arrow .end-arrives")].reduce((n, p) => n + p.getAttribute("d").split("M").length - 1, 0)`)
		if drawn != want || heads != want || want < 40 {
			t.Errorf("%s: %d arrows and %d heads are drawn, want %d", state, drawn, heads, want)
		}
		p.key(kb.ArrowRight + "i")
		p.see(".dot.focus")
	}
}

// shown lists the elements of what the panels show at a cursor, with what they say.
const shown = `[".scene .picture", ".scene .why", ".states tbody", ".event.current"].flatMap((s) => [...document.querySelectorAll(s + "," + s + " *")].map((e) =>
	e.tagName + " " + [...e.attributes].map((a) => a.name + "=" + a.value).sort().join(" ") + " " + [...e.childNodes].map((n) => n.nodeType == 3 ? n.data : "").join("")))`

// What is painted again only where something has changed is what is painted when the
// page opens there: after steps on, after steps back.
func TestSteppedIsOpened(t *testing.T) {
	t.Parallel()
	p := show(t, "title Many\nalgorithm ricart-agrawala\nprocesses 45\nhold 1\nat 0 P1 asks\nat 0.5 P2 asks\nat 1.2 P3 pauses\nat 2.5 P4 crashes\n")
	walk := func(key string, steps int) {
		eval[bool](p, fmt.Sprintf(`(async () => { for (let i = 0; i < %d; i++) { dispatchEvent(new KeyboardEvent("keydown", {key: %q})); await new Promise(requestAnimationFrame) } return true })()`, steps, key))
	}
	var on [][]string
	var places []string
	for range 8 {
		walk("ArrowRight", 17)
		on = append(on, eval[[]string](p, shown))
		places = append(places, p.text(".count"))
	}
	same := func(how string, got, want []string) {
		t.Helper()
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Errorf("%s: %d elements, want %d; the first that differs is\n%q, want\n%q", how, len(got), len(want), got[min(i, len(got)-1)], want[min(i, len(want)-1)])
				return
			}
		}
	}
	for i := len(on) - 2; i >= 0; i-- {
		walk("ArrowLeft", 17)
		p.at(places[i])
		same("at "+places[i]+" after steps back", eval[[]string](p, shown), on[i])
	}
	for _, i := range []int{3, 7} {
		at := strings.Fields(places[i])[0]
		p.until(`/#s=[\w-]+&c=\d+$/.test(location.href)`)
		href := eval[string](p, `location.href.replace(/c=\d+$/, "c=`+at+`")`)
		p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(href))
		p.until(`document.querySelector(".count")?.innerText == "` + places[i] + `" && document.querySelector(".process")`)
		same("opened at "+places[i], eval[[]string](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(`+shown+`))))`), on[i])
	}
}
