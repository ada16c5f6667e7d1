package recovery_test

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/algorithm/recovery"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/check"
)

// In every order of events, with a death at any step: never two are inside,
// and nobody alive waits for ever. The counts are pinned. With quick, messages
// take no time compared with timeouts; without it, each takes any time up to
// the longest.
func TestEveryOrder(t *testing.T) {
	nightly.Only(t)
	maekawa := func(algorithm.ID) algorithm.Spec { return mutex.Maekawa(quorum.Grid) }
	dijkstra := func(algorithm.ID) algorithm.Spec { return mutex.Dijkstra(0) }
	raymond := func(algorithm.ID) algorithm.Spec { return mutex.Raymond(mutex.Kary(2)) }
	bully, ring := election.Bully(), election.Ring()
	for _, c := range []struct {
		lock           recovery.Lock
		elect          algorithm.Spec
		nodes, crashes int
		quick          bool
		states         int64
	}{
		{mutex.Central, bully, 2, 1, false, 69},
		{mutex.CentralStamped, bully, 2, 1, false, 80},
		{plain(mutex.TokenRing), bully, 2, 1, false, 73},
		{plain(mutex.TokenRingLazy), bully, 2, 1, false, 98},
		{plain(mutex.Lamport), bully, 2, 1, false, 272},
		{plain(mutex.RicartAgrawala), bully, 2, 1, false, 174},
		{plain(mutex.CarvalhoRoucairol), bully, 2, 1, false, 109},
		{plain(mutex.SuzukiKasami), bully, 2, 1, false, 109},
		{plain(mutex.RicartAgrawalaToken), bully, 2, 1, false, 109},
		{plain(mutex.Majority), bully, 2, 1, false, 274},
		{maekawa, bully, 2, 1, false, 274},
		{raymond, bully, 2, 1, false, 98},
		{plain(mutex.Bakery), bully, 2, 1, false, 429},
		{dijkstra, bully, 2, 1, false, 274},
		{plain(mutex.NaimiTrehel), bully, 2, 1, false, 98},
		{mutex.Central, bully, 3, 1, true, 7046},
		{mutex.CentralStamped, bully, 3, 1, true, 8445},
		{plain(mutex.TokenRing), bully, 3, 1, true, 3743},
		{plain(mutex.TokenRingLazy), bully, 3, 1, true, 9448},
		{plain(mutex.RicartAgrawala), bully, 3, 1, true, 148189},
		{plain(mutex.CarvalhoRoucairol), bully, 3, 1, true, 70500},
		{plain(mutex.SuzukiKasami), bully, 3, 1, true, 36126},
		{plain(mutex.RicartAgrawalaToken), bully, 3, 1, true, 33364},
		{maekawa, bully, 3, 1, true, 78981},
		{raymond, bully, 3, 1, true, 9875},
		{dijkstra, bully, 3, 1, true, 27234},
		{mutex.Central, bully, 3, 2, true, 9887},
		{mutex.Central, ring, 3, 1, true, 14820},
		{plain(mutex.TokenRing), ring, 3, 1, true, 8022},
		{plain(mutex.NaimiTrehel), bully, 3, 2, true, 17135},
	} {
		spec := recovery.With(c.lock, c.elect)
		config := check.Config{Spec: spec, Nodes: c.nodes, Requests: 1, Crashes: c.crashes}
		if c.quick {
			config.Pace = check.Quick
		}
		r, err := check.Run(config)
		if err != nil {
			t.Fatal(err)
		}
		if r.States != c.states {
			t.Errorf("%s among %d, crashes %d, quick %v: %d states, want %d", spec.Name, c.nodes, c.crashes, c.quick, r.States, c.states)
		}
		for _, p := range r.Properties {
			if p.Verdict != check.HoldsBounded {
				t.Errorf("%s among %d: %s %s: %s\n%v", spec.Name, c.nodes, p.Name, p.Verdict, p.Note, p.Trace)
			}
		}
	}
}

// The failure detector has to be perfect: if a live process is taken for dead,
// two can be inside. The simulator confirms it.
func TestWrongSuspicion(t *testing.T) {
	spec := recovery.With(mutex.Central, election.Bully())
	r, err := check.Run(check.Config{Spec: spec, Nodes: 2, Requests: 1, Pace: check.Quick, Wrong: true})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Find(check.MutualExclusion)
	if p.Verdict != check.Violated {
		t.Fatalf("mutual exclusion %s: %s", p.Verdict, p.Note)
	}
	want := []string{"P1 asks", "deliver 1 -> 2", "P2 asks", "P2 suspects P1", "deliver 2 -> 1"}
	if !slices.Equal(p.Trace, want) {
		t.Errorf("the story is %q, want %q", p.Trace, want)
	}
	back, err := p.Replay()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range back.Differences {
		t.Errorf("the simulator sees it otherwise: %v", d)
	}
}
