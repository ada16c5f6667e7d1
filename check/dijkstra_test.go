package check

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/mutex"
)

// The exact bounds: N-1 values for one mover (2 at least), N for several. With
// messages a copy of a flag, and a message that was there before, count like
// processes of their own.
func TestRingBounds(t *testing.T) {
	got, err := RingBounds()
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
			least, err := smallestK(n, m)
			if err != nil {
				t.Fatal(err)
			}
			for k := least.K; k <= n+2; k++ {
				if ok, _, err := (Ring{N: n, K: k, Mover: m}).Converges(); err != nil || !ok {
					t.Errorf("%v N=%d K=%d: converges is %v (%v), but %d values are enough", m, n, k, ok, err, least.K)
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
			reduced, few, err := (Ring{N: c.n, K: k, Mover: c.m}).Converges()
			if err != nil {
				t.Fatal(err)
			}
			plain, many, err := (Ring{N: c.n, K: k, Mover: c.m, plain: true}).Converges()
			if err != nil {
				t.Fatal(err)
			}
			if reduced != plain || few >= many {
				t.Errorf("%v N=%d K=%d: converges is %v in %d reduced states, %v in all %d", c.m, c.n, k, reduced, few, plain, many)
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
		if _, err := w.Next(state, func(_ Step, b []byte) { next = append([]byte{}, b...) }); err != nil {
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

// The real machines need as many values as the model of the ring says.
func TestConvergenceOfMachines(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want Verdict
	}{{2, 2, Violated}, {2, 3, Violated}, {2, 4, Holds}, {3, 2, Violated}} {
		if ok, _, err := (Ring{N: c.n, K: c.k, Mover: EmptyLinks}).Converges(); err != nil || ok != (c.want == Holds) {
			t.Errorf("the ring, N=%d K=%d: converges is %v (%v), want %v", c.n, c.k, ok, err, c.want)
		}
		r, err := Run(Config{Spec: mutex.Dijkstra(c.k), Nodes: c.n, Properties: []string{Convergence}})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Find(Convergence)
		if p.Verdict != c.want || r.Verdict != c.want {
			t.Errorf("the machines, N=%d K=%d: %s (%s), want %s", c.n, c.k, p.Verdict, p.Note, c.want)
		}
		if p.Verdict == Violated && (p.Counterexample == nil || p.Counterexample.Check() != nil || len(p.Counterexample.Set) == 0) {
			t.Errorf("N=%d K=%d: no counterexample that can be replayed", c.n, c.k)
		}
	}
}

// A start may have too many states, and most algorithms do not stabilise.
func TestConvergenceNotChecked(t *testing.T) {
	for _, c := range []struct {
		config Config
		note   string
	}{
		{Config{Spec: mutex.Dijkstra(0), Nodes: 3}, "from 46656 states"},
		{Config{Spec: mutex.Central(0), Nodes: 2, Properties: []string{Convergence}}, "does not claim"},
	} {
		r, err := Run(c.config)
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Find(Convergence); p == nil || p.Verdict != NotChecked || !strings.Contains(p.Note, c.note) {
			t.Errorf("%s: %+v, want not-checked, %s", c.config.Spec.Name, p, c.note)
		}
	}
}
