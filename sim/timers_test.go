package sim

import (
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
)

// impatience is a site that sets two timers when it is asked, and stops one of
// them.
type impatience struct{}

func (impatience) Fields(*core.Coder)                                      {}
func (impatience) Claim(core.ID, int)                                      {}
func (impatience) Finish(core.ID, *core.Out[strayMessage])                 {}
func (impatience) Abort(core.ID, *core.Out[strayMessage])                  {}
func (impatience) Receive(core.ID, *strayMessage, *core.Out[strayMessage]) {}
func (impatience) Expire(timer int, out *core.Out[strayMessage])           { out.Grant(0) }

func (impatience) Acquire(_ core.ID, _ int, out *core.Out[strayMessage]) {
	out.SetTimer(1, 1)
	out.SetTimer(2, 3)
	out.StopTimer(1)
}

// A timer that a site has stopped does not run out.
func TestSitesStopTimers(t *testing.T) {
	c := UsualTransactions()
	c.Layout, c.Number = deadlock.Spread(1, 1, 1), 1
	c.Program = func(core.ID, int) []int { return []int{0} }
	w := newWorld(kernel.Config{Processes: 1, Latency: scenario.Always(scenario.T)})
	spec := core.Spec{Name: "impatience", Family: core.Transactions, Kinds: []string{"NEVER"}, Plan: core.Always(func(self core.ID, v core.View) core.Machine {
		return core.NewSite(self, v, impatience{}, 1)
	})}
	tr, err := w.transact(spec, c)
	if err != nil {
		t.Fatal(err)
	}
	w.Happen = tr.happen
	tr.goOn(0)
	for got := 0; w.Pending() && got == 0; _, got = tr.env.Program(0) {
		if err := w.next(); err != nil {
			t.Fatal(err)
		}
	}
	if w.Now() != 3*scenario.T || len(tr.ledger.Found) > 0 {
		t.Errorf("granted at %s, %v: want timer 2 alone to run out, at 3", scenario.FormatTime(w.Now()), tr.ledger.Found)
	}
}

// A slow link makes bully wait, however the election is run.
func TestElectionsWaitForTheSlowestLink(t *testing.T) {
	bully, err := catalog.Make("bully", core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, slow := range []int64{1, 3, 9} {
		o, err := RunElection(Election{
			Spec: bully, Nodes: 3, Dead: []core.ID{2}, Starters: []core.ID{0}, Latency: scenario.Always(scenario.T),
			Links: []scenario.Link{{From: 1, To: 0, Latency: scenario.Always(slow * scenario.T)}},
		})
		if err != nil || len(o.Found) > 0 || o.Leader != 2 {
			t.Errorf("a link of %d: %v, %+v", slow, err, o)
		}
	}
}
