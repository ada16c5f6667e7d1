package sim

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/internal/family/elections"
	"github.com/stile-lock/stile/lab/scenario"
)

// What there is in the end is judged when nothing is to come any more. In steps
// it is a line that tells somebody who is dead, or who is not, and lets somebody
// notice: where a run ends before, nobody knows.
func TestAgreementInTheEnd(t *testing.T) {
	mute := election.Ring()
	mute.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.NewElection(self, v, &muteElector{})
	})
	for _, c := range []struct {
		name   string
		spec   algorithm.Spec
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

func (m *muteLetter) Fields(c *algorithm.Coder) { c.Kind(&m.Kind, 0) }

func (*muteElector) Fields(*algorithm.Coder)                                       {}
func (*muteElector) Request(*algorithm.Out[muteLetter])                            {}
func (*muteElector) Receive(algorithm.ID, *muteLetter, *algorithm.Out[muteLetter]) {}

// A proud elector leads as soon as another one has noticed something.
type proudElector struct {
	muteElector
	self algorithm.ID
}

func (e *proudElector) Request(out *algorithm.Out[muteLetter]) { out.Broadcast(muteLetter{}) }

func (e *proudElector) Receive(_ algorithm.ID, _ *muteLetter, out *algorithm.Out[muteLetter]) {
	if e.self < 2 {
		out.Lead(e.self)
	}
}

// What was begun in one round is not counted in the next one, since it is marked: that
// a family marks messages is for the family to say, and what machines are born with has
// no part in it.
func TestFamilyThatMarks(t *testing.T) {
	spec := election.Bully()
	spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.NewElection(self, v, &proudElector{self: self})
	})
	f := elections.Family()
	f.Born = nil
	for lines, want := range map[string]int{
		"P1 asks\nP2 asks\ndeliver 1 -> 2\ndeliver 2 -> 1":           1,
		"P1 asks\nP2 asks\ncrash P3\ndeliver 1 -> 2\ndeliver 2 -> 1": 0,
	} {
		sc, err := scenario.Parse("", "algorithm bully\nprocesses 3\nschedule steps\n\n"+lines)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Replay(spec, sc, ReplayOptions{Family: f})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, v := range back.Violations {
			if v.Property == elections.OneLeader {
				got++
			}
		}
		if got != want {
			t.Errorf("%q: %d violations of one leader, want %d: %v", lines, got, want, back.Violations)
		}
	}
}
