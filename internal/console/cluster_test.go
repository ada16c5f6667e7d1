package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
)

// A village is a cluster of a, b and c as the console sees it, in virtual time. The node is a.
type village struct {
	t  *testing.T
	mu sync.Mutex // while a stream looks at the village, the test changes it with the mutex

	begun  time.Time
	status node.Status
	pulses map[string]*node.Pulse
	locks  map[string]map[string]*node.LockInfo // by member and name
	past   map[string][]node.PastHold
	silent map[string]bool
	deaf   map[string]bool // members that answer only when the context ends
	barred error
	reads  func(name string) bool
	rules  func(name string) bool // what the caller administers
	asked  []node.LockQuery
	slow   time.Duration // how long an answer takes
}

var _ Cluster = (*village)(nil)

func inVillage(t *testing.T, test func(t *testing.T, w *village)) {
	synctest.Test(t, func(t *testing.T) {
		w := &village{
			t: t, begun: time.Now(), pulses: map[string]*node.Pulse{}, locks: map[string]map[string]*node.LockInfo{}, past: map[string][]node.PastHold{},
			silent: map[string]bool{}, deaf: map[string]bool{}, reads: func(string) bool { return true }, rules: func(string) bool { return true },
		}
		w.status = node.Status{Node: "a", Address: "a:1", State: "member", Cluster: "c1", Epoch: 10, Leader: "b", Term: 3, Lease: 10, Algorithm: "naimi-trehel"}
		for i, name := range []string{"a", "b", "c"} {
			w.status.Members = append(w.status.Members, node.MemberInfo{Name: name, Address: name + ":1", Voter: true, Incarnation: uint64(i + 1), Linked: true})
			w.locks[name] = map[string]*node.LockInfo{}
		}
		for _, m := range w.status.Members {
			p := &node.Pulse{Status: w.status, Started: 1, Measured: true, Margin: -1, HTTP: "http://" + m.Name, Sent: map[string]uint64{}, Lost: map[string]uint64{}}
			p.Node, p.Address, p.Left = m.Name, m.Address, 5
			p.Wait = node.Durations{Bounds: []float64{0.001, 0.01, 0.1}, Counts: make([]uint64, 4)}
			p.Hold = node.Durations{Bounds: []float64{0.001, 0.01, 0.1}, Counts: make([]uint64, 4)}
			w.pulses[m.Name] = p
		}
		test(t, w)
	})
}

// change changes the village while a stream looks at it.
func (w *village) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (w *village) Status() node.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status
}

func (w *village) May(node.Caller) (Rights, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Rights{Reads: w.reads, Administers: w.rules}, w.barred
}

func (w *village) Ask(ctx context.Context, _ node.Caller, m node.MemberInfo, what uint64, about []byte, to any) error {
	time.Sleep(w.slow)
	if w.deaf[m.Name] {
		<-ctx.Done()
		return ctx.Err()
	}
	if w.silent[m.Name] {
		return errors.New("no connection")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var v any
	switch what {
	case node.AskPulse:
		p := *w.pulses[m.Name]
		p.At = time.Now().UnixMilli() + int64(m.Incarnation)*1e9 // their clocks differ
		v = p
	case node.AskPast:
		var q node.PastQuery
		if err := json.Unmarshal(about, &q); err != nil || q.For != "client/ann" {
			w.t.Errorf("asked for past holds with %s", about)
		}
		v = node.PastPage{Node: m.Name, Measured: true, Holds: w.past[m.Name]}
	case node.AskLocks:
		var q node.LockQuery
		if err := json.Unmarshal(about, &q); err != nil {
			return err
		}
		v = w.page(m.Name, &q)
	default:
		return fmt.Errorf("question %d", what)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// Locks asks as the gateway does.
func (w *village) Locks(ctx context.Context, who node.Caller, q node.LockQuery) (*survey.Locks, string, error) {
	w.change(func() { w.asked = append(w.asked, q) })
	page, next := survey.Page(ctx, w.status.Members, q, func(ctx context.Context, address string, what uint64, about []byte, to any) error {
		return w.Ask(ctx, who, node.MemberInfo{Name: strings.TrimSuffix(address, ":1")}, what, about, to)
	})
	page.Locks = slices.DeleteFunc(page.Locks, func(l survey.Lock) bool { return !w.reads(l.Name) })
	return page, next, ctx.Err()
}

// page answers as a node does.
func (w *village) page(at string, q *node.LockQuery) (page node.LockPage[node.LockInfo]) {
	for name, l := range w.locks[at] {
		x := *l
		x.Name, x.Node = name, at
		age := time.Since(w.begun).Seconds()
		if x.Holder != nil {
			h := *x.Holder
			h.Held += age
			x.Holder = &h
		}
		x.Waiters = slices.Clone(x.Waiters)
		for i := range x.Waiters {
			x.Waiters[i].Waited += age
		}
		used := x.Holder != nil || len(x.Waiters) > 0
		switch {
		case len(q.Names) > 0:
			used = slices.Contains(q.Names, name)
		case q.Only == node.OnlyAwaited || q.By == node.ByWait:
			used = len(x.Waiters) > 0
		case q.Only == node.OnlyLed || q.By == node.ByHold:
			used = x.Holder != nil
		case q.By == node.ByRate:
			used = true
		}
		if used && name > q.After && strings.HasPrefix(name, q.Prefix) {
			page.Locks = append(page.Locks, x)
		}
	}
	slices.SortFunc(page.Locks, func(a, b node.LockInfo) int { return cmp.Compare(a.Name, b.Name) })
	if most := q.Most; most > 0 && len(q.Names) == 0 && len(page.Locks) >= most {
		page.Locks, page.Next = page.Locks[:most], page.Locks[most-1].Name
	}
	return page
}

// holds makes a lock held through a member for some time.
func (w *village) holds(at, name string, seconds float64) *node.LockInfo {
	l := w.at(at, name)
	l.Holder = &node.HolderInfo{Party: node.Party{Who: "client x at " + at, Session: 1 << 63}, Token: "10.1", Held: seconds, Left: 5}
	return l
}

// waits makes a request for a lock wait at a member.
func (w *village) waits(at, name string, seconds float64) {
	l := w.at(at, name)
	l.Waiters = append(l.Waiters, node.WaiterInfo{Party: node.Party{Who: "client y at " + at, Session: 2}, Waited: seconds})
	l.Why = "requested"
}

func (w *village) at(at, name string) *node.LockInfo {
	l := w.locks[at][name]
	if l == nil {
		l = &node.LockInfo{Algorithm: "naimi-trehel", Home: "a"}
		w.locks[at][name] = l
	}
	return l
}

// A sight is a view that is looked at again and again.
type sight struct {
	w *village
	look
	doc document
}

// sees begins a view.
func (w *village) sees(query string) *sight {
	w.t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		w.t.Fatal(err)
	}
	v, _, err := topicOf(q)
	if err != nil {
		w.t.Fatal(err)
	}
	c := New(w, nil)
	return &sight{w: w, look: c.guarded(person("ann"), q, v.begin(c, person("ann"), q))}
}

// again looks a second later, and returns the document in brackets, without spaces around it.
func (s *sight) again() document {
	s.w.t.Helper()
	time.Sleep(time.Second)
	v, _, err := s.look(s.w.t.Context())
	if err != nil {
		s.w.t.Fatal(err)
	}
	if s.doc, err = documentOf(v); err != nil {
		s.w.t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil || strings.Contains(string(b), "null") {
		s.w.t.Errorf("the document has null: %s", b)
	}
	return s.doc
}

// has compares a part of the document, by its path of keys.
func (s *sight) has(want string, path ...string) {
	s.w.t.Helper()
	var v any = map[string]any(s.doc)
	for _, k := range path {
		m, _ := v.(map[string]any)
		v = m[k]
	}
	if b, err := json.Marshal(v); err != nil || string(b) != want {
		s.w.t.Errorf("%v: %s, want %s", path, b, want)
	}
}

// When the node is not a member, or the caller is barred, there is no document.
func TestNoLook(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		for _, view := range []string{"overview", "locks", "lock&name=x", "graph", "elections"} {
			s := w.sees("view=" + view)
			w.barred = fmt.Errorf("%w: revoked", lock.ErrDenied)
			if _, _, err := s.look(t.Context()); !errors.Is(err, lock.ErrDenied) {
				t.Errorf("%s: %v", view, err)
			}
			w.barred = nil
			w.status.State = "joining"
			if _, _, err := s.look(t.Context()); err == nil || !strings.Contains(err.Error(), "not a member") {
				t.Errorf("%s: %v", view, err)
			}
			w.status.State = "member"
		}
		s := w.sees("view=lock&name=x")
		s.again()
		w.reads = func(name string) bool { return name != "x" }
		if _, _, err := s.look(t.Context()); !errors.Is(err, lock.ErrDenied) || !strings.Contains(err.Error(), `client ann may not read "x"`) {
			t.Error(err)
		}
	})
}
