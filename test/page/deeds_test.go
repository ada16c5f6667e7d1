package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// offered opens the menu of a lane by keyboard, and returns what is in it.
func (p *page) offered(lane int) []string {
	p.t.Helper()
	// As a keyboard does it: who prevents the default of a key gets no letter of it.
	eval[bool](p, fmt.Sprintf(`((e) => { e.focus(); e.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true})); return true })(document.querySelector('.picture [data-proc="%d"]'))`, lane))
	p.see(".menu")
	return p.choices()
}

// choices are what the open menu offers, without the keys.
func (p *page) choices() []string {
	p.t.Helper()
	return eval[[]string](p, `[...document.querySelectorAll(".menu [role=menuitem]")].map((e) => e.firstChild.textContent)`)
}

// written waits for a line in the text.
func (p *page) written(line string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.querySelector("textarea").value.split("\n").some((s) => s.trim().endsWith(%q))`, line))
}

// The menu of a process has an entry for each timer that runs, by its number, and none
// where none does.
func TestTimersOffered(t *testing.T) {
	t.Parallel()
	p := show(t, "title Bully\nalgorithm bully\nprocesses 4\nat 0 crash P4\nat 1 P1 asks\n")
	isTimer := func(s string) bool { return strings.Contains(s, "timer") }
	if got := p.offered(0); slices.ContainsFunc(got, isTimer) {
		t.Errorf("nobody has asked yet, and P1 is offered %q", got)
	}
	p.key(kb.Escape)
	p.until(`!document.querySelector(".menu")`)
	for !strings.Contains(p.text(".why"), "P1 waits") {
		p.key(kb.ArrowRight)
	}
	if got := p.offered(0); !slices.Contains(got, "timer 0 expires") {
		t.Errorf("P1 waits for answers, and is offered %q", got)
	}
	p.key("t")
	p.written("P1 timer 0 expires")
	p.until(`document.querySelector(".why").innerText.includes("No process waits") || document.querySelector(".event.expire")`)
}

// Locks are chosen one after the other, as many as there are, by keys alone; what was
// chosen last can be taken back.
func TestLocksInOrder(t *testing.T) {
	t.Parallel()
	p := show(t, "title Three\nalgorithm none\nprocesses 2\nsite 1 P1 L1 L3\nsite 2 P2 L2\nat 0 P2 takes L2\n")
	if got := p.offered(2); !slices.Equal(got, []string{"takes locks …"}) {
		t.Errorf("P1 is offered %q", got)
	}
	p.key("a")
	p.until(`document.querySelector(".menu")?.innerText.includes("first L1")`)
	p.key("1")
	p.until(`document.querySelector(".menu")?.innerText.includes("takes L1")`)
	p.key("2")
	p.until(`document.querySelector(".menu")?.innerText.includes("takes L1, then L2")`)
	p.key(kb.Backspace + "3")
	p.until(`document.querySelector(".menu")?.innerText.includes("takes L1, then L3")`)
	p.key(kb.ArrowDown + kb.Enter)
	p.until(`document.querySelector(".menu")?.innerText.includes("takes L1, then L3, then L2")`)
	if got := p.choices(); !slices.Equal(got, []string{"takes L1, then L3, then L2", "remove L2"}) {
		t.Errorf("all locks are chosen, and there is %q", got)
	}
	p.key(kb.Enter)
	p.written("P1 takes L1 L3 L2")
	p.until(`!document.querySelector(".menu")`)
	if got := p.offered(0); slices.Contains(got, "pauses") || !slices.Contains(got, "crashes") {
		t.Errorf("a site is offered %q", got)
	}
}

// A graph of resources is read, stepped through and changed like any other scenario:
// what is chosen is a line, and what follows from it is said.
func TestGraphIsACitizen(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "graph-cycle"))
	p.until(`document.querySelector(".why").innerText.includes("a cycle: each asks for what the next one holds")`)
	if got := p.text(".why"); strings.Contains(got, "forever") {
		t.Errorf("there is no deadlock, and the page says %q", got)
	}
	p.key(kb.End)
	p.until(`document.querySelector("[role=log]").textContent == "All processes have ended: there is no deadlock."`)
	p.key(kb.Home)
	if got := p.offered(1); !slices.Contains(got, "asks for a unit of R2") || slices.Contains(got, "crashes") {
		t.Errorf("P2 is offered %q", got)
	}
	eval[bool](p, `[...document.querySelectorAll(".menu [role=menuitem]")].find((e) => e.textContent == "asks for a unit of R2").click(), true`)
	p.written("P2 asks R2")
	p.offered(3)
	eval[bool](p, `[...document.querySelectorAll(".menu [role=menuitem]")].find((e) => e.textContent == "asks for a unit of R1").click(), true`)
	p.written("P4 asks R1")
	p.until(`document.querySelector("main[aria-busy=false]")`)
	p.key("v")
	p.until(`document.querySelector("[role=log]").textContent.startsWith("P1, P2, P3 and P4 are deadlocked")`)
	p.key("uu")
	p.until(`!document.querySelector("textarea").value.includes("P2 asks R2")`)
}

// Whose transaction was aborted tries again, since it cannot begin another one.
func TestAbortedTriesAgain(t *testing.T) {
	p := show(t, "title Die\nalgorithm wait-die\nprocesses 2\nsite 1 P1 P2 L1\nschedule steps\nP1 takes L1\nP2 takes L1\n")
	p.key(kb.End)
	p.until(`document.querySelector(".event.current")?.innerText.includes("aborts") || document.querySelector(".event.deny")`)
	if got := p.offered(2); !slices.Equal(got, []string{"tries again"}) {
		t.Fatalf("P2, whose transaction was aborted, is offered %q", got)
	}
	p.key("g")
	p.written("P2 goes on")
	p.until(`document.querySelector("#editor-fault").innerText == "" && !document.querySelector(".notice")`)
}
