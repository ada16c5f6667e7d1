package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/stile-lock/stile"
)

// markup is the name of a lock, a value and an identity that would do something if it were
// taken for markup.
const markup = `<img src=x onerror=alert(1)><script>alert(2)</script>"'&`

// command builds the command once.
var command = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "stile-console")
	if err != nil {
		return "", err
	}
	shared.ends = append(shared.ends, func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "stile")
	if b, err := exec.Command("go", "build", "-o", path, "../../cmd/stile").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build stile: %w\n%s", err, b)
	}
	return path, nil
})

// A live is three real nodes.
type live struct {
	t         testing.TB
	path, dir string
	listen    []string
	http      []string
	algorithm string
	lease     string // time after which a node that is out of reach loses its locks
	certs     string // folder of certificates, with which all talk over TLS; empty for none
	flags     []string
	nodes     []*exec.Cmd
	wires     []*wire // through which nodes reach each other, if the network can be cut
}

// newLive starts three nodes, with an algorithm, and with flags besides.
func newLive(t testing.TB, algorithm string, flags ...string) *live {
	t.Helper()
	l := prepared(t, algorithm, flags...)
	for i := range l.nodes {
		l.start(i)
	}
	return l
}

// prepared is three nodes that are not started yet.
func prepared(t testing.TB, algorithm string, flags ...string) *live {
	t.Helper()
	browser(t) // without one, the test is skipped before anything is started
	path, err := command()
	if err != nil {
		t.Fatal(err)
	}
	l := &live{t: t, path: path, dir: t.TempDir(), algorithm: algorithm, lease: "10s", flags: flags, nodes: make([]*exec.Cmd, 3)}
	var free []net.Listener
	for range 2 * len(l.nodes) {
		f, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		free = append(free, f)
	}
	for i, f := range free {
		to := &l.listen
		if i%2 == 1 {
			to = &l.http
		}
		*to = append(*to, f.Addr().String())
		f.Close()
	}
	t.Cleanup(func() {
		for i := range l.nodes {
			l.kill(i)
		}
	})
	return l
}

// at is where other nodes reach a node.
func (l *live) at(i int) string {
	if l.wires != nil {
		return l.wires[i].address()
	}
	return l.listen[i]
}

// start starts a node, and waits until clients can use it.
func (l *live) start(i int) {
	l.t.Helper()
	name := string(rune('a' + i))
	args := append([]string{"serve", "--name", name, "--listen", l.listen[i], "--http", l.http[i], "--data", filepath.Join(l.dir, name), "--advertise", l.at(i), "--log-level", "info"}, l.flags...)
	if i > 0 {
		args = append(args, "--join", l.at(0))
	} else {
		args = append(args, "--lease", l.lease, "--algorithm", l.algorithm)
	}
	if l.certs != "" {
		args = append(args, "--ca", l.cert("ca.crt"), "--cert", l.cert(name+".crt"), "--key", l.cert(name+".key"))
	}
	var log nodeLog
	c := exec.Command(l.path, args...)
	c.Stdout, c.Stderr = &log, &log
	l.t.Cleanup(func() {
		if l.t.Failed() {
			l.t.Logf("node %s:\n%s", name, log.String())
		}
	})
	if err := c.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.nodes[i] = c
	for {
		r, err := l.browser().Get(l.origin(i) + "/readyz")
		if err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-l.t.Context().Done():
			l.t.Fatalf("node %s does not serve: %v", name, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// kill kills a node, if it runs.
func (l *live) kill(i int) {
	if c := l.nodes[i]; c != nil {
		_ = c.Process.Kill()
		_ = c.Wait()
		l.nodes[i] = nil
	}
}

// nodeLog is what a node prints.
type nodeLog struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write implements io.Writer.
func (b *nodeLog) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *nodeLog) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// console is the address of a page of the console of a node.
func (l *live) console(i int, page string) string {
	return l.origin(i) + "/console/" + page
}

// dial connects a client through one of the nodes.
func (l *live) dial(i int) *stile.Client {
	l.t.Helper()
	c, err := stile.Dial(l.t.Context(), stile.DialConfig{Nodes: append([]string{l.listen[i]}, l.listen...)})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = c.Close() })
	return c
}

// lock acquires a lock, which is released at the end of the test.
func (l *live) lock(c *stile.Client, name string) *stile.Lock {
	l.t.Helper()
	k, err := c.Lock(l.t.Context(), name)
	if err != nil {
		l.t.Fatal(err)
	}
	return k
}

// wait has a client wait for a lock until the test ends, and release it at once.
func (l *live) wait(c *stile.Client, name string) {
	go func() {
		if k, err := c.Lock(l.t.Context(), name); err == nil {
			_ = k.Unlock()
		}
	}()
}

// contend has a client acquire and release a lock until the context ends.
func contend(ctx context.Context, c *stile.Client, name string) {
	for ctx.Err() == nil {
		k, err := c.Lock(ctx, name)
		if err != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
		_ = k.Unlock()
	}
}

// call calls a method of the service Cluster as a program does.
func (l *live) call(i int, token, method string, body map[string]any) (status int, text string) {
	l.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		l.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(l.t.Context(), http.MethodPost, l.origin(i)+"/stile.v1.Cluster/"+method, bytes.NewReader(b))
	if err != nil {
		l.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	a, err := l.browser().Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer a.Body.Close()
	var buf bytes.Buffer
	_, _ = buf.ReadFrom(a.Body)
	return a.StatusCode, buf.String()
}

// has waits until the page shows all of these texts.
func (p *page) has(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		p.until(fmt.Sprintf(`document.querySelector("#app").innerText.includes(%q)`, text))
	}
}

// tap clicks what a selector finds first, wherever it is: tables of the console move while it
// is looked for.
func (p *page) tap(selector string) {
	p.t.Helper()
	p.see(selector)
	eval[bool](p, fmt.Sprintf(`(e => { e.focus?.(); e.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true})); return true })(document.querySelector(%q))`, selector))
}

// goes shows another address.
func (p *page) goes(url string) {
	p.t.Helper()
	p.do(chromedp.Navigate(url))
}

// moves waits until the tab has gone to another page, where an expression is true.
func (p *page) moves(expression string) {
	p.t.Helper()
	for {
		there, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](expression))
		if err == nil && there {
			return
		}
		select {
		case <-p.t.Context().Done():
			p.t.Fatalf("%s: %v", expression, err)
		case <-time.After(50 * time.Millisecond): // while it navigates, it evaluates nothing
		}
	}
}

// presses presses the first button with a text, in an element.
func (p *page) presses(within, text string) {
	p.t.Helper()
	button := fmt.Sprintf(`[...document.querySelectorAll(%q)].filter((b) => b.innerText.trim() === %q && !b.disabled)[0]`, within+" button", text)
	p.until(button + ` !== undefined`)
	eval[bool](p, button+`.click(), true`)
}

// types types a text into the dialog.
func (p *page) types(text string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(i => { i.value = %q; i.dispatchEvent(new Event("input", {bubbles: true})); return true })(document.querySelector("dialog .types input"))`, text))
}

// The pages of the console show three real nodes, their locks and what waits for them. Names
// and values that look like markup are text.
func TestLivePages(t *testing.T) {
	t.Parallel()
	l := newLive(t, "raymond,kept/=kept:none")
	first, second := l.dial(0), l.dial(1)
	if err := l.lock(first, markup).SetValue(markup); err != nil {
		t.Fatal(err)
	}
	l.wait(second, markup)
	deadlock(t, l)

	p := open(t, l.origin(0)+"/")
	p.moves(`location.pathname == "/console/"`)
	p.until(`document.querySelectorAll("table.members tbody tr").length == 3`)
	p.has("c joined", "epoch")
	p.goes(l.console(0, "#locks"))
	p.has(markup)
	p.until(`document.querySelector("tr.is-awaited [data-of=waiting]")?.innerText == "1"`)
	eval[bool](p, `document.querySelector("tr.is-awaited a[data-row]").click(), true`)
	p.until(fmt.Sprintf(`document.querySelector(".lock-view h1")?.innerText == %q`, markup))
	p.until(fmt.Sprintf(`document.querySelector(".holder")?.innerText.includes(%q)`, markup)) // the value
	p.until(`document.querySelectorAll(".scene .process").length == 3`)
	p.goes(l.console(0, "#graph"))
	p.has("a deadlock")
	p.goes(l.console(0, "#elections"))
	p.until(`document.querySelectorAll(".elections tbody tr").length == 1`)
	p.has(markup)
	if n := eval[int](p, `document.querySelectorAll("#app img, #app script").length`); n != 0 {
		t.Errorf("%d elements were made of names", n)
	}
}

// deadlock has two transactions wait for each other forever.
func deadlock(t *testing.T, l *live) {
	t.Helper()
	ends := crossed(t, l, "kept/")
	go func() {
		for range 2 {
			if <-ends == nil {
				t.Error("a deadlock has ended by itself")
			}
		}
	}()
}

// crossed has two transactions each hold a lock and want that of the other: what came of that
// is sent when they have ended.
func crossed(t *testing.T, l *live, prefix string) (ends chan error) {
	t.Helper()
	var all [2]*stile.Tx
	for i := range all {
		all[i] = l.begins(i)
		if _, err := all[i].Lock(t.Context(), fmt.Sprintf("%s%d", prefix, i)); err != nil {
			t.Fatal(err)
		}
	}
	ends = make(chan error, len(all))
	for i, tx := range all {
		go func() {
			_, err := tx.Lock(t.Context(), fmt.Sprintf("%s%d", prefix, 1-i))
			_ = tx.Abort()
			ends <- err
		}()
	}
	return ends
}

// begins begins a transaction of a client of one of the nodes.
func (l *live) begins(i int) *stile.Tx {
	l.t.Helper()
	tx, err := l.dial(i).Begin(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return tx
}

// What happens to a contended lock is shown as it happens, and recorded as a file.
func TestLiveRecording(t *testing.T) {
	t.Parallel()
	l := newLive(t, "suzuki-kasami")
	for i := range 3 {
		go contend(t.Context(), l.dial(i), "hot")
	}
	p := open(t, l.console(1, "#lock/hot"))
	p.until(`[...document.querySelectorAll(".steps li")].some((e) => / receives \w+ from /.test(e.innerText))`)
	p.until(`document.querySelectorAll(".trail tbody tr").length == 3`)
	p.presses(".recorder", "Record 10 s")
	p.until(`[...document.querySelectorAll(".recorder button")].some((e) => e.innerText == "Download")`)
}

// A node that is killed is shown as gone by the others; its own page says so and moves to
// another. When it is back, it is a member again.
func TestLiveMoves(t *testing.T) {
	t.Parallel()
	l := newLive(t, "naimi-trehel")
	p, other := open(t, l.console(2, "#overview")), open(t, l.console(0, "#overview"))
	p.until(`document.querySelectorAll("table.members tbody tr").length == 3`)
	p.until(`document.querySelectorAll("table.members tbody tr .off").length == 0`)
	p.alone = true
	l.kill(2)
	other.has("c was evicted")
	p.moves(fmt.Sprintf(`location.host == %q || location.host == %q`, l.http[0], l.http[1]))
	p.until(`document.querySelectorAll("table.members tbody tr").length == 2`)
	l.start(2)
	other.until(`document.querySelectorAll("table.members tbody tr").length == 3`)
	other.until(`document.querySelectorAll("table.members tbody tr .off").length == 0`)
}

// Every action does what its dialog says, and what is refused is refused by the node.
func TestLiveActions(t *testing.T) {
	t.Parallel()
	l := newLive(t, "naimi-trehel")
	c := l.dial(0)
	held := l.lock(c, "job")
	p := open(t, l.console(1, "#lock/job"))
	p.until(`document.querySelector(".holder") !== null`)

	p.presses(".holder", "Move …")
	p.presses("dialog", "Move it")
	p.until(`document.querySelector("dialog .outcome:not(.failed)") !== null`)
	p.presses("dialog", "Close")
	p.until(`!document.querySelector(".holder dd")?.innerText.startsWith("a")`)
	if held.Err() != nil {
		t.Errorf("a client that moved has lost its lock: %v", held.Err())
	}

	p.presses(".lock-head", "Force-release …")
	p.presses("dialog", "Take it away")
	p.until(`document.querySelector("dialog .outcome:not(.failed)") !== null`)
	<-held.Context().Done()
	if err := held.Err(); !errors.Is(err, stile.ErrLost) {
		t.Errorf("a lock that was released by force: %v", err)
	}
	p.presses("dialog", "Close")

	p.goes(l.console(1, "#overview"))
	p.presses("#app", "Choose …")
	eval[bool](p, `(all => { ["orders/", "raymond"].forEach((text, i) => { all[i].value = text; all[i].dispatchEvent(new Event("input", {bubbles: true})) }); return true })([...document.querySelectorAll("dialog .choose input")])`)
	p.until(`document.querySelector("dialog .types input") !== null`)
	p.types("raymond")
	p.presses("dialog", "Choose it")
	p.until(`document.querySelector("dialog .outcome:not(.failed)") !== null`)
	p.presses("dialog", "Close")
	p.has("orders/=raymond")

	p.presses("table.members tbody tr:nth-child(3)", "Leave …")
	p.types("c")
	p.presses("dialog", "Let it leave")
	p.until(`document.querySelector("dialog .outcome:not(.failed)") !== null`)
	p.presses("dialog", "Close")
	p.until(`document.querySelectorAll("table.members tbody tr").length == 2`)
	p.has("c left")
}

// A grant is a token that may read some locks.
type grant struct {
	name, locks string
	admin       bool // and administer them
}

// grants makes tokens. All clients may acquire locks.
func (l *live) grants(all ...grant) (tokens []string) {
	l.t.Helper()
	rules, file := filepath.Join(l.dir, "rights.toml"), filepath.Join(l.dir, "tokens.toml")
	l.flags = append(l.flags, "--rights", rules, "--tokens", file)
	text := ""
	for _, who := range []string{"anyone", "client/*"} {
		text += fmt.Sprintf("[[rule]]\nwho = %q\nlocks = \"*\"\nmay = \"lock\"\n", who)
	}
	for _, g := range all {
		text += fmt.Sprintf("[[rule]]\nwho = %q\nlocks = %q\nmay = [\"read\"", "token/"+g.name, g.locks)
		var made struct{ Token string }
		args := []string{"token", "create", g.name, "--file", file, "--json"}
		if g.admin {
			text += `, "admin"`
			args = append(args, "--for", "admin")
		}
		text += "]\n"
		if err := json.Unmarshal(l.run(args...), &made); err != nil || made.Token == "" {
			l.t.Fatalf("no token was made: %v", err)
		}
		tokens = append(tokens, made.Token)
	}
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return tokens
}

// run runs the command, and returns what it prints.
func (l *live) run(args ...string) []byte {
	l.t.Helper()
	out, err := exec.Command(l.path, args...).Output()
	if err != nil {
		l.t.Fatalf("stile %q: %v", args, err)
	}
	return out
}

// bears loads the page again, with a token.
func (p *page) bears(token string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`sessionStorage.setItem("stile-console-token", %q), true`, token))
	p.do(chromedp.Reload())
}

// A reader is shown what it may read, and no action; the node refuses what the page leaves
// out. An administrator of some locks may take these away, and nothing else.
func TestLiveRights(t *testing.T) {
	t.Parallel()
	l := prepared(t, "naimi-trehel")
	tokens := l.grants(grant{"reader", "seen/*", false}, grant{"keeper", "seen/*", true})
	for i := range l.nodes {
		l.start(i)
	}
	c := l.dial(0)
	held := l.lock(c, "seen/one")
	l.lock(c, "hidden/one")

	p := open(t, l.console(0, "#locks"))                                      // without certificates, other nodes do not know for whom it asks
	p.refused = true                                                          // the browser reports each refusal
	p.until(`document.querySelector(".token input, .notice.alarm") !== null`) // who has no token may lock, but not look
	p.bears("wrong")
	p.has("the token is not accepted: it is unknown or revoked")
	p.bears(tokens[0])
	p.has("seen/one")
	if strings.Contains(p.text("#app"), "hidden/one") {
		t.Error("the page shows a lock that its reader may not read")
	}
	p.goes(l.console(0, "#lock/seen%2Fone"))
	p.until(`document.querySelector(".holder") !== null`)
	if n := eval[int](p, `[...document.querySelectorAll("button")].filter((b) => /Force|Move|Evict|Leave|Choose/.test(b.innerText)).length`); n != 0 {
		t.Errorf("a reader is offered %d actions", n)
	}
	for method, body := range map[string]map[string]any{
		"ForceRelease": {"name": "hidden/one"}, "Evict": {"node": "c"}, "Leave": {"node": "c"}, "Choose": {"algorithm": "raymond"}, "MoveSession": {"node": "a", "session": 1},
	} {
		for _, token := range tokens {
			if status, text := l.call(1, token, method, body); status != http.StatusForbidden || !strings.Contains(text, "permission_denied") {
				t.Errorf("%s: %d %s", method, status, text)
			}
		}
	}
	if status, text := l.call(0, tokens[0], "ForceRelease", map[string]any{"name": "seen/one"}); status != http.StatusForbidden {
		t.Errorf("ForceRelease of a reader: %d %s", status, text)
	}

	p.bears(tokens[1]) // may take these locks away, and nothing else
	p.presses(".lock-head", "Force-release …")
	if n := eval[int](p, `[...document.querySelectorAll("button")].filter((b) => /Force|Move|Evict|Leave|Choose/.test(b.innerText)).length`); n != 1 {
		t.Errorf("an administrator of some locks is offered %d actions", n)
	}
	p.presses("dialog", "Take it away")
	p.until(`document.querySelector("dialog .outcome:not(.failed)") !== null`)
	<-held.Context().Done()
	log := l.nodes[0].Stdout.(*nodeLog).String()
	for _, want := range []string{`why="client reader (token) may not administer seen/one`, `request carried out result=done node=a logger=audit who="admin keeper (token)"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the audit log has nothing with %q", want)
		}
	}
}
