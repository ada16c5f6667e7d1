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

// Who is told that another is dead or back is told no more what it was told last.
func TestMenuAfterTrust(t *testing.T) {
	p := show(t, "title Told\nalgorithm ricart-agrawala\nprocesses 3\nschedule steps\nP1 suspects P2\nP1 trusts P2\ncrash P3\nP1 suspects P3\n")
	for _, c := range []struct{ at, offered string }{
		{"0 of 4", ""},
		{"1 of 4", "is told that P2 is back"},
		{"2 of 4", ""},
		{"3 of 4", "is told that P3 is dead"},
		{"4 of 4", ""},
	} {
		p.at(c.at)
		p.key("1")
		p.see("[role=menu]")
		got := eval[string](p, `[...document.querySelectorAll("[role=menuitem]")].map((e) => e.innerText.split("\n")[0]).filter((s) => s.includes("is told")).join()`)
		if got != c.offered {
			t.Errorf("after %s the menu offers %q, want %q", c.at, got, c.offered)
		}
		p.key(kb.Escape + kb.ArrowRight)
	}
}
