//go:build linux || darwin

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lib "github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
)

// The graph of all nodes has a deadlock of two transactions, the process that waits for them,
// and one that waits for an ordinary lock.
func TestLocksGraph(t *testing.T) {
	a := serveHere(t, node.Config{Name: "a", Lease: 2 * time.Second, Algorithm: "none/=kept:none"})
	b := serveHere(t, node.Config{Name: "b", Join: []string{a.Address()}})
	becomes(t, "two members", func() bool { return len(a.Status().Members) == 2 && len(b.Status().Members) == 2 })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var txs []*lib.Tx
	for i, n := range []*node.Node{a, b} {
		c, err := lib.Dial(ctx, lib.DialConfig{Nodes: []string{n.Address()}, Name: []string{"ann", "bob"}[i]})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		tx, err := c.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Lock(ctx, []string{"none/x", "none/y"}[i]); err != nil {
			t.Fatal(err)
		}
		txs = append(txs, tx)
	}
	acquireHere(t, a, "plain")
	go func() { _, _ = b.Lock(ctx, "plain", lock.Options{}) }()
	go func() { _, _ = b.Lock(ctx, "none/x", lock.Options{}) }()
	waiting := func(n int) func() bool {
		return func() bool { return a.Status().Waiting+b.Status().Waiting == n }
	}
	becomes(t, "two waiting", waiting(2))
	if text := ok(t, "locks --graph --addr "+a.Address()); !strings.Contains(text, "no deadlock") || !strings.Contains(text, "--plain-->") {
		t.Errorf("the graph is:\n%s", text)
	}
	go func() { _, _ = txs[0].Lock(ctx, "none/y") }()
	go func() { _, _ = txs[1].Lock(ctx, "none/x") }()
	becomes(t, "four waiting", waiting(4))

	var r graphReport
	becomes(t, "a deadlock", func() bool {
		r = graphReport{}
		err := json.Unmarshal([]byte(ok(t, "locks --graph --json --addr "+a.Address())), &r)
		return err == nil && len(r.Deadlocks) == 1
	})
	if len(r.Edges) != 4 || len(r.Vertices) != 5 || len(r.Deadlocks[0]) != 2 {
		t.Errorf("%+v", r.Graph)
	}
	for _, i := range r.Deadlocks[0] {
		if v := r.Vertices[i]; !strings.Contains(v.Who, "ann") && !strings.Contains(v.Who, "bob") || len(v.Holds) != 1 || v.Tx == 0 {
			t.Errorf("%+v", v)
		}
	}
	file := filepath.Join(t.TempDir(), "g.svg")
	text := ok(t, "locks none/ --graph --svg "+file+" --addr "+b.Address())
	if !strings.Contains(text, "deadlock: P") || !strings.Contains(text, "holds none/x") || strings.Contains(text, "plain") {
		t.Errorf("the graph is:\n%s", text)
	}
	if svg, err := os.ReadFile(file); err != nil || !strings.Contains(string(svg), "none/y") {
		t.Errorf("%v, %s", err, svg)
	}
	local := 0 // every edge is at one home
	for _, home := range []string{"a", "b"} {
		var r graphReport
		if err := json.Unmarshal([]byte(ok(t, "locks none/ --graph --json --home "+home+" --addr "+a.Address())), &r); err != nil {
			t.Fatal(err)
		}
		local += len(r.Edges)
	}
	if local != 3 {
		t.Errorf("%d edges at homes", local)
	}
	if text := ok(t, "locks none/x --addr "+a.Address()); !strings.Contains(text, ", exclusive, transaction ") {
		t.Errorf("the list is:\n%s", text)
	}
}

// A ring through two locks of each of two clients is shown as a possible deadlock, and a home
// that is not a member is an error that lists the members.
func TestLocksPossibleDeadlock(t *testing.T) {
	n := serveHere(t, node.Config{Name: "a", Lease: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	names := []string{"x", "kept/y"}
	var clients []*lib.Client
	for i, label := range []string{"ann", "bob"} {
		c, err := lib.Dial(ctx, lib.DialConfig{Nodes: []string{n.Address()}, Name: label})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Lock(ctx, names[i]); err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	for i, c := range clients {
		go func() { _, _ = c.Lock(ctx, names[1-i]) }()
	}
	becomes(t, "two waiting", func() bool { return n.Status().Waiting == 2 })
	text := ok(t, "locks --graph --home a --addr "+n.Address())
	if !strings.Contains(text, "no deadlock, 1 possible deadlock") || !strings.Contains(text, "possible deadlock: P") || strings.Count(text, "=P") != 2 {
		t.Errorf("the graph is:\n%s", text)
	}
	for _, flags := range []string{"", " --graph", " --json"} {
		code, stdout, stderr := stile(strings.Fields("locks --home nope --addr " + n.Address() + flags)...)
		if code != 2 || !strings.Contains(stderr, `"nope"`) || !strings.Contains(stderr, `"a"`) {
			t.Errorf("%s: exit code %d, output %q, errors %q", flags, code, stdout, stderr)
		}
	}
}
