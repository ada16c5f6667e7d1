package page

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Every action says what will happen to whom, is done only once that is confirmed, and shows
// what the node says.
func TestConsoleActs(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	v := consoleAt(t, f, "", ".members tbody tr")
	acted := func(want string) {
		t.Helper()
		v.see("dialog .outcome")
		all := f.calls()
		if len(all) == 0 || all[len(all)-1] != want {
			t.Errorf("the calls were %q, want %q as the last", all, want)
		}
		v.key(kb.Escape)
		v.until(`!document.querySelector("dialog")`)
	}
	closed := func() {
		t.Helper()
		if n := eval[bool](v.page, `document.querySelector("dialog .answer .main").disabled`); !n {
			t.Error("it can be done before it is confirmed")
		}
	}

	v.tap(".members tbody tr:nth-child(2) .acts .breaks")
	v.says("dialog", "The 38 locks held through it are lost")
	v.says("dialog", "within 10 s")
	v.says("dialog", "It is a voter")
	closed()
	v.key("B" + kb.Enter)
	closed()
	v.key(kb.Backspace + "b" + kb.Enter)
	acted(`Evict {"node":"b"}`)
	v.until(`document.activeElement.matches(".members tbody tr:nth-child(2) .acts .breaks")`) // where the user was

	v.tap(".members tbody tr:nth-child(3) .acts button")
	v.says("dialog", "45 locks held through it, which expire within 10 s")
	closed()
	v.key("c" + kb.Enter)
	acted(`Leave {"node":"c"}`)

	v.tap(".members-part h2 .small")
	v.until(`document.querySelectorAll("#algorithms option").length > 5`)
	v.key("x=y" + kb.Tab + "maekawa")
	v.says("dialog [role=alert]", "cannot be chosen for")
	v.keys(kb.Tab, kb.ModifierShift)
	eval[bool](v.page, `document.activeElement.select(), true`)
	v.key("jobs/" + kb.Tab + kb.Tab)
	closed()
	v.key("maekawa" + kb.Enter)
	acted(`Choose {"algorithm":"jobs/=maekawa"}`)

	v.do(chromedp.Navigate(f.url + "#lock/" + url.PathEscape(lockName)))
	v.see(".holder")
	v.tap(".lock-head .breaks")
	v.says("dialog", `client orders (label "worker-3") at b is notified that it has lost the lock (fencing token 14.941)`)
	v.says("dialog", `Then client orders (label "worker-0") at a is next.`)
	v.key(kb.Enter) // once more is not enough: that is Cancel
	v.until(`!document.querySelector("dialog")`)
	if n := len(f.calls()); n != 3 {
		t.Errorf("there were %d calls, want no other one", n)
	}
	v.tap(".lock-head .breaks")
	v.see("dialog")
	v.key(kb.Tab + kb.Enter)
	acted(`ForceRelease {"name":"orders/2026/00034"}`)

	v.tap(".holder header button")
	v.says("dialog", "keeps them all the time")
	v.key(kb.Tab + kb.Enter)
	acted(`MoveSession {"node":"b","session":"68"}`)
	eval[bool](v.page, `document.querySelector(".queue").focus(), true`)
	v.key(kb.ArrowDown + kb.ArrowDown + kb.Enter)
	v.see("dialog")
	v.key(kb.Tab + kb.Enter)
	acted(`MoveSession {"node":"b","session":"257"}`)

	f.set(func() { f.refuses = "reader bob may not force-release " + lockName })
	v.tap(".lock-head .breaks")
	v.see("dialog")
	v.key(kb.Tab + kb.Enter)
	v.says("dialog .failed", "reader bob may not force-release "+lockName)
	v.key(kb.Escape)
	v.refusals()
}

// Readers who may not administer are offered no action.
func TestConsoleReaders(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.set(func() { f.hello["administers"], f.hello["who"] = false, "reader bob" })
	f.full()
	f.change("lock "+lockName, object{"yours": false})
	v := consoleAt(t, f, "", ".members tbody tr")
	v.says(".reader", "reader bob")
	count := func() int {
		return eval[int](v.page, `document.querySelectorAll("#view button.breaks, .members .acts, .members-part h2 .small, .holder button, .queue li button").length`)
	}
	if n := count(); n != 0 {
		t.Errorf("the overview offers %d actions", n)
	}
	v.do(chromedp.Navigate(f.url + "#lock/" + url.PathEscape(lockName)))
	v.see(".holder")
	if n := count(); n != 0 {
		t.Errorf("a lock offers %d actions", n)
	}
	f.change("lock "+lockName, object{"yours": true})
	v.see(".lock-head .breaks")
	if n := count(); n != 1 {
		t.Errorf("a lock offers %d actions to those who administer only that", n)
	}
}

// A page that is older than what its node serves now says so, and can be loaded again.
func TestConsoleOutdated(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	v := consoleAt(t, f, "", ".members tbody tr")
	f.goes(http.StatusBadGateway)
	v.see(".standing-lost")
	f.goes(0)
	v.until(`!document.querySelector(".gone") && document.querySelector(".standing-live")`)
	v.until(`performance.getEntriesByType("resource").filter((r) => r.name.endsWith("console.js")).length >= 3`) // it was loaded, and compared twice
	if got := v.text("#app"); strings.Contains(got, "another version") {
		t.Error("the same page is said to be another one")
	}
	f.set(func() { f.upgraded = true })
	f.goes(http.StatusBadGateway)
	v.see(".standing-lost")
	f.goes(0)
	v.says(".outdated", "The node now serves another version of this page")
	v.tap(".outdated button")
	v.lands(`!document.querySelector(".outdated") && document.querySelector(".members tbody tr") && document.querySelector(".standing-live")`)
	v.refusals()
}

// clock stops the clock of the page, or lets it go on.
func (v *visit) clock(on bool) {
	v.t.Helper()
	eval[bool](v.page, fmt.Sprintf(`{ window.clock ??= Date.now; const at = Date.now(); Date.now = %t ? clock : () => at } true`, on))
}

// A node that does not answer is said to be gone, and the page goes on at another one, unless
// the user wants to stay.
func TestConsoleMoves(t *testing.T) {
	t.Parallel()
	other := newFakeNode(t)
	other.full()
	other.set(func() { other.hello["node"] = "b" })
	f := newFakeNode(t)
	f.full()
	there := strings.TrimSuffix(other.url, "/console/")
	f.set(func() {
		f.hello["nodes"] = []object{{"name": "evil", "http": "javascript:alert(1)//"}, {"name": "e", "http": "http://127.0.0.1:1"}, {"name": "b", "http": there}}
	})
	v := consoleAt(t, f, "", ".members tbody tr")
	v.key("gl")
	v.see(".list tbody tr")
	v.clock(false) // so that the countdown waits for the browser, however busy it is
	f.goes(http.StatusBadGateway)
	v.see(".gone")
	v.says(".gone", "Node a has refused since")
	v.says(".gone .moves", "Moving to b in") // e does not answer, as the overview said
	v.press("Stay here")
	v.clock(true)
	v.says(".gone .moves", "Go on at another node:")
	if got := eval[[]string](v.page, `[...document.querySelectorAll(".gone .moves button")].map((b) => b.innerText)`); !slices.Equal(got, []string{"b", "e"}) {
		t.Errorf("it offers %q", got)
	}
	v.until(`document.querySelector(".standing").innerText.includes("no answer") && document.querySelectorAll(".list tbody tr").length === 100`) // what was known stays
	f.goes(0)
	v.until(`!document.querySelector(".gone") && document.querySelector(".standing-live")`)
	v.clock(false)
	f.goes(http.StatusServiceUnavailable)
	v.says(".gone .moves", "Moving to b in") // it is back, and goes again
	v.refusals()
	v.clock(true)
	v.lands(`location.origin === ` + quote(there) + ` && location.hash === "#locks" && document.querySelector(".list tbody tr") && document.querySelector(".standing").textContent === "b live"`)
	v.refusals()
}

// A node that has vanished is found again. Where no other is known, the page waits for it.
func TestConsoleWaits(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	v := consoleAt(t, f, "", ".members tbody tr")
	f.goes(http.StatusBadGateway)
	v.says(".gone", "It is not known where other members serve a console.")
	f.change("overview", object{"rate": 55.5})
	f.goes(0)
	v.says(".tiles", "55.5")
	v.until(`!document.querySelector(".gone")`)
	v.refusals()
}

// A hidden page costs its node nothing, and is up to date once it is shown again.
func TestConsoleSleeps(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	v := consoleAt(t, f, "", ".members tbody tr")
	look := func(hidden string) {
		eval[bool](v.page, `Object.defineProperty(document, "hidden", { value: `+hidden+`, configurable: true }), document.dispatchEvent(new Event("visibilitychange"))`)
	}
	eval[bool](v.page, `{ const { setTimeout } = window; window.setTimeout = (run, ms, ...all) => setTimeout(run, ms === 10000 ? 0 : ms, ...all); } true`)
	look("true")
	for {
		if open, _ := f.streams("overview"); open == 0 {
			break
		}
		eval[bool](v.page, `new Promise((done) => requestAnimationFrame(() => done(true)))`)
	}
	f.change("overview", object{"rate": 33.25})
	look("false")
	v.says(".tiles", "33.3")
	if open, all := f.streams("overview"); open != 1 || all != 2 {
		t.Errorf("%d streams are open of %d", open, all)
	}
	if v.text(".gone") != "" {
		t.Error("a page that slept takes its node for gone")
	}
}

// A browser keeps pages that were left, but not their streams: there would soon be too many for
// it to load another page of the node. One that it comes back to is up to date.
func TestConsoleLeft(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	lock := "#lock/" + url.PathEscape(lockName)
	v := consoleAt(t, f, lock, ".queue li")
	for range 6 {
		v.do(chromedp.Navigate("about:blank"), chromedp.Navigate(f.url+lock))
		v.see(".queue li")
	}
	for {
		if open, all := f.streams("trail " + lockName); open == 1 && all >= 7 {
			break
		}
		eval[bool](v.page, `new Promise((done) => requestAnimationFrame(() => done(true)))`)
	}
	doc := lockDoc(nowMS(), lockName, 7)
	v.do(chromedp.Navigate("about:blank"))
	f.show("lock "+lockName, doc)
	eval[bool](v.page, `setTimeout(() => history.back()), true`)
	v.lands(`document.querySelector(".queue-part h2")?.innerText.includes("7 requests")`)
}
