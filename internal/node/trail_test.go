package node

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/trail"
)

// askTrail asks a node for the next page of a trail.
func askTrail(t testing.TB, n *Node, l *trail.Log, name string) TrailReport {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	about, err := json.Marshal(TrailQuery{Name: name, From: l.Next})
	if err != nil {
		t.Fatal(err)
	}
	var r TrailReport
	if err := n.AskAt(ctx, n.Address(), AskTrail, about, &r); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Take(&r.Page, member.Instant(time.Now().UnixNano())); err != nil {
		t.Fatal(err)
	}
	return r
}

// contend has all nodes acquire a lock again and again, until the function that it returns
// is called.
func contend(t testing.TB, all []*Node, name string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, n := range all {
		for range 2 {
			wg.Go(func() {
				for ctx.Err() == nil {
					h, err := n.Lock(ctx, name, lock.Options{})
					if err == nil {
						err = h.Unlock()
					}
					if err != nil && ctx.Err() == nil && !errors.Is(err, lock.ErrLost) {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	return func() { cancel(); wg.Wait() }
}

// The trails of all nodes of a cluster make one run, from the middle of a contended use.
func TestTrail(t *testing.T) {
	all := start(t, 3, nil)
	defer contend(t, all, "door")()
	ctx, cancel := soon(t)
	defer cancel()
	logs := make([]trail.Log, len(all))
	for {
		for i, n := range all {
			askTrail(t, n, &logs[i], "door")
		}
		s, err := mergeTrails(logs, trail.Options{Name: "door", First: 300})
		if err != nil && !errors.Is(err, trail.ErrNone) {
			t.Fatal(err)
		}
		if err == nil && s.Steps > 200 {
			if len(s.Seats) != 3 || !strings.Contains(s.Text, "schedule steps") {
				t.Errorf("%+v", s)
			}
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("no run of 200 steps: %v", err)
		}
	}
}

// mergeTrails merges logs of the algorithm that they are about.
func mergeTrails(logs []trail.Log, o trail.Options) (*trail.Scenario, error) {
	if logs[0].Base == nil {
		return nil, trail.ErrNone
	}
	spec, err := catalog.MakeLive(logs[0].Base.View.Algorithm, logs[0].Base.View.Version)
	if err != nil {
		return nil, err
	}
	return trail.Merge(spec, logs, o)
}

// A kept lock has no trail, and the answer says why.
func TestTrailOfKept(t *testing.T) {
	n := start(t, 1, func(_ int, c *Config) { c.Algorithm = "kept" })[0]
	var l trail.Log
	if r := askTrail(t, n, &l, "door"); !r.Kept || r.Why == "" || r.Base != nil {
		t.Errorf("%+v", r)
	}
}

// After a member was evicted, the trails of the others make a run of the new view.
func TestTrailAfterEviction(t *testing.T) {
	all := start(t, 3, nil)
	ctx, cancel := soon(t)
	defer cancel()
	logs := make([]trail.Log, len(all))
	follow := func(what string, so func(*trail.Scenario) bool) {
		t.Helper()
		for {
			for i := range logs {
				askTrail(t, all[i], &logs[i], "door")
			}
			s, err := mergeTrails(logs, trail.Options{Name: "door", First: 300})
			if err == nil && so(s) {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("%s: %v, %+v", what, err, s)
			}
		}
	}
	defer contend(t, all[:2], "door")()
	follow("three members", func(s *trail.Scenario) bool { return len(s.Seats) == 3 })
	gone := all[2].Name()
	logs = logs[:2]
	all[2].Kill()
	if _, err := all[0].QueryFor(ctx, Caller{}, AskEvict, []byte(gone)); err != nil {
		t.Fatal(err)
	}
	follow("two members", func(s *trail.Scenario) bool { return len(s.Seats) == 2 && s.Steps > 50 })
}
