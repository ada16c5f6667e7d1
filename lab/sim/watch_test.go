package sim

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/scenario"
)

// A run that is watched can be ended, and what was measured by then is no
// lost request and no standstill.
func TestWatch(t *testing.T) {
	var last Progress
	looks := 0
	stop := func(p Progress) bool {
		if p.Events <= last.Events || p.Now < last.Now || p.Done < last.Done {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
		looks++
		return looks < 2
	}
	c := constant(mutex.RicartAgrawala(), 5, 1_000_000)
	c.Watch = stop
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Stopped || r.Entries < last.Done || r.Entries == c.Entries || len(r.Found) > 0 || last.Of != c.Entries || looks != 2 {
		t.Errorf("stopped %t after %d entries and %d looks, %+v, %v", r.Stopped, r.Entries, looks, last, r.Found)
	}
	none, err := deadlock.Find("ordered")
	if err != nil {
		t.Fatal(err)
	}
	x := Philosophers(none, "", 5, 1_000_000)
	last, looks, x.Watch = Progress{}, 0, stop
	l, err := RunTransactions(x)
	if err != nil {
		t.Fatal(err)
	}
	if !l.Stopped || l.Stuck > 0 || l.Committed == 0 || last.Of != x.Number || looks != 2 {
		t.Errorf("stopped %t, %d stuck, %d committed, %d looks, %+v", l.Stopped, l.Stuck, l.Committed, looks, last)
	}
	last, looks = Progress{}, 1
	o, err := RunElection(Election{Spec: election.Bully(), Nodes: 700, Starters: []algorithm.ID{0}, Latency: scenario.Always(scenario.T), Watch: stop})
	if err != nil {
		t.Fatal(err)
	}
	if !o.Stopped || len(o.Found) > 0 {
		t.Errorf("stopped %t, %v", o.Stopped, o.Found)
	}
}
