package page

import (
	"bytes"
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile"
)

// These are the walks of docs/console.md, "Something hangs: find out why in one minute", on
// real nodes, from the overview to the cause, by what an operator clicks. How long each takes
// is logged.

// A walk is an operator who looks for a cause.
type walk struct {
	*page
	began time.Time
}

// walks opens the console of a node.
func walks(t *testing.T, l *live, i int) *walk {
	t.Helper()
	w := &walk{open(t, l.console(i, "")), time.Now()}
	w.until(`document.querySelectorAll("table.members tbody tr").length == 3`)
	return w
}

// finds waits for a cause.
func (w *walk) finds(texts ...string) {
	w.t.Helper()
	w.has(texts...)
	w.t.Logf("%q after %.1f s", texts, time.Since(w.began).Seconds())
}

// view goes to a page of the console.
func (w *walk) view(title string) {
	w.t.Helper()
	eval[bool](w.page, `[...document.querySelectorAll("nav a")].find((a) => a.innerText == "`+title+`").click(), true`)
}

// longest opens the lock whose requests have waited for longest.
func (w *walk) longest(name string) {
	w.t.Helper()
	w.view("Locks")
	w.until(`document.querySelector(".bar .choice button") !== null`)
	w.presses(".bar", "wait")
	w.until(`document.querySelector(".list tbody tr [data-row]")?.innerText == "` + name + `"`)
	eval[bool](w.page, `document.querySelector(".list tbody tr [data-row]").click(), true`)
	w.until(`document.querySelector(".lock-view h1")?.innerText == "` + name + `"`)
}

// holds has a process hold a lock, as an operator's job does.
func (l *live) holds(name string) *exec.Cmd {
	l.t.Helper()
	c := exec.Command(l.path, "exec", "--addr", l.listen[0], name, "--", "sh", "-c", "echo held; exec sleep 600")
	out, err := c.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGCONT) // it ends its command when it is told to
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	})
	if _, err := out.Read(make([]byte, 5)); err != nil {
		l.t.Fatalf("%v: %s", err, said.String())
	}
	return c
}

// next has a client wait for a lock, and keep it.
func (l *live) next(c *stile.Client, name string) {
	go func() { _, _ = c.Lock(l.t.Context(), name) }()
}

// A holder that is stopped no longer renews its session. The page says so before the lock is
// lost, and afterwards who has lost it.
func TestWalkHolderStops(t *testing.T) {
	t.Parallel()
	l := newLive(t, "naimi-trehel")
	holder := l.holds("orders/42")
	for i := range 2 { // one of them still waits when the other has acquired the lock
		l.next(l.dial(1+i), "orders/42")
	}
	if err := holder.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w := walks(t, l, 1)
	w.longest("orders/42")
	w.finds("lost: ")
	w.until(`document.querySelector(".past tbody tr")?.innerText.includes("lost")`)
}

// A node that is cut off is evicted. The page says why, and that it is back; that of the node
// itself says that the others do not answer, or that it is not a member.
func TestWalkPartition(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("which process a connection is of, only Linux tells")
	}
	l := prepared(t, "naimi-trehel")
	for i := range l.nodes {
		l.wires = append(l.wires, newWire(t, l.listen[i]))
	}
	for i := range l.nodes {
		l.start(i)
	}
	w := walks(t, l, 0)
	w.until(`document.querySelectorAll("table.members .off").length == 0`)
	l.wires[2].cut(anyone)
	for _, g := range l.wires[:2] {
		g.cut(dialledBy(l.nodes[2].Process.Pid))
	}
	w.began = time.Now()
	w.finds("c was evicted: ")
	other := open(t, l.console(2, "")) // that of the node that is cut off
	other.refused, other.alone = true, true
	other.until(`/does not answer|did not answer|not a member/.test(document.querySelector("#app").innerText)`)
	for _, g := range l.wires {
		g.heal()
	}
	w.until(`document.querySelectorAll("table.members tbody tr").length == 3`)
	w.until(`((all) => all.findIndex((e) => e.matches(".cause-join")) < all.findIndex((e) => e.matches(".cause-evict")))([...document.querySelectorAll(".changes li")])`) // the last one comes first
}

// A deadlock is named, with the transactions that are in it.
func TestWalkDeadlock(t *testing.T) {
	t.Parallel()
	l := newLive(t, "naimi-trehel,kept/=kept:none")
	deadlock(t, l)
	w := walks(t, l, 2)
	w.view("Wait-for graph")
	w.finds("a deadlock")
	w.until(`document.querySelectorAll(".vertex.sure").length == 2 && document.querySelectorAll(".wire.sure").length == 2`)
}

// A deadlock that the nodes resolve has a victim, and so has a wound. The page says which
// transaction had to abort, by which cycle, and why.
func TestWalkVictims(t *testing.T) {
	t.Parallel()
	l := newLive(t, "naimi-trehel,found/=kept:detect-central,pushed/=kept:detect-distributed,old/=kept:wound-wait")
	w := walks(t, l, 2)
	w.view("Wait-for graph")
	w.finds("No transaction had to abort.")
	victim := func(how string) string {
		return `[...document.querySelectorAll(".victims li")].findLast((e) => e.querySelector(".how-` + how + `"))`
	}
	for _, prefix := range []string{"found/", "pushed/"} {
		ends := crossed(t, l, prefix)
		if one, two := <-ends, <-ends; errors.Is(one, stile.ErrDeadlock) == errors.Is(two, stile.ErrDeadlock) {
			t.Fatalf("%s: %v and %v, want one victim", prefix, one, two)
		}
		w.until(`((e) => e && ["` + prefix + `0", "` + prefix + `1"].every((name) => e.querySelector(".cycle-line")?.innerText.includes(name)))([...document.querySelectorAll(".victims li")].find((e) => e.innerText.includes("` + prefix + `")))`)
	}
	w.until(`/transaction \d+ of [abc] waits for "found\/\d" behind transaction \d+ of [abc]; transaction/.test(` + victim("cycle") + `.innerText)`)

	older, younger := l.begins(0), l.begins(1)
	if _, err := younger.Lock(t.Context(), "old/x"); err != nil {
		t.Fatal(err)
	}
	go func() {
		<-younger.Context().Done() // it is wounded
		_ = younger.Abort()
	}()
	if _, err := older.Lock(t.Context(), "old/x"); err != nil {
		t.Fatal(err)
	}
	w.until(victim("wound") + `?.innerText.includes("old/x")`)
	t.Log(w.text(".victims"))
}

// A member is evicted by a click. The members are told who wanted it, and it joins again.
func TestLiveEvict(t *testing.T) {
	t.Parallel()
	l := newLive(t, "naimi-trehel")
	l.lock(l.dial(2), "job")
	w := walks(t, l, 0)
	w.until(`document.querySelector("table.members tbody tr:nth-child(3) [data-of=held]")?.innerText == "1"`)
	w.presses("table.members tbody tr:nth-child(3)", "Evict …")
	w.has("The lock held through it is lost")
	w.types("c")
	w.presses("dialog", "Evict it")
	w.until(`document.querySelector("dialog .outcome:not(.failed)") !== null`)
	w.presses("dialog", "Close")
	w.finds("c was evicted")
	w.until(`document.querySelectorAll("table.members tbody tr").length == 3 && document.querySelectorAll("table.members tbody tr .off").length == 0`)
}
