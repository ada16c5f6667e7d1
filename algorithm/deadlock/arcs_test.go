package deadlock

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// With fewer arcs behind the head of a queue, there is a deadlock exactly if there is one with
// all arcs, and those that confirm it are enough: if all others go on, it is still there. Where
// units are awaited, the cycle is the same.
func TestFewerArcs(t *testing.T) {
	found, none := 0, 0
	for seed := range uint64(4000) {
		chance := rand.New(rand.NewPCG(seed, 0))
		units := int(seed%2) * (2 + chance.IntN(4))
		k := keeperOf(t, DetectCentral(), KeeperConfig{Units: units})
		var all []Request
		for i := range 9 {
			r := begun(1, i+1, uint64(1+chance.IntN(100)), Mode(chance.IntN(max(2, units+1))))
			all = append(all, r)
			k.Request(r)
		}
		// Some that hold the lock wait elsewhere, for others that hold or await it.
		var others []Arc
		for _, h := range k.Holds() {
			if on := all[chance.IntN(len(all))].Attempt; chance.IntN(4) > 0 && on.Tx != h.Tx {
				from := h.Attempt
				from.Seq = 2
				others = append(others, arc(from, on, 0))
			}
		}
		full, few := Deadlocks(append(k.arcs(len(all)), others...)), Deadlocks(append(k.arcs(2), others...))
		if (full == nil) != (few == nil) {
			t.Fatalf("seed %d, %d units, queue %v: %v with all arcs, %v with fewer", seed, units, k.Waits(), full, few)
		}
		if full == nil {
			none++
			continue
		}
		found++
		a, b := full[0], few[0]
		sure := Deadlocks(slices.DeleteFunc(append(k.arcs(len(all)), others...), func(a Arc) bool { return !slices.Contains(b.Behind, a.From) }))
		if sure == nil || units > 0 && !(slices.Equal(a.Cycle, b.Cycle) && slices.Equal(a.Cycle, sure[0].Cycle)) {
			t.Fatalf("seed %d, %d units: %v with all arcs, %v with fewer, %v among those that confirm it", seed, units, a, b, sure)
		}
	}
	if min(found, none) < 500 {
		t.Errorf("%d deadlocks, %d times none: too few to compare", found, none)
	}
}

// The graph of a long queue has few arcs for each request in it.
func TestLongQueue(t *testing.T) {
	const waiters = 10_000
	for _, units := range []int{0, 3} {
		k := keeperOf(t, DetectCentral(), KeeperConfig{Units: units})
		for i := range waiters {
			k.Request(begun(1, i+1, uint64(i+1), Mode(i%2)))
		}
		if n := len(k.Arcs()); n < waiters-2 || n > 4*waiters+plainArcs*plainArcs {
			t.Errorf("%d units: %d arcs of %d requests", units, n, len(k.Waits()))
		}
	}
}
