package sim

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// impatience is a site that sets two timers when it is asked, and stops one of
// them.
type impatience struct{}

func (impatience) Fields(*algorithm.Coder)                                           {}
func (impatience) Claim(algorithm.ID, int)                                           {}
func (impatience) Finish(algorithm.ID, *algorithm.Out[strayMessage])                 {}
func (impatience) Abort(algorithm.ID, *algorithm.Out[strayMessage])                  {}
func (impatience) Receive(algorithm.ID, *strayMessage, *algorithm.Out[strayMessage]) {}
func (impatience) Expire(timer int, out *algorithm.Out[strayMessage])                { out.Grant(0) }

func (impatience) Acquire(_ algorithm.ID, _ int, out *algorithm.Out[strayMessage]) {
	out.SetTimer(1, 1)
	out.SetTimer(2, 3)
	out.StopTimer(1)
}

// A timer that a site has stopped does not run out.
func TestSitesStopTimers(t *testing.T) {
	c := UsualTransactions()
	c.Layout, c.Number = deadlock.Spread(1, 1, 1), 1
	c.Program = func(algorithm.ID, int) []int { return []int{0} }
	w := newWorld(kernel.Config{Processes: 1, Latency: scenario.Always(scenario.T)})
	spec := algorithm.Spec{Name: "impatience", Family: algorithm.Transactions, Kinds: []string{"NEVER"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.NewSite(self, v, impatience{}, 1)
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
	bully, err := catalog.Make("bully", algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, slow := range []int64{1, 3, 9} {
		o, err := RunElection(Election{
			Spec: bully, Nodes: 3, Dead: []algorithm.ID{2}, Starters: []algorithm.ID{0}, Latency: scenario.Always(scenario.T),
			Links: []script.Link{{From: 1, To: 0, Latency: scenario.Always(slow * scenario.T)}},
		})
		if err != nil || len(o.Found) > 0 || o.Leader != 2 {
			t.Errorf("a link of %d: %v, %+v", slow, err, o)
		}
	}
}
