package page

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const lockName = "orders/2026/00034"

// consoleAt opens the console of a node.
func consoleAt(t *testing.T, f *fakeNode, hash, ready string) *visit {
	t.Helper()
	p := open(t, f.url+hash)
	p.see(ready)
	return &visit{page: p}
}

// refusals forgets what the browser itself says of answers that are errors, which a test has
// wanted, and reports all else.
func (v *visit) refusals() {
	v.t.Helper()
	for _, what := range v.complaints() {
		if !strings.Contains(what, "the server responded with a status of") {
			v.t.Errorf("the page complains: %s", what)
		}
	}
}

// lands waits for something to be true of another page, which the browser goes to meanwhile.
func (v *visit) lands(expression string) {
	v.t.Helper()
	for range 3 {
		_, err := chromedp.Run(v.ctx, v.poll(expression))
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "navigated") && !strings.Contains(err.Error(), "Cannot find context") {
			break
		}
	}
	v.t.Fatalf("%s is not true of %s", expression, v.state())
}

// The overview shows what the members say of themselves and of each other, and what changes.
func TestConsoleOverview(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	v := consoleAt(t, f, "", ".members tbody tr")
	for selector, words := range map[string]string{
		".notice.alarm":                                "c sees epoch 13, and a epoch 14",
		".members tbody tr:nth-child(1)":               "here",
		".members tbody tr:nth-child(2)":               "leader",
		".members tbody tr:nth-child(4) .little":       "1.2 s",
		".members tbody tr:nth-child(5) .state":        "connection refused",
		".members tbody tr:nth-child(5) td.complaints": "a, b and d complain about e",
		".changes li:nth-child(6)":                     "c was evicted: a, b and d could not reach it for 2.1 s",
		".changes li:nth-child(6).cause-evict":         "epoch 9",
		".heat tbody tr:nth-child(2)":                  "b",
		".victims":                                     "it was the youngest of a deadlock of 2 transactions",
		".tile.bad":                                    "4 of 5",
		"header.top .standing-live":                    "live",
		"header.top .reader":                           "admin alice",
	} {
		v.says(selector, words)
	}
	if got := v.text(".bars.waits figcaption"); !strings.Contains(got, "2.5 ms to 5 ms: 12,040 (29.8 %)") {
		t.Errorf("the histogram of waits says %q", got)
	}
	f.change("overview", object{"at_ms": nowMS(), "rate": 77.7, "disagree": nil, "members": object{"e": object{"error": nil, "state": "member", "held": 1234}}})
	v.says(".tile", "77.7")
	v.until(`!document.querySelector(".notice")`)
	v.says(".members tbody tr:nth-child(5)", "1,234")
	v.says(".tiles", "5 of 5")
	v.presses(".heat-part", "in all")
	v.until(`document.querySelector(".heat tbody td:nth-child(3)").innerText === "81.2k"`)
}

// Events that are missing, and documents that cannot be had, are noticed and asked for again.
func TestConsoleResync(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	v := consoleAt(t, f, "", ".members tbody tr")
	f.skip("overview", object{"rate": 11.25})
	f.change("overview", object{"ghosts": 3})
	v.says(".tiles", "11.3")
	v.says(".members-part", "3 evicted members")
	if _, all := f.streams("overview"); all != 2 {
		t.Errorf("%d streams were opened, want one more after the gap", all)
	}
	f.say("overview", "error", object{"error": "no majority of the members answers", "reason": "unavailable", "final": false})
	v.says(".notice.warn", "no majority of the members answers")
	f.change("overview", object{"rate": 12.25})
	v.until(`!document.querySelector(".notice.warn")`)
	v.says(".tiles", "12.3")
	if _, all := f.streams("overview"); all != 2 {
		t.Errorf("%d streams were opened, want no other one after an error that passes", all)
	}
}

// Names do nothing but be shown, whatever they are.
func TestConsoleHostile(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	at := nowMS()
	doc := overviewDoc(at)
	doc["disagree"] = []string{hostile}
	doc["algorithm"] = hostile
	doc["members"] = object{hostile: object{"name": hostile, "address": hostile, "incarnation": 1, "voter": true, "linked": false, "state": hostile, "why": hostile, "error": hostile, "complains": []string{hostile}}}
	doc["history"] = object{"1": object{"epoch": 1, "at_ms": at, "cause": hostile, "text": hostile, "members": []string{hostile}}}
	doc["traffic"] = object{hostile: object{hostile: object{"sent": 1, "rate": 1}}}
	doc["victims"] = object{hostile: object{"at_ms": at, "node": hostile, "tx": 1, "who": hostile, "label": hostile, "how": hostile, "why": hostile, "lock": hostile, "cycle": []object{{"node": hostile, "tx": 1, "lock": hostile}}}}
	f.show("overview", doc)
	lock := lockDoc(at, hostile, 3)
	party := object{"who": hostile, "identity": hostile, "label": hostile, "node": hostile, "session": 1, "token": hostile, "since_ms": at, "lease_until_ms": at + 9000, "value": hostile, "mode": hostile}
	lock["holders"], lock["algorithm"], lock["home"] = object{hostile: party}, hostile, hostile
	lock["waiters"], lock["order"] = object{"__proto__": party, "constructor": party}, []string{"constructor", "__proto__"}
	lock["history"] = object{hostile: object{"who": hostile, "node": hostile, "token": hostile, "from_ms": at, "to_ms": at, "end": hostile}}
	f.show("lock "+hostile, lock)
	trail := trailDoc(at, hostile)
	trail["seats"] = []string{hostile, "b", "c", "d", "e"}
	f.show("trail "+hostile, trail)
	f.show("graph", object{"at_ms": at, "vertices": object{"a": object{"who": hostile, "identity": hostile, "label": hostile, "node": hostile, "holds": []string{hostile}}, "__proto__": object{"who": hostile, "node": hostile}}, "edges": object{hostile: object{"from": "a", "to": "__proto__", "lock": hostile}},
		"deadlocks": [][]string{{"a", "__proto__"}}, "silent": []object{{"node": hostile, "why": hostile}}, "victims": doc["victims"]})
	f.set(func() { f.hello["who"], f.hello["node"] = hostile, hostile })

	v := consoleAt(t, f, "#locks", ".list tbody tr")
	const shown = `<img src=x onerror="document.title='hacked'">U+202Egnp.exe␀U+200Bjavascript:alert(1)`
	calm := func(where string, least int) {
		t.Helper()
		v.until(fmt.Sprintf(`document.body.textContent.split(%s).length > %d`, quote(shown), least))
		if got := eval[int](v.page, `document.querySelectorAll("img, script:not([src='console.js']), iframe, object, #view [onerror]").length`); got != 0 {
			t.Errorf("%s: a name has made %d elements", where, got)
		}
		if got := eval[bool](v.page, `document.title.includes("stile console") && /[\u0000\u200b\u202e]/.test(document.body.innerText) === false`); !got {
			t.Errorf("%s: the title is %q, or what cannot be seen is in the page", where, eval[string](v.page, `document.title`))
		}
	}
	calm("locks", 1)
	v.says(".list tbody tr:nth-child(5)", "__proto__")
	v.do(chromedp.Click(chromedp.CSS(`.list tbody tr:nth-child(3) [data-row]`), chromedp.NodeVisible))
	v.see(".plot-things")
	calm("lock", 10)
	if got := eval[string](v.page, `location.hash`); got != "#lock/"+strings.ReplaceAll(url.QueryEscape(hostile), "+", "%20") && !strings.Contains(got, "%3Cimg%20src") {
		t.Errorf("the address is %q", got)
	}
	v.key("go")
	v.see(".members")
	calm("overview", 10)
	v.key("gw")
	v.see(".vertex")
	calm("graph", 8)
	v.key("ge")
	v.see(".elections .list")
	calm("elections", 1)
}

// All can be reached and done by keyboard.
func TestConsoleKeys(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	f.show("lock orders/2026/00000", lockDoc(nowMS(), "orders/2026/00000", 40))
	v := consoleAt(t, f, "", ".members tbody tr")
	focus := func(selector string) {
		t.Helper()
		v.until(`document.activeElement?.matches(` + quote(selector) + `)`)
	}
	v.key("gl")
	v.see(".list tbody tr")
	v.key("/")
	focus(".search input")
	v.key("ord")
	v.until(`location.hash === "#locks?prefix=ord"`)
	v.see(".list tbody tr")
	v.key(kb.Enter)
	focus(".list tr:nth-child(1) [data-row]")
	v.key(kb.ArrowDown + kb.ArrowDown)
	focus(".list tr:nth-child(3) [data-row]")
	v.key(kb.End)
	focus(".list tr:nth-child(100) [data-row]")
	v.key(kb.Home + kb.Enter)
	v.see(".queue li")
	v.until(`location.hash === "#lock/orders%2F2026%2F00000" && document.title.startsWith("orders/2026/00000 · a")`)
	v.key(kb.Escape)
	v.until(`location.hash === "#locks?prefix=ord"`)
	v.see(".list tbody tr")
	v.key("gw")
	v.see(".waits-part [data-row]")
	v.key("ge")
	v.see(".elections .list")
	v.key("?")
	v.see("dialog[open] .keys")
	v.key("go") // the dialog is above the page
	v.key(kb.Escape)
	v.until(`!document.querySelector("dialog") && location.hash === "#elections"`)
	v.key("/")
	focus(".search input")
	v.key(kb.Escape + "go")
	v.see(".members")
}

// A list is asked for as its address says, and read page by page.
func TestConsoleLists(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	v := consoleAt(t, f, "#locks", ".list tbody tr")
	asked := func(want string) {
		t.Helper()
		for { // until the browser has done it
			f.mu.Lock()
			got := f.opened[len(f.opened)-1]
			f.mu.Unlock()
			if got == want {
				break
			}
			v.trying = "the page asks for " + got + ", want " + want
			v.until(`new Promise((done) => requestAnimationFrame(() => done(true)))`)
			if v.ctx.Err() != nil || t.Context().Err() != nil {
				t.Fatal(v.trying)
			}
		}
		v.until(`!document.querySelector("[aria-busy=true]")`)
	}
	asked("view=locks&sort=name")
	last := locksDoc(0, 100)["next"].(string)
	v.see(".flip[href]")
	v.key("]")
	asked("view=locks&sort=name&after=" + url.QueryEscape(last))
	v.tap(".flip[href='#locks']")
	asked("view=locks&sort=name")
	v.tap(".flip[href]") // there is only one
	asked("view=locks&sort=name&after=" + url.QueryEscape(last))
	v.see(".flip[href='#locks']")
	v.key("[")
	asked("view=locks&sort=name")
	for _, sort := range []string{"wait", "hold", "rate"} {
		v.press(sort)
		asked("view=locks&sort=" + sort)
		v.until(`location.hash === "#locks?sort=` + sort + `" && !document.querySelector(".flip")`)
	}
	v.do(chromedp.Navigate("about:blank"), chromedp.Navigate(f.url+"#locks?prefix=a%20b%26c&sort=hold"))
	v.see(".list tbody tr")
	asked("view=locks&prefix=a+b%26c&sort=hold")
	if got := eval[string](v.page, `document.querySelector(".search input").value`); got != "a b&c" {
		t.Errorf("the search has %q", got)
	}
	f.show("locks", object{"at_ms": nowMS(), "prefix": "", "sort": "hold", "next": "", "rows": object{}, "order": []string{}, "silent": []object{{"node": "c", "why": "no answer for 3 s"}}})
	v.says(".nothing", "No lock that is held has a name that begins with a b&c.")
	v.says(".notice", "No answer from c, whose part is missing: no answer for 3 s.")
}

// Only what changes of a list is painted again.
func TestConsoleIsCalm(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	v := consoleAt(t, f, "#locks", ".list tbody tr")
	v.until(`document.querySelectorAll(".list tbody tr").length === 100`)
	eval[bool](v.page, `(() => {
		window.touched = new Set();
		new MutationObserver((all) => { for (const m of all) { const e = m.target.nodeType == 3 ? m.target.parentElement : m.target; if (!e?.closest("time")) touched.add(e?.closest("tr")?.rowIndex ?? -1); } })
			.observe(document.querySelector(".list"), { subtree: true, childList: true, characterData: true, attributes: true });
		return true;
	})()`)
	f.change("locks", object{"at_ms": nowMS(), "rows": object{"orders/2026/00102": object{"waiters": 4321}, "orders/2026/00119": object{"rate": 99.5}}})
	v.says(".list tbody tr:nth-child(7) .waiters", "4,321")
	v.says(".list tbody tr:nth-child(8)", "99.5/s")
	if got := eval[[]int](v.page, `[...touched].sort((a, b) => a - b)`); !slices.Equal(got, []int{7, 8}) {
		t.Errorf("the rows %v were painted again, want 7 and 8", got)
	}
}

// Of a queue of 1,000 only what can be seen exists, and all of it can be reached.
func TestConsoleQueue(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.show("lock "+lockName, lockDoc(nowMS(), lockName, 1000))
	v := consoleAt(t, f, "#lock/"+url.PathEscape(lockName), ".queue li")
	v.says(".queue-part h2", "1,000 requests")
	few := func() {
		t.Helper()
		if n := eval[int](v.page, `document.querySelectorAll(".queue li").length`); n > 60 {
			t.Errorf("%d requests are in the page", n)
		}
	}
	few()
	eval[bool](v.page, `document.querySelector(".queue").focus(), true`)
	v.key(kb.End)
	v.says(".queue .chosen", "worker-999")
	v.until(`(({ bottom }, { top, bottom: end }) => bottom <= end + 1 && bottom > top)(document.querySelector(".queue .chosen").getBoundingClientRect(), document.querySelector(".queue").getBoundingClientRect())`)
	few()
	v.key(kb.PageUp + kb.ArrowUp)
	v.until(`Number(document.querySelector(".queue .chosen .queue-number").innerText) < 1000`)
	doc := lockDoc(nowMS(), lockName, 1000)
	f.change("lock "+lockName, object{"order": doc["order"].([]string)[1:], "waiters": object{"w0": nil}})
	v.says(".queue-part h2", "999 requests")
	v.key(kb.Home)
	v.says(".queue .chosen", "worker-1")
	if got := eval[string](v.page, `document.querySelector(".queue .chosen").getAttribute("aria-posinset") + " of " + document.querySelector(".queue .chosen").getAttribute("aria-setsize")`); got != "1 of 999" {
		t.Errorf("the first request is %s", got)
	}
}
