package election_test

import (
	"testing"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/election"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

func hold(t *testing.T, c sim.Election) *sim.Outcome {
	t.Helper()
	if c.Latency == (scenario.Dist{}) {
		c.Latency = scenario.Always(scenario.T)
	}
	o, err := sim.RunElection(c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func expect(t *testing.T, o *sim.Outcome, leader int, kinds map[string]int) {
	t.Helper()
	if !o.Agreed || o.Leader != leader || len(o.Found) > 0 {
		t.Errorf("agreed %v on %d, %v; want %d", o.Agreed, o.Leader, o.Found, leader)
	}
	sum := 0
	for k, n := range kinds {
		if o.ByKind[k] != n {
			t.Errorf("%d of %s, want %d", o.ByKind[k], k, n)
		}
		sum += n
	}
	if o.Messages != sum {
		t.Errorf("%d messages, want %d", o.Messages, sum)
	}
}

// The worked examples: 8 processes, the highest is dead, 5 notices.
func TestEightProcesses(t *testing.T) {
	c := sim.Election{Nodes: 8, Dead: []core.ID{7}, Starters: []core.ID{4}}
	c.Spec = election.Bully()
	o := hold(t, c)
	expect(t, o, 7, map[string]int{"ELECTION": 6, "ANSWER": 3, "COORDINATOR": 6})
	if o.Time != 4 {
		t.Errorf("it took %v T, want 4: there, two for an answer that does not come, and back", o.Time)
	}
	c.Spec = election.Ring()
	expect(t, hold(t, c), 7, map[string]int{"ELECTION": 7, "COORDINATOR": 7})
	c.Spec = election.ChangRoberts(false)
	expect(t, hold(t, c), 7, map[string]int{"ELECTION": 2 + 7, "COORDINATOR": 7})
}

// groups calls f for every group of up to 6, every set of dead that leaves
// somebody alive, and every starter.
func groups(f func(n int, dead []core.ID, starter core.ID)) {
	for n := 1; n <= 6; n++ {
		for set := range 1<<n - 1 {
			var dead []core.ID
			for id := range core.ID(n) {
				if set>>id&1 == 1 {
					dead = append(dead, id)
				}
			}
			for starter := range core.ID(n) {
				if set>>starter&1 == 0 {
					f(n, dead, starter)
				}
			}
		}
	}
}

// What is derived is what is sent, whoever is dead and whoever starts.
func TestOneStarter(t *testing.T) {
	for _, c := range []struct {
		spec   core.Spec
		theory func(n int, dead []core.ID, starter core.ID) int
	}{
		{election.Bully(), election.BullyMessages},
		{election.Ring(), election.RingMessages},
		{election.ChangRoberts(false), func(n int, dead []core.ID, s core.ID) int { return election.ChangRobertsMessages(n, dead, s, false) }},
		{election.ChangRoberts(true), func(n int, dead []core.ID, s core.ID) int { return election.ChangRobertsMessages(n, dead, s, true) }},
	} {
		lo, hi := make([]int, 7), make([]int, 7)
		groups(func(n int, dead []core.ID, starter core.ID) {
			o := hold(t, sim.Election{Spec: c.spec, Nodes: n, Dead: dead, Starters: []core.ID{starter}})
			want := c.theory(n, dead, starter)
			if !o.Agreed || len(o.Found) > 0 || o.Messages != want {
				t.Errorf("%s among %d, dead %v, %v starts: %d messages, want %d; agreed %v, %v", c.spec.Name, n, dead, starter, o.Messages, want, o.Agreed, o.Found)
			}
			if lo[n] == 0 || want < lo[n] {
				lo[n] = want
			}
			hi[n] = max(hi[n], want)
		})
		for n := 2; n <= 6; n++ {
			r, _ := c.spec.Theory.Messages.At(n, core.AnyLoad)
			if float64(hi[n]) != r.Hi || float64(lo[n]) < r.Lo {
				t.Errorf("%s among %d: from %d to %d messages, theory says %v", c.spec.Name, n, lo[n], hi[n], r)
			}
		}
	}
}

// Everybody starts at once.
func TestAllStart(t *testing.T) {
	for n := 2; n <= 9; n++ {
		var all []core.ID
		for id := range core.ID(n) {
			all = append(all, id)
		}
		for _, c := range []struct {
			spec core.Spec
			dead []core.ID
			want int
		}{
			{election.Bully(), []core.ID{core.ID(n - 1)}, n*n - n - 1},
			{election.Bully(), nil, n*n - 1 + n - 1},
			{election.Ring(), nil, 2 * n * n},
			{election.ChangRoberts(false), nil, 3*n - 1},
			{election.ChangRoberts(true), nil, n*(n+1)/2 + n},
		} {
			o := hold(t, sim.Election{Spec: c.spec, Nodes: n, Dead: c.dead, Starters: all[:n-len(c.dead)]})
			if !o.Agreed || o.Leader != n-len(c.dead) || len(o.Found) > 0 || o.Messages != c.want {
				t.Errorf("%s among %d: %d messages, want %d; agreed %v on %d, %v", c.spec.Name, n, o.Messages, c.want, o.Agreed, o.Leader, o.Found)
			}
		}
	}
}
