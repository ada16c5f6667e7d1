package node

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/live/member"
)

// All nodes of a cluster that are stopped at the same moment stop, and none of them because
// its drain timed out, since it never does. Started again with their folders they are the
// same cluster.
func TestStopAll(t *testing.T) {
	dir := t.TempDir()
	addresses := make([]string, 3)
	var last member.Token
	for range 3 {
		all := start(t, len(addresses), func(i int, c *Config) {
			c.Data = filepath.Join(dir, c.Name)
			if addresses[i] != "" {
				c.Listen, c.Join = addresses[i], addresses
			}
		})
		for i, n := range all {
			addresses[i] = n.Address()
			becomes(t, n, "one of three voters", func(s Status) bool {
				return len(s.Members) == 3 && !slices.ContainsFunc(s.Members, func(m MemberInfo) bool { return !m.Voter })
			})
			l := acquire(t, n, "x")
			if !last.Less(l.Token()) {
				t.Errorf("%v after %v", l.Token(), last)
			}
			last = l.Token()
			release(t, l)
		}
		ends := make(chan error, len(all))
		for _, n := range all {
			go func() { ends <- n.Stop(context.Background()) }()
		}
		for range all {
			select {
			case err := <-ends:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Fatalf("not all end: they are %s, %s and %s", all[0].Status().State, all[1].Status().State, all[2].Status().State)
			}
		}
	}
}

// When one of three voters has just crashed, and the others do not know it yet, they can
// still be stopped at the same moment. None of them leaves the cluster to the crashed one,
// for which the last one would wait in vain.
func TestStopRest(t *testing.T) {
	for dead := range 3 {
		all := start(t, 3, nil)
		becomes(t, all[0], "the leader of three voters", func(s Status) bool { // it founded the cluster
			return s.Settled && len(s.Members) == 3 && !slices.ContainsFunc(s.Members, func(m MemberInfo) bool { return !m.Voter })
		})
		all[dead].Kill()
		rest := slices.Delete(all, dead, dead+1)
		ends := make(chan error, len(rest))
		ctx, cancel := soon(t)
		for _, n := range rest {
			go func() { ends <- n.Stop(ctx) }()
		}
		for range rest {
			if err := <-ends; err != nil {
				t.Errorf("after %d has died: %v", dead, err)
			}
		}
		cancel()
	}
}

// When the other one of two nodes has just crashed, the remaining voter can still be
// stopped: it does not leave the cluster to the crashed one.
func TestStopLast(t *testing.T) {
	all := start(t, 2, nil)
	becomes(t, all[0], "one of two", func(s Status) bool { return len(s.Members) == 2 })
	all[1].Kill()
	stop(t, all[0])
}
