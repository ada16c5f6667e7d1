package page

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/stile-lock/stile/lab/web"
)

const draftText = "title Drafts\nalgorithm central\nprocesses 3\nat 1 P1 asks\nat 2 P2 asks\n"

// write has the text area hold something else, as if it had been typed.
func (p *page) write(text string) {
	p.t.Helper()
	eval[bool](p, `(a => { a.focus(); a.value = `+quote(text)+`; a.dispatchEvent(new Event("input", {bubbles: true})); return true })(document.querySelector("textarea"))`)
}

// With an error in the text, what was found out of another one is not at its lines.
func TestLinesWithFault(t *testing.T) {
	t.Parallel()
	p := show(t, draftText)
	p.key(kb.ArrowRight)
	p.until(`document.querySelector(".editor-line.is-present") && document.querySelectorAll(".editor-gutter button:enabled").length == 2`)
	p.write("bogus\nbogus\n" + draftText)
	p.until(`document.querySelector(".editor-line.is-fault")`)
	if n := eval[int](p, `document.querySelectorAll(".editor-gutter button:enabled, .is-present").length`); n > 0 {
		t.Errorf("%d lines are taken for those of another text", n)
	}
	p.write(draftText)
	p.until(`document.querySelector(".editor-line.is-present") && document.querySelectorAll(".editor-gutter button:enabled").length == 2`)
}

// What is being typed while a click is answered stays, and what was clicked can be
// gone back to.
func TestTypedWhileClicked(t *testing.T) {
	t.Parallel()
	g := newGate(draftText)
	v := &visit{page: open(t, serve(t, web.Handler(g)))}
	v.until(`document.querySelector("h1")?.innerText == "Drafts"`)
	g.close("act")
	v.key("3a")
	g.wait(t, "act")
	eval[bool](v.page, `(a => {
		a.focus();
		window.keys = 0;
		window.typist = setInterval(() => { keys++; a.value += "#"; a.dispatchEvent(new Event("input", {bubbles: true})); }, 20);
		return true;
	})(document.querySelector("textarea"))`)
	v.until(`keys > 3`)
	g.close("run")
	g.open("run")
	g.open("act")
	g.wait(t, "run") // of what was clicked
	eval[bool](v.page, `clearInterval(typist), true`)
	g.wait(t, "run") // of what was typed
	if got, want := eval[string](v.page, `document.querySelector("textarea").value`), draftText+strings.Repeat("#", eval[int](v.page, `keys`)); got != want {
		t.Errorf("the text is\n%s\nwant\n%s", got, want)
	}
	v.press("Undo")
	v.until(`document.querySelector("textarea").value.includes("P3 asks")`)
	v.press("Undo")
	v.holds(draftText)
}

// The first change of a branch can be undone, however soon it follows on another one.
func TestUndoInBranch(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, draftText)}
	v.write(draftText + "# one\n")
	v.press("Branch")
	v.until(`document.querySelectorAll(".branches > *").length > 1`)
	v.write(draftText + "# one\n# two\n")
	v.press("Undo")
	v.holds(draftText + "# one\n")
	v.until(`[...document.querySelectorAll(".editor-buttons button")].find((b) => b.innerText == "Undo").disabled`)
}

// Each line that is typed is a change of its own, however soon it follows on another one.
func TestUndoOfTyping(t *testing.T) {
	t.Parallel()
	p := show(t, draftText)
	p.key("l")
	p.until(`document.activeElement == document.querySelector("textarea")`)
	p.keys(kb.End, kb.ModifierCtrl)
	p.until(`(t => t.selectionStart == t.value.length)(document.querySelector("textarea"))`)
	texts := []string{draftText}
	typed := func(keys, text string) {
		t.Helper()
		p.key(keys)
		texts = append(texts, texts[len(texts)-1]+text)
		p.until(`document.querySelector("textarea").value == ` + quote(texts[len(texts)-1]))
	}
	typed("at 3 P3 asks", "at 3 P3 asks")
	typed("\rat 4 P1 asks", "\nat 4 P1 asks")
	typed("\r# ", "\n# ")
	for i := len(texts) - 2; i >= 0; i-- {
		p.keys("z", kb.ModifierCtrl)
		p.until(`document.querySelector("textarea").value == ` + quote(texts[i]))
	}
}

// A line that is typed for long is several changes, however short the pauses are.
func TestUndoOfLongTyping(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, draftText)}
	eval[bool](v.page, `(now => { window.later = 0; Date.now = () => now() + later; return true })(Date.now)`)
	for i := range 9 {
		v.write(draftText + "#" + strings.Repeat(".", i))
		eval[bool](v.page, `document.querySelector("textarea").dispatchEvent(new Event("blur")), later += 1400, true`) // it runs at once
	}
	v.press("Undo")
	v.until(`/#[.]+$/.test(document.querySelector("textarea").value)`)
}
