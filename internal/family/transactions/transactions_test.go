package transactions

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// A bench is a host of one site, which keeps everything to itself.
type bench struct {
	family.Host
	t      *testing.T
	m      algorithm.Machine
	env    *Env
	broken []string
}

func (b *bench) Step(_ algorithm.ID, in host.Input) {
	var out host.Output
	if err := b.m.Step(in, &out); err != nil {
		b.t.Fatal(err)
	}
	b.env.Took(b, 0, in, false, out.Notices)
}
func (b *bench) Dead(algorithm.ID) bool                 { return false }
func (b *bench) Hears() bool                            { return false }
func (b *bench) Tell(trace.Event)                       {}
func (b *bench) Machine(algorithm.ID) algorithm.Machine { return b.m }
func (b *bench) Break(name string, _, _ algorithm.ID)   { b.broken = append(b.broken, name) }
func (b *bench) do(kind script.ActionKind, p int) {
	b.env.Do(b, family.Act{Kind: kind, Proc: algorithm.ID(p)})
}

func newBench(t *testing.T) *bench {
	t.Helper()
	c := Dinner(deadlock.None(), "", 1, 2)
	spec, err := c.Spec()
	if err != nil {
		t.Fatal(err)
	}
	birth, err := spec.Birth(1)
	if err != nil {
		t.Fatal(err)
	}
	env, err := New(c, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, m: birth(0, algorithm.View{N: 1}), env: env}
}

// Who waits for whom is known by who has what.
func TestWhoWaitsForWhom(t *testing.T) {
	b := newBench(t)
	for _, p := range []int{0, 1, 0} {
		b.do(script.Proceed, p)
	}
	if !slices.Equal(b.env.Next(0), []algorithm.ID{1}) || b.env.Next(1) != nil || b.env.Cycle(0) != nil {
		t.Errorf("P1 waits for %v, P2 for %v: want P2, nobody", b.env.Next(0), b.env.Next(1))
	}
	b.do(script.Proceed, 1)
	if got := deadlock.Round(b.env.Cycle(1)); got != "P2->P1->P2" {
		t.Errorf("the cycle of P2 is %s", got)
	}
	other := b.env.New().(*Env)
	if rest := other.Load(b.env.Append(nil)); len(rest) > 0 || deadlock.Round(other.Cycle(0)) != "P1->P2->P1" {
		t.Errorf("loaded, the cycle of P1 is %v", other.Cycle(0))
	}
}

// What comes between two attempts is about the one that is over: it must not
// hide that the next one waits.
func TestDoomedTooLate(t *testing.T) {
	b := newBench(t)
	b.do(script.Proceed, 0)
	doomed := host.Notice{Kind: host.Doomed, Who: 0, Attempt: 1}
	b.env.Took(b, 0, host.Input{}, false, []host.Notice{doomed})
	if !b.env.clients[0].doomed {
		t.Fatal("P1 is not doomed: the attempt has another number")
	}
	b.env.Took(b, 0, host.Input{}, false, []host.Notice{{Kind: host.Victim, Who: 0}, doomed})
	b.env.Took(b, 0, host.Input{}, false, []host.Notice{doomed})
	for _, p := range []int{0, 1, 0, 1} {
		b.do(script.Proceed, p)
	}
	if b.env.Cycle(0) == nil {
		t.Error("P1 counts as doomed for what was said of the attempt before: the deadlock is not seen")
	}
}

// What must never happen is said.
func TestBroken(t *testing.T) {
	for _, c := range []struct {
		notice host.Notice
		want   string
	}{
		{host.Notice{Kind: host.Granted, Who: 0}, family.UnaskedGrant},
		{host.Notice{Kind: host.Granted, Who: 1}, family.MutualExclusion},
		{host.Notice{Kind: host.Victim, Who: 0, Cycle: []algorithm.ID{0, 1}}, family.FalseReport},
	} {
		b := newBench(t)
		for _, p := range []int{0, 0, 1} { // P1 has both, and P2 waits
			b.do(script.Proceed, p)
		}
		b.env.Took(b, 0, host.Input{}, false, []host.Notice{c.notice})
		if len(b.broken) != 1 || b.broken[0] != c.want {
			t.Errorf("%+v breaks %v, want %s", c.notice, b.broken, c.want)
		}
	}
	b := newBench(t)
	if b.env.Took(b, 0, host.Input{}, false, []host.Notice{{Kind: host.Victim, Who: 1}}); len(b.broken) != 1 || b.broken[0] != family.IdleVictim {
		t.Errorf("an idle victim breaks %v", b.broken)
	}
}
