package page

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/stile-lock/stile/lab/web"
)

const clickText = "title Mine\nalgorithm ricart-agrawala\nprocesses 3\nat 0 P1 asks\n"

// What was clicked while the lab does not answer is a line of the text that it was
// clicked in, or of none: it is not written into what was opened or gone back to since.
func TestClicksStayInTheirText(t *testing.T) {
	t.Parallel()
	other := example(t, "central-queue")
	for _, c := range []struct{ name, leave string }{{"gallery", "g"}, {"undo", "u"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := newGate(other)
			v := &visit{page: open(t, serve(t, web.Handler(g)))}
			v.until(`document.querySelector(".count")?.innerText.match(/of [1-9]/)`)
			v.key("g")
			v.see("dialog .exhibit") // it is there when it is wanted again
			v.key(kb.Escape)
			v.until(`!document.querySelector("dialog[open]")`)
			v.write(clickText)
			v.key(kb.Escape)
			v.until(`document.querySelector("h1").innerText == "Mine" && document.querySelector("main[aria-busy=false]")`)
			v.key(kb.End)
			g.close("act")
			for _, key := range []string{"2", "3"} {
				v.key(key)
				v.see("[role=menu]")
				v.key("c")
			}
			g.wait(t, "act")
			v.until(`document.querySelector("main[aria-busy=true]")`)
			v.key(c.leave)
			if c.leave == "g" {
				v.see("dialog .exhibit")
				eval[bool](v.page, `[...document.querySelectorAll(".exhibit")].find((e) => e.textContent.endsWith("central-queue.stile")).click(), true`)
			}
			v.until(`document.querySelector(".notice")?.innerText.startsWith("The text changed before the click")`)
			g.open("act")
			v.until(`document.querySelector("main[aria-busy=false]")`)
			v.holds(other)
		})
	}
}

// What was clicked before "Branch" is a line of the text that it was clicked in, and not
// of the branch, also if it becomes one only then.
func TestClicksStayInTheirBranch(t *testing.T) {
	t.Parallel()
	g := newGate(clickText)
	v := &visit{page: open(t, serve(t, web.Handler(g)))}
	v.until(`document.querySelector(".count")?.innerText.match(/of [1-9]/)`)
	v.key(kb.End)
	g.close("act")
	for _, key := range []string{"2", "3"} {
		v.key(key)
		v.see("[role=menu]")
		v.key("c")
	}
	g.wait(t, "act")
	v.press("Branch")
	v.until(`document.querySelector(".branches [aria-pressed=true]")?.innerText == "branch 1"`)
	g.open("act")
	v.until(`document.querySelector("main[aria-busy=false]")`)
	v.holds(clickText)
	v.press("main")
	v.written("crash P2")
	v.written("crash P3")
	v.press("Undo")
	v.press("Undo")
	v.holds(clickText)
}

// A click that the text has as its next line makes no other, and nothing is said to be gone.
func TestClickOfTheNextLine(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, clickText)}
	v.key("1a")
	v.says(".notice", "no line was added")
	v.page.at("3 of 11")
	v.holds(clickText)
}

// A click is a line where the cursor was when it was made.
func TestClickWhereTheCursorWas(t *testing.T) {
	t.Parallel()
	g := newGate(clickText)
	p := open(t, serve(t, web.Handler(g)))
	p.until(`document.querySelector(".count")?.innerText.match(/of [1-9]/)`)
	g.close("run")
	p.key("t")
	g.wait(t, "run")
	g.close("act")
	p.key("3a" + kb.End)
	p.until(`document.querySelector("[aria-label=last]:disabled")`)
	g.open("run")
	g.wait(t, "act")
	g.open("act")
	p.written("at 0 P3 asks")
}
