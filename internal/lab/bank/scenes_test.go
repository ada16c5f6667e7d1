package bank

import (
	"testing"

	"github.com/stile-lock/stile/algorithm/catalog"
)

// Every scene goes wrong without a lock, with the seed that is usual and with many
// others, and is right with every sound algorithm.
func TestScenes(t *testing.T) {
	for _, s := range Scenes() {
		wrong := 0
		for seed := range uint64(100) {
			c := s.Config(4, 1, seed)
			c.Lock = NoLock()
			r := play(t, c)
			doubles := r.Doubles()
			if len(doubles) > 0 {
				wrong++
			}
			if (len(doubles) > 0) != (r.Lost > 0) || seed == 1 && len(doubles) == 0 {
				t.Errorf("%s, seed %d: %d lost, doubled %v", s.Name, seed, r.Lost, doubles)
			}
		}
		if wrong < 50 {
			t.Errorf("%s: only %d of 100 seeds show it", s.Name, wrong)
		}
		for _, lock := range catalog.Sound() {
			if lock.Accepts(4) != nil {
				continue
			}
			for seed := range uint64(10) {
				c := s.Config(4, 2, seed)
				c.Lock = lock
				if r := play(t, c); len(r.Doubles()) > 0 || r.Lost != 0 || r.Balance != 8 || len(r.Found) > 0 {
					t.Errorf("%s with %s, seed %d: %+v", s.Name, lock.Name, seed, *r)
				}
			}
		}
	}
}

// A scene says all that a person is told.
func TestScenesAreWhole(t *testing.T) {
	for _, s := range Scenes() {
		for what, text := range map[string]string{"title": s.Title, "lane": s.Lane, "number": s.Number, "who": s.Who, "does": s.Does, "thing": s.Thing, "twice": s.Twice, "left": s.Left} {
			if text == "" {
				t.Errorf("%s has no %s", s.Name, what)
			}
		}
	}
}

func TestDoubles(t *testing.T) {
	r := &Result{Taken: []Taken{{2, 1}, {0, 2}, {1, 1}, {0, 3}, {2, 2}, {1, 2}}}
	got := r.Doubles()
	if len(got) != 2 || got[0].Number != 1 || len(got[0].By) != 2 || got[1].Number != 2 || got[1].By[2] != 2 {
		t.Errorf("got %v", got)
	}
}
