package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/stile-lock/stile"
)

// hostile is the name of a lock, a value and a label that would do something if it were taken for
// markup.
const hostile = `<img src=x onerror=alert(1)><script>alert(2)</script>"'&`

// look opens a view of the console of a node.
func (l *cluster) look(i int, view string) *page {
	l.t.Helper()
	p := open(l.t, l.console(i, view))
	p.sees("header.top .standing-live, .identify")
	return p
}

// members waits until all members are there, and well.
func (p *page) members(n int) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.querySelectorAll("table.members tbody tr").length == %d && !document.querySelector("table.members tbody .off")`, n))
}

// view goes to a view of the console by its name.
func (p *page) view(name string) {
	p.t.Helper()
	p.clickOn("nav a", name)
}

// tap clicks something in a table that may move while it is looked for.
func (p *page) tap(selector, words string) {
	p.t.Helper()
	p.until(finding(selector, words))
	eval[bool](p, `(e => { e.focus?.(); e.click(); return true })(`+finding(selector, words)+`)`)
}

// An operator looks at a cluster in which something hangs: at its members, at a lock with its
// holder and queue, at a deadlock and at leaders. Names that look like markup are text.
func TestSomethingHangs(t *testing.T) {
	needsBrowser(t)
	l := started(t, "raymond,kept/=kept:none,found/=kept:detect-central")
	holder := l.dial(0, hostile)
	if err := l.lock(holder, hostile).SetValue(hostile); err != nil {
		t.Fatal(err)
	}
	l.wait(l.dial(1, "second"), hostile)
	l.wait(l.dial(2, "third"), hostile)
	for i := range 120 {
		l.lock(holder, fmt.Sprintf("many/%03d", i))
	}
	l.crossed("kept/")
	victims := l.crossed("found/")
	if one, other := <-victims, <-victims; errors.Is(one, stile.ErrDeadlock) == errors.Is(other, stile.ErrDeadlock) {
		t.Fatalf("%v and %v, want one victim", one, other)
	}

	p := l.look(0, "")
	p.members(3)
	p.says(".changes", "c joined", "epoch")
	p.says(".tiles", "3 of 3")
	p.says(".victims", "found/0", "found/1")
	everywhere := func(where string) {
		t.Helper()
		if n := eval[int](p, `document.querySelectorAll("#app img, #app script").length`); n != 0 {
			t.Errorf("%s: %d elements were made of names", where, n)
		}
		p.sound(where)
		p.size(400, 860)
		p.frame()
		p.tidy(where + ", narrow")
		p.size(1280, 800)
		p.frame()
	}
	everywhere("the overview")
	p.reached("the overview")

	p.key(kb.Escape + "gl") // by keyboard alone
	p.until(`document.querySelectorAll(".list tbody tr").length == 100`)
	everywhere("the locks")
	p.key("]")
	p.until(`location.hash.includes("after=") && document.querySelectorAll(".list tbody tr").length < 100`)
	p.key("/")
	p.until(`document.activeElement.matches(".search input")`)
	p.key("many/11")
	p.until(`document.querySelectorAll(".list tbody tr").length == 10`)
	p.key(kb.Enter + kb.ArrowDown + kb.Enter)
	p.says(".lock-view h1", "many/111")
	p.key(kb.Escape)
	p.until(`location.hash == "#locks?prefix=many%2F11"`)
	p.goes(l.console(0, "#locks"))
	p.press("wait")
	p.until(`document.querySelector(".list tbody tr [data-of=waiting]").innerText == "2"`) // what waits for longest comes first
	p.tap(".list tbody tr:first-child [data-row]", "")
	p.until(`document.querySelector(".lock-view h1").innerText == ` + quote(hostile))
	p.says(".holder", hostile, "fencing token", "lease left")
	p.says(".queue-part h2", "2 requests")
	p.says(".queue", "second", "third")
	p.until(`document.querySelectorAll(".queue li").length == 2`)
	everywhere("one lock")
	p.press("Record 10 s")
	p.says(".recorder [role=status]", "step")
	p.press("Cancel")

	p.key("gw")
	p.says(".notice.alarm", "a deadlock")
	p.until(`document.querySelectorAll(".vertex.sure").length == 2 && document.querySelectorAll(".wire.sure").length == 2`)
	p.says(".waits", "kept/0", "kept/1")
	everywhere("the wait-for graph")
	p.key("ge")
	p.until(`document.querySelectorAll(".elections tbody tr").length == 1`)
	p.says(".elections", hostile)
	everywhere("elections")
	p.key("?")
	p.sees("dialog[open] .keys")
	p.sound("the keys of the console")
	p.leave()
}

// An operator moves a client, takes a lock away, chooses an algorithm, evicts a member and lets
// one leave. Each action says what will happen, and is done only once that is confirmed.
func TestActions(t *testing.T) {
	needsBrowser(t)
	l := started(t, "naimi-trehel")
	held := l.lock(l.dial(0, "worker-7"), "job")
	l.wait(l.dial(1, "worker-8"), "job")
	p := l.look(1, "#lock/job")
	// closed asserts that nothing can be done yet.
	closed := func() {
		t.Helper()
		p.until(`document.querySelector("dialog .answer .main").disabled`)
	}
	done := func() {
		t.Helper()
		p.sees("dialog .outcome:not(.failed)")
		p.press("Close")
		p.gone("dialog")
	}

	p.tap(".holder button", "Move …")
	p.says("dialog", "keeps them all the time")
	p.sound("moving a client")
	p.press("Move it")
	done()
	p.until(`!document.querySelector(".holder dd").innerText.startsWith("a ")`)
	if held.Err() != nil {
		t.Errorf("a client that moved has lost its lock: %v", held.Err())
	}

	p.tap(".lock-head button", "Force-release …")
	p.says("dialog", "worker-7", "is notified that it has lost the lock", "worker-8", "is next")
	p.key(kb.Enter) // once more is not enough: that is Cancel
	p.gone("dialog")
	if held.Err() != nil {
		t.Error("the lock is lost although nothing was confirmed")
	}
	p.tap(".lock-head button", "Force-release …")
	p.press("Take it away")
	done()
	<-held.Context().Done()
	if err := held.Err(); !errors.Is(err, stile.ErrLost) {
		t.Errorf("a lock that was released by force: %v", err)
	}
	p.says(".holder", "worker-8")
	p.says(".past .is-odd", "worker-7") // it did not release it

	p.view("Overview")
	p.members(3)
	p.press("Choose …")
	p.sees("dialog .choose")
	p.key("x=y" + kb.Tab + "raymond")
	p.says("dialog [role=alert]", "cannot be chosen for")
	p.key(kb.Tab, kb.ModifierShift)
	p.fill("orders/")
	p.key(kb.Tab + kb.Tab)
	closed()
	p.sound("choosing")
	p.key("raymond" + kb.Enter)
	done()
	p.says("#app", "orders/=raymond")

	evict := func(node, words string) {
		p.tap(`table.members tbody tr:nth-child(3) button`, words)
		p.sees("dialog")
		closed()
		p.key(strings.ToUpper(node) + kb.Enter)
		closed()
		p.key(kb.Backspace + node)
	}
	evict("c", "Evict …")
	p.says("dialog", "The cluster continues without c", "If it runs, it joins again")
	p.sound("evicting")
	p.key(kb.Enter)
	done()
	p.says(".changes", "c was evicted")
	p.members(3)
	evict("c", "Leave …")
	p.says("dialog", "its process ends")
	p.key(kb.Enter)
	done()
	p.says(".changes", "c left")
	p.members(2)
}

// A reader with a token sees what it may see, over TLS, and no action; the node refuses what the
// page leaves out. An administrator of some locks may take these away, and nothing else.
func TestTokens(t *testing.T) {
	needsBrowser(t)
	l := prepared(t, "naimi-trehel")
	l.secure()
	tokens := l.grants(grant{"reader", "seen/*", false}, grant{"keeper", "seen/*", true})
	l.startAll()
	held := l.lock(l.dial(0, hostile), "seen/one")
	l.lock(l.dial(0, ""), "hidden/one")

	p := window(t)
	p.refused = true // the browser reports each refusal
	if _, err := chromedp.Call(p.ctx, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true}); err != nil {
		t.Fatal(err)
	}
	p.goes(l.console(0, "#locks"))
	p.sees(".identify")
	p.sound("who are you")
	p.tap(".identify input[type=password]", "")
	p.key("wrong" + kb.Enter)
	p.says(".why-not", "unknown or revoked")
	p.tap(".identify input[type=password]", "")
	p.fill(tokens[0])
	p.key(kb.Enter)
	p.says("#app", "seen/one")
	if strings.Contains(p.text("#app"), "hidden/one") {
		t.Error("the page shows a lock that its reader may not read")
	}
	if kept := eval[string](p, `JSON.stringify([sessionStorage.length, localStorage.length, document.cookie])`); kept != `[0,0,""]` || strings.Contains(eval[string](p, `location.href`), tokens[0]) {
		t.Errorf("the token is kept: %s", kept)
	}
	const actions = `[...document.querySelectorAll("button")].filter((b) => /Force|Move|Evict|Leave|Choose/.test(b.innerText)).length`
	p.tap(".list tbody tr [data-row]", "")
	p.says(".holder", "worker", hostile)
	if n := eval[int](p, actions+` + document.querySelectorAll("#app img, #app script").length`); n != 0 {
		t.Errorf("a reader is offered actions, or elements were made of names: %d", n)
	}
	for method, body := range map[string]map[string]any{
		"ForceRelease": {"name": "hidden/one"}, "Evict": {"node": "c"}, "Leave": {"node": "c"}, "Choose": {"algorithm": "raymond"}, "MoveSession": {"node": "a", "session": 1},
	} {
		for _, token := range tokens {
			if status, text := l.call(1, token, method, body); status != http.StatusForbidden {
				t.Errorf("%s: %d %s", method, status, text)
			}
		}
	}

	p.do(chromedp.Reload())
	p.sees(".identify") // it was only in memory
	p.tap(".identify input[type=checkbox]", "")
	p.tap(".identify input[type=password]", "")
	p.fill(tokens[1])
	p.key(kb.Enter)
	p.sees(".holder")
	p.do(chromedp.Reload())
	p.sees(".holder") // it was kept
	p.until(actions + " == 1")
	p.tap(".lock-head button", "Force-release …")
	p.press("Take it away")
	p.sees("dialog .outcome:not(.failed)")
	<-held.Context().Done()
	log := l.nodes[0].Stdout.(*nodeLog).String()
	for _, want := range []string{`why="client reader (token) may not administer`, `result=done`, `who="admin keeper (token)"`} {
		if all := log + l.nodes[1].Stdout.(*nodeLog).String(); !strings.Contains(all, want) {
			t.Errorf("the audit logs have nothing with %q", want)
		}
	}
}

// The node whose console an operator looks at dies: the page says so, and goes on at another.
// When the node is back, it is a member again.
func TestNodeDies(t *testing.T) {
	needsBrowser(t)
	l := started(t, "naimi-trehel")
	p, other := l.look(2, "#overview"), l.look(0, "#overview")
	p.members(3)
	p.alone = true
	l.kill(2)
	p.says(".gone", "Node c")
	p.until(fmt.Sprintf(`(location.host == %q || location.host == %q) && document.querySelector(".standing-live")`, l.http[0], l.http[1]))
	p.members(2)
	other.says(".changes", "c was evicted")
	l.start(2)
	other.members(3)
	other.until(`((all) => all.findIndex((e) => e.matches(".cause-join")) < all.findIndex((e) => e.matches(".cause-evict")))([...document.querySelectorAll(".changes li")])`) // the last one comes first
}

// A process that holds a lock is stopped, so that it renews nothing: the page says who lost the
// lock, and who has it.
func TestHolderStops(t *testing.T) {
	needsBrowser(t)
	l := started(t, "naimi-trehel")
	holder := l.job("orders/42")
	l.wait(l.dial(1, "next"), "orders/42")
	if err := holder.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p := l.look(1, "#locks")
	p.tap(".list tbody tr [data-row]", "orders/42")
	p.says(".past tbody tr", "lost")
	p.says(".holder", "next")
}
