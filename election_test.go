package stile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// What Observe yields follows from what nodes report: every term in order, none twice, and
// no end that is only a node's silence.
func TestObserver(t *testing.T) {
	leads := func(node string, count uint64, value string) Leader {
		return Leader{Name: node, Node: node, Value: value, Term: Token{1, count}}
	}
	list := func(all ...Leader) []Leader { return all }
	silent := errors.New("a node did not answer")
	none := Leader{}
	var o observer
	start := time.Now()
	for i, x := range []struct {
		what      string
		at        time.Duration
		now, past []Leader
		err       error
		want      []Leader
	}{
		{"not all have answered", 0, nil, nil, silent, nil},
		{"none leads", 0, nil, nil, nil, list(none)},
		{"still none", 0, nil, nil, nil, nil},
		{"the first", 0, list(leads("a", 1, "x")), nil, nil, list(leads("a", 1, "x"))},
		{"the same", 0, list(leads("a", 1, "x")), nil, silent, nil},
		{"another value", 0, list(leads("a", 1, "y")), nil, nil, list(leads("a", 1, "y"))},
		{"its node is silent", 0, nil, nil, silent, nil},
		{"the next ones", 0, list(leads("b", 4, "")), list(leads("c", 3, "z"), leads("a", 1, "y"), leads("b", 2, "")), nil, list(leads("b", 2, ""), leads("c", 3, "z"), leads("b", 4, ""))},
		{"an older one, of a late answer", 0, list(leads("b", 4, ""), leads("a", 1, "y")), list(leads("c", 3, "z")), nil, nil},
		{"it resigns, but not all have answered", 0, nil, list(leads("b", 4, "")), silent, nil},
		{"it resigns", 0, nil, list(leads("b", 4, "")), nil, list(none)},
		{"short ones", 0, nil, list(leads("a", 5, ""), leads("b", 6, "")), nil, list(leads("a", 5, ""), leads("b", 6, ""), none)},
		{"one leads", 0, list(leads("a", 7, "v")), nil, nil, list(leads("a", 7, "v"))},
		{"its node is gone", 0, nil, nil, nil, nil},
		{"its lease runs", 9, nil, nil, nil, nil},
		{"its client has moved", 9, list(leads("b", 7, "v")), nil, nil, list(leads("b", 7, "v"))},
		{"another node is gone", 20, nil, nil, nil, nil},
		{"its lease has expired", 30, nil, nil, nil, list(none)},
		{"and another leads", 30, list(leads("c", 8, "")), nil, nil, list(leads("c", 8, ""))},
	} {
		s := &surveyed{now: x.now, past: x.past, err: x.err, lease: 10 * time.Second}
		if got := o.take(s, start.Add(x.at*time.Second)); !slices.Equal(got, x.want) {
			t.Errorf("%d, %s: %v, want %v", i, x.what, got, x.want)
		}
	}
	var late observer
	s := &surveyed{now: list(leads("b", 4, ""), leads("a", 3, "")), past: list(leads("a", 2, ""))}
	if got := late.take(s, start); !slices.Equal(got, list(leads("b", 4, ""))) {
		t.Errorf("an observer that begins sees %v, want the present leader", got)
	}
}

// Nodes and a client campaign many times, and resign at once. Observers see every one of
// them, in the order of their terms, and each with its value.
func TestElection(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := Open(ctx, Config{Name: "a", Lease: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Open(ctx, Config{Name: "b", Join: []string{a.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	c, err := Dial(ctx, DialConfig{Nodes: []string{b.Address()}, Name: "me"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all := []*Election{a.Election("x"), b.Election("x"), c.Election("x")}
	for _, e := range all {
		if l, err := e.Leader(ctx); !errors.Is(err, ErrNoLeader) {
			t.Errorf("%v, %v", l, err)
		}
		if _, err := e.Campaign(ctx, "\xff"); err == nil {
			t.Error("a value that is invalid is accepted")
		}
	}
	const terms = 10 // of each
	var wg sync.WaitGroup
	seen := make([][]Leader, len(all))
	begun := make(chan struct{}, len(all))
	for i, e := range all {
		wg.Go(func() {
			for l, err := range e.Observe(ctx) {
				if err != nil {
					t.Error(err)
					return
				}
				if seen[i] = append(seen[i], l); len(seen[i]) == 1 {
					begun <- struct{}{}
				}
				if l.Value == "last" {
					return
				}
			}
		})
	}
	for range all {
		<-begun
	}
	var mu sync.Mutex
	led := map[Token]string{}
	var campaigns sync.WaitGroup
	for i, e := range all {
		campaigns.Go(func() {
			for k := range terms {
				value := fmt.Sprint(i, " ", k)
				l, err := e.Campaign(ctx, value)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				led[l.Term()] = value
				mu.Unlock()
				if err := l.Resign(); err != nil || !errors.Is(context.Cause(l.Context()), ErrReleased) || !errors.Is(l.Err(), ErrReleased) {
					t.Error(err, l.Err())
				}
			}
		})
	}
	campaigns.Wait()
	last, err := all[2].Campaign(ctx, "not yet")
	if err != nil {
		t.Fatal(err)
	}
	if err := last.SetValue("last"); err != nil {
		t.Error(err)
	}
	wg.Wait()
	for i, list := range seen {
		var term Token
		values := map[Token]string{}
		for _, l := range list {
			if l == (Leader{}) {
				continue
			}
			if l.Term.Less(term) {
				t.Errorf("observer %d sees %v after %v", i, l, term)
			}
			term, values[l.Term] = l.Term, l.Value
		}
		for term, value := range led {
			if values[term] != value {
				t.Errorf("observer %d sees %q in term %v, want %q", i, values[term], term, value)
			}
		}
		if list[0] != (Leader{}) {
			t.Errorf("observer %d begins with %v", i, list[0])
		}
	}
	for _, e := range all {
		if l, err := e.Leader(ctx); err != nil || l.Term != last.Term() || l.Value != "last" || l.Node != "b" {
			t.Errorf("%v, %v", l, err)
		}
	}
	c.Close()
	if !errors.Is(last.Err(), ErrLost) {
		t.Error(last.Err())
	}
	for _, err := range all[2].Observe(ctx) {
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

// A context that holds a lock does not wait for that lock; others do.
func TestReentrant(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := Open(ctx, Config{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	other, err := Open(ctx, Config{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	c, err := Dial(ctx, DialConfig{Nodes: []string{a.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	nothing := func(context.Context, Token) error { return nil }
	for name, x := range map[string]Locker{"node": a, "client": c} {
		var after context.Context
		err := x.Do(ctx, "x", func(ctx context.Context, _ Token) error {
			return x.Do(ctx, "y", func(ctx context.Context, _ Token) error {
				after = context.WithoutCancel(ctx)
				derived, cancel := context.WithCancel(ctx)
				defer cancel()
				for _, lock := range []string{"x", "y"} {
					if err := x.Do(derived, lock, nothing); !errors.Is(err, ErrReentrant) {
						t.Errorf("%s: Do %s: %v", name, lock, err)
					}
					if _, err := x.Lock(derived, lock); !errors.Is(err, ErrReentrant) {
						t.Errorf("%s: Lock %s: %v", name, lock, err)
					}
					if _, err := x.LockAll(derived, "a", lock); !errors.Is(err, ErrReentrant) {
						t.Errorf("%s: LockAll %s: %v", name, lock, err)
					}
					if _, err := x.TryLock(derived, lock); !errors.Is(err, ErrBusy) {
						t.Errorf("%s: TryLock %s: %v", name, lock, err)
					}
				}
				e := x.(interface{ Election(string) *Election }).Election("y")
				if _, err := e.Campaign(ctx, ""); !errors.Is(err, ErrReentrant) {
					t.Errorf("%s: Campaign: %v", name, err)
				}
				return errors.Join(x.Do(ctx, "z", nothing), other.Do(ctx, "x", nothing))
			})
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := x.Do(after, "x", nothing); err != nil {
			t.Errorf("%s: after Do: %v", name, err)
		}
	}
}
