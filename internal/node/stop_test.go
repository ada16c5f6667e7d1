package node

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
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

// A node that stops notes so in its folder, each time for another incarnation. It refuses
// a damaged note, and does without a lost one.
func TestCleanStop(t *testing.T) {
	c := Config{Name: "a", Listen: "127.0.0.1:0", Lease: lease, Data: filepath.Join(t.TempDir(), "a")}
	file := filepath.Join(c.Data, "past")
	remembers := func() views.Past {
		t.Helper()
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := views.ParsePast(b)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var last views.Past
	for i := range 3 {
		n := run(t, c)
		ready(t, n)
		epoch := n.Status().Epoch
		stop(t, n)
		p := remembers()
		if p.Epoch != epoch || p.Epoch <= last.Epoch || p.Stopped == 0 || p.Stopped == last.Stopped {
			t.Errorf("start %d, epoch %d: %+v after %+v", i, epoch, p, last)
		}
		last = p
	}
	if err := os.WriteFile(file, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(c); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a damaged note: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	ready(t, run(t, c))
}
