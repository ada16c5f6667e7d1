package mutex

import "github.com/stile-lock/stile/algorithm"

// RicartAgrawala1981 returns RicartAgrawala with clocks as in the paper: only a REQUEST
// advances them, an OK does not.
//
// G. Ricart, A. K. Agrawala: An Optimal Algorithm for Mutual Exclusion in Computer
// Networks. Communications of the ACM 24(1), 1981, pages 9-17.
//
// It is safe and live, but not fair as claimed. P2 requests at 1; P3 hears it and
// requests at 2; P1 hears P3 and then answers P2; P2 enters, leaves and requests again.
// It has not heard of P3's request, although P1's OK happened after it: P2 requests at 2
// again, and (2,2) is served before (2,3).
func RicartAgrawala1981() algorithm.Spec {
	s := RicartAgrawala()
	s.Name, s.Title = "ricart-agrawala-1981", "Ricart-Agrawala as published"
	s.Wrong = "a request can be granted before one that happened before it, because an OK does not carry the clock"
	s.Fixed = "ricart-agrawala"
	s.Shown = "stile-lab check ricart-agrawala-1981"
	s.Spreads = true
	s.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &ricartAgrawala1981{*newRicartAgrawala(self, v)})
	})
	return s
}

type ricartAgrawala1981 struct{ ricartAgrawala }

func (s *ricartAgrawala1981) Receive(from algorithm.ID, m *raMessage, out *algorithm.Out[raMessage]) {
	if m.Kind == raOK {
		m.Time = algorithm.Time{} // the clock is ignored
	}
	s.ricartAgrawala.Receive(from, m, out)
}
