package page

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	consolepage "github.com/stile-lock/stile/internal/console/page"
)

// A fakeNode serves the console with views that a test makes up.
type fakeNode struct {
	t   testing.TB
	url string

	mu       sync.Mutex
	hello    map[string]any
	token    string                    // that requests must bear; empty for none
	away     int                       // status of every answer; 0 if it answers
	views    map[string]map[string]any // by their queries without the view's parameters that are not names
	readers  map[*reader]bool
	opened   []string // queries of all streams
	acted    []string // calls of the service Cluster, with their bodies
	refuses  string   // why it refuses the next of these
	upgraded bool     // it serves another version of the page
}

// A reader is a stream that is open.
type reader struct {
	key  string
	id   int
	out  chan string
	gone chan struct{}
	once sync.Once
}

func (r *reader) end() { r.once.Do(func() { close(r.gone) }) }

// newFakeNode starts a node named a, which everyone may administer.
func newFakeNode(t testing.TB) *fakeNode {
	f := &fakeNode{
		t: t, hello: map[string]any{"node": "a", "who": "admin alice", "identity": "admin/alice", "reads": true, "administers": true, "algorithms": []string{"naimi-trehel", "raymond", "kept"}},
		views: map[string]map[string]any{}, readers: map[*reader]bool{},
	}
	page := consolepage.Handler()
	mux := http.NewServeMux()
	mux.HandleFunc("/console/", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		upgraded := f.upgraded
		f.mu.Unlock()
		if upgraded && r.Method == http.MethodHead {
			w.Header().Set("ETag", `"another"`)
			return
		}
		page.ServeHTTP(w, r)
	})
	mux.HandleFunc("/console/api/hello", f.greet)
	mux.HandleFunc("/console/api/stream", f.stream)
	mux.HandleFunc("/stile.v1.Cluster/", f.act)
	f.url = serve(t, mux) + "/console/"
	t.Cleanup(f.drop) // the server waits for its streams
	return f
}

// keyOf is the name of a view: its kind, and the lock that it is about.
func keyOf(r *http.Request) string {
	q := r.URL.Query()
	key := strings.TrimSpace(q.Get("view") + " " + q.Get("name"))
	if q.Has("seconds") {
		key += " recorded"
	}
	return key
}

// admits answers requests that are refused.
func (f *fakeNode) admits(w http.ResponseWriter, r *http.Request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	status, why := f.away, "the node is stopping: use another node"
	if given := r.Header.Get("Authorization"); status == 0 && f.token != "" && given != "Bearer "+f.token {
		status, why = http.StatusUnauthorized, "this call has no identity: send a token"
		if given != "" {
			why = "the token is not known here"
		}
	}
	if status == 0 {
		return true
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why})
	return false
}

func (f *fakeNode) greet(w http.ResponseWriter, r *http.Request) {
	if !f.admits(w, r) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = json.NewEncoder(w).Encode(f.hello)
}

func (f *fakeNode) act(w http.ResponseWriter, r *http.Request) {
	if !f.admits(w, r) {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.acted = append(f.acted, strings.TrimPrefix(r.URL.Path, "/stile.v1.Cluster/")+" "+string(body))
	w.Header().Set("Content-Type", "application/json")
	if f.refuses != "" {
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]string{"code": "permission_denied", "message": f.refuses})
		f.refuses = ""
		return
	}
	_, _ = io.WriteString(w, `{"who":"reader bob"}`)
}

func (f *fakeNode) stream(w http.ResponseWriter, r *http.Request) {
	if !f.admits(w, r) {
		return
	}
	s := &reader{key: keyOf(r), out: make(chan string, 10_000), gone: make(chan struct{})}
	f.mu.Lock()
	f.opened = append(f.opened, r.URL.RawQuery)
	f.readers[s] = true
	if doc, ok := f.views[s.key]; ok {
		s.send("full", doc)
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.readers, s)
		f.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	_ = flush()
	alive := time.NewTicker(5 * time.Second)
	defer alive.Stop()
	for {
		select {
		case <-alive.C:
			if _, err := io.WriteString(w, ": alive\n\n"); err != nil {
				return
			}
			_ = flush()
		case text := <-s.out:
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
			_ = flush()
		case <-s.gone:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// send sends an event. The mutex of the node must be held.
func (r *reader) send(kind string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	r.id++
	r.out <- fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", r.id, kind, data)
}

// show makes a document that of a view.
func (f *fakeNode) show(key string, doc map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views[key] = doc
	for r := range f.readers {
		if r.key == key {
			r.send("full", doc)
		}
	}
}

// change sends a merge patch of a view.
func (f *fakeNode) change(key string, patch map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views[key] = merge(f.views[key], patch)
	for r := range f.readers {
		if r.key == key {
			r.send("delta", patch)
		}
	}
}

// say sends an event of another kind to the readers of a view.
func (f *fakeNode) say(key, kind string, v any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := range f.readers {
		if r.key == key {
			r.send(kind, v)
		}
	}
}

// skip changes a view without saying so: the number of the next event shows that one is missing.
func (f *fakeNode) skip(key string, patch map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views[key] = merge(f.views[key], patch)
	for r := range f.readers {
		if r.key == key {
			r.id++
		}
	}
}

// merge is a merge patch, of a copy.
func merge(to, patch map[string]any) map[string]any {
	next := maps.Clone(to)
	if next == nil {
		next = map[string]any{}
	}
	for k, v := range patch {
		was, _ := next[k].(map[string]any)
		switch v := v.(type) {
		case nil:
			delete(next, k)
		case map[string]any:
			next[k] = merge(was, v)
		default:
			next[k] = v
		}
	}
	return next
}

// drop ends all streams.
func (f *fakeNode) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := range f.readers {
		r.end()
	}
}

// goes makes the node answer everything with a status, or with 0 as usual.
func (f *fakeNode) goes(status int) {
	f.mu.Lock()
	f.away = status
	f.mu.Unlock()
	f.drop()
}

// set changes what the node says of itself.
func (f *fakeNode) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// calls returns the calls of the service so far.
func (f *fakeNode) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.acted...)
}

// streams returns how many streams of a view are open, and how many were opened.
func (f *fakeNode) streams(key string) (open, all int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := range f.readers {
		if r.key == key {
			open++
		}
	}
	for _, q := range f.opened {
		if strings.Contains(q, "view="+strings.Fields(key)[0]) {
			all++
		}
	}
	return open, all
}
