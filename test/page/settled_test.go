package page

import (
	"regexp"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/stile-lock/stile/lab/web"
)

// What is shown is placed as its document has it, also while another spacing is wished
// and not there yet, or cannot be had.
func TestPlacesOfWhatIsShown(t *testing.T) {
	t.Parallel()
	g := newGate(example(t, "raymond-a"))
	p := open(t, serve(t, web.Handler(g)))
	p.at("0 of 39")
	p.key(kb.ArrowRight + kb.ArrowRight + kb.ArrowRight + kb.ArrowRight)
	const where = `document.querySelector(".now-line").style.left + " " + document.querySelector(".now-line").innerText + " " + document.querySelector(".mini-now").getAttribute("x1")`
	before := eval[string](p, where)
	pressed := func(n int) {
		p.until(`document.querySelector(".choice button:nth-child(` + string(rune('0'+n)) + `)").getAttribute("aria-pressed") == "true"`)
	}
	g.close("run")
	p.key("t")
	pressed(2)
	if now := eval[string](p, where); now != before {
		t.Errorf("the cursor is at %q before the answer, and was at %q", now, before)
	}
	g.open("run")
	p.until(`document.querySelector(".now-line").innerText.includes("step")`)
	byEvent := eval[string](p, where)
	p.write("bogus")
	p.until(`document.querySelector("#editor-fault").innerText`)
	eval[bool](p, `document.querySelector("textarea").blur(), true`)
	p.key("t")
	pressed(1)
	if now := eval[string](p, where); now != byEvent {
		t.Errorf("the cursor is at %q with an error, and was at %q", now, byEvent)
	}
}

// Two clicks in a row are two lines, the second after the first, however slow the lab is.
func TestQuickClicks(t *testing.T) {
	t.Parallel()
	for _, slow := range []string{"run", "act"} {
		g := newGate("title Quick\nalgorithm ricart-agrawala\nprocesses 3\nhold 5\nat 3 P1 asks\n")
		p := open(t, serve(t, web.Handler(g)))
		p.at("0 of 11")
		p.key(kb.ArrowRight)
		g.close(slow)
		p.key("3a")
		g.wait(t, slow)
		p.key("2a")
		g.open(slow)
		p.until(`/P3 asks\n(.*\n)*.*P2 asks\n/.test(document.querySelector("textarea").value)`)
		text := eval[string](p, `document.querySelector("textarea").value`)
		found := regexp.MustCompile(`at (\S+) P3 asks\n(?:.*\n)*at (\S+) P2 asks\n`).FindStringSubmatch(text)
		if found == nil || found[1] == found[2] {
			t.Errorf("%s is slow: the second line is not after the first:\n%s", slow, text)
		}
	}
}

// The cursor that a change goes to is kept, also if it is undone, or shown otherwise,
// before it is shown at all.
func TestCursorOfUnshown(t *testing.T) {
	t.Parallel()
	g := newGate("title Aim\nalgorithm ricart-agrawala\nprocesses 3\nhold 5\nat 3 P1 asks\n")
	p := open(t, serve(t, web.Handler(g)))
	p.at("0 of 11")
	p.key("3a")
	p.until(`document.querySelector("textarea").value.includes("P3 asks") && !/^0 |of 11$/.test(document.querySelector(".count").innerText)`)
	after := p.text(".count")
	for _, key := range []string{"ur", "tt"} {
		p.key("u")
		p.at("0 of 11")
		g.close("run")
		p.key("r")
		g.wait(t, "run")
		p.key(key[:1])
		g.wait(t, "run")
		g.open("run")
		p.key(key[1:])
		p.at(after)
	}
}

// A line that is being typed is gone to when it has run.
func TestLineGoneToWhenTyped(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, "title Lines\nalgorithm central\nprocesses 3\nat 1 P1 asks\n")}
	v.caret(4)
	v.keys(kb.Enter)
	v.keys("at 9 P2 asks")
	v.keys(kb.Enter, kb.ModifierCtrl)
	v.until(`document.querySelector(".editor-line.is-present")?.innerText.startsWith("at 9 P2 asks")`)
}
