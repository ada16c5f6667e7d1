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
	s.Rules[bakChosen], s.Rules[bakHoldChoosing], s.Rules[bakHoldTurn] = algorithm.Rule{}, algorithm.Rule{}, algorithm.Rule{}
	s.Rules[bakLeave] = algorithm.Rule{ID: "4", Text: "A process that leaves gives up its number.", Why: "{self} leaves, and gives up its number"}
	s.Rules[bakAgainChoosing] = algorithm.Rule{ID: "2e", Text: "A reader reads again as long as the other is choosing.", Why: "{self} reads again whether {who} is choosing", Sends: "READ", Waits: "self"}
	s.Rules[bakAgainTurn] = algorithm.Rule{ID: "2f", Text: "A reader reads again as long as the other is before it.", Why: "{self} reads the number of {who} again, because {a} comes before {b}", Sends: "READ", Waits: "self"}
	s.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		b := newBakery(self, v)
		b.polling = true
		return algorithm.New(self, v, b)
	})
	return s
}
