package mutex

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// stile-lab sim maekawa-reject --nodes 25 --think 0
// stile-lab sim maekawa --nodes 25 --think 0
//
// At saturation nobody has to give way, and only Maekawa says so.
func TestMaekawaRejectBesideMaekawa(t *testing.T) {
	saturated := func(spec algorithm.Spec) *sim.Result {
		r, err := sim.Run(sim.Config{
			Spec: spec, Nodes: 25, Entries: 1000, Seed: 1,
			Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T),
		})
		if err != nil || r.Violations > 0 {
			t.Fatalf("%s: %v", spec.Name, err)
		}
		return r
	}
	with, without := saturated(Maekawa(quorum.Grid)), saturated(MaekawaReject(quorum.Grid))
	if x := with.PerEntry; x < 31.85 || x > 32 {
		t.Errorf("maekawa: %v messages per entry, want nearly 32, 4(K-1)", x)
	}
	if x := without.PerEntry; x < 23.95 || x > 24.05 {
		t.Errorf("maekawa-reject: %v messages per entry, want 24.0", x)
	}
	if with.Sync.Mean != without.Sync.Mean {
		t.Errorf("sync delays of %v and %v differ", with.Sync.Mean, without.Sync.Mean)
	}
}

// It is Sanders' algorithm with the sets of Maekawa under another name: the same
// seed gives the same run.
func TestMaekawaRejectIsSanders(t *testing.T) {
	for _, n := range []int{3, 7, 9} {
		one, err := sim.Run(busy(MaekawaReject(quorum.Grid), n, 7))
		if err != nil {
			t.Fatal(err)
		}
		two, err := sim.Run(busy(Sanders(AskQuorum(quorum.Grid)), n, 7))
		if err != nil {
			t.Fatal(err)
		}
		if one.Messages != two.Messages || one.ByKind["REJECT"] != two.ByKind["INQUIRE"] || *one.Response != *two.Response {
			t.Errorf("N=%d: %d messages, %v; as sanders %d, %v", n, one.Messages, one.ByKind, two.Messages, two.ByKind)
		}
		if one.ByKind["REJECT"] == 0 {
			t.Errorf("N=%d: nobody was asked for a vote: the runs say little", n)
		}
	}
}

// A quorum need not have its owner in it, as with Maekawa.
func TestMaekawaRejectWithoutOwner(t *testing.T) {
	sets := quorum.Given(quorum.System{algorithm.SetOf(1), algorithm.SetOf(1), algorithm.SetOf(1)})
	if err := MaekawaReject(sets).Accepts(3); err != nil {
		t.Error(err)
	}
	apart := quorum.Given(quorum.System{algorithm.SetOf(0), algorithm.SetOf(1)})
	if MaekawaReject(apart).Accepts(2) == nil {
		t.Error("sets that do not meet were accepted")
	}
}
