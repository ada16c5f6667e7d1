package mutex

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// A mutant is an algorithm with one bug planted. The simulator's oracle must
// find it within a few seeds.
type mutant struct {
	name  string
	spec  algorithm.Spec
	birth algorithm.Birth
	n     int
}

// sound lists the sound algorithms.
func sound() []algorithm.Spec {
	return []algorithm.Spec{
		Central(0), CentralDeny(0), CentralStamped(0), TokenRing(), TokenRingLazy(), Lamport(),
		RicartAgrawala(), CarvalhoRoucairol(), SuzukiKasami(), RicartAgrawalaToken(),
		Majority(), Maekawa(quorum.Grid), Raymond(Kary(2)), Sanders(AskAll),
		Bakery(), BakeryPolling(), Dijkstra(0), NaimiTrehel(),
	}
}

func TestMutantsAreCaught(t *testing.T) {
	caught := map[string]int{}
	for _, some := range [][]mutant{
		ricartMutants(), suzukiMutants(), votingMutants(), raymondMutants(), sandersMutants(), bakeryMutants(), dijkstraMutants(), moreMutants(),
	} {
		for _, m := range some {
			m.spec.Plan = algorithm.Always(m.birth)
			if caughtBy(t, m.spec, m.n) == 0 {
				t.Errorf("%s: nobody noticed: %s", m.spec.Name, m.name)
				continue
			}
			caught[m.spec.Name]++
		}
	}
	for _, spec := range sound() {
		if caught[spec.Name] < 2 {
			t.Errorf("%s: %d mutants caught, want at least 2", spec.Name, caught[spec.Name])
		}
		if seed := caughtBy(t, spec, 0); seed != 0 {
			t.Errorf("%s without a bug: seed %d breaks it", spec.Name, seed)
		}
	}
}

// caughtBy returns the first seed of some that breaks an algorithm, or 0.
func caughtBy(t *testing.T, spec algorithm.Spec, n int) uint64 {
	exp := scenario.Exponential(scenario.T)
	for seed := uint64(1); seed <= 20; seed++ {
		c := busy(spec, max(n, 3+int(seed%2)), seed)
		c.Entries, c.Network, c.Hold = 1000, spec.Network, exp
		c.Think.A = int64(seed%3) * 2 * scenario.T
		r, err := sim.Run(c)
		if err != nil {
			t.Fatalf("%s: %v", spec.Name, err)
		}
		if r.Violations > 0 {
			return seed
		}
	}
	return 0
}

// busy is a run in which requests meet and messages take their time.
func busy(spec algorithm.Spec, n int, seed uint64) sim.Config {
	return sim.Config{
		Spec: spec, Nodes: n, Entries: 300, Seed: seed,
		Think:   scenario.Exponential(4 * scenario.T),
		Hold:    scenario.Always(scenario.T),
		Latency: scenario.Exponential(scenario.T),
	}
}

// Ricart-Agrawala.

type raOut = algorithm.Out[raMessage]

type raGivesWayInside struct{ ricartAgrawala }

func (s *raGivesWayInside) Receive(from algorithm.ID, m *raMessage, out *raOut) {
	if was := s.state; was == held {
		s.state = released
		defer func() { s.state = was }()
	}
	s.ricartAgrawala.Receive(from, m, out)
}

type raNoTieBreak struct{ ricartAgrawala }

func (s *raNoTieBreak) Receive(from algorithm.ID, m *raMessage, out *raOut) {
	if m.Kind == raRequest && s.state == wanted && m.Time == s.asked {
		out.Send(from, raMessage{Kind: raOK, Time: s.clock})
		return
	}
	s.ricartAgrawala.Receive(from, m, out)
}

type raForgetsOne struct{ ricartAgrawala }

func (s *raForgetsOne) Release(out *raOut) {
	if last := s.deferred.Next(1); last != algorithm.None {
		s.deferred.Remove(last)
	}
	s.ricartAgrawala.Release(out)
}

func ricartMutants() []mutant {
	return []mutant{
		{"OK while inside", RicartAgrawala(), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &raGivesWayInside{*newRicartAgrawala(self, v)})
		}, 3},
		{"tie-break dropped", RicartAgrawala(), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &raNoTieBreak{*newRicartAgrawala(self, v)})
		}, 3},
		{"a deferred one forgotten", RicartAgrawala(), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &raForgetsOne{*newRicartAgrawala(self, v)})
		}, 3},
	}
}

// Suzuki-Kasami.

type skOut = algorithm.Out[skMessage]

type skKeepsToken struct{ suzukiKasami }

func (s *skKeepsToken) Release(out *skOut) {
	s.suzukiKasami.Release(out)
	s.token = true
}

type skForgetsWaiters struct{ suzukiKasami }

func (s *skForgetsWaiters) Release(out *skOut) {
	copy(s.rn, s.ln) // as if nobody had asked meanwhile
	s.suzukiKasami.Release(out)
}

func suzukiMutants() []mutant {
	return []mutant{
		{"token duplicated", SuzukiKasami(), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &skKeepsToken{*newSuzukiKasami(self, v)})
		}, 4},
		{"waiters lost", SuzukiKasami(), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &skForgetsWaiters{*newSuzukiKasami(self, v)})
		}, 4},
	}
}

// Maekawa and majority.

type maeOut = algorithm.Out[maeMessage]

type maeVotesTwice struct{ maekawa }

func (s *maeVotesTwice) Receive(from algorithm.ID, m *maeMessage, out *maeOut) {
	if m.Kind == maeRequest {
		s.voter.vote = algorithm.Stamp{}
	}
	s.maekawa.Receive(from, m, out)
}

type maeForgetsVoter struct{ maekawa }

func (s *maeForgetsVoter) Release(out *maeOut) {
	all := s.sets
	s.sets = append(quorum.System{}, all...)
	var some algorithm.Set
	some.Copy(&all[s.self])
	some.Remove(some.Next(0))
	s.sets[s.self] = some
	s.maekawa.Release(out)
	s.sets = all
}

type maeDropsWaiter struct{ maekawa }

func (s *maeDropsWaiter) Receive(from algorithm.ID, m *maeMessage, out *maeOut) {
	s.maekawa.Receive(from, m, out)
	if m.Kind == maeRelinquish {
		s.voter.waiting[from] = algorithm.Time{}
	}
}

type maeFreesAnyVote struct{ maekawa }

func (s *maeFreesAnyVote) Receive(from algorithm.ID, m *maeMessage, out *maeOut) {
	if m.Kind == maeRelease {
		s.voter.waiting[from] = algorithm.Time{}
		s.voter.vote = algorithm.Stamp{Time: m.Time, ID: from}
	}
	s.maekawa.Receive(from, m, out)
}

func votingMutants() []mutant {
	grid := func(v algorithm.View) quorum.System {
		sets, _ := quorum.Grid(v.N)
		return sets
	}
	return []mutant{
		{"vote given twice", Maekawa(quorum.Grid), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &maeVotesTwice{*newMaekawa(self, v, grid(v), 0)})
		}, 5},
		{"RELEASE not sent to one voter", Maekawa(quorum.Grid), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &maeForgetsVoter{*newMaekawa(self, v, grid(v), 0)})
		}, 5},
		{"who gave way does not wait", Maekawa(quorum.Grid), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &maeDropsWaiter{*newMaekawa(self, v, grid(v), 0)})
		}, 9},
		{"vote given twice", Majority(), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &maeVotesTwice{*newMaekawa(self, v, wholeGroup(v.N), minority(v.N))})
		}, 5},
		{"half is enough", Majority(), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newMaekawa(self, v, wholeGroup(v.N), v.N/2))
		}, 4},
		{"RELEASE of one that only waits frees the vote", Majority(), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &maeFreesAnyVote{*newMaekawa(self, v, wholeGroup(v.N), minority(v.N))})
		}, 5},
	}
}

// Raymond.

type rayOut = algorithm.Out[raymondMessage]

type rayKeepsPrivilege struct{ raymond }

func (s *rayKeepsPrivilege) Release(out *rayOut) {
	s.raymond.Release(out)
	s.holder = s.self
}

type rayForgetsQueue struct{ raymond }

func (s *rayForgetsQueue) Release(out *rayOut) {
	s.queue = s.queue[:min(1, len(s.queue))]
	s.raymond.Release(out)
}

func raymondMutants() []mutant {
	tree := func(v algorithm.View) Tree {
		t, _ := Kary(2)(v.N)
		return t
	}
	return []mutant{
		{"privilege duplicated", Raymond(Kary(2)), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &rayKeepsPrivilege{*newRaymond(self, v, tree(v))})
		}, 5},
		{"waiters lost", Raymond(Kary(2)), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &rayForgetsQueue{*newRaymond(self, v, tree(v))})
		}, 5},
	}
}

// Sanders.

type sanOut = algorithm.Out[sanMessage]

type sanKeepsVote struct{ sanders }

func (s *sanKeepsVote) Receive(from algorithm.ID, m *sanMessage, out *sanOut) {
	if m.Kind != sanInquire {
		s.sanders.Receive(from, m, out)
	}
}

type sanGivesWayInside struct{ sanders }

func (s *sanGivesWayInside) Receive(from algorithm.ID, m *sanMessage, out *sanOut) {
	if m.Kind == sanInquire && s.state == held {
		out.Send(from, s.about(sanRelinquish, s.asked))
	}
	s.sanders.Receive(from, m, out)
}

type sanGrantsAll struct{ sanders }

func (s *sanGrantsAll) Receive(from algorithm.ID, m *sanMessage, out *sanOut) {
	if m.Kind == sanRequest && from != s.self {
		out.Send(from, s.about(sanGrant, m.Time))
		return
	}
	s.sanders.Receive(from, m, out)
}

func sandersMutants() []mutant {
	grid := AskQuorum(quorum.Grid)
	of := func(f StructureOf, v algorithm.View) Structure {
		st, _ := f(v.N)
		return st
	}
	return []mutant{
		{"INQUIRE not answered", Sanders(grid), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &sanKeepsVote{*newSanders(self, v, of(grid, v))})
		}, 5},
		{"vote given back while inside", Sanders(grid), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &sanGivesWayInside{*newSanders(self, v, of(grid, v))})
		}, 5},
		{"granted without looking at the own request", Sanders(AskAll), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &sanGrantsAll{*newSanders(self, v, of(AskAll, v))})
		}, 3},
	}
}

// Bakery.

type bakOut = algorithm.Out[bakMessage]

type bakNoTieBreak struct{ bakery }

func (s *bakNoTieBreak) Receive(from algorithm.ID, m *bakMessage, out *bakOut) {
	if m.Kind == bakRead && m.What == bakTurn && m.Number == s.number {
		out.Send(from, bakMessage{Kind: bakValue, What: bakTurn})
		return
	}
	s.bakery.Receive(from, m, out)
}

type bakForgetsReaders struct{ bakery }

func (s *bakForgetsReaders) Release(out *bakOut) {
	s.readers.Clear()
	s.bakery.Release(out)
}

type bakImpatient struct{ bakery }

func (s *bakImpatient) Receive(from algorithm.ID, m *bakMessage, out *bakOut) {
	if m.Kind == bakValue && m.What == bakTurn {
		m.Number = algorithm.Time{}
	}
	s.bakery.Receive(from, m, out)
}

type bakKeepsNumber struct{ bakery }

func (s *bakKeepsNumber) Release(out *bakOut) {
	number := s.number
	s.bakery.Release(out)
	s.number = number
}

func bakeryMutants() []mutant {
	polling := func(self algorithm.ID, v algorithm.View) *bakery {
		b := newBakery(self, v)
		b.polling = true
		return b
	}
	return []mutant{
		{"tie-break dropped", Bakery(), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &bakNoTieBreak{*newBakery(self, v)})
		}, 3},
		{"readers lost at exit", Bakery(), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &bakForgetsReaders{*newBakery(self, v)})
		}, 3},
		{"goes on though it is not its turn", BakeryPolling(), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &bakImpatient{*polling(self, v)})
		}, 3},
		{"number kept after exit", BakeryPolling(), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &bakKeepsNumber{*polling(self, v)})
		}, 3},
	}
}

// Dijkstra.

type dijOut = algorithm.Out[dijMessage]

type dijMovesAtEntry struct{ dijkstra }

func (s *dijMovesAtEntry) Receive(from algorithm.ID, m *dijMessage, out *dijOut) {
	was := s.state
	s.dijkstra.Receive(from, m, out)
	if was == wanted && s.state == held {
		s.state = released
		s.proceed(out)
		s.state = held
	}
}

type dijRests struct{ dijkstra }

func (s *dijRests) Receive(from algorithm.ID, m *dijMessage, out *dijOut) {
	if s.state == released {
		s.left = m.Flag
		return
	}
	s.dijkstra.Receive(from, m, out)
}

func dijkstraMutants() []mutant {
	return []mutant{
		{"privilege passed on at entry", Dijkstra(0), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &dijMovesAtEntry{*newDijkstra(self, v, v.N+1)})
		}, 4},
		{"privilege kept by who does not want in", Dijkstra(0), func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &dijRests{*newDijkstra(self, v, v.N+1)})
		}, 4},
	}
}
