package check

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/election"
)

// To put off losses takes no behaviour away and adds none: but for what is
// under way to the dead, the very same states are reached as if each loss were
// a step of its own.
func TestLosses(t *testing.T) {
	for _, c := range []Election{
		{Spec: election.Bully(), Nodes: 3, Crashes: 1, Returns: 1},
		{Spec: election.Bully(), Nodes: 3, Crashes: 2, Quick: true},
		{Spec: election.Bully(), Nodes: 2, Crashes: 2, Returns: 2, Slow: true},
		{Spec: election.Ring(), Nodes: 2, Crashes: 2, Returns: 2},
		{Spec: election.Ring(), Nodes: 3, Crashes: 1, Returns: 1, Quick: true},
		{Spec: election.ChangRoberts(false), Nodes: 3, Crashes: 2, Returns: 1, Slow: true},
		{Spec: election.ChangRoberts(false), Nodes: 3, Crashes: 1, Returns: 1},
	} {
		lazy, few := outlooks(t, c, func(*electorate) {}, true)
		eager, many := outlooks(t, c, func(m *electorate) { m.eager = true }, true)
		if !maps.Equal(lazy, eager) || few >= many {
			t.Errorf("%s among %d: %d states show %d outlooks, and with losses at any time %d show %d", c.Spec.Name, c.Nodes, few, len(lazy), many, len(eager))
		}
	}
}

// That time stands still while no timer runs takes no behaviour away: but for
// the age of messages, the very same states are reached if it goes on.
func TestIdleTime(t *testing.T) {
	for _, c := range []Election{
		{Spec: election.Bully(), Nodes: 3, Crashes: 1},
		{Spec: election.Bully(), Nodes: 2, Crashes: 2, Returns: 2},
		{Spec: election.Ring(), Nodes: 2, Crashes: 2, Returns: 1},
		{Spec: election.Ring(), Nodes: 3, Crashes: 1},
		{Spec: election.ChangRoberts(false), Nodes: 3, Crashes: 1, Returns: 1},
	} {
		still, few := outlooks(t, c, func(*electorate) {}, false)
		moving, many := outlooks(t, c, func(m *electorate) { m.hasty = true }, false)
		if !maps.Equal(still, moving) || few >= many {
			t.Errorf("%s among %d: %d states show %d outlooks, and if time goes on %d show %d", c.Spec.Name, c.Nodes, few, len(still), many, len(moving))
		}
	}
}

// outlooks returns all states of an election without what is under way to the
// dead, and how many there are with it. The age of messages need not count.
func outlooks(t *testing.T, c Election, change func(*electorate), age bool) (set map[string]bool, states int) {
	t.Helper()
	m, err := newElectorate(c)
	if err != nil {
		t.Fatal(err)
	}
	change(m)
	g, err := explore.BuildGraph(&shown{m, func(v *vote) {
		if set == nil {
			set = map[string]bool{}
		}
		set[m.outlook(v, age)] = true
	}}, explore.GraphLimits{})
	if err != nil {
		t.Fatal(err)
	}
	return set, int(g.States())
}

// shown is an electorate whose states are looked at.
type shown struct {
	*electorate
	show func(v *vote)
}

func (w *shown) Worker() explore.Worker { return &showing{w.electorate.Worker().(*teller), w.show} }

type showing struct {
	*teller
	show func(v *vote)
}

func (w *showing) Waiting(state []byte) (waiting, calm uint32) {
	w.unpack(state, w.from)
	w.show(w.from)
	return 0, 0
}

// outlook names a state by what machines and messages hold, since two models
// number those differently.
func (e *electorate) outlook(v *vote, age bool) string {
	name := fmt.Sprint(v.winner, v.crashes, v.returns)
	for i := range v.voters {
		p := v.voters[i]
		name += fmt.Sprintf("|%v %v %v %v", p.leader, p.dead, p.timer, p.fresh)
		if !p.dead {
			name += string(e.blobs.get(p.blob).bytes)
		}
	}
	for _, b := range v.ballots {
		if !v.to(&b).dead {
			name += fmt.Sprintf("|%d %v %v", b.link, b.fresh, age && b.old) + string(e.blobs.get(b.blob).bytes)
		}
	}
	return name
}
