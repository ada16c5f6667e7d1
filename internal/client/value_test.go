package client_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
)

// shown returns the value of a lock, as a node lists it.
func shown(t *testing.T, n *node.Node, name string) string {
	t.Helper()
	var page node.LockPage[node.LockInfo]
	if err := n.AskAt(t.Context(), n.Address(), node.AskLocks, lockQuery(t, name), &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Locks) == 0 || page.Locks[0].Holder == nil {
		return ""
	}
	return page.Locks[0].Holder.Value
}

// The node through which a lock is held shows its value, as long as the lock is held. When
// the client moves to another node, the value moves too.
func TestValueMoves(t *testing.T) {
	all := start(t, 3, 10*time.Second)
	x := dial(t, client.Config{Nodes: []string{all[2].Address()}})
	h := acquire(t, x, "x")
	if err := h.SetValue("job 7"); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(n *node.Node) bool { return n.Address() == x.Node() })
	becomes(t, "shown", func() bool { return shown(t, all[i], "x") == "job 7" })
	if err := all[i].Leave(soon(t)); err != nil {
		t.Error(err)
	}
	others := slices.Delete(slices.Clone(all), i, i+1)
	becomes(t, "shown elsewhere", func() bool {
		return slices.ContainsFunc(others, func(n *node.Node) bool { return shown(t, n, "x") == "job 7" })
	})
	release(t, h)
	if err := h.SetValue("late"); !errors.Is(err, lock.ErrReleased) {
		t.Error(err)
	}
	own := acquire(t, others[0], "y")
	if err := own.SetValue("job 8"); err != nil || shown(t, others[0], "y") != "job 8" {
		t.Error(err, shown(t, others[0], "y"))
	}
	release(t, own)
	release(t, acquire(t, others[0], "y"))
	next := acquire(t, others[0], "y")
	if v := shown(t, others[0], "y"); v != "" || own.SetValue("late") == nil {
		t.Errorf("%q is left", v)
	}
	release(t, next)
}
