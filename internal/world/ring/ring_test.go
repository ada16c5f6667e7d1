package ring

import (
	"context"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/world/explore"
)

func check(t *testing.T, r Ring) *Result {
	t.Helper()
	result, err := r.Check(explore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// The exact bounds: N-1 values for one mover (2 at least), N for several. With
// messages a copy of a flag, and a message that was there before, count like
// processes of their own.
func TestRingBounds(t *testing.T) {
	got, err := Bounds(explore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[Mover][]int{ // from N=2
		OneMoves:      {2, 2, 3, 4, 5},
		SeveralMove:   {2, 3, 4, 5, 6},
		AllMove:       {2, 3, 4, 5, 6},
		EmptyLinks:    {4, 6},
		LitteredLinks: {6},
	}
	n := 0
	for _, b := range got {
		if b.K != want[b.Mover][b.N-2] {
			t.Errorf("%v, N=%d: smallest K is %d, want %d", b.Mover, b.N, b.K, want[b.Mover][b.N-2])
		}
		n++
	}
	if n != 18 {
		t.Errorf("%d bounds, want 18", n)
	}
}

// More values never hurt, as far as looked.
func TestRingMoreValues(t *testing.T) {
	for _, m := range []Mover{OneMoves, SeveralMove, AllMove} {
		for n := 2; n <= 4; n++ {
			least, err := Fewest(n, m, explore.Limits{}, func(int64) {})
			if err != nil {
				t.Fatal(err)
			}
			for k := least.K; k <= n+2; k++ {
				if r := check(t, Ring{N: n, K: k, Mover: m}); !r.Converges {
					t.Errorf("%v N=%d K=%d: it does not converge, but %d values are enough", m, n, k, least.K)
				}
			}
		}
	}
}

// The reductions of the ring with messages change no verdict.
func TestRingReductions(t *testing.T) {
	for _, c := range []struct {
		n, most int
		m       Mover
	}{{2, 5, EmptyLinks}, {2, 4, LitteredLinks}, {3, 2, EmptyLinks}} {
		for k := 2; k <= c.most; k++ {
			reduced := check(t, Ring{N: c.n, K: k, Mover: c.m})
			plain := check(t, Ring{N: c.n, K: k, Mover: c.m, plain: true})
			if reduced.Converges != plain.Converges || reduced.States >= plain.States {
				t.Errorf("%v N=%d K=%d: converges is %v in %d reduced states, %v in all %d", c.m, c.n, k,
					reduced.Converges, reduced.States, plain.Converges, plain.States)
			}
		}
	}
}

// Two values, all moving at once from 0101: three privileges for ever, with a
// period of eight.
func TestRingPeriod(t *testing.T) {
	r := Ring{N: 4, K: 2, Mover: AllMove}
	w := r.Worker()
	state, start := []byte{0, 1, 0, 1}, []byte{0, 1, 0, 1}
	for round := 1; ; round++ {
		var next []byte
		if _, err := w.Next(state, func(_ explore.Step, b []byte) { next = append([]byte{}, b...) }); err != nil {
			t.Fatal(err)
		}
		state = next
		if string(state) == string(start) {
			if round != 8 {
				t.Errorf("the period is %d, want 8", round)
			}
			return
		}
		if p := r.privileged(state); p == 0 || p&(p-1) == 0 || round > 8 {
			t.Fatalf("round %d: %v has the privileges %b", round, state, p)
		}
	}
}

// The longest run until a ring is right, against the definition: the longest
// walk among wrong states, found by trying all.
func TestWorstSteps(t *testing.T) {
	for _, m := range []Mover{OneMoves, SeveralMove, AllMove} {
		for n := 2; n <= 4; n++ {
			for k := n; k <= n+1; k++ {
				r := Ring{N: n, K: k, Mover: m}
				got, want := check(t, r), r.worst()
				if !got.Converges || got.Steps() != want {
					t.Errorf("%v N=%d K=%d: converges is %v, in %d steps at most, want %d", m, n, k, got.Converges, got.Steps(), want)
				}
				r.follow(t, got)
			}
		}
	}
}

// worst is the definition.
func (r Ring) worst() int {
	known := map[string]int{}
	var from func(state string) int
	from = func(state string) int {
		if one(r.privileged([]byte(state))) {
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
	digits := make([]byte, r.N)
	count(digits, r.K, func() bool {
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

// follow checks that a run is one.
func (r Ring) follow(t *testing.T, got *Result) {
	t.Helper()
	for i, m := range got.Run {
		wrong := !one(r.privileged(m.Flags))
		last := i == len(got.Run)-1
		if wrong != (!last || !got.Converges) || i > 0 && (m.Who == 0 || !slices.Contains(r.after(string(got.Run[i-1].Flags)), string(m.Flags))) {
			t.Errorf("%v N=%d K=%d: step %d of %v is wrong", r.Mover, r.N, r.K, i, got.Run)
		}
	}
}

// With too few values the run that never comes right is a loop.
func TestLassoOfRing(t *testing.T) {
	r := Ring{N: 4, K: 2, Mover: AllMove}
	got := check(t, r)
	last := len(got.Run) - 1
	if got.Converges || last <= got.Loop || string(got.Run[last].Flags) != string(got.Run[got.Loop].Flags) {
		t.Errorf("converges is %v, run %v, loop from %d", got.Converges, got.Run, got.Loop)
	}
	r.follow(t, got)
}

// A ring ends at each limit, wherever it is, and says which. It has 16 million
// starts.
func TestRingLimits(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		l   explore.Limits
		why string
	}{{explore.Limits{Memory: 1 << 20}, explore.OutOfMemory}, {explore.Limits{Time: 1}, explore.OutOfTime}, {explore.Limits{Context: gone}, explore.Interrupted}} {
		r, err := Ring{N: 3, K: 256, Mover: OneMoves}.Check(c.l)
		if err != nil || r.Converges || r.Unfinished != c.why || r.States > 1<<16 {
			t.Errorf("%s: got %+v, %v", c.why, r, err)
		}
	}
}

// What is too large for the bits that hold it is refused.
func TestRingRefuses(t *testing.T) {
	for _, r := range []Ring{{N: 1, K: 2}, {N: 21, K: 2}, {N: 2, K: 1}, {N: 2, K: 257}} {
		if _, err := r.Check(explore.Limits{}); err == nil {
			t.Errorf("a ring of %d with %d values is not refused", r.N, r.K)
		}
	}
}
