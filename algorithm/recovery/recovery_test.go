package recovery_test

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/algorithm/recovery"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

func plain(f func() algorithm.Spec) recovery.Lock {
	return func(algorithm.ID) algorithm.Spec { return f() }
}

func locks() []recovery.Lock {
	return []recovery.Lock{
		mutex.Central,
		mutex.CentralStamped,
		plain(mutex.TokenRing),
		plain(mutex.TokenRingLazy),
		plain(mutex.Lamport),
		plain(mutex.RicartAgrawala),
		plain(mutex.CarvalhoRoucairol),
		plain(mutex.SuzukiKasami),
		plain(mutex.RicartAgrawalaToken),
		plain(mutex.Majority),
		func(algorithm.ID) algorithm.Spec { return mutex.Maekawa(quorum.Grid) },
		func(algorithm.ID) algorithm.Spec { return mutex.Raymond(mutex.Kary(2)) },
		plain(mutex.Bakery),
		func(algorithm.ID) algorithm.Spec { return mutex.Dijkstra(0) },
		plain(mutex.NaimiTrehel),
	}
}

func elections() []algorithm.Spec {
	return []algorithm.Spec{election.Bully(), election.Ring(), election.ChangRoberts(false)}
}

// random is a run in which processes ask and some of them die.
func random(name string, n int, seed uint64) *scenario.Scenario {
	r := kernel.NewRand(seed, 5)
	sc := &scenario.Scenario{
		Algorithm: name, Processes: n, Holder: algorithm.ID(r.Below(int64(n))), Busy: r.Below(2) == 0, Seed: seed,
		Latency: scenario.Uniform(scenario.T/5, scenario.T), Hold: scenario.Uniform(0, 6*scenario.T),
		Until: 400 * scenario.T,
	}
	dies := make([]int64, n)
	for range 1 + r.Below(int64(n-1)) {
		p := 1 + r.Below(int64(n-1)) // the first one lives
		p = (p + int64(seed)) % int64(n)
		if p != int64(seed)%int64(n) {
			dies[p] = 1 + r.Below(40*scenario.T)
		}
	}
	for p := range algorithm.ID(n) {
		if dies[p] > 0 {
			sc.Actions = append(sc.Actions, script.Action{At: dies[p], Kind: script.Crash, Proc: p})
		}
		if at := r.Below(30 * scenario.T); (dies[p] == 0 || at < dies[p]) && !(sc.Busy && p == sc.Holder) {
			sc.Actions = append(sc.Actions, script.Action{At: at, Kind: script.Ask, Proc: p})
		}
	}
	return sc
}

// Whoever dies, and whenever: never two are inside, and everybody alive who
// asked gets in.
func TestDeaths(t *testing.T) {
	for _, lock := range locks() {
		for _, elect := range elections() {
			spec := recovery.With(lock, elect)
			for seed := range nightly.Pick[uint64](10, 60) {
				sc := random(spec.Name, 2+int(seed%5), seed)
				back, err := sim.Replay(spec, sc, sim.ReplayOptions{Paged: seed%3 == 0})
				if err != nil {
					t.Fatalf("%s seed %d: %v", spec.Name, seed, err)
				}
				if len(back.Violations) > 0 || len(back.Differences) > 0 {
					t.Fatalf("%s seed %d: %v %v\n%s", spec.Name, seed, back.Violations, back.Differences, scenario.Format(sc))
				}
				if err := all(sc, back); err != nil {
					t.Fatalf("%s seed %d: %v\n%s\n%v", spec.Name, seed, err, scenario.Format(sc), back.States)
				}
			}
		}
	}
}

// all reports who asked, lived and was never let in.
func all(sc *scenario.Scenario, back *sim.Playback) error {
	in, dead := map[algorithm.ID]bool{}, map[algorithm.ID]bool{}
	for _, e := range back.Entries {
		in[e.Proc] = true
	}
	for _, a := range sc.Actions {
		if a.Kind == script.Crash {
			dead[a.Proc] = true
		}
	}
	for _, a := range sc.Actions {
		if a.Kind == script.Ask && !dead[a.Proc] && !in[a.Proc] {
			return fmt.Errorf("%v was never let in", a.Proc)
		}
	}
	return nil
}
