package algorithm_test

import (
	"errors"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/recovery"
)

// A machine made of two others is refused with any byte of its state missing,
// and shows the fields of both.
func TestInner(t *testing.T) {
	spec := recovery.With(mutex.Central, election.Bully())
	m, err := spec.New(1, algorithm.View{N: 3, Holder: 1, Busy: true})
	if err != nil {
		t.Fatal(err)
	}
	state := m.AppendState(nil)
	for n := range state {
		twin, _ := spec.New(1, algorithm.View{N: 3})
		if err := twin.LoadState(state[:n]); !errors.Is(err, host.ErrMalformed) {
			t.Errorf("%d of %d bytes: %v, want an error", n, len(state), err)
		}
	}
	found := map[string]string{}
	for _, f := range m.Describe() {
		found[f.Name] = f.Value
	}
	if found["members"] != "1 2 3" || found["leader"] != "3" || found["state"] == "" {
		t.Errorf("the fields are %v", found)
	}
}

// Nobody is in a view without itself.
func TestRefuse(t *testing.T) {
	spec := recovery.With(mutex.Central, election.Bully())
	one, _ := spec.New(0, algorithm.View{N: 2})
	other, _ := spec.New(1, algorithm.View{N: 2})
	var out host.Output
	if err := one.Step(host.Input{Kind: host.Suspect, From: 1}, &out); err != nil {
		t.Fatal(err)
	}
	for timer := range 3 { // nobody answers it, so it makes a view of its own
		if err := one.Step(host.Input{Kind: host.Expire, Timer: timer}, &out); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.LoadState(one.AppendState(nil)); !errors.Is(err, host.ErrMalformed) {
		t.Errorf("a view of process 1 alone is loaded by process 2: %v", err)
	}
}

// The seats of a machine within another are called as those who sit there are, also if
// the outer one has a part of the processes only.
func TestInnerSeats(t *testing.T) {
	spec := recovery.With(func(algorithm.ID) algorithm.Spec { return mutex.RicartAgrawala() }, election.Bully())
	m, err := spec.New(2, algorithm.View{N: 3})
	if err != nil {
		t.Fatal(err)
	}
	var out host.Output
	for _, in := range []host.Input{{Kind: host.Start}, {Kind: host.Suspect, From: 0}, {Kind: host.Suspect, From: 1}, {Kind: host.Request}} {
		if err := m.Step(in, &out); err != nil {
			t.Fatal(err)
		}
	}
	value := func(name string, members ...algorithm.ID) string {
		for _, f := range m.Describe(members...) {
			if f.Name == name {
				return f.Value
			}
		}
		return ""
	}
	if got := value("members"); got != "3" {
		t.Errorf("the members are %s, want 3", got)
	}
	if got := value("members", 0, 4, 6); got != "7" {
		t.Errorf("among P1, P5 and P7 the members are %s, want 7", got)
	}
}
