package sim

import (
	"errors"
	"strings"
	"testing"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/mutex"
	"github.com/stile-lock/stile/scenario"
)

// strayMessage and stray make an algorithm that sends to a seat that does not
// exist.
type strayMessage struct{ Kind uint8 }

func (m *strayMessage) Fields(c *core.Coder) { c.Kind(&m.Kind, 0) }

type stray struct{ self core.ID }

func (s *stray) Fields(*core.Coder) {}

func (s *stray) Request(out *core.Out[strayMessage]) { out.Send(s.self+1, strayMessage{}) }

func (s *stray) Release(*core.Out[strayMessage]) {}

func (s *stray) Receive(core.ID, *strayMessage, *core.Out[strayMessage]) {}

// What an author gets wrong ends a run with an error that says so.
func TestMistakesOfTheAuthor(t *testing.T) {
	unnamed, idle := mutex.RicartAgrawala(), mutex.RicartAgrawala()
	unnamed.Kinds = unnamed.Kinds[:1]
	idle.Plan = nil
	for _, c := range []struct {
		spec core.Spec
		want string
	}{
		{core.Spec{Name: "stray", Kinds: []string{"OK"}, Plan: core.Always(func(self core.ID, v core.View) core.Machine {
			return core.New(self, v, &stray{self})
		})}, "P3 sent OK to seat 4 of 3"},
		{unnamed, "kinds 0 to 1, but the Spec names 1"},
		{idle, "has no Plan"},
	} {
		_, err := Run(Config{Spec: c.spec, Nodes: 3, Entries: 10, Latency: scenario.Always(scenario.T), Seed: 1})
		if !errors.Is(err, core.ErrAlgorithm) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
