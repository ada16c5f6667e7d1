package mutex

import "github.com/stile-lock/stile/algorithm"

// BakeryNaive returns Bakery without choosing: a process takes a number and waits for its
// turn, without waiting for those that are about to take one.
//
// L. Lamport: A New Solution of Dijkstra's Concurrent Programming Problem. Communications
// of the ACM 17(8), 1974, pages 453-455, says what choosing is for.
//
// P1 and P2 both read 0. P2 takes 1, sees that P1 has no number and enters. Only then
// does P1 take its 1, sees (1,1) < (1,2) and enters too.
func BakeryNaive() algorithm.Spec {
	s := Bakery()
	s.Name, s.Title = "bakery-naive", "The bakery without choosing"
	s.Wrong = "two processes can be inside: one chose its number after the other had read it"
	s.Fixed = "bakery"
	s.Shown = "stile-lab check bakery-naive"
	s.Theory.Messages = algorithm.Cost{Text: "4(N-1)", Any: others(4)}
	s.Theory.Multicasts = algorithm.Cost{Text: "2N light", Any: func(n int) algorithm.Range {
		if n == 1 {
			return algorithm.Range{}
		}
		return algorithm.Range{Lo: float64(n + 1), Hi: float64(2 * n)}
	}}
	s.Theory.Client = algorithm.Cost{Text: "4T", Any: between(4, 4)}
	s.Theory.Sync = algorithm.Cost{Text: "1..4T", Any: between(1, 4)}
	for _, i := range []int{bakChosen, bakAskChoosing, bakAskTurn, bakHoldChoosing} {
		s.Rules[i] = algorithm.Rule{}
	}
	s.Rules[bakNaive] = algorithm.Rule{ID: "2a", Text: "With a number, a process waits for those with a smaller one.", Why: "{self} reads the numbers of all others again", Sends: "READ"}
	s.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &bakeryNaive{*newBakery(self, v)})
	})
	return s
}

type bakeryNaive struct{ bakery }

func (s *bakeryNaive) Receive(from algorithm.ID, m *bakMessage, out *algorithm.Out[bakMessage]) {
	if m.Kind != bakValue || m.What != bakNumber || !s.unread.Has(from) {
		s.bakery.Receive(from, m, out)
		return
	}
	s.highest.See(m.Number)
	s.unread.Remove(from)
	if !s.unread.Empty() {
		out.Because(bakMore, facts{Who: from, Set: &s.unread})
	} else {
		s.takeNumber(out)
		s.allOthers(&s.ahead)
		out.Because(bakNaive, facts{})
		out.Broadcast(s.readTurn())
	}
}
