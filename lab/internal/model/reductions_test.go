package model

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/elections"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// all is every reduction there is.
func all() reductions { return reductions{losses: true, still: true, vain: true} }

// A vote is an election, for tests.
type vote struct {
	spec               algorithm.Spec
	n                  int
	crashes, comebacks int
	pace               Pace
}

func (v vote) config() Config {
	c := Config{
		Spec: v.spec, Seats: v.n, Env: elections.New(v.n), Tagged: true, Settles: true, Clock: Units, Pace: v.pace,
		Names: []string{elections.OneLeader, elections.Agreement}, Crashes: v.crashes, Comebacks: v.comebacks,
		Starts: []algorithm.View{{N: v.n, Holder: algorithm.ID(v.n - 1), Busy: true}},
	}
	for p := range algorithm.ID(v.n) {
		c.Waiters = append(c.Waiters, p)
	}
	return c
}

// To put off losses takes no behaviour away and adds none: but for what is
// under way to the dead, the very same states are reached as if each loss were
// a step of its own.
func TestLosses(t *testing.T) {
	for _, v := range []vote{
		{election.Bully(), 3, 1, 1, AnyPace},
		{election.Bully(), 3, 2, 0, Quick},
		{election.Bully(), 2, 2, 2, Slow},
		{election.Ring(), 2, 2, 2, AnyPace},
		{election.Ring(), 3, 1, 1, Quick},
		{election.ChangRoberts(false), 3, 2, 1, Slow},
		{election.ChangRoberts(false), 3, 1, 1, AnyPace},
	} {
		eager := all()
		eager.losses = false
		v.compare(t, eager, true)
	}
}

// That time stands still while no timer runs takes no behaviour away: but for
// the age of messages, the very same states are reached if it goes on.
func TestIdleTime(t *testing.T) {
	for _, v := range []vote{
		{election.Bully(), 3, 1, 0, AnyPace},
		{election.Bully(), 2, 2, 2, AnyPace},
		{election.Ring(), 2, 2, 1, AnyPace},
		{election.Ring(), 3, 1, 0, AnyPace},
		{election.ChangRoberts(false), 3, 1, 1, AnyPace},
	} {
		hasty := all()
		hasty.still = false
		v.compare(t, hasty, false)
	}
}

// compare compares an election with the same one with fewer reductions: what
// is under way to the dead does not count, and the age of messages need not.
func (v vote) compare(t *testing.T, r reductions, age bool) {
	t.Helper()
	look := func(m *Model, g *state) string {
		name := fmt.Sprint(g.env.Append(nil), g.crashes, g.comebacks, g.timers)
		for _, s := range g.seats {
			if name += "|"; !s.dead {
				name += string(m.blobs.get(s.blob).bytes)
			}
		}
		for _, l := range g.messages {
			if !g.seats[g.to(&l)].dead {
				name += fmt.Sprintf("|%d %v %v", l.link, l.tag, age && l.old) + string(m.blobs.get(l.blob).bytes)
			}
		}
		return name
	}
	few, some := outlooks(t, v.config(), all(), look)
	many, every := outlooks(t, v.config(), r, look)
	if !maps.Equal(few, many) || some >= every {
		t.Errorf("%s among %d: %d states show %d outlooks, and without the reduction %d show %d", v.spec.Name, v.n, some, len(few), every, len(many))
	}
}

// Timers that would change nothing do not run. That takes no behaviour away:
// but for those timers, the very same states are reached if they do.
func TestVainTimers(t *testing.T) {
	nightly.Only(t)
	saved := int64(0)
	for _, c := range []struct {
		mode                     string
		sites, processes, rounds int
		crashes                  int
	}{
		{deadlock.OnDemand, 2, 2, 1, 0},
		{deadlock.OnDemand, 2, 2, 1, 1},
		{deadlock.OnDemand, 2, 3, 1, 0},
		{deadlock.InBatch, 2, 2, 1, 1},
		{deadlock.InBatch, 2, 2, 2, 0},
		{deadlock.InBatch, 3, 3, 1, 0},
	} {
		config := transacts(t, transactions.Dinner(deadlock.DetectCentral(), c.mode, c.sites, c.processes), c.rounds)
		config.Crashes = c.crashes
		look := func(m *Model, g *state) string {
			name := fmt.Sprint(g.env.Append(nil), g.crashes)
			for _, s := range g.seats {
				name += "|" + fmt.Sprint(s.dead)
				if !s.dead {
					name += string(m.blobs.get(s.blob).bytes)
				}
			}
			for _, l := range g.messages {
				name += fmt.Sprintf("|%d ", l.link) + string(m.blobs.get(l.blob).bytes)
			}
			return name
		}
		everyTimer := all()
		everyTimer.vain = false
		few, some := outlooks(t, config, all(), look)
		many, every := outlooks(t, config, everyTimer, look)
		if !maps.Equal(few, many) {
			t.Errorf("%+v: %d states without their timers, and %d if all run", c, len(few), len(many))
		}
		saved += every - some
	}
	if saved < 1000 {
		t.Errorf("%d states saved: the reduction does nothing", saved)
	}
}

// transacts returns a group of sites, for tests.
func transacts(t testing.TB, c transactions.Config, rounds int) Config {
	t.Helper()
	spec, err := c.Spec()
	if err != nil {
		t.Fatal(err)
	}
	env, err := transactions.New(c, rounds)
	if err != nil {
		t.Fatal(err)
	}
	g := Config{
		Spec: spec, Seats: c.Layout.Sites, Env: env, Sites: true, Form: Form{Counters: Ranked},
		Names: []string{family.MutualExclusion, family.Deadlock, family.Cycle, family.FalseReport, family.OneVictim},
	}
	if rounds == 0 {
		g.Form.Times = Spread
	}
	for p := range algorithm.ID(len(c.Programs)) {
		g.Waiters = append(g.Waiters, p)
	}
	return g
}

// outlooks returns how all states of a model look, and how many there are.
func outlooks(t *testing.T, c Config, r reductions, look func(m *Model, g *state) string) (set map[string]bool, states int64) {
	t.Helper()
	m, err := newModel(c, r)
	if err != nil {
		t.Fatal(err)
	}
	set = map[string]bool{}
	g, err := explore.BuildGraph(shown{m, func(g *state) { set[look(m, g)] = true }}, explore.GraphLimits{})
	if err != nil {
		t.Fatal(err)
	}
	return set, g.States()
}

// shown is a model whose states are looked at.
type shown struct {
	*Model
	show func(g *state)
}

func (s shown) Worker() explore.Worker { return showing{s.worker(), s.show} }

type showing struct {
	*worker
	show func(g *state)
}

func (s showing) Waiting(state []byte) (waiting, calm uint32) {
	s.unpack(state, s.from)
	s.show(s.from)
	return 0, 0
}

// The label of a step that needs no number has none.
func TestLabelsWithoutNumbers(t *testing.T) {
	m, err := New(vote{election.Bully(), 2, 1, 1, Quick}.config())
	if err != nil {
		t.Fatal(err)
	}
	made := map[int]int{}
	walk(t, m, func(w *worker, g *state) {
		_, err := w.Next(m.pack(nil, g), func(s explore.Step, _ []byte) {
			switch l := moveOf(s.Label); l.kind {
			case doSuspect, doCrash, doReturn:
				if made[l.kind]++; l.nth != 0 {
					t.Fatalf("%s: %+v", contents(g), l)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	if len(made) != 3 {
		t.Errorf("only steps of the kinds %v were made", made)
	}
}
