package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	asWorker()
	os.Exit(m.Run())
}

func TestChoose(t *testing.T) {
	s, err := choose(&options{who: "stile*,redis", what: "kill-*,idle"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range s.entrants {
		names = append(names, e.Name)
	}
	for _, w := range s.workloads {
		names = append(names, w.Name)
	}
	want := []string{"stile", "stile-embedded", "stile-central", "stile-raymond", "stile-grpc", "stile-json", "redis", "stile-plain", "idle", "kill-holder", "kill-leader", "kill-follower"}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if s, err := choose(&options{}); err != nil || len(s.entrants) != len(entrants) || len(s.workloads) != len(workloads) {
		t.Errorf("by default not all are chosen: %v", err)
	}
	if _, err := choose(&options{who: "nginx"}); err == nil || !strings.Contains(err.Error(), "etcd") {
		t.Errorf("an unknown name: %v", err)
	}
}

// A run of everything takes less than 20 minutes, and each part of it counts.
func TestLength(t *testing.T) {
	of := func(args ...string) time.Duration {
		f, o := flags()
		if err := f.Parse(args); err != nil {
			t.Fatal(err)
		}
		s, err := choose(o)
		if err != nil {
			t.Fatal(err)
		}
		return length(s, o)
	}
	all := of()
	if all >= 20*time.Minute {
		t.Errorf("a run takes %v", all)
	}
	if more := of("-rounds", "6"); more < all+time.Minute {
		t.Errorf("%v with one more round, %v without", more, all)
	}
	for _, w := range workloads {
		if of("-workloads", w.Name) <= timeBuild {
			t.Errorf("%s takes no time", w.Name)
		}
	}
	var sum time.Duration
	for _, e := range entrants {
		sum += of("-workloads", "clients-8", "-entrants", e.Name) - of("-workloads", "clients-8", "-entrants", "stile")
	}
	if sum != 0 {
		t.Errorf("an entrant with the same clients takes another time: %v", sum)
	}
	if a, b := of("-workloads", "clients-8"), of("-workloads", "clients-8", "-entrants", "stile*"); a <= b {
		t.Errorf("all entrants take %v, some %v", a, b)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"x"}, {"-rounds", "0"}, {"-seconds", "0"}, {"-workloads", "none"}, {"-page", t.TempDir() + "/p.md", "-result", "none.json"}} {
		if err := command(t.Context(), args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

// Every entrant takes part in some workload, every workload has entrants, and every entrant
// says what it promises.
func TestTables(t *testing.T) {
	for _, e := range entrants {
		if !slices.ContainsFunc(workloads, func(w *workload) bool { return w.runs(e) }) {
			t.Errorf("%s runs nothing", e.Name)
		}
		if len(replicas[e.servers]) == 0 || e.Replicated == "" || e.Durable == "" || e.Fenced == "" || e.Fair == "" || named(e.Name) != e {
			t.Errorf("%s: %+v", e.Name, e)
		}
	}
	for _, w := range workloads {
		if !slices.ContainsFunc(entrants, w.runs) {
			t.Errorf("%s has no entrants", w.Name)
		}
	}
}

// Clients choose the locks that the workload says.
func TestNames(t *testing.T) {
	seen := func(l load, client int) map[string]int {
		next, all := (&stint{order: &order{Load: l, Seed: 1}}).names(client), map[string]int{}
		for range 2000 {
			name, shared := next()
			if shared {
				name += " shared"
			}
			all[name]++
		}
		return all
	}
	if all := seen(load{Names: namesOne}, 3); len(all) != 1 {
		t.Errorf("one lock: %v", all)
	}
	if a, b := seen(load{Names: namesOwn}, 1), seen(load{Names: namesOwn}, 2); len(a) != 1 || a["own-1"] == 0 || b["own-2"] == 0 {
		t.Errorf("own locks: %v, %v", a, b)
	}
	if all := seen(load{Names: namesRandom}, 0); len(all) < 1700 {
		t.Errorf("%d of many locks", len(all))
	}
	if all := seen(load{Names: namesTurn}, 0); len(all) != turnLocks {
		t.Errorf("%d locks in turn", len(all))
	}
	if all := seen(load{Names: namesHot}, 5); len(all) != groupLocks+1 || all["hot"] < 300 || all["hot"] > 500 {
		t.Errorf("hot spot: %v", all)
	}
	if all := seen(load{Names: namesOne, Shared: 95}, 0); len(all) != 2 || all[sharedName] < 50 || all[sharedName] > 160 {
		t.Errorf("readers and writers: %v", all)
	}
	if all := seen(load{Names: namesOne, Shared: 100}, 0); all[sharedName+" shared"] != 2000 {
		t.Errorf("only readers: %v", all)
	}
}

// running reports whether a process runs.
func running(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(state, "Z")
}

// Whatever a run has started has ended with it, also children and what ignores signals.
func TestEnd(t *testing.T) {
	k := newKeeper()
	dir := t.TempDir()
	p := &process{name: "stubborn", path: "/bin/sh", dir: dir, end: syscall.SIGTERM,
		args: []string{"-c", "sleep 1000 & echo $! > child; trap '' TERM; echo up > up; while :; do sleep 1000; done"},
		up:   func(context.Context) error { _, err := os.Stat(filepath.Join(dir, "up")); return err }}
	if err := k.start(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	var child int
	b, err := os.ReadFile(filepath.Join(dir, "child"))
	if err != nil {
		t.Fatal(err)
	}
	if child, err = strconv.Atoi(strings.TrimSpace(string(b))); err != nil {
		t.Fatal(err)
	}
	if !running(child) {
		t.Fatal("the child does not run")
	}
	p.end = nil // it would be waited for
	k.end()
	for deadline := time.Now().Add(time.Minute); running(child); {
		if time.Now().After(deadline) {
			t.Fatal("the child still runs")
		}
	}
	if running(p.cmd.Process.Pid) {
		t.Error("the process still runs")
	}
	if err := k.start(t.Context(), &process{name: "late", path: "/bin/true"}); err == nil {
		t.Error("a process was started after the end")
	}
}

// A server that ends instead of serving is reported with what it has printed.
func TestStartFails(t *testing.T) {
	k := newKeeper()
	defer k.end()
	err := k.start(t.Context(), &process{name: "broken", path: "/bin/sh", args: []string{"-c", "echo no such luck; exit 3"}, up: listens("127.0.0.1:1")})
	if err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("error %v", err)
	}
}

// An interrupted run leaves nothing in its folder.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	s, err := choose(&options{who: "stile", what: "uncontended"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(ctx, &options{rounds: 1, seconds: 0.1, dir: dir}, s); err == nil {
		t.Error("the run goes on")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A worker acquires and releases a mutex of its own, and ends with its orders.
func TestWorker(t *testing.T) {
	k := newKeeper()
	defer k.end()
	w, err := k.hire(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	a, err := w.ask(t.Context(), order{Op: opLimit, Name: limitMutex, For: 20 * time.Millisecond})
	if err != nil || a.Times.Count == 0 {
		t.Errorf("%d holds, error %v", a.Times.Count, err)
	}
	if _, err := w.ask(t.Context(), order{Op: "dance"}); err == nil || !strings.Contains(err.Error(), "dance") {
		t.Errorf("an unknown operation: %v", err)
	}
	w.orders.Close()
	<-w.done
}

// A client that acquires a lock while the use of locks ends releases it.
func TestHammerRest(t *testing.T) {
	released := make(chan bool)
	x := &last{released: released}
	x.ending.Add(1)
	x.hammer = strike([]client{x}, func(int) (client, error) { return x, nil }, 1, 0)
	x.ending.Done()
	<-released
}

// last is a client whose only hold ends the hammer.
type last struct {
	hammer   *hammer
	ending   sync.WaitGroup
	released chan bool
}

func (x *last) acquire(context.Context, string, bool) (holder, error) {
	x.ending.Wait()
	x.hammer.rest()
	return release(func() error { close(x.released); return nil }), nil
}

func (x *last) lost() bool   { return false }
func (x *last) close() error { return nil }
