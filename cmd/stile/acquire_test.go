//go:build linux || darwin

package main

import (
	"context"
	"strings"
	"testing"

	lib "github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/node"
)

// Commands hold kept locks in several modes, and several locks at once.
func TestLiveModes(t *testing.T) {
	t.Parallel()
	_, a := serve(t, "--memory", "--name", "a")
	hold := func(line string) *proc {
		p := begin(t, nil, append(strings.Fields("lock --addr "+a), strings.Fields(line)...)...)
		p.waitFor(`^\d+\.\d+$`)
		return p
	}
	hold("kept/read -s")
	hold("kept/read -s")
	hold("kept/five --units 2/5")
	hold("kept/five --units 2/5")
	hold("plain")
	for _, test := range []struct {
		code int
		line string
		says string
	}{
		{0, "exec -n -s kept/read true", ""},
		{1, "exec -n kept/read true", ""},
		{0, "exec -n --units 1/5 kept/five true", ""},
		{1, "exec -n --units 2/5 kept/five true", ""},
		{125, "exec -n --units 1/4 kept/five true", "another number of units"},
		{0, "exec -w 5s -s kept/read true", ""},
		{1, "exec -w 2s kept/read true", "not acquired within"},
		{0, "exec -w 5s --units 1/5 kept/five true", ""},
		{1, "exec -w 2s --units 2/5 kept/five true", "not acquired within"},
		{1, "lock -n --units 2/5 kept/five", "held or waited for"},
		{1, "lock -n kept/read", "held or waited for"},
		{1, "lock -w 2s kept/read", "not acquired within"},
		{3, "exec -n -E 3 --units 2/5 kept/five true", ""},
		{125, "lock -s x", "kept"},
		{125, "lock --units 1/2 x", "kept"},
		{0, "exec kept/b a kept/b -c -- echo~$STILE_LOCK~$STILE_TOKENS~$STILE_HELD", `kept/b {"a":"`},
		{0, "exec a b -n -- stile exec -n c -- stile locks --json", `"name": "b"`},
		{1, "exec a plain b -n -- echo entered", "plain"},
		{1, "exec a plain -w 2s -- echo entered", "plain"},
		{0, "exec a b -n --verbose -- true", "released b"}, // so those above hold nothing
		{0, "exec -n -s kept/read kept/other -- true", ""},
		{2, "exec x a -- stile exec y a -- true", "STILE_HELD"},
		{2, "exec x a --", "needs a command"},
		{0, "exec x -- echo -- y", "-- y"},
	} {
		args := strings.Fields(test.line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "~", " ")
		}
		if said := at(t, a, test.code, args...); !strings.Contains(said, test.says) || strings.Contains(said, "entered") {
			t.Errorf("stile %q says %q, want %q", args, said, test.says)
		}
	}
}

// An older transaction that wants a lock does not end a command that holds it. One that
// waits for more locks starts over, because it may be in the transaction's way.
func TestLiveWounded(t *testing.T) {
	t.Parallel()
	n := serveHere(t, node.Config{Name: "a", Algorithm: "wound/=kept:wound-wait"})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := lib.Dial(ctx, lib.DialConfig{Nodes: []string{n.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tx, err := c.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Abort()
	acquire := func(name string) {
		t.Helper()
		if _, err := tx.Lock(ctx, name); err != nil {
			t.Error(err)
		}
	}
	acquire("wound/b")
	several := begin(t, nil, "exec", "--addr", n.Address(), "wound/b", "wound/a", "--", "echo", "entered")
	becomes(t, "waited for", func() bool { return n.Status().Waiting > 0 })
	acquire("wound/a") // which the command holds
	single := begin(t, nil, "exec", "--addr", n.Address(), "wound/c", "--", "sh", "-c", "echo in; cat")
	single.waitFor("^in$")
	holder := begin(t, nil, "lock", "--addr", n.Address(), "wound/d")
	holder.waitFor(`^\d+\.\d+$`)
	for _, x := range []struct {
		name string
		p    *proc
	}{{"wound/c", single}, {"wound/d", holder}} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			acquire(x.name)
		}()
		becomes(t, "waited for", func() bool {
			l, err := c.Locks(ctx, x.name)
			return err == nil && len(l) == 1 && len(l[0].Waiters) == 1
		})
		x.p.stdin.Close()
		x.p.waitExit(0)
		<-done
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	several.waitFor("^entered$")
	several.waitExit(0)
}
