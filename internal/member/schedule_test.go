package member

import (
	"math/rand/v2"
	"testing"
)

// What is scheduled comes in the order of time, however it was put there, moved or removed.
func TestScheduleInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var a schedule
		all := make([]due, 40)
		for i := range all {
			a.put(&all[i], Instant(r.Int64N(100)))
		}
		for range 20 {
			a.put(&all[r.IntN(len(all))], Instant(r.Int64N(100)))
			a.remove(&all[r.IntN(len(all))])
		}
		last := Instant(0)
		for len(a.heap) > 0 {
			if a.first() < last {
				t.Fatalf("%d comes after %d", a.first(), last)
			}
			last = a.first()
			a.remove(a.heap[0])
		}
	}
}
