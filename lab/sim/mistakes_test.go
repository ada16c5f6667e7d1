package sim

import (
	"errors"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/scenario"
)

// strayMessage and stray make an algorithm that sends to a seat that does not
// exist.
type strayMessage struct{ Kind uint8 }

func (m *strayMessage) Fields(c *algorithm.Coder) { c.Kind(&m.Kind, 0) }

type stray struct{ self algorithm.ID }

func (s *stray) Fields(*algorithm.Coder) {}

func (s *stray) Request(out *algorithm.Out[strayMessage]) { out.Send(s.self+1, strayMessage{}) }

func (s *stray) Release(*algorithm.Out[strayMessage]) {}

func (s *stray) Receive(algorithm.ID, *strayMessage, *algorithm.Out[strayMessage]) {}

// mumbling and mumbler make an algorithm that sends what it cannot read.
type mumbling struct {
	Kind uint8
	N    int
}

func (m *mumbling) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, 0)
	c.Int("n", &m.N, 3)
}

type mumbler struct{}

func (mumbler) Fields(*algorithm.Coder)                                   {}
func (mumbler) Request(out *algorithm.Out[mumbling])                      { out.Broadcast(mumbling{N: 4}) }
func (mumbler) Release(*algorithm.Out[mumbling])                          {}
func (mumbler) Receive(algorithm.ID, *mumbling, *algorithm.Out[mumbling]) {}

// What an author gets wrong ends a run with an error that says so.
func TestMistakesOfTheAuthor(t *testing.T) {
	unnamed, idle := mutex.RicartAgrawala(), mutex.RicartAgrawala()
	unnamed.Kinds = unnamed.Kinds[:1]
	idle.Plan = nil
	for _, c := range []struct {
		spec algorithm.Spec
		want string
	}{
		{algorithm.Spec{Name: "stray", Kinds: []string{"OK"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &stray{self})
		})}, "P3 sent OK to seat 4 of 3"},
		{algorithm.Spec{Name: "mumbler", Kinds: []string{"NONE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, mumbler{})
		})}, "malformed bytes: field n"},
		{algorithm.Spec{Name: "denier", Kinds: []string{"NONE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &denier{})
		})}, "P1 denied a request"},
		{unnamed, "kinds 0 to 1, but the Spec names 1"},
		{idle, "has no Plan"},
	} {
		_, err := Run(Config{Spec: c.spec, Nodes: 3, Entries: 10, Latency: scenario.Always(scenario.T), Seed: 1})
		if !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// A tired lock counts behind the back of Fields, and from some number on lets
// nobody in.
type tired struct{ count int }

func (s *tired) Fields(*algorithm.Coder) {}

func (s *tired) Request(out *algorithm.Out[strayMessage]) {
	if s.count++; s.count != 5000 {
		out.Enter()
	}
}

func (s *tired) Release(*algorithm.Out[strayMessage]) {}

func (s *tired) Receive(algorithm.ID, *strayMessage, *algorithm.Out[strayMessage]) {}

// Beside a violation stands which field is missing from Fields, though none of
// the steps that are taken twice has shown it.
func TestViolationNamesMissingField(t *testing.T) {
	spec := algorithm.Spec{Name: "tired", Kinds: []string{"OK"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &tired{})
	})}
	r, err := Run(Config{Spec: spec, Nodes: 1, Entries: 6000, Latency: scenario.Always(scenario.T), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Found) != 1 || !strings.Contains(r.Found[0].String(), `"count" changes`) {
		t.Errorf("got %v, want one violation that names the field", r.Found)
	}
}
