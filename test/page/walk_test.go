package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Time goes by buttons, and by keys alone.
func TestControls(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "raymond-a"))
	for _, c := range []struct{ name, button, keys, want string }{
		{"step", "[aria-label=step]", kb.ArrowRight, "1 of 39"},
		{"step over an ask and its request", "[aria-label=step]", kb.ArrowRight, "3 of 39"},
		{"back", `[aria-label="step back"]`, kb.ArrowLeft, "1 of 39"},
		{"last", "[aria-label=last]", kb.End, "39 of 39"},
		{"first", "[aria-label=first]", kb.Home, "0 of 39"},
		{"next entry", `button[title*="next entry"]`, "e", "1 of 39"},
	} {
		p.click(c.button)
		p.at(c.want)
	}
	// The last button keeps the focus if it is never disabled for a whole frame, and Space
	// on a button is a click.
	eval[bool](p, `document.activeElement.blur(), true`)
	p.key(kb.Home)
	for _, c := range []struct{ name, keys, want string }{
		{"step", kb.ArrowRight, "1 of 39"},
		{"step", kb.ArrowRight, "3 of 39"},
		{"back", kb.ArrowLeft, "1 of 39"},
		{"last", kb.End, "39 of 39"},
		{"first", kb.Home, "0 of 39"},
		{"next entry", "ee", "21 of 39"},
		{"no violation", "v", "21 of 39"},
	} {
		p.key(c.keys)
		p.at(c.want)
	}
	if got := p.text(".notice"); !strings.Contains(got, "no violation") {
		t.Errorf("no violation to go to, and the page says %q", got)
	}
	p.key("+++++ ") // fast, and play
	p.at("39 of 39")
	p.until(`document.querySelector("[aria-label=play]")`)
	p.key(kb.Home)
	p.do(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	p.key(kb.ArrowRight)
	p.do(chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(chromedp.ModifierShift)))
	p.at("2 of 39") // in the middle of a step
	p.key("?")
	p.see("dialog .keys")
	p.key(kb.Escape)
	p.until(`!document.querySelector("dialog[open]")`)
}

// What the last step changed is marked, and why each waits is said.
func TestStatesAndWaits(t *testing.T) {
	t.Parallel()
	statesAndWaits(t)
}

func statesAndWaits(t testing.TB) {
	p := show(t, example(t, "raymond-a"))
	p.key(kb.ArrowRight + kb.ArrowRight + kb.ArrowRight)
	p.at("5 of 39")
	marked := eval[string](p, `[...document.querySelectorAll(".states .changed")].map(e => e.closest("tr").children[0].innerText + ":" + e.innerText).join(" ")`)
	if want := "P3:5 P3:yes"; !strings.Contains(marked, want) {
		t.Errorf("marked is %q, want %q in it", marked, want)
	}
	if got := p.text(".why"); !strings.Contains(got, "P5 waits for the token: it asked P3; P3 asked P1, which is inside") {
		t.Errorf("why: %q", got)
	}
	if got := p.text(".measures"); !strings.Contains(got, "messages per entry") || !strings.Contains(got, "at most one process is inside at a time") {
		t.Errorf("measures: %q", got)
	}
	if got := eval[string](p, `document.querySelector("[role=log]").textContent`); got != "P3 receives REQUEST from P5. P3 sends REQUEST to P1." {
		t.Errorf("a screen reader hears %q", got)
	}
	p.click(".event.violation, li:nth-child(2) .event")
	p.at("2 of 39")
}

// A click on a process is a line of the text; so is one on a message; undo takes it
// away again.
func TestClicksAreLines(t *testing.T) {
	t.Parallel()
	p := show(t, "title By hand\nalgorithm ricart-agrawala\nprocesses 3\nhold 5\nat 0 P1 asks\n")
	lines := func() string { return eval[string](p, `document.querySelector(".text textarea").value`) }
	p.key(kb.ArrowRight)
	p.click(`.process[data-proc="2"] .body`)
	p.see("[role=menu]")
	if got := p.text("[role=menu]"); !strings.Contains(got, "P3: idle") || !strings.Contains(got, "asks") {
		t.Fatalf("the menu says %q", got)
	}
	p.key(kb.Enter)
	p.until(`document.querySelector(".text textarea").value.includes("P3 asks")`)
	p.until(`document.querySelector(".process[data-proc='2']").classList.contains("is-waiting")`)
	before := lines()
	// A message, by the keyboard alone.
	p.key("m")
	p.see("[role=menu]")
	p.key("x")
	p.until(`document.querySelector(".text textarea").value.includes("drop 1 -> ")`)
	p.until(`document.querySelector(".beyond")?.innerText.length > 0`)
	p.key("u")
	p.until(fmt.Sprintf(`document.querySelector(".text textarea").value == %q`, before))
	p.key("r")
	p.until(`document.querySelector(".text textarea").value.includes("drop 1 -> ")`)
	// A process, by its number: it crashes.
	p.key("2c")
	p.until(`document.querySelector(".process[data-proc='1']").classList.contains("is-crashed")`)
	p.key("2")
	p.see("[role=menu]")
	p.key(kb.Escape)
	p.until(`!document.querySelector("[role=menu]")`)
}

// dotXY is where the dot of an event is on the screen.
func dotXY(p *page, event int) (x, y float64) {
	p.t.Helper()
	at := eval[[]float64](p, fmt.Sprintf(`(b => [b.x + b.width / 2, b.y + b.height / 2])(document.querySelector(".dot[data-event='%d']").getBoundingClientRect())`, event))
	return at[0], at[1]
}

// Pointing at an event shows what it can have caused and what can have caused it.
func TestCausality(t *testing.T) {
	t.Parallel()
	causality(t)
}

func causality(t testing.TB) {
	p := show(t, example(t, "ricart-agrawala-a"))
	x, y := dotXY(p, 12) // P3 has received both requests
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y))
	p.see(".dot.focus")
	p.see(".card")
	for _, class := range []string{"dot past", "dot future", "dot concurrent", "arrow past", "arrow future", "arrow concurrent"} {
		if n := eval[int](p, fmt.Sprintf(`document.getElementsByClassName(%q).length`, class)); n == 0 {
			t.Errorf("there is no %s", class)
		}
	}
	x1, y1 := dotXY(p, 2)
	x2, y2 := dotXY(p, 5)
	shift := chromedp.ButtonModifiers(chromedp.ModifierShift)
	p.do(chromedp.MouseClickXY(x1, y1, shift), chromedp.MouseClickXY(x2, y2, shift))
	p.until(`document.querySelector(".relate")?.innerText.includes("are concurrent")`)
	p.do(chromedp.MouseClickXY(x, y, shift))
	p.until(`document.querySelector(".relate")?.innerText.includes("happened before")`)
	// The same by keys.
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, 5, 5))
	p.key(kb.Home + kb.ArrowRight + "i")
	p.see(".dot.focus")
	p.key("i")
	p.until(`!document.querySelector(".dot.focus")`)
	// A click goes there.
	p.do(chromedp.MouseClickXY(x, y))
	p.until(`document.querySelector(".event.current")?.innerText.includes("P3")`)
}

// A dot is all that a process did at a moment: what any of it caused is its future, and
// where an arrow goes to is in the future of where it comes from.
func TestCausalityOfDots(t *testing.T) {
	t.Parallel()
	causalityOfDots(t)
}

func causalityOfDots(t testing.TB) {
	p := show(t, "title Dots\nalgorithm ricart-agrawala\nprocesses 3\nat 0 P1 asks\n")
	x1, y1 := dotXY(p, 2) // P1 asks, and sends to P2 and to P3
	x2, y2 := dotXY(p, 4) // P2 answers
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, x1, y1))
	p.see(".dot.focus")
	const others = `[...document.querySelectorAll(".dot:not(.focus), .plot-things .arrow")].map((e) => e.getAttribute("class"))`
	for _, class := range eval[[]string](p, others) {
		if !strings.Contains(class, " future") {
			t.Errorf("all comes of what P1 did first, and there is %q", class)
		}
	}
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, x2, y2))
	p.until(`document.querySelector(".dot[data-event='4'].focus") && document.querySelector(".dot[data-event='2'].past") && document.querySelector(".dot[data-event='6'].concurrent")`)
	shift := chromedp.ButtonModifiers(chromedp.ModifierShift)
	p.do(chromedp.MouseClickXY(x1, y1, shift), chromedp.MouseClickXY(x2, y2, shift))
	p.until(`document.querySelector(".relate")?.innerText.startsWith("“P1 sends REQUEST (time 1) to P2” happened before “P2 sends OK")`)
}

// A click on an arrow under way has a menu, and the minimap moves what is in sight.
func TestDiagram(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "raymond-a"))
	p.key(kb.ArrowRight + kb.ArrowRight)
	at := eval[[]float64](p, `(way => { const p = way.getPointAtLength(30).matrixTransform(way.getScreenCTM()); return [p.x, p.y] })(document.querySelector(".arrow path"))`)
	p.do(chromedp.MouseClickXY(at[0], at[1]))
	p.until(`document.querySelector("[role=menu]")?.innerText.includes("REQUEST P5 → P3")`)
	p.key(kb.Escape)
	box := eval[[]float64](p, `(b => [b.x, b.y, b.width, b.height])(document.querySelector(".minimap").getBoundingClientRect())`)
	p.do(chromedp.MouseClickXY(box[0]+box[2]-4, box[1]+box[3]/2))
	p.until(`document.querySelector(".plot").scrollLeft > 100`)
	p.click(`.choice button:nth-child(2)`)
	p.until(`document.querySelector(".now-line").innerText.startsWith("now step")`)
	p.key("t")
	p.until(`!document.querySelector(".now-line").innerText.startsWith("now step")`)
}

// Every picture of the lab is drawn: of each shape one.
func TestShapes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, selector string }{
		{"central-queue", ".link"},
		{"token-ring-just-missed", ".link.directed"},
		{"raymond-a", ".pointer:not(.gone)"},
		{"maekawa-grid-3-23", ".cell.asked"},
		{"ricart-agrawala-a", ".answers .needs"},
		{"bakery-order", ".pill"},
		{"dijkstra-0000", ".pill"},
		{"bully-5-of-8", ".star"},
		{"detect-distributed-two-sites", ".wait.cycle"},
		{"ricart-agrawala-two-sections", ".pill"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := show(t, example(t, c.name))
			for range 60 {
				if eval[bool](p, fmt.Sprintf("Boolean(document.querySelector(%q))", ".picture "+c.selector)) {
					return
				}
				p.key(kb.ArrowRight)
			}
			t.Errorf("%s was never there", c.selector)
		})
	}
}

// media has the page believe something of the screen and who looks at it.
func (p *page) media(name, value string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: value}}})
	if err != nil {
		p.t.Fatal(err)
	}
}

// On a screen of 400 pixels all panels are there, below each other, and none is
// wider than the page.
func TestNarrow(t *testing.T) {
	t.Parallel()
	narrowPage(t)
}

func narrowPage(t testing.TB) {
	p := show(t, example(t, "raymond-a"))
	p.do(chromedp.EmulateViewport(400, 800))
	p.until(`document.documentElement.scrollWidth <= 400`)
	for _, panel := range []string{"scene", "diagram", "text", "states", "measures", "events"} {
		if w := eval[float64](p, fmt.Sprintf(`document.querySelector("main > .%s").getBoundingClientRect().width`, panel)); w < 390 || w > 400 {
			t.Errorf("%s is %v wide", panel, w)
		}
	}
	p.key(kb.End)
	p.at("39 of 39")
	p.until(`(b => b.right <= 400 && b.left >= 0)(document.querySelector(".now-line").getBoundingClientRect())`)
}

// Where motion is not wanted, messages jump.
func TestReducedMotion(t *testing.T) {
	t.Parallel()
	reducedMotion(t)
}

func reducedMotion(t testing.TB) {
	p := show(t, example(t, "raymond-a"))
	p.key(kb.ArrowRight)
	moving := `document.querySelector(".picture").getAnimations({subtree: true}).filter(a => !(a instanceof CSSTransition)).length`
	p.key(kb.ArrowRight)
	p.until(moving + " > 0 || document.querySelector('.letter')")
	p.media("prefers-reduced-motion", "reduce")
	p.until(moving + " == 0")
	// What moves may be there before it is looked for.
	eval[bool](p, `Element.prototype.animate = ((real) => function (...how) { window.moved = true; return real.apply(this, how); })(Element.prototype.animate), true`)
	p.key(kb.ArrowRight + kb.ArrowRight)
	p.at("7 of 39")
	if eval[bool](p, moving+` > 0 || Boolean(window.moved)`) {
		t.Error("things move")
	}
}
