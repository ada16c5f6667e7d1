package core_test

import (
	"errors"
	"testing"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/election"
	"github.com/stile-lock/stile/mutex"
	"github.com/stile-lock/stile/recovery"
)

// A machine made of two others is refused with any byte of its state missing,
// and shows the fields of both.
func TestInner(t *testing.T) {
	spec := recovery.With(mutex.Central, election.Bully())
	m, err := spec.New(1, core.View{N: 3, Holder: 1, Busy: true})
	if err != nil {
		t.Fatal(err)
	}
	state := m.AppendState(nil)
	for n := range state {
		twin, _ := spec.New(1, core.View{N: 3})
		if err := twin.LoadState(state[:n]); !errors.Is(err, core.ErrMalformed) {
			t.Errorf("%d of %d bytes: %v, want an error", n, len(state), err)
		}
	}
	found := map[string]string{}
	for _, f := range core.Describe(m, 3) {
		found[f.Name] = f.Value
	}
	if found["members"] != "1 2 3" || found["leader"] != "3" || found["state"] == "" {
		t.Errorf("the fields are %v", found)
	}
}

// Nobody is in a view without itself.
func TestRefuse(t *testing.T) {
	spec := recovery.With(mutex.Central, election.Bully())
	one, _ := spec.New(0, core.View{N: 2})
	other, _ := spec.New(1, core.View{N: 2})
	var out core.Output
	if err := one.Step(core.Input{Kind: core.Suspect, From: 1}, &out); err != nil {
		t.Fatal(err)
	}
	for timer := range 3 { // nobody answers it, so it makes a view of its own
		if err := one.Step(core.Input{Kind: core.Expire, Timer: timer}, &out); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.LoadState(one.AppendState(nil)); !errors.Is(err, core.ErrMalformed) {
		t.Errorf("a view of process 1 alone is loaded by process 2: %v", err)
	}
}
