package mutex

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/lab/sim"
)

func structureOf(request, inform [][]algorithm.ID) Structure {
	sets := func(lists [][]algorithm.ID) quorum.System {
		s := make(quorum.System, len(lists))
		for i, l := range lists {
			s[i] = algorithm.SetOf(l...)
		}
		return s
	}
	return Structure{sets(request), sets(inform)}
}

func TestSandersRefuses(t *testing.T) {
	for _, c := range []struct {
		why string
		st  Structure
	}{
		{"processes 1 and 3 could both be inside", structureOf(
			[][]algorithm.ID{{0, 1, 2}, {0, 1, 2}, {1, 2}}, [][]algorithm.ID{{0}, {1}, {2}})},
		{"processes 2 and 3 could both be inside", structureOf(
			[][]algorithm.ID{{0, 1}, {0, 1}, {0, 2}}, [][]algorithm.ID{{0, 1}, {1}, {0, 2}})},
		{"process 2 is not in its own inform set", structureOf(
			[][]algorithm.ID{{0, 1}, {0, 1}}, [][]algorithm.ID{{0}, {0}})},
		{"process 2 informs process 1 but does not ask it", structureOf(
			[][]algorithm.ID{{0, 1}, {1}}, [][]algorithm.ID{{0}, {0, 1}})},
		{"names process 4, but there are only 2", structureOf(
			[][]algorithm.ID{{0, 1}, {0, 1, 3}}, [][]algorithm.ID{{0}, {1}})},
		{"2 request sets and 1 inform sets for 2 processes", structureOf(
			[][]algorithm.ID{{0, 1}, {0, 1}}, [][]algorithm.ID{{0}})},
	} {
		err := Sanders(AskGiven(c.st)).Accepts(len(c.st.Request))
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("got %v, want: %s", err, c.why)
		}
	}
	if err := Sanders(AskAll).Accepts(4); err != nil {
		t.Error(err)
	}
	if err := Sanders(AskCoordinator(4)).Accepts(4); err == nil {
		t.Error("a coordinator that is not there was accepted")
	}
}

// Sets that break the rule run as an experiment, and two get in.
func TestSandersExperiment(t *testing.T) {
	apart := AskGiven(structureOf([][]algorithm.ID{{0}, {1}}, [][]algorithm.ID{{0}, {1}}))
	if Sanders(apart).Accepts(2) == nil {
		t.Error("two processes that never talk were accepted")
	}
	spec := SandersExperiment(apart)
	if spec.Wrong == "" {
		t.Error("an experiment must be marked as wrong")
	}
	r, err := sim.Run(busy(spec, 2, 1))
	if err != nil || r.Violations == 0 {
		t.Errorf("seed 1 went well: %v", err)
	}
}

// The instance of Ricart and Agrawala costs 2(N-1) under every load.
func TestSandersAskAllCosts(t *testing.T) {
	for _, n := range []int{1, 2, 5, 9} {
		for think := range int64(5) {
			c := busy(Sanders(AskAll), n, uint64(n))
			c.Think.A *= think
			r, err := sim.Run(c)
			if err != nil || r.Violations > 0 {
				t.Fatalf("N=%d: %v", n, err)
			}
			if r.PerEntry != float64(2*(n-1)) {
				t.Errorf("N=%d think %d: %v messages per entry, want %d", n, think, r.PerEntry, 2*(n-1))
			}
		}
	}
}

// One process asking alone costs what it costs in the dedicated algorithm.
func TestSandersInstancesAlone(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7, 9, 12, 16} {
		for p := 1; p <= n; p++ {
			cost := func(spec algorithm.Spec) (sent int) {
				r := group(t, spec, n)
				for range 3 {
					r.ask(p)
					for sent += len(r.flight); len(r.flight) > 0; {
						before := len(r.flight) - 1
						r.take(0)
						sent += len(r.flight) - before
					}
					r.leave(p)
					sent += len(r.flight)
					r.settle()
				}
				return sent / 3
			}
			if got, want := cost(Sanders(AskAll)), cost(RicartAgrawala()); got != want {
				t.Errorf("ricart-agrawala instance N=%d P%d: %d messages, want %d", n, p, got, want)
			}
			if got, want := cost(Sanders(AskQuorum(quorum.Grid))), cost(Maekawa(quorum.Grid)); got != want {
				t.Errorf("maekawa instance N=%d P%d: %d messages, want %d", n, p, got, want)
			}
			want := 3
			if p == 1 {
				want = 0
			}
			if got := cost(Sanders(AskCoordinator(0))); got != want {
				t.Errorf("central instance N=%d P%d: %d messages, want %d", n, p, got, want)
			}
		}
	}
}

// A voter that will not be told of the exit keeps its vote free.
func TestSandersVoteOfTheUninformed(t *testing.T) {
	r := group(t, Sanders(mixed), 3) // P2 informs P1 and itself, the others only themselves
	r.ask(2)
	r.settle()
	r.wantEntries(2)
	r.wantField(1, "vote", "<1,2>")
	r.wantField(3, "vote", "none")
	r.ask(1, 3)
	r.settle()
	r.wantEntries(2)
	r.finish()
	r.wantEntries(2, 1, 3)
}
