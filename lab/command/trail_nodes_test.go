//go:build linux || darwin

package command

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/trail"
)

// A lock that clients of three real nodes contend for is recorded, and its replay ends in the
// same states.
func TestTrailOfNodes(t *testing.T) {
	for _, algorithm := range []string{"naimi-trehel", "lamport"} {
		t.Run(algorithm, func(t *testing.T) {
			all := []*node.Node{startNode(t, node.Config{Name: "a", Lease: 5 * time.Second, Algorithm: algorithm})}
			for _, name := range []string{"b", "c"} {
				all = append(all, startNode(t, node.Config{Name: name, Join: []string{all[0].Address()}}))
			}
			defer contendFor(t, all, "door")()
			logs := make([]trail.Log, len(all))
			var s *trail.Scenario
			for s == nil || s.Steps <= 1000 {
				for i, n := range all {
					readTrail(t, n, "door", &logs[i])
				}
				var err error
				if s, err = mergeLogs(logs, trail.Options{Name: "door", First: 2000}); err != nil && !errors.Is(err, trail.ErrNone) {
					t.Fatal(err)
				}
			}
			if err := replayTrail(t, s); err != nil {
				t.Fatalf("%v\n%s", err, s.Text)
			}
			t.Logf("%d steps in %v, %d bytes", s.Steps, time.Duration(s.To-s.From), len(s.Text))
		})
	}
}

// startNode starts a node in this process.
func startNode(t *testing.T, c node.Config) *node.Node {
	t.Helper()
	c.Listen = "127.0.0.1:0"
	n, err := node.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Kill)
	if err := n.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
}

// contendFor has applications of all nodes acquire a lock again and again until the function
// that it returns is called.
func contendFor(t *testing.T, all []*node.Node, name string) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, n := range all {
		for range 2 {
			wg.Go(func() {
				for ctx.Err() == nil {
					if h, err := n.Lock(ctx, name, lock.Options{}); err == nil {
						_ = h.Unlock() // it may be lost when the node ends
					}
				}
			})
		}
	}
	return func() { cancel(); wg.Wait() }
}

// readTrail asks a node for what has happened to a lock since the last question.
func readTrail(t *testing.T, n *node.Node, name string, l *trail.Log) {
	t.Helper()
	about, err := json.Marshal(node.TrailQuery{Name: name, From: l.Next})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var r node.TrailReport
	if err := n.AskAt(t.Context(), n.Address(), node.AskTrail, about, &r); err != nil {
		t.Fatal(err)
	}
	made := began.Add(time.Since(began) / 2)
	if _, err := l.Take(&r.Page, member.Instant(made.UnixNano())); err != nil {
		t.Fatal(err)
	}
}
