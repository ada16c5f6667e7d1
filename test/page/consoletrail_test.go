package page

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The messages of a lock are shown as they happen, with the lab's picture and diagram, until
// the reader steps back to look at one.
func TestConsoleTrail(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	v := consoleAt(t, f, "#lock/"+url.PathEscape(lockName), ".plot-things")
	v.says(".scene h2", "THE TREE")
	v.until(`document.querySelector(".process[data-proc='4']").classList.contains("is-inside") && document.querySelector(".count").innerText === "20 of 20"`)
	for i, want := range []string{"P1 a", "P2 b", "P3 c", "P4 node-d.exampl…", "P5 e"} {
		if got := eval[string](v.page, `document.querySelectorAll(".plot-names text")[`+string(rune('0'+i))+`].textContent`); got != want {
			t.Errorf("lane %d is %q, want %q", i+1, got, want)
		}
	}
	more := func(lines string) {
		f.change("trail "+lockName, object{"text": trailText + lines, "to_ms": nowMS()})
	}
	f.set(func() { f.busy = 2 })
	more("P5 leaves\n")
	v.until(`document.querySelector(".count").innerText.match(/^(\d+) of \1$/) && document.querySelector(".process[data-proc='4']").classList.contains("is-idle")`)
	v.refusals()
	was := v.text(".count")

	v.key(kb.ArrowLeft) // to look at what was
	v.says(".trail .choice button", "stopped")
	at := v.text(".count")
	more("P5 leaves\nP1 asks\n")
	v.says(".trail .choice", "there is more since")
	if got := v.text(".count"); got != at || got == was {
		t.Errorf("the diagram goes on to %s, stopped at %s", got, at)
	}
	v.key("f")
	v.says(".trail .choice button", "live")
	v.until(`document.querySelector(".count").innerText.match(/^(\d+) of \1$/) && document.querySelector(".process[data-proc='0']").classList.contains("is-waiting")`)

	v.tap(".process[data-proc='1'] .body")
	v.says(".seat", "P2 b: waiting")
	v.says(".seat", "holder")
	v.key(kb.Escape)
	v.until(`!document.querySelector(".seat") && location.hash.startsWith("#lock/")`)

	f.change("trail "+lockName, object{"text": "algorithm nonsense\n"})
	v.says(".diagram .notice", "the lab cannot show it")
	f.show("trail "+lockName, object{"at_ms": nowMS(), "name": lockName, "why": "kept locks have no messages between seats", "seats": []string{}})
	v.says(".scene .nothing", "kept locks have no messages between seats")
}

// What happens for ten seconds opens in the lab, however long it is.
func TestConsoleRecords(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	v := consoleAt(t, f, "#lock/"+url.PathEscape(lockName), ".plot-things")
	f.show("trail "+lockName+" recorded", object{"at_ms": nowMS(), "name": lockName, "steps": 3, "done": false})
	v.press("Record 10 s")
	v.says(".recorder [role=status]", "Recording: 3 steps so far")
	v.press("Cancel")
	v.see(".recorder button:only-child")

	v.press("Record 10 s")
	v.see(".recorder progress")
	f.show("trail "+lockName+" recorded", object{"at_ms": nowMS(), "name": lockName, "steps": 10, "text": trailText, "done": true})
	v.lands(`location.pathname === "/lab/" && document.querySelector("h1")?.innerText === "orders/2026/00034, live" && document.querySelector(".count")?.innerText === "0 of 20"`)
	v.until(`location.hash.startsWith("#s=")`)
}

// A node that asks for a token is given one, which is kept only if the user wants that.
func TestConsoleToken(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	f.set(func() { f.token = "secret" })
	v := consoleAt(t, f, "#locks", ".identify")
	v.says(".why-not", "this call has no identity: send a token")
	v.key("wrong" + kb.Enter)
	v.says(".why-not", "the token is not known here")
	v.tap(".identify input[type=password]")
	eval[bool](v.page, `document.activeElement.select(), true`)
	v.key("secret" + kb.Enter)
	v.see(".list tbody tr")
	if got := eval[string](v.page, `JSON.stringify([sessionStorage.length, localStorage.length, document.cookie, location.href.includes("secret")])`); got != `[0,0,"",false]` {
		t.Errorf("the token is kept: %s", got)
	}
	f.mu.Lock()
	for _, q := range f.opened {
		if strings.Contains(q, "secret") {
			t.Errorf("the token is in the address of a stream: %s", q)
		}
	}
	f.mu.Unlock()

	v.do(chromedp.Reload())
	v.see(".identify") // it was only in memory
	v.tap(".identify input[type=checkbox]")
	v.tap(".identify input[type=password]")
	v.key("secret" + kb.Enter)
	v.see(".list tbody tr")
	v.do(chromedp.Reload())
	v.see(".list tbody tr")
	v.refusals()
}
