package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/console"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
)

// A page reads a stream of the console as the page in a browser does.
type page struct {
	t    testing.TB
	r    *bufio.Scanner
	next int
	doc  object
	last string // the last error event; empty after another one
	stop context.CancelFunc
}

// watch opens a stream.
func (a *api) watch(parameters ...string) *page {
	a.t.Helper()
	q := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		q.Set(parameters[i], parameters[i+1])
	}
	ctx, cancel := context.WithCancel(a.t.Context())
	a.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+console.Path+"stream?"+q.Encode(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	x, err := a.client.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { x.Body.Close() })
	if x.StatusCode != http.StatusOK || x.Header.Get("Content-Type") != "text/event-stream" || x.Header.Get("Cache-Control") != "no-store" || x.Header.Get("Content-Encoding") != "" {
		a.t.Fatalf("%d %v", x.StatusCode, x.Header)
	}
	p := &page{t: a.t, r: bufio.NewScanner(x.Body), next: 1, stop: cancel}
	p.r.Buffer(nil, 1<<24)
	return p
}

// read reads an event. It returns false when the stream has ended.
func (p *page) read() bool {
	p.t.Helper()
	var event, data string
	for p.r.Scan() {
		line := p.r.Text()
		field, value, _ := strings.Cut(line, ": ")
		switch field {
		case "id":
			if value != fmt.Sprint(p.next) {
				p.t.Fatalf("event %s, want %d", value, p.next)
			}
			p.next++
		case "event":
			event = value
		case "data":
			data = value
		case "":
			if line == "" && data != "" {
				p.take(event, data)
				return true
			}
		default:
			p.t.Fatalf("line %q", line)
		}
	}
	return false
}

func (p *page) take(event, data string) {
	p.t.Helper()
	var x any
	if err := json.Unmarshal([]byte(data), &x); err != nil {
		p.t.Fatalf("%v: %s", err, data)
	}
	p.last = ""
	switch event {
	case "full":
		p.doc = x.(map[string]any)
	case "delta":
		p.doc = merged(map[string]any(p.doc), x).(map[string]any)
	case "error":
		p.last = data
	default:
		p.t.Fatalf("event %q", event)
	}
}

// merged is MergePatch of RFC 7386.
func merged(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	t, ok := target.(map[string]any)
	if !ok {
		t = map[string]any{}
	}
	for name, value := range p {
		if value == nil {
			delete(t, name)
		} else {
			t[name] = merged(t[name], value)
		}
	}
	return t
}

// until reads until something is so. Reading waits for the node, so a stream on which it is
// never so is closed after a while.
func (p *page) until(what string, so func() bool) {
	p.t.Helper()
	limit := time.AfterFunc(patience, p.stop)
	for !so() {
		if p.read() {
			continue
		}
		ended := "the stream ended"
		if !limit.Stop() {
			ended = fmt.Sprintf("%v have passed", patience)
		}
		p.t.Fatalf("%s before %s; last error: %q; document: %s", ended, what, p.last, p.text())
	}
	limit.Stop()
}

// end reads until the stream has ended.
func (p *page) end() {
	p.t.Helper()
	limit := time.AfterFunc(patience, p.stop)
	for p.read() {
	}
	if !limit.Stop() {
		p.t.Fatalf("the stream has not ended in %v; document: %s", patience, p.text())
	}
}

// text returns the document for comparisons.
func (p *page) text() string {
	b, err := json.Marshal(p.doc)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

const consoleRights = `
[[rule]]
who = "client/reader"
locks = "mine/*"
may = "read"

[[rule]]
who = "admin/alice"
locks = "*"
may = ["read", "lock", "admin"]
`

// What a lock, a value and a label may be called, and nothing may take for anything but text.
const hostile = "mine/<script>alert(1)</script>\"\n\ndata: {}\n\nid: 7\u2028"

// at returns what is at a path of keys of the document, as JSON.
func (p *page) at(keys ...string) string {
	p.t.Helper()
	b, err := json.Marshal(p.doc.at(keys...))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// under returns the members of the object at a path of keys.
func (p *page) under(keys ...string) map[string]any {
	m, _ := p.doc.at(keys...).(map[string]any)
	return m
}

// shows reads until there is something at a path of keys.
func (p *page) shows(want string, keys ...string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%v was %s", keys, want), func() bool { return p.at(keys...) == want })
}

// A console shows a cluster of three nodes to those who may see it, in all its views.
func TestConsole(t *testing.T) {
	w := newTown(t, consoleRights, func(c *node.Config) { c.Metrics = true })
	other := gateWith(t, w.nodes[2], Config{Listen: "127.0.0.1:0", TLS: w.nodes[2].Keys()})
	reader, alice := w.api.as(w.order(cert.Client, "reader")), w.api.as(w.order(cert.Admin, "alice"))
	stranger := w.api.as(w.order(cert.Client, "stranger"))

	refused := func(a *api, status int, path, want string) {
		t.Helper()
		if got, _, body := a.get(path); got != status || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, got, body)
		}
	}
	refused(w.api.as(cert.Config{CA: filepath.Join(w.dir, "ca.crt")}), 401, "/console/api/hello", `{"error":"the request does not say who makes it`)
	refused(stranger, 200, "/console/api/hello", `"who":"client stranger","identity":"client/stranger","reads":false,"administers":false,"algorithms":[],"nodes":[]`)
	refused(stranger, 403, "/console/api/stream?view=locks", `{"error":"permission denied: client stranger may not see the status of the node`)
	refused(reader, 403, "/console/api/stream?view=lock&name=theirs", `{"error":"permission denied: client reader may not read`)
	refused(reader, 403, "/console/api/stream?view=trail&name=theirs", `may not read`)
	refused(reader, 400, "/console/api/stream?view=trail&name=mine/x&seconds=100", `{"error":"bad request: seconds`)
	refused(reader, 200, "/console/api/hello", `"reads":true,"administers":false`)
	eventually(t, "alice is told where c serves HTTP", func() bool {
		_, _, body := alice.get("/console/api/hello")
		return clockText.ReplaceAllString(body, "") == `{"node":"a","who":"admin alice","identity":"admin/alice","reads":true,"administers":true,"nodes":[{"name":"c","http":"`+other.url+`"}]}`
	})

	w.hold(0, "theirs/1")
	if err := w.hold(1, hostile).SetValue(hostile); err != nil {
		t.Fatal(err)
	}
	held := w.hold(2, "mine/2")
	got := make(chan lock.Handle)
	go func() {
		h, err := w.nodes[0].Lock(t.Context(), "mine/2", lock.Options{})
		if err != nil {
			t.Error(err)
		}
		got <- h
	}()

	overview := reader.watch("view", "overview")
	overview.shows("1", "members", "a", "waiting")
	overview.shows("1", "members", "c", "acquired")
	overview.until("there are rates", func() bool { return overview.doc.at("rate") != nil })
	overview.shows(`"`+other.url+`"`, "members", "c", "http")
	overview.shows("true", "members", "c", "linked")
	if h := overview.under("history"); len(h) != 3 || overview.at("disagree") != "[]" || overview.doc.at("traffic", "a", "c", "sent") == nil {
		t.Errorf("%s", overview.text())
	}

	locks := alice.watch("view", "locks")
	locks.shows(`["mine/2",`+quote(t, hostile)+`,"theirs/1"]`, "order")
	locks.shows(quote(t, hostile), "rows", hostile, "holder", "value")
	locks = reader.watch("view", "locks", "sort", "hold")
	locks.until("the list", func() bool { return len(locks.doc) > 0 })
	if rows := locks.under("rows"); len(rows) != 2 || rows["theirs/1"] != nil {
		t.Errorf("the reader sees %s", locks.text())
	}
	locks = reader.watch("view", "locks", "sort", "wait")
	locks.shows(`["mine/2"]`, "order")
	locks.shows(`"c"`, "rows", "mine/2", "holder", "node")
	locks.shows("1", "rows", "mine/2", "waiters")
	locks = reader.watch("view", "locks", "sort", "rate", "prefix", "mine/2")
	locks.shows(`["mine/2"]`, "order")

	graph := reader.watch("view", "graph")
	graph.shows(`{"a/ waits for mine/2 \u003e c/ holds mine/2: mine/2":{"from":"a/ waits for mine/2","lock":"mine/2","to":"c/ holds mine/2"}}`, "edges")

	elections := reader.watch("view", "elections")
	elections.shows(`[`+quote(t, hostile)+`]`, "order")
	elections.shows(`"b"`, "rows", hostile, "node")

	one := reader.watch("view", "lock", "name", "mine/2")
	one.shows(`["a//0"]`, "order")
	one.shows(`"c"`, "holders", held.Token().String(), "node")
	first := held.Token().String()
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	again := <-got
	one.shows(`"a"`, "holders", again.Token().String(), "node")
	one.shows("[]", "order")
	one.shows(`"released"`, "history", first+"@c", "end")

	w.victims(alice, reader)
	w.trail(alice, reader)
	w.lessRights(reader)
	w.gone(alice)
}

func quote(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// victims makes two transactions wait for each other. Those who may read their locks see
// which of them had to abort, and why.
func (w *town) victims(alice, reader *api) {
	w.t.Helper()
	graph, blind := alice.watch("view", "graph"), reader.watch("view", "overview")
	var all [2]*txAPI
	for i := range all {
		s := alice.open(object{"label": fmt.Sprint("T", i)})
		all[i] = &txAPI{alice, s, alice.call("Locks/Begin", object{"session": s}).at("transaction").(string)}
		all[i].acquire(fmt.Sprint("kept/", i))
	}
	done := make(chan bool)
	for i, x := range all {
		go func() {
			_, status, _ := x.try("Locks/Acquire", x.about(object{"name": fmt.Sprint("kept/", 1-i)}))
			alice.try("Locks/CloseSession", object{"session": x.session})
			done <- status == http.StatusOK
		}()
	}
	if one, two := <-done, <-done; one == two {
		w.t.Errorf("both got the other lock: %v", one)
	}
	graph.until("a victim is shown", func() bool { return len(graph.under("victims")) == 1 })
	for _, v := range graph.under("victims") {
		if v := object(v.(map[string]any)); v.at("how") != "cycle" || len(v.at("cycle").([]any)) != 2 || v.at("node") != "a" || v.at("why") == "" {
			w.t.Errorf("%v", v)
		}
	}
	blind.read()
	blind.read()
	if v := blind.at("victims"); v != "{}" {
		w.t.Errorf("the reader sees victims of other locks: %s", v)
	}
}

// trail follows a lock that all nodes use.
func (w *town) trail(alice, reader *api) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	var users sync.WaitGroup
	for _, n := range w.nodes {
		users.Go(func() {
			for {
				h, err := n.Lock(ctx, "mine/hot", lock.Options{})
				if err != nil {
					return
				}
				_ = h.Unlock()
			}
		})
	}
	defer users.Wait()
	defer cancel()
	live := reader.watch("view", "trail", "name", "mine/hot")
	live.until("there is a run", func() bool {
		text, _ := live.doc.at("text").(string)
		steps, _ := live.doc.at("steps").(float64)
		return strings.Contains(text, "processes 3\nschedule steps") && strings.Contains(text, "deliver") && steps > 10 && steps <= 60
	})
	if live.at("done") != "false" || live.at("algorithm") != `"naimi-trehel"` || live.at("why") != `""` {
		w.t.Errorf("%s", live.text())
	}
	before := live.at("text")
	live.until("it goes on", func() bool { return live.at("text") != before })

	record := reader.watch("view", "trail", "name", "mine/hot", "seconds", "1")
	record.end()
	text, _ := record.doc.at("text").(string)
	if record.at("done") != "true" || !strings.Contains(text, "expect") || record.last != "" {
		w.t.Errorf("%s", record.text())
	}

	kept := alice.watch("view", "trail", "name", "kept/x")
	kept.end()
	if kept.at("done") != "true" || kept.at("why") == `""` {
		w.t.Errorf("%s", kept.text())
	}
}

// lessRights takes the rights of the reader away while it looks.
func (w *town) lessRights(reader *api) {
	w.t.Helper()
	all, one := reader.watch("view", "overview"), reader.watch("view", "lock", "name", "mine/2")
	all.read()
	one.read()
	w.write("rights.toml", strings.Replace(consoleRights, "mine/*", "mine/hot", 1))
	one.end()
	if !strings.Contains(one.last, `"reason":"denied","final":true`) || !strings.Contains(one.last, "may not read") {
		w.t.Errorf("%s", one.last)
	}
	w.write("rights.toml", strings.Replace(consoleRights, "client/reader", "client/other", 1))
	all.end()
	if !strings.Contains(all.last, `"reason":"denied","final":true`) {
		w.t.Errorf("%s", all.last)
	}
}

// gone kills a node. First it does not answer, with what is known of it; then the others evict
// it.
func (w *town) gone(alice *api) {
	w.t.Helper()
	overview, locks := alice.watch("view", "overview"), alice.watch("view", "locks")
	overview.shows(`"member"`, "members", "b", "state")
	locks.shows("[]", "silent")
	held := overview.at("members", "b", "held")
	w.nodes[1].Kill()
	overview.until("b does not answer", func() bool { return overview.doc.at("members", "b", "error") != nil })
	if overview.at("members", "b", "held") != held || overview.at("members", "b", "state") != `"member"` || overview.doc.at("members", "b", "heard_ms") == nil {
		w.t.Errorf("%s", overview.text())
	}
	locks.until("b is silent", func() bool {
		all, _ := locks.doc.at("silent").([]any)
		return len(all) == 1 && object(all[0].(map[string]any)).at("node") == "b"
	})
	overview.until("b is evicted", func() bool { return overview.doc.at("members", "b") == nil })
	overview.until("the time line says so", func() bool {
		for _, v := range overview.under("history") {
			v := object(v.(map[string]any))
			if text, _ := v.at("text").(string); v.at("cause") == "evict" && strings.Contains(text, "b was evicted") {
				return true
			}
		}
		return false
	})
	locks.shows("[]", "silent")
}

// A node without TLS serves streams over HTTP/1.1. When the gateway is closed, they end.
func TestConsolePlain(t *testing.T) {
	n := startNode(t, nil)
	g, err := New(n, Config{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	a := &api{t, g, &http.Client{Transport: transport}, g.URL()}
	if status, _, body := a.get("/console/api/hello"); status != 200 || clockText.ReplaceAllString(body, "") != `{"node":"a","who":"anyone","identity":"","reads":true,"administers":true,"nodes":[]}` {
		t.Errorf("%d %s", status, body)
	}
	p := a.watch("view", "overview")
	p.shows(`"member"`, "members", "a", "state")
	for p.last == "" && p.next < 4 {
		p.read()
	}
	closed := make(chan error)
	go func() { closed <- g.Close(t.Context()) }()
	p.end()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
