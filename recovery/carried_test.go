package recovery_test

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/election"
	"github.com/stile-lock/stile/mutex"
	"github.com/stile-lock/stile/recovery"
)

// A message of the lock is described with what the lock says in it, and nothing about
// views; of an older view, only that it is of one.
func TestDescribeCarried(t *testing.T) {
	spec := recovery.With(func(core.ID) core.Spec { return mutex.RicartAgrawala() }, election.Bully())
	born := func(self core.ID) core.Machine {
		m, err := spec.New(self, core.View{N: 2})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	step := func(m core.Machine, kind core.InputKind, from core.ID, out *core.Output) {
		t.Helper()
		if err := m.Step(core.Input{Kind: kind, From: from}, out); err != nil {
			t.Fatal(err)
		}
	}
	one, two := born(0), born(1)
	var out core.Output
	step(one, core.Start, 0, &out)
	step(one, core.Request, 0, &out)
	request := slices.Clone(out.Bytes(0))
	step(two, core.Start, 0, &out)
	for _, c := range []struct {
		name string
		want []core.Field
	}{
		{"in its view", []core.Field{{Name: "epoch", Value: "0"}, {Name: "time", Value: "1"}}},
		{"in the next view", []core.Field{{Name: "epoch", Value: "0"}}},
	} {
		got, err := core.DescribeMessage(two, 2, request)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
		step(two, core.Suspect, 0, &out) // P2 is the highest, and makes a view of its own
	}
}
