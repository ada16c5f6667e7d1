package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/views/raft"
)

// A node that comes back with its folder is of the same cluster, and epochs and
// tokens rise: after a stop, after a crash, and at another address.
func TestRestart(t *testing.T) {
	c := Config{Name: "a", Listen: "127.0.0.1:0", Lease: lease, Data: filepath.Join(t.TempDir(), "a")}
	var before Status
	var last lock.Handle
	for i := range 4 {
		n := run(t, c)
		ready(t, n)
		h := acquire(t, n, "x")
		s := n.Status()
		if i > 0 && (s.Cluster != before.Cluster || s.Epoch <= before.Epoch || !last.Token().Less(h.Token())) {
			t.Fatalf("start %d: %+v after %+v, token %v after %v", i, s, before, h.Token(), last.Token())
		}
		before, last = s, h
		if i%2 == 0 {
			release(t, h)
			stop(t, n)
		} else {
			n.Kill()
		}
	}
}

// Without a folder the epoch comes from the wall clock, so that tokens still rise.
func TestMemoryEpoch(t *testing.T) {
	now := uint64(time.Now().UnixMilli())
	a := start(t, 1, nil)[0]
	first := acquire(t, a, "x").Token()
	if first.Epoch < now {
		t.Errorf("epoch %d at %d", first.Epoch, now)
	}
	a.Kill()
	b := start(t, 1, nil)[0]
	if second := acquire(t, b, "x").Token(); !first.Less(second) {
		t.Errorf("%v after %v", second, first)
	}
}

// A folder belongs to one process, and a damaged one cannot be used. A failed start
// releases what it acquired: the folder can be used after that.
func TestFolderRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	c := Config{Name: "a", Listen: "127.0.0.1:0", Lease: lease, Data: dir}
	n := run(t, c)
	ready(t, n)
	if _, err := Start(c); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second process: %v", err)
	}
	stop(t, n)
	taken := run(t, Config{Name: "b", Listen: "127.0.0.1:0"})
	inUse := c
	inUse.Listen = taken.Address()
	for range 2 {
		if _, err := Start(inUse); err == nil || !strings.Contains(err.Error(), "cannot listen") {
			t.Errorf("a port in use: %v", err)
		}
	}
	good, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "\n", "cluster 0000000000000001\n", "cluster x\n127.0.0.1:1\n", string(good[1:]), string(good[:len(good)-1]), "127.0.0.1:1\n"} {
		put(t, filepath.Join(dir, recordFile), bad)
		if _, err := Start(c); err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("members %q: %v", bad, err)
		}
	}
	put(t, filepath.Join(dir, recordFile), string(good))
	b, err := os.ReadFile(filepath.Join(dir, "voter.db"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "voter.db"), string(b[:len(b)/2]))
	if _, err := Start(c); !errors.Is(err, raft.ErrDamaged) {
		t.Errorf("a damaged log: %v", err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The folder of a node that was a member, and no voter, never founds a cluster: it
// looks for the one that it knows. Nor does it join another one that is where the
// members were.
func TestFolderOfNoVoter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	a := start(t, 1, func(i int, c *Config) { c.Lease = lease })[0]
	c := Config{Name: "b", Listen: "127.0.0.1:0", Lease: lease, Join: []string{a.Address()}, Data: dir}
	b := run(t, c)
	ready(t, b)
	first := acquire(t, b, "x").Token()
	b.Kill()
	c.Join = nil
	b = run(t, c)
	ready(t, b)
	if s := b.Status(); len(s.Members) != 2 || s.Cluster != a.Status().Cluster {
		t.Fatalf("%+v", s)
	}
	if second := acquire(t, b, "x").Token(); !first.Less(second) {
		t.Errorf("%v after %v", second, first)
	}
	b.Kill()
	a.Kill()
	var log journal
	c.Log = log.logger()
	b = run(t, c)
	log.says(t, "no link")
	other := run(t, Config{Name: "a", Listen: a.Address(), Lease: lease})
	ready(t, other)
	log.says(t, "clusters cannot be merged")
	becomes(t, b, "refused", func(s Status) bool {
		return s.State == "joining" && s.Epoch == 0 && strings.Contains(s.Why, "data directory")
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Ready(ctx); err == nil {
		t.Error("it has found or founded another cluster")
	}
}

// A node whose disk fails while it waits to leave has not left cleanly.
func TestDiskFailsInStop(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	n := run(t, Config{Name: "a", Listen: "127.0.0.1:0", Lease: lease, Data: dir})
	ready(t, n)
	h := acquire(t, n, "x")
	stopped := make(chan error)
	go func() { stopped <- n.Stop(t.Context()) }()
	becomes(t, n, "draining", func(s Status) bool { return s.State == "draining" })
	if err := os.Truncate(filepath.Join(dir, "voter.db"), 0); err != nil {
		t.Fatal(err)
	}
	run(t, Config{Name: "b", Listen: "127.0.0.1:0", Join: []string{n.Address()}}) // which a is to note
	if err := <-stopped; err == nil || !strings.Contains(err.Error(), "voter.db") {
		t.Errorf("it has left in good order: %v", err)
	}
	if err := h.Err(); !errors.Is(err, lock.ErrLost) {
		t.Errorf("who held a lock through it hears %v", err)
	}
}
