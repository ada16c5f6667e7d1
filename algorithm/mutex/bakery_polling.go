package mutex

import "github.com/stile-lock/stile/algorithm"

// BakeryPolling returns Bakery with busy waiting, as in the paper: every READ is answered
// at once, and a reader that must wait reads again.
//
// L. Lamport: A New Solution of Dijkstra's Concurrent Programming Problem. Communications
// of the ACM 17(8), 1974, pages 453-455.
func BakeryPolling() algorithm.Spec {
	s := Bakery()
	s.Name, s.Title = "bakery-polling", "Lamport's bakery, polling"
	s.Theory.Messages = algorithm.Cost{Text: "6(N-1) light, more in a long wait", Light: others(6)}
	s.Theory.Multicasts = algorithm.Cost{Text: "4N-2 light, more in a long wait", Light: s.Theory.Multicasts.Light}
	s.Theory.Sync = algorithm.Cost{Text: "1..6T", Any: between(1, 10), Saturated: between(1, 6)}
	s.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		b := newBakery(self, v)
		b.polling = true
		return algorithm.New(self, v, b)
	})
	return s
}
