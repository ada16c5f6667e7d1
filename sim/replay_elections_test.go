package sim

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/election"
	"github.com/stile-lock/stile/family/elections"
	"github.com/stile-lock/stile/scenario"
)

// What there is in the end is judged when nothing is to come any more. In steps
// it is a line that tells somebody who is dead, or who is not, and lets somebody
// notice: where a run ends before, nobody knows.
func TestAgreementInTheEnd(t *testing.T) {
	mute := election.Ring()
	mute.Plan = core.Always(func(self core.ID, v core.View) core.Machine {
		return core.NewElection(self, v, &muteElector{})
	})
	for _, c := range []struct {
		name   string
		spec   core.Spec
		lines  string
		broken bool
	}{
		{"nobody has noticed", election.Ring(), "crash P3", false},
		{"one is to be told of a death, another is wrong", election.Ring(), "crash P1\nP2 suspects P1\nP2 suspects P3\nP2 asks", false},
		{"nobody cares", mute, "crash P3", true},
	} {
		sc, err := scenario.Parse("", "algorithm ring-election\nprocesses 3\nholder 3 busy\nschedule steps\n\n"+c.lines)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Replay(c.spec, sc, ReplayOptions{})
		if err != nil {
			t.Fatal(err)
		}
		broken := slices.ContainsFunc(back.Violations, func(v Violation) bool { return v.Property == elections.Agreement })
		if broken != c.broken {
			t.Errorf("%s: agreement is violated %v, want %v: %v", c.name, broken, c.broken, back.Violations)
		}
	}
}

// A muteElector does nothing, whatever happens.
type muteElector struct{}

type muteLetter struct{ Kind uint8 }

func (m *muteLetter) Fields(c *core.Coder) { c.Kind(&m.Kind, 0) }

func (*muteElector) Fields(*core.Coder)                                  {}
func (*muteElector) Request(*core.Out[muteLetter])                       {}
func (*muteElector) Receive(core.ID, *muteLetter, *core.Out[muteLetter]) {}
