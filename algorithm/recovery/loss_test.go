package recovery_test

import (
	"errors"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/recovery"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// A hard is a check under which something goes wrong: messages are lost,
// processes die and come back.
type hard struct {
	lock                              recovery.Lock
	elect                             algorithm.Spec
	nodes, crashes, losses, comebacks int
	quick                             bool
	states                            int64
}

func (h hard) spec() algorithm.Spec {
	patience := 0
	if h.losses > 0 {
		patience = recovery.LeastPatience(h.nodes)
	}
	return recovery.Patient(h.lock, h.elect, patience)
}

func (h hard) run(t *testing.T) {
	t.Helper()
	spec := h.spec()
	c := check.Config{Spec: spec, Nodes: h.nodes, Requests: 1, Crashes: h.crashes, Losses: h.losses, Comebacks: h.comebacks}
	if h.quick {
		c.Pace = check.Quick
	}
	r, err := check.Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if r.States != h.states {
		t.Errorf("%s among %d, crashes %d, losses %d, comebacks %d, quick %v: %d states, want %d", spec.Name, h.nodes, h.crashes, h.losses, h.comebacks, h.quick, r.States, h.states)
	}
	for _, p := range r.Properties {
		if p.Verdict != check.HoldsBounded {
			t.Errorf("%s among %d: %s %s: %s\n%s", spec.Name, h.nodes, p.Name, p.Verdict, p.Note, p.Story(trace.TextOptions{}))
		}
	}
}

// In every order of events, with any one message lost at any step, and a death:
// never two are inside, and nobody waits for ever. That is so of all locks but
// one: see TestLossesThatBreakSafety.
func TestLosses(t *testing.T) {
	bully, ring := election.Bully(), election.Ring()
	for i, states := range []int64{1983, 2246, 2363, 2726, -1, 5582, 2928, 2928, 2928, 8256, 8256, 2763, 17128, 9692, 2763} {
		if states >= 0 {
			hard{locks()[i], bully, 2, 1, 1, 0, false, states}.run(t)
		}
	}
	hard{plain(mutex.TokenRing), ring, 2, 1, 1, 0, false, 1999}.run(t)
	if !nightly.On() {
		return // three processes take seconds
	}
	hard{plain(mutex.TokenRing), ring, 3, 0, 1, 0, true, 40858}.run(t)
	hard{plain(mutex.SuzukiKasami), bully, 3, 0, 1, 0, true, 100034}.run(t)
	hard{plain(mutex.RicartAgrawala), bully, 3, 0, 1, 0, true, 279322}.run(t)
	hard{mutex.Central, bully, 3, 0, 2, 0, true, 169278}.run(t)
}

// Without patience, one lost message is enough to make somebody wait for ever.
func TestForEver(t *testing.T) {
	for _, lock := range []recovery.Lock{plain(mutex.TokenRing), plain(mutex.SuzukiKasami), mutex.Central} {
		spec := recovery.With(lock, election.Bully())
		if !breaks(t, check.Config{Spec: spec, Nodes: 2, Losses: 1}, check.Starvation) {
			t.Errorf("%s: nobody waits for ever", spec.Name)
		}
	}
}

// Patience mends what is lost, not what a lock takes for granted: Lamport's
// believes that what came has come behind all that was sent before.
func TestLossesThatBreakSafety(t *testing.T) {
	spec := hard{lock: plain(mutex.Lamport), elect: election.Bully(), nodes: 2, losses: 1}.spec()
	if !breaks(t, check.Config{Spec: spec, Nodes: 2, Losses: 1}, check.MutualExclusion) {
		t.Error("nothing is broken")
	}
}

// breaks reports whether a property is violated when each process asks once, and
// the simulator sees it, too.
func breaks(t *testing.T, c check.Config, property string) bool {
	t.Helper()
	c.Requests, c.Pace = 1, check.Quick
	r, err := check.Run(c)
	if errors.Is(err, host.ErrMalformed) || errors.Is(err, host.ErrHost) {
		return true // the lock gets what it cannot get
	}
	if err != nil {
		t.Fatal(err)
	}
	p := r.Find(property)
	return p != nil && p.Verdict == check.Violated
}

// Each precaution is needed: without it two tokens appear, or somebody waits
// for ever.
func TestCarelessTokens(t *testing.T) {
	for _, f := range []struct {
		name     string
		property string
		flaw     flawed
	}{
		{"the epoch does not change: a token of the old view counts", check.MutualExclusion, flawed{take: func(f *flawed, in *host.Input) bool {
			if f.ofLock(in) && in.Bytes[1] < f.epoch() {
				in.Bytes = append([]byte{in.Bytes[0], f.epoch()}, in.Bytes[2:]...)
			}
			return true
		}}},
		{"a report does not say who is inside", check.MutualExclusion, flawed{give: func(_ *flawed, kind string, b []byte) {
			if kind == "REPORT" {
				b[3] = 0
			}
		}}},
		{"nobody doubts", check.Starvation, flawed{take: func(_ *flawed, in *host.Input) bool {
			return in.Kind != host.Expire
		}}},
	} {
		spec := recovery.Patient(plain(mutex.SuzukiKasami), election.Bully(), recovery.LeastPatience(3))
		if !breaks(t, check.Config{Spec: spoil(spec, f.flaw), Nodes: 3, Losses: 1, First: true}, f.property) {
			t.Errorf("nobody noticed: %s", f.name)
		}
	}
	for _, lock := range []algorithm.Spec{mutex.TokenRing(), mutex.SuzukiKasami()} {
		if !breaks(t, check.Config{Spec: recovery.Hasty(lock), Nodes: 2}, check.MutualExclusion) {
			t.Errorf("%s with a token for whoever waits: nothing is broken", lock.Name)
		}
	}
	if err := recovery.Hasty(mutex.RicartAgrawala()).Accepts(3); err == nil {
		t.Error("a lock without a token makes one")
	}
}

// Whatever is lost, whenever: everybody who asked gets in, of every lock that
// stays safe.
func TestRandomLosses(t *testing.T) {
	for _, lock := range locks() {
		if lock(0).Gapless {
			continue // see above
		}
		for e, elect := range elections() {
			for seed := range nightly.Pick[uint64](4, 20) {
				n := 2 + int(seed%4)
				spec := recovery.Patient(lock, elect, recovery.LeastPatience(n)+int(seed%3))
				sc := lossy(spec.Name, n, seed+uint64(100*e))
				back, err := sim.Replay(spec, sc, sim.ReplayOptions{})
				if err != nil {
					t.Fatalf("%s seed %d: %v", spec.Name, seed, err)
				}
				if len(back.Violations) > 0 || all(sc, back) != nil {
					t.Fatalf("%s seed %d: %v %v\n%s", spec.Name, seed, back.Violations, all(sc, back), scenario.Format(sc))
				}
			}
		}
	}
}

// lossy is a run in which each process asks and one message in a hundred is
// lost.
func lossy(name string, n int, seed uint64) *scenario.Scenario {
	r := kernel.NewRand(seed, 5)
	sc := &scenario.Scenario{
		Algorithm: name, Processes: n, Seed: seed, Until: 600 * scenario.T, Network: algorithm.Lossy,
		Latency: scenario.Uniform(scenario.T/5, scenario.T), Hold: scenario.Uniform(0, 20*scenario.T),
	}
	for p := range algorithm.ID(n) {
		sc.Actions = append(sc.Actions, script.Action{At: r.Below(30 * scenario.T), Kind: script.Ask, Proc: p})
	}
	return sc
}
