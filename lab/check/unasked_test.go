package check

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// A restless lock lets its process in again when it has left.
type restless struct{ again bool }

type silence struct{ Kind uint8 }

func (m *silence) Fields(c *algorithm.Coder) { c.Kind(&m.Kind, 0) }

func (r *restless) Fields(c *algorithm.Coder)                               { c.Bool("again", &r.again) }
func (r *restless) Request(out *algorithm.Out[silence])                     { out.Enter() }
func (r *restless) Receive(algorithm.ID, *silence, *algorithm.Out[silence]) {}
func (r *restless) Release(out *algorithm.Out[silence]) {
	if r.again = !r.again; r.again {
		out.Enter()
	}
}

// Who enters without having asked is found out.
func TestUnaskedEntry(t *testing.T) {
	r, err := Run(Config{Nodes: 1, Requests: 1, Properties: []string{MutualExclusion, Deadlock}, Spec: algorithm.Spec{
		Name: "restless", Kinds: []string{"NONE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &restless{})
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.First(); p == nil || p.Name != MutualExclusion || len(p.Trace) != 2 {
		t.Fatalf("%+v, want %s violated in 2 steps", p, MutualExclusion)
	}
	back, err := r.First().Replay()
	if err != nil || len(back.Differences) > 0 {
		t.Errorf("the counterexample, replayed: %v, %v", err, back.Differences)
	}
}
