package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A deal is a state of sites and of the processes that run transactions.
type deal struct {
	crew
	procs  []dealer
	aborts bool
}

// A dealer is a process: which locks it has, and which it waits for, or -1.
type dealer struct {
	left                            int
	has                             []int
	wants                           int
	active, arrived, doomed, spared bool
}

func (d *deal) clone() *deal {
	n := &deal{d.crew.clone(), slices.Clone(d.procs), d.aborts}
	for i := range n.procs {
		n.procs[i].has = slices.Clone(n.procs[i].has)
	}
	return n
}

// A dealing finds all deals of a case.
type dealing struct {
	*book[*deal]
	transactions.Config
}

// rank numbers the attempts of each process anew: 1, 2, ... A process may try
// any number of times.
type rank struct {
	found map[algorithm.ID][]uint64
	put   bool
}

func (r *rank) Time(*uint64)   {}
func (r *rank) Ticket(*uint64) {}
func (r *rank) Seq(p algorithm.ID, v *uint64) {
	switch {
	case *v == 0:
	case r.put:
		*v = uint64(slices.Index(r.found[p], *v) + 1)
	case !slices.Contains(r.found[p], *v):
		r.found[p] = append(r.found[p], *v)
		slices.Sort(r.found[p])
	}
}
func (r *rank) Anchor(p algorithm.ID, v *uint64) { r.Seq(p, v) }

func (x *dealing) add(d *deal) {
	r := &rank{found: map[algorithm.ID][]uint64{}}
	for range 2 {
		for i := range d.machines {
			m := x.machine(i, d.machines[i])
			m.VisitTimes(r)
			if r.put {
				d.machines[i] = string(m.AppendState(nil))
			}
		}
		for i := range d.messages {
			b, err := x.machine(0, "").RecodeMessage(nil, []byte(d.messages[i].bytes), r)
			if err != nil {
				x.t.Fatal(err)
			}
			if r.put {
				d.messages[i].bytes = string(b)
			}
		}
		r.put = true
	}
	x.book.add(fmt.Sprint(d.crew.key(), d.procs, d.aborts), d)
}

// do lets a site take a step, and processes hear of it.
func (x *dealing) do(d *deal, site algorithm.ID, in host.Input) {
	out := x.step(&d.crew, int(site), in)
	d.send(int(site), out, false, false)
	now := func(n host.Notice) bool {
		home, p := x.Layout.Home[n.Who], &d.procs[n.Who]
		return (p.wants >= 0 || len(p.has) > 0) && deadlock.AttemptOf(x.machine(int(home), d.machines[home]), n.Who) == n.Attempt
	}
	for _, n := range out.Notices {
		if n.Kind == host.Heard && now(n) {
			d.procs[n.Who].arrived = d.procs[n.Who].wants >= 0
		}
		if n.Kind == host.Doomed && now(n) {
			d.procs[n.Who].doomed = true
		}
	}
	for _, n := range out.Notices {
		p := &d.procs[n.Who]
		switch n.Kind {
		case host.Granted:
			p.has, p.wants, p.arrived, p.spared = append(p.has, p.wants), -1, false, false
		case host.Denied:
			x.abort(d, n.Who)
		case host.Victim:
			x.judge(d, int(n.Who), n.Cycle)
			x.abort(d, n.Who)
		}
	}
}

func (x *dealing) abort(d *deal, p algorithm.ID) {
	d.procs[p] = dealer{left: d.procs[p].left, active: true, wants: -1}
	d.aborts = true
	x.do(d, x.Layout.Home[p], host.Input{Kind: host.Abort, From: p})
}

// blocks reports whether p waits for q.
func (d *deal) blocks(p, q int) bool {
	a, b := &d.procs[p], &d.procs[q]
	return a.wants >= 0 && a.arrived && !a.doomed && !b.doomed && slices.Contains(b.has, a.wants)
}

// ring returns who waits in a ring with p.
func (d *deal) ring(p int) []int {
	reach := map[int]bool{}
	for range d.procs {
		for q := range d.procs {
			for r := range d.procs {
				if (q == p || reach[q]) && d.blocks(q, r) {
					reach[r] = true
				}
			}
		}
	}
	if !reach[p] {
		return nil
	}
	var all []int
	for q := range d.procs {
		if reach[q] {
			all = append(all, q)
		}
	}
	return all
}

// judge looks at who is ordered to abort, and for which deadlock.
func (x *dealing) judge(d *deal, p int, cycle []algorithm.ID) {
	ring := d.ring(p)
	if len(cycle) > 0 {
		stamp := func(q int) algorithm.Time {
			home := x.Layout.Home[q]
			return deadlock.Stamp(x.machine(int(home), d.machines[home]), algorithm.ID(q))
		}
		wrong := slices.ContainsFunc(ring, func(q int) bool {
			return stamp(q).After(stamp(p)) || stamp(q) == stamp(p) && q > p
		})
		if ring == nil && !d.aborts {
			x.faces[family.FalseReport] = true
		} else if wrong || ring == nil && d.procs[p].spared {
			x.faces[family.OneVictim] = true
		}
	}
	for _, q := range ring {
		d.procs[q].spared = q != p
	}
}

func (x *dealing) next(d *deal) {
	fair := len(d.messages)+len(d.timers) > 0
	for i := range d.procs {
		p := d.procs[i]
		if p.wants >= 0 || !p.active && p.left == 0 {
			continue
		}
		fair = fair || p.active
		n := d.clone()
		q, home, id := &n.procs[i], x.Layout.Home[i], algorithm.ID(i)
		if len(p.has) == len(x.Programs[i]) {
			*q = dealer{left: p.left - 1, wants: -1}
			x.do(n, home, host.Input{Kind: host.Release, From: id})
			x.add(n)
			continue
		}
		for _, k := range x.Programs[i] {
			if x.Method.Claims && !p.active {
				x.do(n, home, host.Input{Kind: host.Claim, From: id, Arg: k})
			}
		}
		q.active, q.wants = true, x.Programs[i][len(p.has)]
		x.do(n, home, host.Input{Kind: host.Request, From: id, Arg: q.wants})
		x.add(n)
	}
	for _, k := range d.heads() {
		n, l := d.clone(), d.messages[k]
		n.messages = slices.Delete(n.messages, k, k+1)
		x.do(n, algorithm.ID(l.to), host.Input{Kind: host.Receive, From: algorithm.ID(l.from), Bytes: []byte(l.bytes)})
		x.add(n)
	}
	for k, a := range d.timers {
		n := d.clone()
		n.timers = slices.Delete(n.timers, k, k+1)
		x.do(n, algorithm.ID(a.at), host.Input{Kind: host.Expire, From: algorithm.None, Timer: a.id})
		x.add(n)
	}
	x.look(d, fair)
}

// look says what a deal breaks.
func (x *dealing) look(d *deal, fair bool) {
	for i := range d.procs {
		for j := range i {
			if slices.ContainsFunc(d.procs[i].has, func(k int) bool { return slices.Contains(d.procs[j].has, k) }) {
				x.faces[family.MutualExclusion] = true
			}
		}
		if x.Method.Family != deadlock.Detection && d.ring(i) != nil {
			x.faces[family.Cycle] = true
		}
		if d.procs[i].wants >= 0 && !fair {
			x.faces[family.Deadlock] = true
		}
	}
}

// TestSitesAgreeWithReference: of methods against deadlock the checker finds
// exactly the states there are, attempts being numbered anew, and the same
// verdicts, with what it leaves out as well.
func TestSitesAgreeWithReference(t *testing.T) {
	nightly.Only(t)
	broken := map[string]bool{}
	for _, c := range []struct {
		name, mode               string
		sites, processes, rounds int
	}{
		{"none", "", 2, 2, 2}, {"none", "", 3, 3, 1}, {"ordered", "", 2, 2, 2}, {"priority", "", 2, 2, 2},
		{"wait-die", "", 2, 2, 2}, {"wait-die", "", 2, 3, 1}, {"wound-wait", "", 2, 3, 1}, {"banker", "", 2, 3, 1},
		{"detect-central", "change", 2, 2, 2}, {"detect-central", "demand", 2, 2, 1}, {"detect-central", "batch", 2, 2, 2},
		{"detect-distributed", "", 2, 2, 2}, {"detect-distributed", "", 3, 3, 1},
	} {
		m, err := deadlock.Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		dinner := transactions.Dinner(m, c.mode, c.sites, c.processes)
		config := transacts(t, dinner, c.rounds)
		x := &dealing{newBook[*deal](t, config.Spec, algorithm.View{N: c.sites}), dinner}
		first := &deal{crew: x.born(), procs: slices.Repeat([]dealer{{left: c.rounds, wants: -1}}, c.processes)}
		for x.add(first); len(x.queue) > 0; x.queue = x.queue[1:] {
			x.next(x.queue[0])
		}
		states, saw := outcomes(t, config, reductions{})
		_, less := outcomes(t, config, reductions{losses: true, still: true, vain: true})
		if int(states) != len(x.seen) || saw != x.broken() || less != saw {
			t.Errorf("%+v: %d states, broken %q, with reductions %q; want %d, %q", c, states, saw, less, len(x.seen), x.broken())
		}
		for f := range x.faces {
			broken[f] = true
		}
	}
	for _, f := range []string{family.Cycle, family.Deadlock, family.FalseReport, family.OneVictim} {
		if !broken[f] {
			t.Errorf("no case breaks %s: too few to tell", f)
		}
	}
}

// outcomes explores a model: how many states there are, and what is broken.
func outcomes(t *testing.T, c Config, r reductions) (states int64, broken string) {
	t.Helper()
	m, err := newModel(c, r)
	if err != nil {
		t.Fatal(err)
	}
	e, err := explore.Explore(m, explore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range c.Names {
		if _, ok := e.Broken[m.Bit(name)]; ok {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return e.States, strings.Join(all, " ")
}
