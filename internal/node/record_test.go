package node

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/replay"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

// logs starts the log of a node that is replayed.
func logs(h *replay.Header) views.Logs {
	return raft.Logs{Election: h.Election, Heartbeat: h.Heartbeat, MaxLog: h.MaxLog}
}

// replayed replays a recording, with these algorithms.
func replayed(t *testing.T, path string, spec func(string, int) (algorithm.Spec, error)) *replay.Result {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.Replay(bytes.NewReader(b), replay.Options{Logs: logs, Spec: spec})
	if err != nil {
		t.Fatal(path, err)
	}
	return r
}

// same replays a recording, of which all must come out as it did.
func same(t *testing.T, path string) *replay.Result {
	t.Helper()
	r := replayed(t, path, catalog.MakeLive)
	if r.Differs != nil {
		t.Errorf("%s: %+v", path, r.Differs)
	}
	return r
}

// taped records what comes to each node, in a folder.
func taped(dir string) func(i int, c *Config) {
	return func(i int, c *Config) {
		c.Lease, c.Record.File = lease, filepath.Join(dir, c.Name+".rec")
		if i > 0 {
			c.Data, c.Metrics = filepath.Join(dir, c.Name), true
		}
	}
}

// busy has applications of all nodes, and a client of the second one, use locks.
func busy(t *testing.T, all []*Node) {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	c, err := client.Dial(ctx, client.Config{Name: "client", Nodes: []string{all[1].Address()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	users := []locker{c, c}
	for _, n := range all {
		users = append(users, n, n)
	}
	var wg sync.WaitGroup
	for i, u := range users {
		wg.Go(func() {
			for k := range 20 {
				name := strconv.Itoa((i + k) % 3)
				l, err := u.Lock(ctx, name, lock.Options{Try: k%7 == 6})
				if errors.Is(err, lock.ErrBusy) || errors.Is(err, lock.ErrRecovering) {
					continue
				}
				if err != nil {
					t.Errorf("lock %s: %v", name, err)
					return
				}
				if err := l.Unlock(); err != nil {
					t.Errorf("unlock %s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
}

// Whatever comes to the nodes of a cluster, their recordings come out the same again:
// locks of applications and clients, a node that is killed and comes back with its
// disk, and one that leaves. That a node is measured changes nothing.
func TestRecordingsReplay(t *testing.T) {
	dir := t.TempDir()
	all := start(t, 3, taped(dir))
	busy(t, all)
	for _, n := range all[1:] {
		eventually(t, "the end of all delegations", func() bool {
			return !slices.ContainsFunc(n.Metrics().Locks, func(l LockMetrics) bool { return l.Held+l.Waiting > 0 })
		})
		for _, l := range n.Metrics().Locks {
			if l.Acquired == 0 || l.Wait.Count() != l.Acquired || l.Hold.Count() != l.Acquired || l.Held+l.Waiting > 0 {
				t.Errorf("%s: nothing is held, but %+v", n.Name(), l)
			}
		}
	}
	third := all[2].c
	all[2].Kill()
	release(t, acquire(t, all[0], "after"))
	third.Listen, third.Record.File = all[2].Address(), filepath.Join(dir, "c2.rec")
	all[2] = run(t, third)
	ready(t, all[2])
	busy(t, all)
	stop(t, all[1])
	release(t, acquire(t, all[2], "after"))
	for _, n := range all {
		n.Kill()
	}
	views, held := 0, 0
	for _, name := range strings.Fields("a b c c2") {
		r := same(t, filepath.Join(dir, name+".rec"))
		if r.Torn || r.End != "the node has stopped" || r.Header.Begin.Name != name[:1] || r.ByKind[process.Message] == 0 || r.ByKind[process.Wake] == 0 {
			t.Errorf("%s: %+v", name, r)
		}
		views, held = views+r.Views, held+r.Granted
		t.Logf("%s: %d inputs, %d views, %d granted: %v", name, r.Inputs, r.Views, r.Granted, r.ByKind)
	}
	if views < 8 || held < 100 {
		t.Errorf("%d views and %d entries in all", views, held)
	}
}

// A process that does something else is found, at the input where it does.
func TestRecordingOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	all := start(t, 3, taped(dir))
	busy(t, all)
	// Each enters after another, so that the algorithm sends something at every node.
	for range 2 {
		for _, n := range all {
			release(t, acquire(t, n, "in turn"))
		}
	}
	for _, n := range all {
		n.Kill()
	}
	for _, name := range strings.Fields("a b c") {
		r := replayed(t, filepath.Join(dir, name+".rec"), func(string, int) (algorithm.Spec, error) { return catalog.MakeLive("central", 1) })
		if r.Differs == nil || r.Differs.What == "" || len(r.Differs.How) == 0 {
			t.Errorf("%s: that another algorithm runs is not found: %+v", name, r)
			continue
		}
		t.Logf("%s: input %d, %s: %q; %q", name, r.Differs.Input, r.Differs.What, r.Differs.How, r.Differs.Did)
	}
}

// A recording ends at its maximum size, with everything before it, and the node continues.
func TestRecordingIsBounded(t *testing.T) {
	var log journal
	path := filepath.Join(t.TempDir(), "a.rec")
	n := start(t, 1, func(_ int, c *Config) {
		c.Record, c.Log = Record{File: path, Bytes: 20_000}, log.logger()
	})[0]
	for range 2000 {
		release(t, acquire(t, n, "x"))
	}
	log.says(t, "recording stopped")
	info, err := os.Stat(path)
	if err != nil || info.Size() > 20_000 || info.Size() < 15_000 || info.Mode() != 0o600 {
		t.Fatalf("%+v, %v", info, err)
	}
	if r := same(t, path); r.End != "the recording has reached its maximum size" || r.Granted < 20 {
		t.Errorf("%+v", r)
	}
}

// A file that is there is never overwritten.
func TestRecordingSparesFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(Config{Name: "a", Listen: "127.0.0.1:0", Record: Record{File: path}}); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if b, err := os.ReadFile(path); string(b) != "precious" {
		t.Error(string(b), err)
	}
}

// A node that does not start leaves no recording behind, whatever keeps it from
// starting, and the next one may have the file.
func TestRecordingOfNoNode(t *testing.T) {
	taken := start(t, 1, nil)[0].Address()
	for name, change := range map[string]func(c *Config){
		"an address in use":          func(c *Config) { c.Listen = taken },
		"no other node":              func(c *Config) { c.Listen, c.Join = "127.0.0.1:7419", []string{"127.0.0.1:7419"} },
		"no such algorithm":          func(c *Config) { c.Algorithm = "none" },
		"a folder that is no folder": func(c *Config) { c.Data = os.DevNull },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.rec")
			good := Config{Name: "a", Listen: "127.0.0.1:0", Record: Record{File: path}}
			bad := good
			change(&bad)
			if n, err := Start(bad); err == nil {
				n.Kill()
				t.Fatal("it starts")
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the recording is there: %v", err)
			}
			ready(t, run(t, good))
		})
	}
}

// A file that another process has put in the place of a recording is not removed.
func TestDiscardSparesOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	r, err := newRecorder(Record{File: path}, slog.New(slog.DiscardHandler), &replay.Header{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("precious"), 0o600)); err != nil {
		t.Fatal(err)
	}
	r.discard()
	if b, err := os.ReadFile(path); string(b) != "precious" {
		t.Error(string(b), err)
	}
}

// When the disk fails the recording ends, and the node does not.
func TestRecordingOnABadDisk(t *testing.T) {
	var log journal
	path := filepath.Join(t.TempDir(), "a.rec")
	n := start(t, 1, func(_ int, c *Config) { c.Record.File, c.Log = path, log.logger() })[0]
	n.tape.disk.Lock()
	n.tape.file.Close()
	n.tape.disk.Unlock()
	release(t, acquire(t, n, "x"))
	log.says(t, "recording stopped")
	release(t, acquire(t, n, "x"))
	if r := same(t, path); r.End != "" {
		t.Errorf("%+v", r)
	}
}

// When the disk is too slow the recording ends, with what came before.
func TestRecordingOnASlowDisk(t *testing.T) {
	var log journal
	path := filepath.Join(t.TempDir(), "a.rec")
	n := start(t, 1, func(_ int, c *Config) { c.Record.File, c.Log = path, log.logger() })[0]
	n.tape.disk.Lock()
	huge := make([]byte, maxPending/16)
	for range 20 {
		n.use(process.Input{Kind: process.Message, Text: "b", Bytes: huge})
	}
	n.tape.disk.Unlock()
	log.says(t, "too slow")
	release(t, acquire(t, n, "x"))
	if r := same(t, path); r.End == "" || r.ByKind[process.Message] < 10 || r.ByKind[process.Message] > 19 {
		t.Errorf("%+v", r)
	}
}

// The input that a node does not survive is written before it dies.
func TestRecordingOfACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	n := start(t, 1, func(_ int, c *Config) { c.Record.File = path })[0]
	n.mu.Lock()
	n.tape.Crashed(&process.Input{Kind: process.Lock, At: n.clock(), Text: "x"}, &process.Output{})
	r := replayed(t, path, catalog.MakeLive)
	n.mu.Unlock()
	if !r.Crashed || r.Differs == nil || r.Differs.What != `an application requests "x"` || r.End != "" {
		t.Errorf("%+v", r)
	}
}
