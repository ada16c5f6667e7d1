package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// longRun is a run that is much wider than any window.
func longRun() string {
	text := "title Long\nalgorithm ricart-agrawala\nprocesses 3\n"
	for i := range 150 {
		text += fmt.Sprintf("at %d P%d asks\n", i*8, i%3+1)
	}
	return text
}

// seen are the events whose dots are in sight.
const seenDots = `(b => [...document.querySelectorAll(".dot")].filter((d) => { const r = d.getBoundingClientRect(); return r.right > b.left && r.left < b.right }).length)(document.querySelector(".plot").getBoundingClientRect())`

// A diagram that was scrolled to the side is not there when another one is shown after
// a text in which nothing happens.
func TestDiagramAfterNothing(t *testing.T) {
	t.Parallel()
	p := show(t, longRun())
	eval[bool](p, `document.querySelector(".plot").scrollLeft = 4000, true`)
	p.until(`!document.querySelector(".dot[data-event='0']")`)
	p.write("algorithm central\nprocesses 3\n")
	p.see(".plot.empty")
	p.write(draftText)
	p.until(seenDots + ` > 3`)
}

// What has not happened yet is veiled to the end, however long the run is.
func TestVeilToTheEnd(t *testing.T) {
	t.Parallel()
	p := show(t, longRun())
	p.until(`document.querySelector(".plot").scrollWidth > 8000`)
	for _, x := range []int{0, 4500, 1e6} {
		eval[bool](p, fmt.Sprintf(`document.querySelector(".plot").scrollLeft = %d, true`, x))
		p.until(`(b => { const v = document.querySelector(".veil").getBoundingClientRect(), end = document.querySelector(".plot-size").getBoundingClientRect().right; return v.left < b.left + 120 && v.right >= Math.min(b.right, end) - 1 })(document.querySelector(".plot").getBoundingClientRect())`)
	}
}

// Who is chosen is pressed, and what has arrived opens no menu.
func TestRolesOfScene(t *testing.T) {
	t.Parallel()
	p := show(t, draftText)
	p.key("2+")
	p.until(`document.querySelectorAll(".process[aria-pressed=true]").length == 1 && document.querySelectorAll(".process[aria-pressed=false]").length == 2 && !document.querySelector("[aria-selected]")`)
	for range 8 {
		p.key(kb.ArrowRight)
		if n := eval[int](p, `document.querySelectorAll(".letter.over[aria-haspopup]").length`); n > 0 {
			t.Errorf("%d messages that are over have menus", n)
		}
	}
}

// There is one token, whatever a process that is new has of its own.
func TestOneToken(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "suzuki-kasami+bully-joins"))
	for range 40 {
		p.key(kb.ArrowRight)
	}
	p.at("76 of 105")
	p.until(`document.querySelectorAll(".picture .token").length == 1`)
	if got := p.text(".why"); !strings.Contains(got, "P4 is new, and waits until the group admits it") {
		t.Errorf("why: %q", got)
	}
}
