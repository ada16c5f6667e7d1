package model

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A skewed site does with its clock what must not be done.
type skewed struct {
	algorithm.Machine
	bug string
}

func (s skewed) Step(in host.Input, out *host.Output) error {
	clock := s.Clock()
	if s.bug == "parity" && in.Kind == host.Request && clock%2 == 0 {
		out.Reset()
		return nil // it has not heard
	}
	if err := s.Machine.Step(in, out); err != nil || s.bug != "leap" || in.Kind != host.Request {
		return err
	}
	var none host.Output
	return s.Machine.Step(host.Input{Kind: host.Hear, From: algorithm.None, Time: s.Clock() + 3}, &none)
}

// Sites that do more with clocks than compare, copy and count by one are told
// so: nothing is proved by numbering their states anew.
func TestLiftOfSites(t *testing.T) {
	for _, c := range []struct{ bug, want string }{
		{"", ""},
		{"parity", "changes when logical times are shifted"},
		{"leap", "by more than one"},
	} {
		m, err := New(transacts(t, transactions.Dinner(deadlock.None(), "", 2, 2), 0))
		if err != nil {
			t.Fatal(err)
		}
		birth := m.birth
		m.birth = func(self algorithm.ID, v algorithm.View) algorithm.Machine { return skewed{birth(self, v), c.bug} }
		_, err = explore.BuildGraph(m, explore.GraphLimits{})
		var lift LiftError
		if errors.As(err, &lift) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.bug, err, c.want)
		}
	}
}

// What happens at sites is told as what happens at sites.
func TestSitesAreTold(t *testing.T) {
	c := transacts(t, transactions.Dinner(deadlock.DetectCentral(), deadlock.OnDemand, 2, 3), 1)
	kinds := map[int]script.ActionKind{doDeliver: script.Deliver, doExpire: script.ExpireSite, doCrash: script.CrashSite, doSuspect: script.SuspectSite}
	told := map[int]int{}
	r := rand.New(rand.NewPCG(10, 1))
	for i := range 60 {
		c.Crashes = i % 2
		m, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		w := m.worker()
		var p Path
		var timers []int32
		if err := w.Init(func(s []byte) bool { p.States = [][]byte{slices.Clone(s)}; return false }); err != nil {
			t.Fatal(err)
		}
		for range 40 {
			n, chosen, timer := 0, uint32(0), int32(0)
			var next []byte
			if _, err := w.Next(p.States[len(p.States)-1], func(s explore.Step, b []byte) {
				if n++; r.IntN(n) == 0 {
					next, chosen, timer = append(next[:0], b...), s.Label, 0
					if x := moveOf(chosen); x.kind == doExpire {
						timer = w.from.timers[x.nth].id
					}
				}
			}); err != nil {
				t.Fatal(err)
			}
			if next == nil {
				break
			}
			p.States, p.Labels, timers = append(p.States, slices.Clone(next)), append(p.Labels, chosen), append(timers, timer)
		}
		steps, _, err := m.Run(p)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range steps {
			x := moveOf(p.Labels[i])
			if x.kind == doAct {
				continue
			}
			told[x.kind]++
			want := script.Action{Kind: kinds[x.kind], Proc: x.p, Peer: x.peer, Timer: int(timers[i])}
			if x.kind == doDeliver {
				want.Proc, want.Peer = x.peer, x.p
			}
			got := s.Actions[len(s.Actions)-1]
			if len(s.Actions) != 1 || got.Kind != want.Kind || got.Proc != want.Proc || got.Peer != want.Peer || got.Timer != want.Timer {
				t.Errorf("%+v is told as %v, want %v", x, s.Actions, want)
			}
			if site := m.name(x.p); !strings.Contains(s.Words, site) || x.kind == doSuspect && !strings.Contains(s.Words, m.name(x.peer)) {
				t.Errorf("%+v is told as %q, which does not name %s", x, s.Words, site)
			}
			if x.kind == doDeliver && !slices.ContainsFunc(m.Spec.Kinds, func(kind string) bool { return strings.Contains(s.Words, kind) }) {
				t.Errorf("%+v is told as %q, which names no message", x, s.Words)
			}
		}
	}
	for kind := range kinds {
		if told[kind] < 5 {
			t.Errorf("steps of kind %d were told %d times: too few", kind, told[kind])
		}
	}
}
