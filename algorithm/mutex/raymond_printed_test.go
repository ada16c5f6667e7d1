package mutex

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/check"
)

// asksAgain is the print with one of the two missing lines: who passes the
// privilege on asks for it, if others wait and it has not ASKED.
type asksAgain struct{ *raymondPrinted }

func (s *asksAgain) Receive(from algorithm.ID, m *raymondMessage, out *algorithm.Out[raymondMessage]) {
	s.raymondPrinted.Receive(from, m, out)
	s.ask(out)
}

func (s *asksAgain) Release(out *algorithm.Out[raymondMessage]) {
	s.raymondPrinted.Release(out)
	s.ask(out)
}

// forgetsAsked is the print with the other line: ASKED ends when the privilege
// comes.
type forgetsAsked struct{ *raymondPrinted }

func (s *forgetsAsked) Receive(from algorithm.ID, m *raymondMessage, out *algorithm.Out[raymondMessage]) {
	s.asked = s.asked && m.Kind != raymondPrivilege
	s.raymondPrinted.Receive(from, m, out)
}

// Both lines that the print lacks are needed: with either alone it comes to a
// standstill. With both nothing else is wrong with it.
func TestRaymondPrintedLacksTwoLines(t *testing.T) {
	for _, test := range []struct {
		name  string
		birth func(s *raymondPrinted) algorithm.Mutex[raymondMessage]
		want  check.Verdict
	}{
		{"as printed", func(s *raymondPrinted) algorithm.Mutex[raymondMessage] { return s }, check.Violated},
		{"asks again", func(s *raymondPrinted) algorithm.Mutex[raymondMessage] { return &asksAgain{s} }, check.Violated},
		{"forgets ASKED", func(s *raymondPrinted) algorithm.Mutex[raymondMessage] { return &forgetsAsked{s} }, check.Violated},
		{"both", func(s *raymondPrinted) algorithm.Mutex[raymondMessage] { return &bothLines{&asksAgain{s}} }, check.Holds},
	} {
		for _, tree := range []TreeOf{Star, Kary(1)} {
			spec := RaymondPrinted(tree)
			shape, err := tree(4)
			if err != nil {
				t.Fatal(err)
			}
			spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				return algorithm.New(self, v, test.birth(&raymondPrinted{*newRaymond(self, v, shape)}))
			})
			r, err := check.Run(check.Config{Spec: spec, Nodes: 4, Properties: []string{check.Deadlock}})
			if err != nil || r.Verdict != test.want {
				t.Errorf("%s: %v, %v; want %v", test.name, r.Verdict, err, test.want)
			}
		}
	}
}

type bothLines struct{ *asksAgain }

func (s *bothLines) Receive(from algorithm.ID, m *raymondMessage, out *algorithm.Out[raymondMessage]) {
	s.asked = s.asked && m.Kind != raymondPrivilege
	s.asksAgain.Receive(from, m, out)
}
