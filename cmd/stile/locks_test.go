//go:build linux || darwin

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	lib "github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
	"github.com/stile-lock/stile/internal/terminal"
)

// serveHere starts a node in this process.
func serveHere(t *testing.T, c node.Config) *node.Node {
	t.Helper()
	c.Listen = "127.0.0.1:0"
	n, err := node.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Kill)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := n.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return n
}

// becomes waits until something is so.
func becomes(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never %s", what)
		}
	}
}

func acquireHere(t *testing.T, n *node.Node, name string) {
	t.Helper()
	if _, err := n.Lock(t.Context(), name, lock.Options{}); err != nil {
		t.Fatal(err)
	}
}

// All of very many locks are listed.
func TestLocksMany(t *testing.T) {
	const many = 10_000
	n := serveHere(t, node.Config{Name: "a", Lease: time.Minute})
	for i := range many {
		acquireHere(t, n, fmt.Sprintf("orders/%s/%d", strings.Repeat("n", 100), i))
	}
	var s survey.Locks
	if err := json.Unmarshal([]byte(ok(t, "locks --json --addr "+n.Address())), &s); err != nil || len(s.Locks) != many || len(s.Unasked) > 0 {
		t.Errorf("%d locks, %v", len(s.Locks), err)
	}
	if text := ok(t, "locks orders/ --addr "+n.Address()); strings.Count(text, "held by a") != many {
		t.Errorf("%d holders", strings.Count(text, "held by a"))
	}
}

// A node that cannot be asked is named, and the exit code says that the list is incomplete.
func TestLocksUnasked(t *testing.T) {
	a := serveHere(t, node.Config{Name: "a"})
	b := serveHere(t, node.Config{Name: "b", Join: []string{a.Address()}, Clients: 1})
	becomes(t, "two members", func() bool { return len(a.Status().Members) == 2 })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	only, err := lib.Dial(ctx, lib.DialConfig{Nodes: []string{b.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	defer only.Close()
	for _, flags := range [][]string{nil, {"--json"}} {
		code, stdout, stderr := stile(append([]string{"locks", "--addr", a.Address()}, flags...)...)
		if code != terminal.ExitFound || !strings.Contains(stderr, "node b did not answer") || !strings.Contains(stdout, b.Address()) || strings.Contains(stdout, "no lock is held") {
			t.Errorf("exit code %d, output %q, errors %q", code, stdout, stderr)
		}
	}
}

// For a request that waits, the decision of the algorithm at another node is printed too.
func TestLocksBecause(t *testing.T) {
	a := serveHere(t, node.Config{Name: "a", Algorithm: "ricart-agrawala"})
	b := serveHere(t, node.Config{Name: "b", Join: []string{a.Address()}})
	becomes(t, "two members", func() bool { return len(a.Status().Members) == 2 && len(b.Status().Members) == 2 })
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel()
	acquireHere(t, a, "demo")
	waiting.Go(func() { _, _ = b.Lock(ctx, "demo", lock.Options{}) })
	text := ""
	becomes(t, "explained", func() bool {
		text = ok(t, "locks --addr "+b.Address())
		return strings.Contains(text, "a defers b, because it is inside") && strings.Contains(text, "requested with ricart-agrawala: waits for OK from a")
	})
	if js := ok(t, "locks --json --addr "+a.Address()); !strings.Contains(js, `"because": [`) {
		t.Errorf("as JSON: %s", js)
	}
}

// Nothing that a name contains reaches the terminal raw, but JSON has the name itself.
func TestLocksQuoted(t *testing.T) {
	const evil = "a\x1b[2J\nb"
	n := serveHere(t, node.Config{Name: "a", Lease: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := lib.Dial(ctx, lib.DialConfig{Nodes: []string{n.Address()}, Name: "c\x1b\r"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	held, err := c.Lock(ctx, evil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Unlock()
	go func() { _, _ = n.Lock(ctx, evil, lock.Options{}) }()
	becomes(t, "waited for", func() bool { return n.Status().Waiting > 0 })
	for _, args := range [][]string{{"locks"}, {"locks", "a"}, {"status"}, {"lock", "-n", evil}, {"lock", "-w", "1500ms", evil}, {"exec", "-n", evil, "true"}, {"force-release", evil}, {"force-release", "--yes", evil}} {
		_, stdout, stderr := stile(append(args, "--addr", n.Address())...)
		if strings.ContainsFunc(stdout+stderr, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) || strings.Contains(stdout+stderr, "\nb") {
			t.Errorf("stile %q: output %q, errors %q", args, stdout, stderr)
		}
	}
	again, err := c.Lock(ctx, "again"+evil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Unlock()
	var s survey.Locks
	if err := json.Unmarshal([]byte(ok(t, "locks again --json --addr "+n.Address())), &s); err != nil || len(s.Locks) != 1 || s.Locks[0].Name != "again"+evil {
		t.Errorf("%+v, %v", s.Locks, err)
	}
}
