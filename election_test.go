package stile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

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
