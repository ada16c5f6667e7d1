package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A student opens the lab for the first time, chooses an example, steps through it by mouse and
// by keyboard, and asks why a process waits.
func TestFirstVisit(t *testing.T) {
	needsBrowser(t)
	p := open(t, labURL(t))
	p.says(".exhibit.is-first", "The bank that loses 10,000")
	p.key("raymond") // the search has the focus
	p.press("Raymond (a): 5, then 2")
	p.says("h1", "Raymond (a): 5, then 2")
	p.at("0 of 39")
	stepping(p)

	p.key(kb.Home)
	p.steps(3)
	p.at("5 of 39")
	p.says(".why", "P5 waits for the token: it asked P3; P3 asked P1, which is inside")
	p.says(".measures", "messages per entry", "at most one process is inside at a time")
	p.until(`document.querySelector("[role=log]").textContent == "P3 receives REQUEST from P5. P3 sends REQUEST to P1."`)
	if marked := eval[string](p, `[...document.querySelectorAll(".states .changed")].map((e) => e.closest("tr").children[0].innerText + ":" + e.innerText).join(" ")`); !strings.Contains(marked, "P3:5 P3:yes") {
		t.Errorf("marked as changed: %q", marked)
	}
	p.click("li:nth-child(2) .event")
	p.at("2 of 39")
	p.blur()
	p.key("t")
	p.says(".now-line", "now step")
	p.key("t+++++ ") // by time, fast, and play
	p.at("39 of 39")
	p.key("v")
	p.says(".notice", "no violation")
	p.key(kb.Home)
	p.at("0 of 39")
	p.key("e")
	p.process(1, "inside")

	const inHistory = `history.state.branches[0].text == document.querySelector("textarea").value` // a moment after the last step
	p.until(inHistory)
	p.key("g") // the gallery again, by keyboard alone
	p.sees(".exhibit")
	p.fill("nothing of the kind")
	p.says(".panel-body", "No scenario has all of these words")
	p.fill("frame by frame")
	p.until(`document.querySelectorAll(".exhibit").length == 1`)
	p.key(kb.ArrowDown + kb.Enter)
	p.says("h1", "Raymond (a), frame by frame")
	p.until(inHistory)
	eval[bool](p, `setTimeout(() => history.back()), true`)
	p.says("h1", "Raymond (a): 5, then 2")
}

// stepping goes through time with buttons, and with keys.
func stepping(p *page) {
	p.t.Helper()
	for _, c := range []struct{ button, key, want string }{
		{"[aria-label=step]", kb.ArrowRight, "1 of 39"}, {"[aria-label=step]", kb.ArrowRight, "3 of 39"}, // an ask and its request
		{`[aria-label="step back"]`, kb.ArrowLeft, "1 of 39"}, {"[aria-label=last]", kb.End, "39 of 39"}, {"[aria-label=first]", kb.Home, "0 of 39"},
	} {
		p.click(c.button)
		p.at(c.want)
	}
	p.blur()
	for _, c := range []struct{ key, want string }{{kb.ArrowRight, "1 of 39"}, {kb.ArrowRight, "3 of 39"}, {kb.ArrowLeft, "1 of 39"}, {kb.End, "39 of 39"}, {kb.Home, "0 of 39"}, {"ee", "21 of 39"}} {
		p.key(c.key)
		p.at(c.want)
	}
}

const twoAsk = "title Two ask\nalgorithm central\nprocesses 2\n\nat 1 P1 asks\nat 2 P2 asks\nexpect entries 1 2\nexpect entries 2 1\n"

// A student edits a scenario: an error is named with its line and leaves the picture as it is,
// expectations are judged, and undo, redo and branches bring texts back.
func TestEdit(t *testing.T) {
	needsBrowser(t)
	p := show(t, twoAsk)
	p.says(".editor-line .is-met", "✓")
	p.says(".editor-line .is-unmet", "1 2")
	mistake(p)
	p.holds(twoAsk)

	p.click(".editor-gutter button:nth-child(6)")
	p.says(".editor-line.is-present", "at 2 P2 asks")
	p.caret(6)
	p.key(kb.Enter)
	p.key("at 3 P1 asks")
	p.until(`document.querySelectorAll(".editor-gutter button:enabled").length == 3`)
	longer := strings.Replace(twoAsk, "P2 asks\n", "P2 asks\nat 3 P1 asks\n", 1)
	p.key("z", kb.ModifierCtrl) // what was typed at a stretch is one change
	p.holds(twoAsk)
	p.key("y", kb.ModifierCtrl)
	p.holds(longer)
	p.key(kb.Escape)
	p.settled()

	p.press("Branch")
	p.says(".branches [aria-pressed=true]", "branch 1")
	p.write(strings.Replace(longer, "Two", "Three", 1))
	p.says("h1", "Three ask")
	p.press("main")
	p.holds(longer)
	p.says("h1", "Two ask")
	p.until(`history.state.branches.length == 2`)
	p.do(chromedp.Reload())
	p.says(".branches", "branch 1") // the browser keeps them
	p.press("close branch 1")
	p.gone(".branches")

	p.write("title <script>alert(1)</script> & <img src=x onerror=alert(1)>\nalgorithm central\nprocesses 2\nat 0 P1 asks\n")
	plainTitle(p)
}

// mistake makes a mistake in the text, and corrects it.
func mistake(p *page) {
	p.t.Helper()
	p.caret(4)
	p.key("bogus")
	p.says("#editor-fault", "Line 4, column 1", "bogus")
	p.says(".editor-line.is-fault", "bogus")
	p.says("h1", "Two ask") // the picture is that of the last good text
	p.sees(".process")
	p.press("Line 4")
	p.key(kb.End)
	p.key(strings.Repeat(kb.Backspace, len("bogus")))
	p.gone(".editor-line.is-fault")
	p.key(kb.Escape)
}

// plainTitle asserts that a title is text, whatever it looks like.
func plainTitle(p *page) {
	p.t.Helper()
	p.until(`document.title.startsWith("<script>") || document.querySelector("h1 *")`)
	if made := eval[string](p, `document.querySelector("h1").innerHTML`); !strings.HasPrefix(made, "&lt;script&gt;") {
		p.t.Errorf("the title is %s", made)
	}
}

const byHand = "title By hand\nalgorithm ricart-agrawala\nprocesses 4\nhold 5\nat 0 P1 asks\n"

// A student breaks a run: each click is a line of the text, and the page says what comes of it.
func TestBreak(t *testing.T) {
	needsBrowser(t)
	p := show(t, byHand)
	p.key(kb.ArrowRight)
	p.click(".process[data-proc='2']")
	p.says("[role=menu]", "P3: idle")
	p.press("asks")
	p.written("P3 asks")
	p.process(3, "waiting")
	p.says(".editor-line.is-newest", "P3 asks")
	before := eval[string](p, `document.querySelector("textarea").value`)

	p.click(".letter[data-msg='1']")
	p.says("[role=menu]", "REQUEST P1 → P2")
	p.press("is lost")
	p.written("drop 1 -> 2 REQUEST")
	p.sees(".beyond") // which the algorithm does not tolerate
	p.key(kb.End)
	p.says(".why", "P1 waits for OK")
	p.key("u")
	p.holds(before)
	p.key("r")
	p.written("drop 1 -> 2 REQUEST")
	p.key("u")
	p.holds(before)
	p.settled()

	p.click(".process[data-proc='1']")
	p.press("crashes")
	p.written("crash P2")
	p.process(2, "crashed")
	p.click(".process[data-proc='1']")
	p.press("restarts")
	p.process(2, "idle")
	shift := chromedp.ButtonModifiers(chromedp.ModifierShift)
	p.click(".process[data-proc='2']", shift)
	p.click(".process[data-proc='3']", shift)
	p.click(".process[data-proc='0']")
	p.press("cut off P3, P4 together")
	p.written("partition 3,4 | 1,2")
	p.press("next moves")
	p.clickOn(".moves li button", "P2 asks")
	p.written("P2 asks")
	p.sees(".moves")
	p.tidy("after faults")
}

// A student checks the bank that loses money, opens the counterexample as a branch, sees two
// processes inside, and then has a correct algorithm proved and a long check stopped.
func TestCheck(t *testing.T) {
	needsBrowser(t)
	p := show(t, "title Wrong\nalgorithm bakery-naive\nprocesses 3\nat 0 P1 asks\n")
	p.dialog("check")
	p.press("Check")
	p.says(".check-verdict.is-broken", "mutual-exclusion is violated")
	p.press("Open the shortest counterexample")
	p.gone("dialog[open]")
	p.says(".branches [aria-pressed=true]", "counterexample")
	p.key(kb.Home + "v")
	p.sees(".event.current.violation")
	p.until(`document.querySelectorAll(".process.is-inside").length == 2`)
	p.sees(".plot-words .on-violation")
	p.says(".properties .broken", "go to step")
	p.press("main")
	p.says("h1", "Wrong")

	p.write("algorithm raymond\nprocesses 3\nat 0 P1 asks\n")
	p.key("k")
	p.sees("dialog.panel-check")
	p.key(kb.Enter)
	p.says(".check-verdict.is-proved", "Proved. raymond with 3 processes", "in every order of events")
	p.leave()
	p.write("algorithm lamport\nprocesses 5\nat 0 P1 asks\n")
	p.dialog("check")
	p.says(".check-stale", "The text has changed")
	p.press("Check again")
	p.until(`/[1-9]/.test(document.querySelector("[data-number=states]").innerText)`)
	p.press("Stop")
	p.says(".check-standing", "Nothing is proved")
}

// A student takes the tour to its end, which is a proof.
func TestTour(t *testing.T) {
	needsBrowser(t)
	p := open(t, labURL(t))
	p.press("Take the tour")
	for n := 1; n <= 6; n++ {
		p.says(".tour-count", fmt.Sprintf("Step %d of 6", n))
		p.until(`document.activeElement.closest(".tour-card")`)
		if n == 2 { // the keys that the tour names are those of the page
			p.sees(".event.current.violation")
			before := p.text(".count")
			p.key(kb.ArrowLeft)
			p.until(`document.querySelector(".count").innerText != ` + quote(before))
			p.key(kb.ArrowRight)
			p.at(before)
		}
		p.tidy(fmt.Sprintf("step %d of the tour", n))
		p.key(kb.Enter)
	}
	p.says(".check-verdict", "Proved")
}

// A student sends a link to what is shown. Who opens it sees the same; a damaged one is said to
// be damaged.
func TestShare(t *testing.T) {
	needsBrowser(t)
	p := show(t, example(t, "raymond-a"))
	p.key("ee")
	p.at("21 of 39")
	p.until(`/#s=[\w-]+&c=21$/.test(location.href)`)
	link := eval[string](p, `location.href`)
	p.catching()
	p.dialog("export")
	p.press("Copy Address")
	p.until(`window.copied == location.href`)
	p.says(".panel .messages", "clipboard")

	other := open(t, link)
	other.at("21 of 39")
	other.says("h1", "Raymond (a): 5, then 2")
	other.sees(".process.is-inside")
	other.goes(link[:len(link)/2])
	other.says(".notice", "damaged")
	other.sees("dialog.panel-gallery")

	for _, c := range []struct{ name, ending, holds string }{{"Scenario", "stile", "algorithm raymond"}, {"SVG", "svg", "<svg"}, {"JSON", "json", `"events"`}} {
		p.press("Save " + c.name)
		p.until(`saved.` + c.ending)
		if text := eval[string](p, `saved.`+c.ending+`.text()`); !strings.Contains(text, c.holds) {
			t.Errorf("Save %s: %.200s", c.name, text)
		}
	}
	p.press("Save PNG")
	p.until(`saved.png?.type == "image/png" && saved.png.size > 10000`)
	p.leave()
	p.write("title Long\nalgorithm central\nprocesses 2\n" + noise(20_000) + "at 1 P1 asks\n")
	p.until(`location.hash == ""`) // what an address cannot hold is not in it
	p.dialog("export")
	p.press("Copy Address")
	p.says(".panel .messages", "too long for an address")
}

// noise returns comments that cannot be compressed well.
func noise(letters int) string {
	var b strings.Builder
	for x, i := uint32(1), 0; i < letters; i++ {
		if i%80 == 0 {
			b.WriteString("\n# ")
		}
		x = x*1664525 + 1013904223
		b.WriteByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"[x>>26])
	}
	return b.String() + "\n"
}

// A student points at events to see what can have caused what.
func TestCausality(t *testing.T) {
	needsBrowser(t)
	p := show(t, example(t, "ricart-agrawala-a"))
	p.pointAt(".dot[data-event='12']") // P3 has received both requests
	p.sees(".card")
	for _, kind := range []string{".dot.past", ".dot.future", ".dot.concurrent", ".arrow.past", ".arrow.future", ".arrow.concurrent"} {
		p.sees(kind)
	}
	shift := chromedp.ButtonModifiers(chromedp.ModifierShift)
	p.click(".dot[data-event='2']", shift)
	p.click(".dot[data-event='5']", shift)
	p.says(".relate", "are concurrent")
	p.click(".dot[data-event='12']", shift)
	p.says(".relate", "happened before")
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, 5, 5))
	p.key(kb.Escape + kb.Home + kb.ArrowRight + "c" + kb.ArrowRight + "c")
	p.until(`document.querySelectorAll(".ring.picked").length == 2`)
	p.key(kb.Escape)
	p.gone(".ring.picked")
	p.click(".dot[data-event='12']")
	p.says(".event.current", "P3")
}

// A student without a mouse reaches everything, chooses among messages and groups, and gets the
// focus back from dialogs.
func TestKeyboardOnly(t *testing.T) {
	needsBrowser(t)
	p := show(t, byHand)
	p.key(kb.ArrowRight)
	p.sees(".letter[tabindex]")
	p.reached("the page")

	p.key(kb.Escape + "m")
	p.says("[role=menu]", "P1 → P2")
	p.key("gn") // a menu has its keys
	p.gone("dialog[open]")
	p.key(kb.ArrowRight)
	p.says("[role=menu]", "P1 → P3")
	p.key("x")
	p.written("drop 1 -> 3")
	p.key("2+3+")
	p.until(`document.querySelectorAll(".process[aria-pressed=true]").length == 2`)
	p.key("1")
	p.says("[role=menu]", "cut off P2, P3 together")
	p.key("x")
	p.written("partition 2,3 | 1,4")
	p.key("1h")
	p.written("heal")
	p.key("2c")
	p.process(2, "crashed")
	p.key("3" + kb.Escape)
	p.gone("[role=menu]")

	p.tabTo(".process[data-proc='2']", "")
	for _, key := range []string{"g", "n", "k", "o", "x", "?"} {
		p.key(key)
		p.sees("dialog[open] button")
		p.until(`document.activeElement.closest("dialog")`)
		p.reached("the dialog of " + key)
		p.until(`document.activeElement == document.body || document.activeElement.closest("dialog")`)
		p.leave()
		p.until(`document.activeElement.dataset.proc == "2"`)
	}
	p.tabTo(".events .scroll", "")
	p.key(kb.Home + kb.ArrowDown + kb.ArrowDown + kb.ArrowDown + kb.ArrowUp)
	p.says(".count", "2 of ")
	p.tabTo("[aria-label='step back']", "")
	p.key(strings.Repeat(kb.Enter, 3))
	p.says(".count", "0 of ")
	p.until(`document.activeElement.matches("[aria-label='step back'][aria-disabled=true]")`) // it keeps the focus
}

// A student on a phone sees all panels below each other, and nothing moves where motion is not
// wanted.
func TestNarrow(t *testing.T) {
	needsBrowser(t)
	p := window(t)
	p.size(400, 800)
	p.media("prefers-reduced-motion", "reduce")
	p.goes(labURL(t) + "/" + fragment(t, example(t, "raymond-a")))
	p.ran()
	for _, panel := range []string{"scene", "diagram", "text", "states", "measures", "events"} {
		p.until(`(w => w >= 390 && w <= 400)(document.querySelector("main > .` + panel + `").getBoundingClientRect().width)`)
	}
	eval[bool](p, `Element.prototype.animate = function () { window.moved = true; throw new Error("it moves") }, true`)
	p.steps(4)
	p.at("7 of 39")
	if eval[bool](p, `Boolean(window.moved)`) {
		t.Error("things move")
	}
	p.key(kb.End)
	p.at("39 of 39")
	p.until(`(b => b.right <= 400 && b.left >= 0)(document.querySelector(".now-line span").getBoundingClientRect())`)
	p.tidy("the page")
	for _, name := range []string{"gallery", "fresh", "check", "compare", "export"} {
		p.dialog(name)
		p.sees("dialog[open] button")
		p.tidy(name)
		p.leave()
	}
}

// Of a large run only what is in sight is in the page, wherever the student looks.
func TestLargeRun(t *testing.T) {
	needsBrowser(t)
	var text strings.Builder
	text.WriteString("title Sixty\nalgorithm ricart-agrawala\nprocesses 60\n")
	for i := range 60 {
		fmt.Fprintf(&text, "at %d P%d asks\n", 4*i, i*37%60+1)
	}
	p := show(t, text.String())
	p.says(".count", "of 14")
	for _, key := range []string{kb.Home, kb.End, "t", kb.Home} {
		p.key(key)
		p.settled()
		p.frame()
		if n := eval[int](p, `document.querySelectorAll("*").length`); n > 4_000 {
			t.Errorf("after %q the page has %d elements", key, n)
		}
		p.tidy("a large run")
	}
	eval[bool](p, `document.querySelector(".states .scroll").scrollTo(0, 1e6), document.querySelector(".events .scroll").scrollTo(0, 1e6), true`)
	p.until(`document.querySelector(".states tbody tr:last-child th").innerText == "P60"`)
	p.until(`document.querySelector(".events li:last-child .event")`)
	p.key(kb.ArrowRight + kb.ArrowRight + kb.ArrowLeft)
	p.says(".event.current", "P1")
	p.sees(".dot")
}

// The lab ends while a student works, and starts again: the page says so, finds it by itself, and
// does what was clicked meanwhile.
func TestLabComesBack(t *testing.T) {
	needsBrowser(t)
	url, end := ownLab(t, "--listen", "127.0.0.1:0", "open", root+"/lab/scenarios/raymond-a.stile")
	p := open(t, url)
	p.at("0 of 39") // the file that it was started with
	end()
	p.alone = true
	p.key("t")
	p.says(".lost", "running?")
	ownLab(t, "--listen", strings.TrimPrefix(url, "http://"))
	p.gone(".lost")
	p.says(".now-line", "now step 0")
}
