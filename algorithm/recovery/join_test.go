package recovery_test

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/recovery"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// In every order of events, with a death at any step and that process coming
// back at any step later, which asks as often as the others: never two are
// inside, and nobody waits for ever.
func TestNewcomers(t *testing.T) {
	bully := election.Bully()
	for i, states := range []int64{1552, 1947, 1576, 2171, 5788, 3880, 2454, 2454, 2454, 5737, 5737, 2171, 7875, 5046, 2171} {
		hard{locks()[i], bully, 2, 1, 0, 1, false, states}.run(t)
	}
	hard{plain(mutex.TokenRing), election.Ring(), 2, 1, 0, 1, false, 1706}.run(t)
	hard{plain(mutex.TokenRing), election.ChangRoberts(false), 2, 1, 0, 1, false, 2104}.run(t)
	if nightly.On() { // it takes seconds
		hard{mutex.Central, bully, 3, 1, 0, 1, true, 451034}.run(t)
	}
}

// What a newcomer must not do: take part as if it had been there all the time,
// or in a view that was made for its predecessor.
func TestCarelessNewcomers(t *testing.T) {
	unaware := recovery.With(plain(mutex.TokenRingLazy), election.Bully())
	plan := unaware.Plan
	unaware.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			v.Late = false
			return birth(self, v)
		}, err
	}
	if !breaks(t, check.Config{Spec: unaware, Nodes: 2, Crashes: 1, Comebacks: 1}, check.MutualExclusion) {
		t.Error("nobody noticed that a process takes part as if it had been there")
	}
	mute := spoil(recovery.With(plain(mutex.TokenRingLazy), election.Bully()), flawed{take: func(f *flawed, in *host.Input) bool {
		return in.Kind != host.Receive || f.kinds[in.Bytes[0]] != "JOIN"
	}})
	if !breaks(t, check.Config{Spec: mute, Nodes: 2, Crashes: 1, Comebacks: 1}, check.Starvation) {
		t.Error("nobody noticed that a newcomer is not heard")
	}
	for name, c := range map[string]struct {
		nodes int
		mute  func(f *flawed, in *host.Input) bool
	}{
		"a newcomer that leads does not stop the others": {2, func(f *flawed, _ *host.Input) bool {
			return f.field("fresh") == "yes"
		}},
		"a leader that makes a view does not stop a newcomer": {3, func(f *flawed, in *host.Input) bool {
			return f.gets(in, "JOIN") && f.field("frozen") == "yes" && f.field("told") == f.field("leader")
		}},
	} {
		spec := spoil(recovery.With(mutex.Central, election.Bully()), flawed{mute: c.mute})
		if !breaks(t, check.Config{Spec: spec, Nodes: c.nodes, Requesters: []algorithm.ID{0}, Crashes: 1, Comebacks: 1}, check.Starvation) {
			t.Errorf("no violation: %s", name)
		}
	}
}

// What is not provided for is refused, in words.
func TestRefusedNewcomers(t *testing.T) {
	for _, c := range []struct {
		config check.Config
		want   string
	}{
		{check.Config{Crashes: 2, Comebacks: 2}, "2 comebacks: want at most 1"},
		{check.Config{Crashes: 1, Comebacks: 1, Losses: 1}, "want one or the other"},
	} {
		c.config.Spec, c.config.Nodes, c.config.Requests = hard{lock: mutex.Central, elect: election.Bully(), nodes: 2, losses: 1}.spec(), 2, 1
		if _, err := check.Run(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}

// Whoever comes back, and whenever: it gets in, and so does everybody else.
func TestReturns(t *testing.T) {
	for _, lock := range locks() {
		for _, elect := range elections() {
			spec := recovery.With(lock, elect)
			for seed := range uint64(20) {
				n := 2 + int(seed%4)
				who := algorithm.ID(seed % uint64(n))
				sc := random(spec.Name, n, seed)
				sc.Actions = nil
				for p := range algorithm.ID(n) {
					if p != who && !(sc.Busy && p == sc.Holder) {
						sc.Actions = append(sc.Actions, script.Action{At: int64(seed+1) * int64(p+1) * scenario.T, Kind: script.Ask, Proc: p})
					}
				}
				sc.Actions = append(sc.Actions,
					script.Action{At: scenario.T, Kind: script.Crash, Proc: who},
					script.Action{At: int64(seed+3) * scenario.T, Kind: script.Restart, Proc: who},
					script.Action{At: int64(seed+4) * scenario.T, Kind: script.Ask, Proc: who})
				back, err := sim.Replay(spec, sc, sim.ReplayOptions{Paged: seed%3 == 0})
				if err != nil {
					t.Fatalf("%s seed %d: %v", spec.Name, seed, err)
				}
				in := map[algorithm.ID]bool{}
				for _, e := range back.Entries {
					in[e.Proc] = true
				}
				for _, a := range sc.Actions {
					if a.Kind == script.Ask && !in[a.Proc] || len(back.Violations) > 0 {
						t.Fatalf("%s seed %d: %v has not got in; %v\n%s", spec.Name, seed, a.Proc, back.Violations, scenario.Format(sc))
					}
				}
			}
		}
	}
}
