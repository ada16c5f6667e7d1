package page

import (
	"slices"
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

// The menu does not offer to suspect or trust a process again after the same notice.
func TestMenuAfterTrust(t *testing.T) {
	p := show(t, "title Told\nalgorithm ricart-agrawala\nprocesses 3\nschedule steps\nP1 suspects P2\nP1 trusts P2\ncrash P3\nP1 suspects P3\n")
	for _, c := range []struct{ at, offered string }{
		{"0 of 4", ""},
		{"1 of 4", "trusts P2 again"},
		{"2 of 4", ""},
		{"3 of 4", "suspects that P3 has crashed"},
		{"4 of 4", ""},
	} {
		p.at(c.at)
		p.key("1")
		p.see("[role=menu]")
		got := eval[string](p, `[...document.querySelectorAll("[role=menuitem]")].map((e) => e.innerText.split("\n")[0]).filter((s) => /^(suspects|trusts)/.test(s)).join()`)
		if got != c.offered {
			t.Errorf("after %s the menu offers %q, want %q", c.at, got, c.offered)
		}
		p.key(kb.Escape + kb.ArrowRight)
	}
}

// What a message cannot do now is not offered: to arrive where a process is paused or
// is cut off, to overtake if none is ahead, or in steps to be overtaken if none is behind.
func TestMenuOfMessage(t *testing.T) {
	const steps = "title Order\nalgorithm lamport\nprocesses 2\nschedule steps\n"
	for _, c := range []struct{ text, second, want string }{
		{steps + "P1 asks\n", "", "is lost,arrives now,arrives twice"},
		{steps + "P1 asks\nP2 asks\ndeliver 1 -> 2 REQUEST\n", "", "is lost,arrives now,arrives twice,is overtaken by the next one"},
		{steps + "P1 asks\nP2 asks\ndeliver 1 -> 2 REQUEST\n", "m", "is lost,arrives now,arrives twice,overtakes the messages ahead of it"},
		{steps + "P1 asks\nP2 asks\ndeliver 1 -> 2 REQUEST\nreorder 2 -> 1 REQUEST\n", "", "is lost,arrives now,arrives twice"},
		{steps + "P1 asks\npause P2\n", "", "is lost,arrives twice"},
		{steps + "P1 asks\npartition 1 | 2\n", "", "is lost,arrives twice"},
		{steps + "P1 asks\npartition 1 | 2\nheal\n", "", "is lost,arrives now,arrives twice"},
	} {
		p := show(t, c.text)
		p.key(kb.End)
		p.until(`document.querySelector(".event.current")`)
		p.key("m" + c.second)
		p.see("[role=menu]")
		got := eval[[]string](p, `[...document.querySelectorAll("[role=menuitem]")].map((e) => e.innerText.split("\n")[0])`)
		slices.Sort(got)
		want := strings.Split(c.want, ",")
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("at the end of\n%s\nthe menu offers %q, want %q", c.text, got, want)
		}
	}
}

// The tour says that a click on a waiting process shows what it waits for, and so it does.
func TestTourWaits(t *testing.T) {
	t.Parallel()
	v := &visit{page: open(t, serve(t, labOf(t, &bench{})))}
	v.see(".exhibit.is-first")
	v.press("Take the tour")
	for range 3 {
		v.press("Next")
	}
	v.says(".tour-card", "to see what it waits for")
	v.until(`document.querySelectorAll(".process.is-waiting").length == 2`)
	for _, c := range []struct{ proc, want string }{{"0", "It waits for OK from P2"}, {"1", "It waits for OK from P1"}} {
		v.click(`.process[data-proc="` + c.proc + `"] .body`)
		v.says(".menu", c.want)
		if under := eval[string](v.page, `(b => document.elementFromPoint(b.right - 6, b.top + 6).className)(document.querySelector(".menu").getBoundingClientRect())`); !strings.Contains(under, "menu") {
			t.Errorf("the menu lies under %s", under)
		}
		v.key(kb.ArrowDown + "\t")
		v.until(`!document.querySelector(".menu")`)
	}
}
