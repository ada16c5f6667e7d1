package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
)

// A theatre is a hub in virtual time, and a view that shows what the test wants. The test has
// the mutex, except while it waits: only then do pollers look.
type theatre struct {
	t  *testing.T
	h  *hub
	mu sync.Mutex

	looks int // of all pollers
	doc   map[string]any
	err   error
	done  bool
	takes time.Duration
}

// inTheatre runs a test in virtual time.
func inTheatre(t *testing.T, test func(t *testing.T, w *theatre)) {
	synctest.Test(t, func(t *testing.T) {
		w := &theatre{t: t, h: newHub(), doc: map[string]any{"n": 1}}
		w.mu.Lock()
		test(t, w)
		w.mu.Unlock()
		w.h.close()
	})
}

func (w *theatre) look(ctx context.Context) (any, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	takes := time.After(w.takes)
	w.waits(func() {
		select {
		case <-takes:
		case <-ctx.Done():
		}
	})
	if w.err != nil {
		return nil, false, w.err
	}
	return maps.Clone(w.doc), w.done, nil
}

// waits lets others have the theatre while a function waits.
func (w *theatre) waits(wait func()) {
	w.mu.Unlock()
	defer w.mu.Lock()
	wait()
}

// sleep lets virtual time pass.
func (w *theatre) sleep(d time.Duration) { w.waits(func() { time.Sleep(d) }) }

// pollers returns the number of pollers.
func (w *theatre) pollers() int {
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	return len(w.h.pollers)
}

// hasPoller reports whether the hub keeps a poller for a caller and a query.
func (w *theatre) hasPoller(who, query string) bool {
	t := topic{who: person(who), query: query}
	t.who.From = ""
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	return w.h.pollers[t] != nil
}

func person(name string) node.Caller {
	return node.Caller{Identity: cert.Identity{Kind: cert.IsClient, Name: name}, From: "192.0.2.1:" + fmt.Sprint(len(name))}
}

func (w *theatre) try(who, query string) (*reader, error) {
	s, err := w.h.open(person(who), query, time.Second, func() look { return w.look })
	return &reader{w: w, stream: s}, err
}

func (w *theatre) open(who, query string) *reader {
	w.t.Helper()
	r, err := w.try(who, query)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// A reader reads a stream as a page does.
type reader struct {
	w *theatre
	*stream
	doc any
}

// next waits for the next event.
func (r *reader) next(quiet time.Duration) (e event, err error) {
	r.w.waits(func() { e, err = r.stream.next(r.w.t.Context(), quiet) })
	return e, err
}

// reads reads the next event, which must be of a kind.
func (r *reader) reads(kind string) string {
	r.w.t.Helper()
	e, err := r.next(time.Minute)
	if err != nil || e.kind != kind {
		r.w.t.Fatalf("event %s %s, %v, want %s", e.kind, e.data, err, kind)
	}
	switch kind {
	case "full":
		r.doc = parse(r.w.t, string(e.data))
	case "delta":
		r.doc = merge(r.doc, parse(r.w.t, string(e.data)))
	}
	return string(e.data)
}

// shows compares what the reader knows with the view.
func (r *reader) shows() {
	r.w.t.Helper()
	b, err := json.Marshal(r.w.doc)
	if err != nil {
		r.w.t.Fatal(err)
	}
	if !reflect.DeepEqual(r.doc, parse(r.w.t, string(b))) {
		r.w.t.Errorf("the reader knows %v, and the view is %s", r.doc, b)
	}
}

// Streams of one topic share a poller, which looks once a second.
func TestShared(t *testing.T) {
	inTheatre(t, func(t *testing.T, w *theatre) {
		var all []*reader
		for range 10 {
			all = append(all, w.open("ann", "view=x"))
		}
		for _, r := range all {
			r.reads("full")
		}
		w.sleep(9*time.Second + time.Millisecond) // virtual
		if w.looks != 10 || w.pollers() != 1 {
			t.Errorf("%d looks by %d pollers in 9 s", w.looks, w.pollers())
		}
		w.open("ann", "view=y").reads("full")
		w.open("bob", "view=x").reads("full")
		if w.pollers() != 3 {
			t.Errorf("%d pollers for three topics", w.pollers())
		}
	})
}

// A stream sends the document, then what changes, and nothing while nothing does.
func TestDeltas(t *testing.T) {
	inTheatre(t, func(t *testing.T, w *theatre) {
		w.doc["at_ms"] = 1
		r := w.open("ann", "")
		r.reads("full")
		r.shows()
		w.doc = map[string]any{"at_ms": 2, "n": 2, "m": map[string]any{"x": "y"}}
		if got := r.reads("delta"); got != `{"at_ms":2,"m":{"x":"y"},"n":2}` {
			t.Error(got)
		}
		w.doc = map[string]any{"at_ms": 3, "n": 2, "m": map[string]any{"x": "y"}}
		began := time.Now()
		r.reads("")
		if time.Since(began) != time.Minute {
			t.Errorf("it said that it lives after %v", time.Since(began))
		}
		w.doc = map[string]any{"at_ms": 4, "m": map[string]any{}}
		if got := r.reads("delta"); got != `{"at_ms":4,"m":{"x":null},"n":null}` {
			t.Error(got)
		}
		r.shows()
	})
}

// A reader that misses changes gets the whole document instead, and so does one that comes
// later.
func TestSlowReader(t *testing.T) {
	inTheatre(t, func(t *testing.T, w *theatre) {
		quick, slow := w.open("ann", ""), w.open("ann", "")
		quick.reads("full")
		slow.reads("full")
		for n := range 3 {
			w.doc = map[string]any{"n": 10 + n}
			quick.reads("delta")
		}
		slow.reads("full")
		slow.shows()
		w.open("ann", "").reads("full")
		w.doc = map[string]any{"n": 20}
		slow.reads("delta")
		quick.reads("delta")
		slow.shows()
		quick.shows()
	})
}

// A poller ends 5 s after its last stream, and no earlier. Meanwhile it does not look, and a
// stream that comes back is soon shown what has changed.
func TestLinger(t *testing.T) {
	inTheatre(t, func(t *testing.T, w *theatre) {
		r := w.open("ann", "")
		r.reads("full")
		r.close()
		w.sleep(3500 * time.Millisecond) // not at the moment of a tick
		if w.looks != 1 {
			t.Errorf("%d looks, of which no stream has seen all but one", w.looks)
		}
		w.doc["n"] = 2
		r = w.open("ann", "")
		if r.reads("full"); fmt.Sprint(r.doc) == "map[n:1]" { // what the poller remembers, and not yet what it sees now
			r.reads("delta")
		}
		r.shows()
		r.close()
		w.sleep(4 * time.Second)
		if w.pollers() != 1 {
			t.Error("the poller ended too early")
		}
		w.sleep(3 * time.Second)
		looks := w.looks
		w.sleep(time.Minute)
		if w.pollers() != 0 || w.looks != looks || looks != 2 || w.h.readers() != 0 {
			t.Errorf("%d pollers, %d looks, later %d, %d streams", w.pollers(), looks, w.looks, w.h.readers())
		}
	})
}

// While a look fails, readers keep the last document and are told why, once.
func TestFailure(t *testing.T) {
	inTheatre(t, func(t *testing.T, w *theatre) {
		w.err = errors.New("not a member")
		r := w.open("ann", "")
		if got := r.reads("error"); got != `{"error":"not a member","reason":"unavailable","final":false}` {
			t.Error(got)
		}
		w.err = nil
		r.reads("full")
		w.err = errors.New("not a member again")
		r.reads("error")
		r.reads("")
		w.err = nil
		if got := r.reads("delta"); got != "{}" {
			t.Error(got)
		}
		w.err = errors.New("and again")
		r.reads("error")
		w.err, w.doc = nil, map[string]any{"n": 7}
		r.reads("delta")
		r.shows()
	})
}

// A caller that is no longer allowed to look is told why, and the stream ends.
func TestDenied(t *testing.T) {
	inTheatre(t, func(t *testing.T, w *theatre) {
		r := w.open("ann", "")
		r.reads("full")
		w.err = fmt.Errorf("%w: revoked", lock.ErrDenied)
		e, err := r.next(time.Minute)
		if err != nil || !e.last || !strings.Contains(string(e.data), `revoked","reason":"denied","final":true`) {
			t.Errorf("%s %v %v", e.data, e.last, err)
		}
		w.sleep(time.Minute)
		if w.looks != 2 || w.pollers() != 0 {
			t.Errorf("%d looks, %d pollers", w.looks, w.pollers())
		}
		r.close()
		w.err = nil
		w.open("ann", "").reads("full")
	})
}

// A view that is complete ends its streams, and is begun anew by the next one.
func TestDone(t *testing.T) {
	inTheatre(t, func(t *testing.T, w *theatre) {
		r := w.open("ann", "")
		r.reads("full")
		w.done = true
		e, err := r.next(time.Minute)
		if err != nil || !e.last || e.kind != "delta" {
			t.Errorf("%s %v %v", e.data, e.last, err)
		}
		w.done = false
		again := w.open("ann", "")
		again.reads("full")
		w.doc = map[string]any{"n": 2}
		again.reads("delta")
	})
}

// A look that takes long delays only its own topic.
func TestSlowLook(t *testing.T) {
	inTheatre(t, func(t *testing.T, w *theatre) {
		w.takes = 10 * time.Second
		r := w.open("ann", "slow")
		if e, err := r.next(time.Second); err != nil || e.kind != "" {
			t.Errorf("%v %v", e, err)
		}
		r.reads("full")
		if w.looks > 2 {
			t.Errorf("%d looks at a time", w.looks)
		}
	})
}

// readers returns how many streams there are.
func (h *hub) readers() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pollers {
		n += p.streams
	}
	return n
}

// A caller has half of the pollers, and no more than all can have.
func TestBounds(t *testing.T) {
	inTheatre(t, func(t *testing.T, w *theatre) {
		for n := range maxPollers / 2 {
			w.open("ann", fmt.Sprint(n))
		}
		if _, err := w.try("ann", "x"); !errors.Is(err, errCrowded) {
			t.Error(err)
		}
		w.open("ann", "0")
		for n := range maxPollers / 2 {
			w.open("bob", fmt.Sprint(n))
		}
		if _, err := w.try("eve", "x"); !errors.Is(err, errCrowded) {
			t.Error(err)
		}
	})
}

// A reader who turns pages quickly leaves behind more pollers than are allowed. Pollers without
// streams are removed then, the oldest first; at a reader's own limit only that reader's.
func TestRetire(t *testing.T) {
	inTheatre(t, func(t *testing.T, w *theatre) {
		turn := func(who string, n int) {
			r := w.open(who, fmt.Sprint(n))
			r.reads("full")
			r.close()
			w.sleep(time.Millisecond)
		}
		turn("bob", 0)
		stays := w.open("ann", "stays")
		for n := range 10 * maxPollers {
			turn("ann", n)
		}
		if w.pollers() > maxPollers/2+1 {
			t.Errorf("%d pollers", w.pollers())
		}
		if !w.hasPoller("bob", "0") || !w.hasPoller("ann", fmt.Sprint(10*maxPollers-2)) {
			t.Error("a poller that there was room for has been forgotten")
		}
		stays.reads("full")
		w.doc["n"] = 2
		stays.reads("delta")
		stays.shows()
		stays.close()
	})
}

// When the hub is closed, streams end, looks are cut short, and none begins.
func TestClose(t *testing.T) {
	inTheatre(t, func(t *testing.T, w *theatre) {
		r := w.open("ann", "")
		r.reads("full")
		w.takes = time.Hour
		ended := make(chan event)
		go func() {
			e, _ := r.stream.next(context.Background(), time.Hour)
			ended <- e
		}()
		w.sleep(2 * time.Second)
		w.waits(w.h.close)
		if e := <-ended; !e.last || !strings.Contains(string(e.data), "stopping") {
			t.Errorf("%s %v", e.data, e.last)
		}
		if _, err := w.try("ann", ""); !errors.Is(err, errStopping) {
			t.Error(err)
		}
	})
}
