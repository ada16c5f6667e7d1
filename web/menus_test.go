package web

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// Who crashed in a section is no longer in it, and asks anew.
func TestMenuAfterCrash(t *testing.T) {
	t.Parallel()
	p := show(t, "title Two\nalgorithm ricart-agrawala\nprocesses 3\nsection seats among 1,2\nsection films among 2,3\nhold 4\nat 0 P2 asks seats\nat 3 P2 crashes\nat 4 P2 restarts\n")
	p.key(kb.End)
	p.until(`document.querySelector(".event.current")`)
	p.key("2")
	p.see("[role=menu]")
	if got := p.text("[role=menu]"); !strings.Contains(got, "asks for seats") || strings.Contains(got, "leaves seats") {
		t.Errorf("the menu says %q", got)
	}
	if n := eval[int](p, `[...document.querySelectorAll("[role=menuitem].breaks")].filter((b) => b.innerText.includes("cut off")).length`); n > 0 {
		t.Error("a partition is said to break the algorithm")
	}
}
