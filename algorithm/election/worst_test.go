package election_test

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
)

// A letter is a message under way.
type letter struct {
	from, to algorithm.ID
	bytes    []byte
}

// A rush is a group in which messages from and to the highest process take no
// time, and all others one after the other: whoever is asked has ended what it
// was asked before. Timeouts do not come, since all is soon over.
type rush struct {
	t        *testing.T
	machines []algorithm.Machine
	dead     []algorithm.ID
	way      []letter
	sent     int
}

func newRush(t *testing.T, spec algorithm.Spec, o election.Outset) *rush {
	t.Helper()
	ms, err := spec.Group(algorithm.View{N: o.N, Holder: algorithm.ID(o.N - 1), Busy: true})
	if err != nil {
		t.Fatal(err)
	}
	r := &rush{t: t, machines: ms, dead: o.Dead}
	for p := range algorithm.ID(o.N) {
		for _, id := range o.Dead {
			if p != id {
				r.step(p, host.Input{Kind: host.Suspect, From: id})
			}
		}
	}
	return r
}

func (r *rush) step(p algorithm.ID, in host.Input) {
	r.t.Helper()
	var out host.Output
	if err := r.machines[p].Step(in, &out); err != nil {
		r.t.Fatal(err)
	}
	for i, s := range out.Sends {
		r.sent++
		if !slices.Contains(r.dead, s.To) {
			r.way = append(r.way, letter{p, s.To, slices.Clone(out.Bytes(i))})
		}
	}
}

func (r *rush) deliver(i int) {
	l := r.way[i]
	r.way = slices.Delete(r.way, i, i+1)
	r.step(l.to, host.Input{Kind: host.Receive, From: l.from, Bytes: l.bytes})
}

// settle delivers what goes to the highest or comes from it.
func (r *rush) settle() {
	top := algorithm.ID(len(r.machines) - 1)
	for {
		i := slices.IndexFunc(r.way, func(l letter) bool { return l.from == top || l.to == top })
		if i < 0 {
			return
		}
		r.deliver(i)
	}
}

func (r *rush) run(starters []algorithm.ID) int {
	for _, p := range starters {
		r.step(p, host.Input{Kind: host.Request})
		r.settle()
	}
	for len(r.way) > 0 {
		r.deliver(0)
		r.settle()
	}
	return r.sent
}

// The most that bully sends with the highest alive is reached, whoever else is
// dead and whoever starts.
func TestBullyWorst(t *testing.T) {
	tried := 0
	outsets(func(o election.Outset) {
		if slices.Contains(o.Dead, algorithm.ID(o.N-1)) {
			return
		}
		tried++
		want := o.Bully().Hi
		if got := newRush(t, election.Bully(), o).run(o.Starters); float64(got) != want {
			t.Errorf("%+v: %d messages, theory says at most %v", o, got, want)
		}
	})
	if tried == 0 {
		t.Error("nothing was tried")
	}
}
