package catalog

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
)

// A liar gives other reasons than the machine inside it.
type liar struct {
	algorithm.Machine
	lie func(self algorithm.ID, out *host.Output)
	at  algorithm.ID
}

func (l liar) Unwrap() algorithm.Machine { return l.Machine }

func (l liar) Step(in host.Input, out *host.Output) error {
	err := l.Machine.Step(in, out)
	if out.Listen && err == nil {
		l.lie(l.at, out)
	}
	return err
}

// TestPlantedReasons shows that wrong reasons are found.
func TestPlantedReasons(t *testing.T) {
	rule := func(id string) (at int) {
		for i, r := range mutex.RicartAgrawala().Rules {
			if r.ID == id {
				at = i
			}
		}
		return at
	}
	each := func(id string, f func(r *host.Reason)) func(algorithm.ID, *host.Output) {
		return func(_ algorithm.ID, out *host.Output) {
			for i := range out.Reasons {
				if out.Reasons[i].Rule == rule(id) {
					f(&out.Reasons[i])
				}
			}
		}
	}
	for _, c := range []struct {
		name, want string
		lie        func(self algorithm.ID, out *host.Output)
	}{
		{"none", "no reason at all", func(_ algorithm.ID, out *host.Output) { out.Reasons = nil }},
		{"swapped stamps", "does not come before", each("2d", func(r *host.Reason) { r.A, r.B = r.B, r.A })},
		{"an invented stamp", "in no state and no message", each("1", func(r *host.Reason) { r.A.Time += 1000 })},
		{"another recipient", "but the step does not", each("2a", func(r *host.Reason) { r.Who = (r.Who + 1) % 3 })},
		{"deferred, but answered", "without a reason", each("2a", func(r *host.Reason) { r.Rule = rule("2c") })},
		{"answered, but deferred", "but the step does not", each("2c", func(r *host.Reason) { r.Rule = rule("2a") })},
		{"waits, but enters", "enters without a reason", each("3b", func(r *host.Reason) { r.Rule, r.Who = rule("3a"), 0 })},
		{"enters, but waits", "but does not", each("3a", func(r *host.Reason) { r.Rule = rule("3b") })},
		{"too few recipients", "without a reason", each("4", func(r *host.Reason) { r.Set = r.Set[:min(1, len(r.Set))] })},
		{"a message only for listeners", "does something else", func(_ algorithm.ID, out *host.Output) { out.Entered = false }},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := mutex.RicartAgrawala()
			plan := spec.Plan
			spec.Plan = func(n int) (algorithm.Birth, error) {
				birth, err := plan(n)
				return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return liar{birth(self, v), c.lie, self} }, err
			}
			b, err := newBench(spec, 3, 5, make(map[int]bool))
			if err != nil {
				t.Fatal(err)
			}
			found := b.faults
			if err := b.lock(400, 1); err != nil {
				found = append(found, err.Error())
			}
			if found = append(found, b.faults...); !strings.Contains(strings.Join(found, "\n"), c.want) {
				t.Errorf("got %d faults, none with %q", len(found), c.want)
			}
		})
	}
}
