package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/family"
	"github.com/stile-lock/stile/mutex"
	"github.com/stile-lock/stile/scenario"
)

// Whoever asks again and again while somebody is inside for long has lost
// nothing. A request that nobody ever grants is lost, though messages go on for
// ever.
func TestStall(t *testing.T) {
	deaf := mutex.TokenRing()
	plan := deaf.Plan
	deaf.Plan = func(n int) (core.Birth, error) {
		birth, err := plan(n)
		return func(self core.ID, v core.View) core.Machine { return &unheard{birth(self, v)} }, err
	}
	for _, c := range []struct {
		spec core.Spec
		want []string
	}{
		{mutex.BakeryPolling(), nil},
		{mutex.CentralDeny(0), nil},
		{deaf, []string{family.LostRequest}},
	} {
		config := constant(c.spec, 3, 4)
		config.Hold = scenario.Always(60_000 * scenario.T)
		r, err := Run(config)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Compact(broken(r.Found)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v broken, want %v", c.spec.Name, got, c.want)
		}
	}
}

// A lock that denies every request does not run for ever.
func TestDeniedForEver(t *testing.T) {
	_, err := Run(constant(core.Spec{Name: "aloof", TryLock: true, Kinds: []string{"NONE"}, Plan: core.Always(func(self core.ID, v core.View) core.Machine {
		return core.New(self, v, &denier{})
	})}, 3, 4))
	if err == nil || !strings.Contains(err.Error(), "nobody gets in") || !strings.Contains(err.Error(), "were denied") {
		t.Errorf("got %v", err)
	}
}

// A denier lets nobody in.
type denier struct{ eager }

func (*denier) Request(out *core.Out[nothing]) { out.Deny() }

// An unheard machine is not told that its application asks.
type unheard struct{ core.Machine }

func (u *unheard) Step(in core.Input, out *core.Output) error {
	if in.Kind == core.Request {
		*out = core.Output{}
		return nil
	}
	return u.Machine.Step(in, out)
}
