package election_test

import (
	"math"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
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
	c := sim.Election{Nodes: 8, Dead: []algorithm.ID{7}, Starters: []algorithm.ID{4}}
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

// subset returns the processes that the bits of set name.
func subset(set int) []algorithm.ID {
	var ids []algorithm.ID
	for id := algorithm.ID(0); set>>id != 0; id++ {
		if set>>id&1 == 1 {
			ids = append(ids, id)
		}
	}
	return ids
}

// outsets calls f for every group of up to 6, every set of dead that leaves
// somebody alive, and every set of starters.
func outsets(f func(o election.Outset)) {
	for n := 1; n <= 6; n++ {
		for dead := range 1<<n - 1 {
			for starters := 1; starters < 1<<n; starters++ {
				if dead&starters == 0 {
					f(election.Outset{N: n, Dead: subset(dead), Starters: subset(starters)})
				}
			}
		}
	}
}

// A claim is what theory says of an algorithm.
type claim struct {
	name    string
	spec    algorithm.Spec
	network algorithm.Network
	theory  func(o election.Outset) algorithm.Range
}

func claims() []claim {
	all := []claim{
		{"bully", election.Bully(), algorithm.FIFO, election.Outset.Bully},
		{"bully, unordered", election.Bully(), algorithm.Unordered, election.Outset.Bully},
		{"ring", election.Ring(), algorithm.FIFO, election.Outset.Ring},
		{"ring, unordered", election.Ring(), algorithm.Unordered, election.Outset.Ring},
	}
	for i, name := range []string{"up", "down"} {
		down := i == 1
		for _, network := range []algorithm.Network{algorithm.FIFO, algorithm.Unordered} {
			theory := func(o election.Outset) algorithm.Range { return o.ChangRoberts(down, network) }
			all = append(all, claim{name + ", " + network.String(), election.ChangRoberts(down), network, theory})
		}
	}
	return all
}

// sent calls an election and returns how many messages that took.
func (c claim) sent(t *testing.T, o election.Outset, latency scenario.Dist, seed uint64) float64 {
	t.Helper()
	out := hold(t, sim.Election{Spec: c.spec, Nodes: o.N, Dead: o.Dead, Starters: o.Starters, Latency: latency, Network: c.network, Seed: seed})
	if !out.Agreed || len(out.Found) > 0 {
		t.Fatalf("%s: %+v, seed %d: agreed %v, %v", c.name, o, seed, out.Agreed, out.Found)
	}
	return float64(out.Messages)
}

// What is sent is within what is derived, whoever is dead, whoever starts and
// whatever messages take. If one process starts and they take equally long, it
// is the least; they do on FIFO alone, since the simulator delays what is to be
// overtaken.
func TestMessages(t *testing.T) {
	seeds := [...]uint64{1: 1, 2: 100, 3: 100, 4: 50, 5: 10, 6: 3}
	if !nightly.On() {
		seeds = [...]uint64{1: 1, 2: 10, 3: 10, 4: 5, 5: 1, 6: 0}
	}
	for _, c := range claims() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			outsets(func(o election.Outset) {
				r := c.theory(o)
				equal := c.sent(t, o, scenario.Always(scenario.T), 0)
				if equal < r.Lo || equal > r.Hi || c.network == algorithm.FIFO && len(o.Starters) == 1 && equal != r.Lo {
					t.Errorf("%+v: %v messages that take equally long, theory says %v", o, equal, r)
				}
				for seed := range seeds[o.N] {
					if n := c.sent(t, o, varying(), seed); n < r.Lo || n > r.Hi {
						t.Fatalf("%+v, seed %d: %v messages, theory says %v", o, seed, n, r)
					}
				}
			})
		})
	}
}

func varying() scenario.Dist {
	return scenario.Uniform(scenario.T/100, scenario.T)
}

// What an algorithm says of N processes is the least and the most that theory
// says of all ways to begin among them. Where one may be alone, the least is
// what that one sends.
func TestTheoryOfSize(t *testing.T) {
	for _, c := range claims() {
		if c.network != algorithm.FIFO {
			continue
		}
		var said [7]algorithm.Range
		for n := range said {
			said[n].Lo = math.Inf(1)
		}
		outsets(func(o election.Outset) {
			r := c.theory(o)
			said[o.N] = algorithm.Range{Lo: min(said[o.N].Lo, r.Lo), Hi: max(said[o.N].Hi, r.Hi)}
		})
		for n := 1; n < len(said); n++ {
			if r, _ := c.spec.Theory.Messages.At(n, algorithm.AnyLoad); r != said[n] {
				t.Errorf("%s among %d: %v, but the ways to begin make it %v", c.name, n, r, said[n])
			}
		}
	}
}

// The formulas that the texts name, and who has to start.
func TestFormulas(t *testing.T) {
	for n := 2; n <= 9; n++ {
		all := subset(1<<n - 1)
		top, lowest, highest := all[n-1:], all[:1], all[n-2:n-1]
		two := math.Exp2(float64(n))
		for _, c := range []struct {
			name string
			got  algorithm.Range
			want algorithm.Range
		}{
			{"bully, the highest dead, the next one starts", election.Outset{N: n, Dead: top, Starters: highest}.Bully(), algorithm.Exact(float64(n - 1))},
			{"bully, the highest dead, the lowest starts", election.Outset{N: n, Dead: top, Starters: lowest}.Bully(), algorithm.Exact(float64(n*n - n - 1))},
			{"bully, the highest dead, all start", election.Outset{N: n, Dead: top, Starters: all[:n-1]}.Bully(), algorithm.Exact(float64(n*n - n - 1))},
			{"bully, the highest starts", election.Outset{N: n, Starters: top}.Bully(), algorithm.Exact(float64(n - 1))},
			{"bully, the second highest starts", election.Outset{N: n, Starters: highest}.Bully(), algorithm.Exact(3)},
			{"bully, the lowest starts", election.Outset{N: n, Starters: lowest}.Bully(), algorithm.Range{Lo: float64(n*n - 1), Hi: 5*two/4 - 2}},
			{"bully, all start", election.Outset{N: n, Starters: all}.Bully(), algorithm.Range{Lo: float64(n*n + n - 2), Hi: 5*two/2 - float64(n+4)}},
			{"ring, one starts", election.Outset{N: n, Starters: highest}.Ring(), algorithm.Exact(float64(2 * n))},
			{"ring, all start", election.Outset{N: n, Starters: all}.Ring(), algorithm.Exact(float64(2 * n * n))},
			{"up, the highest starts", election.Outset{N: n, Starters: top}.ChangRoberts(false, algorithm.FIFO), algorithm.Exact(float64(2 * n))},
			{"up, the lowest starts", election.Outset{N: n, Starters: lowest}.ChangRoberts(false, algorithm.FIFO), algorithm.Exact(float64(3*n - 1))},
			{"up, all start", election.Outset{N: n, Starters: all}.ChangRoberts(false, algorithm.FIFO), algorithm.Exact(float64(3*n - 1))},
			{"down, all start", election.Outset{N: n, Starters: all}.ChangRoberts(true, algorithm.FIFO), algorithm.Exact(float64(n*(n+3)) / 2)},
			{"up, all start and overtake", election.Outset{N: n, Starters: all}.ChangRoberts(false, algorithm.Unordered), algorithm.Range{Lo: float64(3*n - 1), Hi: math.Inf(1)}},
		} {
			if c.got != c.want {
				t.Errorf("%s, among %d: %v, want %v", c.name, n, c.got, c.want)
			}
		}
	}
}

// With nobody dead, N²-1 is exceeded as soon as latencies differ or the highest
// starts, too; and N-1 is not the least.
func TestBullyAmongTheLiving(t *testing.T) {
	c := claim{name: "bully", spec: election.Bully()}
	for _, e := range []struct {
		n        int
		starters int // as bits
		latency  scenario.Dist
		seed     uint64
		want     float64
	}{
		{8, 1 << 6, scenario.Always(scenario.T), 1, 3},
		{4, 1, scenario.Always(scenario.T), 1, 15},
		{4, 1, varying(), 2, 18},
		{4, 0b1001, scenario.Always(scenario.T), 1, 21},
	} {
		o := election.Outset{N: e.n, Starters: subset(e.starters)}
		if got := c.sent(t, o, e.latency, e.seed); got != e.want {
			t.Errorf("%+v, latency %v, seed %d: %v messages, want %v", o, e.latency, e.seed, got, e.want)
		}
	}
}

// Where messages overtake each other, the numbers of several starters cost
// more than on a ring that keeps their order, and can cost less.
func TestOvertaking(t *testing.T) {
	o := election.Outset{N: 4, Starters: subset(0b1011)}
	inOrder := o.ChangRoberts(false, algorithm.FIFO).Hi
	more, less := false, false
	for seed := range uint64(200) {
		c := claim{name: "up", spec: election.ChangRoberts(false), network: algorithm.Unordered}
		n := c.sent(t, o, varying(), seed)
		more, less = more || n > inOrder, less || n < inOrder
	}
	if !more || !less {
		t.Errorf("more than %v: %v, less: %v", inOrder, more, less)
	}
}

// It may even leave a process waiting until its timeout: its number overtook
// the news of the end, and was taken for part of that election.
func TestOvertakingTheEnd(t *testing.T) {
	late := 0
	o := hold(t, sim.Election{
		Spec: election.ChangRoberts(false), Nodes: 4, Starters: subset(0b1001), Latency: varying(), Network: algorithm.Unordered, Seed: 344973,
		Observe: func(e trace.Event) {
			if e.Kind == trace.Expire {
				late++
			}
		},
	})
	if late != 1 || o.Messages != 20 || !o.Agreed {
		t.Errorf("%d timeouts, %d messages, agreed %v; want 1, 20, true", late, o.Messages, o.Agreed)
	}
}
