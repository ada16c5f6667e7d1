package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/locks"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// looksWithout returns how all states of a model look without certain messages.
func looksWithout(t testing.TB, m *Model, gone func(g *state, l *message) bool) map[string]bool {
	t.Helper()
	set := map[string]bool{}
	look := func(g *state) {
		name := fmt.Sprint(g.env.Append(nil))
		for _, s := range g.seats {
			name += "|" + string(m.blobs.get(s.blob).bytes)
		}
		last := ""
		for _, l := range g.messages {
			if gone(g, &l) {
				continue
			}
			b := m.blobs.get(l.blob)
			// Removing what is between two copies may make one of them superfluous.
			if one := fmt.Sprintf("|%d %v %s", l.link, l.tag, b.bytes); one != last || !b.idem {
				name += one
				last = one
			}
		}
		set[name] = true
	}
	if _, err := explore.BuildGraph(shown{m, look}, explore.GraphLimits{}); err != nil {
		t.Fatal(err)
	}
	return set
}

// bitsOf returns everything that an exploration has seen violated, except accumulation.
func bitsOf(e *explore.Exploration) explore.Broken {
	var all explore.Broken
	for b := range e.Broken {
		all |= b
	}
	return all &^ bit(family.Channels)
}

// unspentOf explores without spent messages.
func unspentOf(t testing.TB, s setup, workers int) (*Model, *explore.Exploration) {
	t.Helper()
	r, e, err := mustModel(t, s).ExploreUnspent(explore.Limits{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return r, e
}

// compareUnspent compares a group with the same one without spent messages: what is
// violated, and that the very same states are reached but for those messages.
func compareUnspent(t testing.TB, s setup) (saved int64, err error) {
	t.Helper()
	r, e := unspentOf(t, s, 2)
	m := mustModel(t, s)
	full, err := explore.Explore(m, explore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if few, all := bitsOf(e), bitsOf(full); few != all {
		return 0, fmt.Errorf("violated %b, and without spent messages %b", all, few)
	}
	spent := map[string]bool{}
	for k, is := range r.spent.assumed {
		if is {
			spent[fmt.Sprint(k.link, " ", string(r.blobs.get(k.blob).bytes))] = true
		}
	}
	if len(spent) == 0 {
		if e.States != full.States || e.Transitions != full.Transitions {
			return 0, fmt.Errorf("no message is spent, but there are %d states instead of %d", e.States, full.States)
		}
		return 0, nil
	}
	many := looksWithout(t, m, func(g *state, l *message) bool {
		return spent[fmt.Sprint(l.link, " ", string(m.blobs.get(l.blob).bytes))] &&
			(!m.Tagged || g.env.(knower).Knows(algorithm.ID(g.to(l)), l.tag))
	})
	left := looksWithout(t, r, func(*state, *message) bool { return false })
	if !maps.Equal(many, left) {
		return 0, fmt.Errorf("%d states without their spent messages, and %d if those are removed at once", len(many), len(left))
	}
	return full.States - e.States, nil
}

// Spent messages make no difference, in sound algorithms and in wrong ones, on every
// network that they are checked on, and to every monitor.
func TestSpentMessages(t *testing.T) {
	nightly.Only(t)
	saved := map[string]int64{}
	for _, spec := range catalog.All() {
		for _, s := range []setup{
			{Spec: spec, Nodes: 2},
			{Spec: spec, Nodes: 2, Network: spec.Network, Requests: 1},
			{Spec: spec, Nodes: 2, Watch: family.Fence},
			{Spec: spec, Nodes: 2, Watch: family.OrderOpen},
			{Spec: spec, Nodes: 3},
			{Spec: spec, Nodes: 3, Network: spec.Network, Requests: 1},
			{Spec: spec, Nodes: 3, Watch: family.Fence},
			{Spec: spec, Nodes: 3, Watch: family.Order},
		} {
			if s.Nodes == 3 && (slices.Contains(strings.Fields(large), spec.Name) || spec.Endless != "") {
				continue
			}
			n, err := compareUnspent(t, s)
			if err != nil {
				t.Errorf("%s, N=%d, %v, %d requests, watching %q: %v", spec.Name, s.Nodes, s.Network, s.Requests, s.Watch, err)
			}
			saved[spec.Name] += n
		}
	}
	for _, name := range []string{"suzuki-kasami", "ricart-agrawala-token"} {
		if saved[name] < 1000 {
			t.Errorf("%s: %d states saved: the reduction does nothing", name, saved[name])
		}
	}
}

// The number of workers makes no difference.
func TestSpentWorkers(t *testing.T) {
	for _, spec := range []algorithm.Spec{mutex.SuzukiKasami(), mutex.RicartAgrawalaToken()} {
		_, one := unspentOf(t, setup{Spec: spec, Nodes: 3}, 1)
		_, two := unspentOf(t, setup{Spec: spec, Nodes: 3}, 2)
		if one.States != two.States || one.Transitions != two.Transitions {
			t.Errorf("%s: %d states and %d transitions with one worker, %d and %d with two", spec.Name, one.States, one.Transitions, two.States, two.Transitions)
		}
	}
}

// A sleeper ignores a message until it has asked: then the message lets it in. All but the
// first process are sleepers. If they are deaf, they always ignore it and enter when they
// ask, and the first process waits.
type sleeper struct {
	self  algorithm.ID
	deaf  bool
	awake bool
}

type nudge struct{ Kind uint8 }

func (m *nudge) Fields(c *algorithm.Coder) { c.Kind(&m.Kind, 0) }

func (s *sleeper) Fields(c *algorithm.Coder) { c.Bool("awake", &s.awake) }

func (s *sleeper) Request(out *algorithm.Out[nudge]) {
	s.awake = s.self != 0 && !s.deaf
	if s.self == 0 {
		out.Broadcast(nudge{})
	}
	if !s.awake && (s.self == 0) != s.deaf {
		out.Enter()
	}
}

func (s *sleeper) Release(*algorithm.Out[nudge]) { s.awake = false }

func (s *sleeper) Receive(_ algorithm.ID, _ *nudge, out *algorithm.Out[nudge]) {
	if s.awake {
		s.awake = false
		out.Enter()
	}
}

func sleepers(deaf bool) algorithm.Spec {
	return algorithm.Spec{Name: "sleeper", Kinds: []string{"NUDGE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &sleeper{self: self, deaf: deaf})
	})}
}

// A message that changes nothing now, but would later, is not spent. Were what is assumed
// not tested on later states, two would be inside unseen.
func TestNotSpent(t *testing.T) {
	s := setup{Spec: sleepers(false), Nodes: 2, Requests: 1}
	r, e := unspentOf(t, s, 1)
	if bitsOf(e)&bit(family.MutualExclusion) == 0 || len(r.spent.wrong) == 0 {
		t.Errorf("violated %v, %d messages found not to be spent: want mutual exclusion, and some", e.Broken, len(r.spent.wrong))
	}
	if _, err := compareUnspent(t, s); err != nil {
		t.Error(err)
	}
	blind := mustModel(t, s)
	blind.spent = newSpent(blind, map[written]bool{}, func() {})
	e, err := explore.Explore(blind, explore.Limits{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if bitsOf(e)&bit(family.MutualExclusion) != 0 || !blind.spent.refuted {
		t.Errorf("without starting over %v is violated: the control shows nothing", e.Broken)
	}
}

// An exploration that starts over has the rest of its time.
func TestStartsOverInTime(t *testing.T) {
	r, e, err := mustModel(t, setup{Spec: sleepers(false), Nodes: 2, Requests: 1}).ExploreUnspent(explore.Limits{Workers: 1, Time: time.Hour})
	if err != nil || e.Unfinished != "" || len(r.spent.wrong) == 0 {
		t.Errorf("%v, unfinished %q, %d messages found not to be spent: want a complete exploration, and some", err, e.Unfinished, len(r.spent.wrong))
	}
}

// A message is kept if it says anything about how others are renumbered.
func TestFixed(t *testing.T) {
	if b := (blob{}); !b.fixed() {
		t.Error("a message without times and counters is not fixed")
	}
	for _, b := range []blob{{times: 1}, {counts: true}, {anchor: []uint64{0}}, {tokens: 1}} {
		if b.fixed() {
			t.Errorf("%+v is fixed", b)
		}
	}
}

// knowing is an Env that takes every tag to be known.
type knowing struct{ *locks.Env }

func (e knowing) New() family.Env { return knowing{e.Env.New().(*locks.Env)} }

func (e knowing) Copy(from family.Env) { e.Env.Copy(from.(knowing).Env) }

func (knowing) Knows(algorithm.ID, family.Tag) bool { return true }

// A message that tells its receiver something is not spent: an application that knows of
// an earlier request must not enter first, though its machine ignores the message.
func TestSpentAndUnknown(t *testing.T) {
	s := setup{Spec: sleepers(true), Nodes: 2, Requests: 1, Watch: family.Order}
	if _, err := compareUnspent(t, s); err != nil {
		t.Error(err)
	}
	if _, e := unspentOf(t, s, 1); bitsOf(e)&bit(family.Order) == 0 {
		t.Errorf("violated %v: want the order of requests", e.Broken)
	}
	s.Env = func(e *locks.Env) family.Env { return knowing{e} }
	if _, e := unspentOf(t, s, 1); bitsOf(e)&bit(family.Order) != 0 {
		t.Error("the order is violated all the same: the control shows nothing")
	}
}

// An ignorant Env is no knower.
type ignorant struct{ family.Env }

func (e ignorant) New() family.Env      { return ignorant{e.Env.New()} }
func (e ignorant) Copy(from family.Env) { e.Env.Copy(from.(ignorant).Env) }

// Without tags, messages are spent whatever is known of them.
func TestSpentWithoutTags(t *testing.T) {
	s := setup{Spec: mutex.SuzukiKasami(), Nodes: 3, Requests: 1}
	_, want := unspentOf(t, s, 1)
	s.Env = func(e *locks.Env) family.Env { return ignorant{e} }
	if m := mustModel(t, s); !m.Reducible() {
		t.Fatal("messages without tags cannot be spent")
	}
	if _, got := unspentOf(t, s, 1); got.States != want.States {
		t.Errorf("%d states, want %d", got.States, want.States)
	}
}
