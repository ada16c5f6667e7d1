package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
)

// The first locks are those of one criterion, or, without one, the busiest and those that are
// waited for. Each has its algorithm and its home, in use or not.
func TestTopBy(t *testing.T) {
	n := start(t, 1, measured)[0]
	for i := range 30 {
		release(t, acquire(t, n, fmt.Sprintf("busy/%d", i%3/2))) // busy/0 twice as often
	}
	var held []lock.Handle
	for _, name := range []string{"held/1", "held/2", "held/3"} {
		held = append(held, acquire(t, n, name))
	}
	var waits []<-chan asked
	for _, i := range []int{1, 0} {
		waits = append(waits, waiting(t, n, held[i]))
	}
	names := func(q LockQuery) string {
		page := told[LockPage[LockInfo]](t, n, AskLocks, q)
		var all []string
		for _, l := range page.Locks {
			all = append(all, l.Name)
			if l.Algorithm == "" || l.Home != "a" || l.Node != "a" || (l.Holder != nil) != strings.HasPrefix(l.Name, "held/") || page.Next != "" {
				t.Errorf("%+v", l)
			}
			if want := map[string]uint64{"busy/0": 20, "busy/1": 10}[l.Name]; l.Acquired != want && want > 0 {
				t.Errorf("%s was acquired %d times, want %d", l.Name, l.Acquired, want)
			}
		}
		return strings.Join(all, " ")
	}
	for _, x := range []struct {
		q    LockQuery
		want string
	}{
		{LockQuery{Top: 9, By: ByWait}, "held/2 held/1"},
		{LockQuery{Top: 1, By: ByWait}, "held/2"},
		{LockQuery{Top: 9, By: ByHold}, "held/1 held/2 held/3"},
		{LockQuery{Top: 2, By: ByHold}, "held/1 held/2"},
		{LockQuery{Top: 9, By: ByHold, Prefix: "held/3"}, "held/3"},
		{LockQuery{Top: 2, By: ByRate}, "busy/0 busy/1"},
		{LockQuery{Top: 9, By: ByRate, Prefix: "busy/1"}, "busy/1"},
		{LockQuery{Top: 1}, "busy/0 held/2"},
		{LockQuery{Top: 9, Prefix: "held/"}, "held/1 held/2 held/3"}, // each once
	} {
		if got := names(x.q); got != x.want {
			t.Errorf("%+v: %s, want %s", x.q, got, x.want)
		}
	}
	if _, err := n.QueryFor(t.Context(), Caller{}, AskLocks, []byte(`{"top":1,"by":"<x>"}`)); err == nil || !strings.Contains(err.Error(), "want wait, hold or rate") {
		t.Errorf("by something else: %v", err)
	}
	epoch := n.Status().Epoch
	if _, err := n.QueryFor(t.Context(), Caller{}, AskChoose, []byte("ricart-agrawala")); err != nil {
		t.Fatal(err)
	}
	becomes(t, n, "in another view", func(s Status) bool { return s.Epoch > epoch })
	if got := names(LockQuery{Top: 2, By: ByRate}); got != "busy/0 busy/1" { // which are not known in this view
		t.Errorf("in the next view: %s", got)
	}
	for i, w := range waits {
		release(t, held[1-i])
		release(t, (<-w).lock)
	}
}

// Answers are as long as they may be, whatever clients call themselves: what does not fit is
// left out.
func TestTopFits(t *testing.T) {
	n := start(t, 1, func(i int, c *Config) { c.Lease, c.Metrics = time.Hour, true })[0]
	shared := lock.Options{Terms: member.Terms{Mode: deadlock.Shared}}
	value := strings.Repeat("<", 256) // JSON needs six bytes for each
	for i := range maxTop {
		for range maxShared {
			h, err := n.Lock(t.Context(), fmt.Sprintf("%s%d", KeptPrefix, i), shared)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.SetValue(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	page := told[LockPage[LockInfo]](t, n, AskLocks, LockQuery{Top: maxTop, By: ByHold})
	if len(page.Locks) == 0 || len(page.Locks) == maxTop {
		t.Errorf("%d locks", len(page.Locks))
	}
}
