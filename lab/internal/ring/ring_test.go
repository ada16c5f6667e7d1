package ring

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/internal/explore"
)

func run(t *testing.T, r Ring) *Report {
	t.Helper()
	report, err := r.Check(check.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// The exact bounds: N-1 values for one mover (2 at least), N for several.
func TestBounds(t *testing.T) {
	for mover, bounds := range [...][]int{ // from N=2
		OneMoves:    {2, 2, 3, 4, 5},
		SeveralMove: {2, 3, 4, 5, 6},
		AllMove:     {2, 3, 4, 5, 6},
	} {
		for i, want := range bounds {
			r := run(t, Ring{N: i + 2, Mover: Mover(mover)})
			if r.Verdict != check.Holds || r.Values != want || !strings.Contains(r.Properties[0].Note, "the fewest") {
				t.Errorf("%s, N=%d: %s with K=%d, want %d: %s", r.Mover, r.Nodes, r.Verdict, r.Values, want, r.Properties[0].Note)
			}
		}
	}
}

// The longest run until a ring is right, against the definition: the longest walk among
// wrong states, found by trying all. More values than needed do no harm.
func TestWorstSteps(t *testing.T) {
	for _, m := range []Mover{OneMoves, SeveralMove, AllMove} {
		for n := 2; n <= 4; n++ {
			for k := n; k <= n+2; k++ {
				r := Ring{N: n, K: k, Mover: m}
				if got, want := run(t, r), r.worst(); got.Verdict != check.Holds || got.Steps != want {
					t.Errorf("%v N=%d K=%d: %s, after %d steps, want %d", m, n, k, got.Verdict, got.Steps, want)
				} else {
					r.follow(t, got.Longest, len(got.Longest)-1)
				}
			}
		}
	}
}

// worst is the definition.
func (r Ring) worst() int {
	known := map[string]int{}
	var from func(state string) int
	from = func(state string) int {
		if right([]byte(state)) {
			return 0
		}
		if n, ok := known[state]; ok {
			return n
		}
		most := 0
		for _, next := range r.after(state) {
			most = max(most, 1+from(next))
		}
		known[state] = most
		return most
	}
	most := 0
	count(make([]byte, r.N), r.K, func(digits []byte) bool {
		most = max(most, from(string(digits)))
		return true
	})
	return most
}

// after returns the states after one.
func (r Ring) after(state string) []string {
	var list []string
	_, _ = r.Worker().Next([]byte(state), func(_ explore.Step, b []byte) { list = append(list, string(b)) })
	return list
}

// follow checks that a run is one, and wrong for a number of states.
func (r Ring) follow(t *testing.T, lines []string, wrong int) {
	t.Helper()
	before := ""
	for i, line := range lines {
		_, flags, _ := strings.Cut(line, ": flags ")
		state := strings.Map(func(c rune) rune { return c - '0' }, strings.ReplaceAll(flags, " ", ""))
		if right([]byte(state)) != (i >= wrong) || i > 0 && !slices.Contains(r.after(before), state) {
			t.Errorf("%v N=%d K=%d: step %d of %q is wrong", r.Mover, r.N, r.K, i, lines)
		}
		before = state
	}
}

// With too few values the run that never comes right is a loop: with two values and all
// moving at once one of period eight.
func TestLoop(t *testing.T) {
	for _, r := range []Ring{{N: 4, K: 2, Mover: AllMove}, {N: 4, K: 2}, {N: 5, K: 4, Mover: SeveralMove}} {
		got := run(t, r)
		p := got.First()
		if p == nil || p.Loop >= len(p.Trace) || len(got.Longest) > 0 || !strings.HasPrefix(p.Trace[0], "at the start: flags ") {
			t.Fatalf("%+v", got)
		}
		r.follow(t, p.Trace, len(p.Trace))
		_, first, _ := strings.Cut(p.Trace[p.Loop-1], ": ")
		_, last, _ := strings.Cut(p.Trace[len(p.Trace)-1], ": ")
		if first != last || r.Mover == AllMove && len(p.Trace)-p.Loop != 8 {
			t.Errorf("%v: loop from %d of %q", r.Mover, p.Loop, p.Trace)
		}
	}
}

// A check ends at each limit, wherever it is, and says which.
func TestLimits(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for why, l := range map[string]check.Limits{explore.OutOfMemory: {Memory: 1 << 20}, explore.OutOfTime: {Time: 1}, explore.Interrupted: {Context: gone}} {
		r, err := Ring{N: 3, K: 256}.Check(l)
		if err != nil || r.Verdict != check.Unfinished || !strings.HasPrefix(r.Properties[0].Note, why) || r.States > 1<<16 {
			t.Errorf("%s: got %+v, %v", why, r, err)
		}
	}
}

// What is too large for the bits that hold it is refused.
func TestRefuses(t *testing.T) {
	for _, r := range []Ring{{N: 1}, {N: 21, K: 2}, {N: 2, K: 1}, {N: 2, K: 257}} {
		if _, err := r.Check(check.Limits{}); err == nil {
			t.Errorf("a ring of %d with %d values is not refused", r.N, r.K)
		}
	}
}
