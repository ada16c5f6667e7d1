package mutex

import (
	"errors"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// A forgetful process does not say in Fields who waits for its OK.
type forgetful struct{ ricartAgrawala }

func (s *forgetful) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Time("clock", &s.clock)
	c.Set("given", &s.given)
	c.When(s.state != released)
	c.Time("asked", &s.asked)
	c.Set("missing", &s.missing)
	c.Always()
}

// A field that changes and is left out of Fields is found out by both hosts, and
// named.
func TestFieldLeftOut(t *testing.T) {
	spec := RicartAgrawala()
	spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &forgetful{*newRicartAgrawala(self, v)})
	})
	_, simulated := sim.Run(sim.Config{
		Spec: spec, Nodes: 3, Entries: 100, Seed: 1,
		Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T),
	})
	_, checked := check.Run(check.Config{Spec: spec, Nodes: 3, Network: algorithm.Unordered})
	for where, err := range map[string]error{"sim": simulated, "check": checked} {
		if !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), `"deferred"`) {
			t.Errorf("%s: %v", where, err)
		}
	}
}
