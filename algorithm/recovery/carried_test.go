package recovery_test

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/recovery"
)

// A message of the lock is described with what the lock says in it, and nothing about
// views; of an older view, only that it is of one.
func TestDescribeCarried(t *testing.T) {
	spec := recovery.With(func(algorithm.ID) algorithm.Spec { return mutex.RicartAgrawala() }, election.Bully())
	born := func(self algorithm.ID) algorithm.Machine {
		m, err := spec.New(self, algorithm.View{N: 2})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	step := func(m algorithm.Machine, kind host.InputKind, from algorithm.ID, out *host.Output) {
		t.Helper()
		if err := m.Step(host.Input{Kind: kind, From: from}, out); err != nil {
			t.Fatal(err)
		}
	}
	one, two := born(0), born(1)
	var out host.Output
	step(one, host.Start, 0, &out)
	step(one, host.Request, 0, &out)
	request := slices.Clone(out.Bytes(0))
	step(two, host.Start, 0, &out)
	for _, c := range []struct {
		name string
		want []host.Field
	}{
		{"in its view", []host.Field{{Name: "epoch", Value: "0"}, {Name: "time", Value: "1"}}},
		{"in the next view", []host.Field{{Name: "epoch", Value: "0"}}},
	} {
		got, err := two.DescribeMessage(request)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
		step(two, host.Suspect, 0, &out) // P2 is the highest, and makes a view of its own
	}
}
