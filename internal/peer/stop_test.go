package peer

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/engine"
)

// allLeave has all leave, one after the other, so many milliseconds apart. The process
// of who has left is gone, and with it what is still under way. It returns who waits in
// vain. The last one, if it is hasty, does not wait for the others.
func allLeave(w *town, apart int, hasty bool) []string {
	gone := func() {
		for _, h := range w.houses {
			h.down = h.down || len(h.ends) > 0 || hasty && h.Inc() != 0 && len(h.Record().Members) == 1
		}
	}
	for _, h := range w.houses {
		if !h.down {
			h.Leave(w.now)
		}
		for range apart {
			gone()
			w.step()
		}
	}
	var stay []string
	for _, h := range w.houses {
		for n := 0; !h.down && n < 4000; n++ {
			w.step()
			gone()
		}
		if !h.down {
			stay = append(stay, h.name)
		}
	}
	return stay
}

// each tries voters and members of several numbers, who leave at several distances.
func each(try func(what string, build func(t *testing.T) *town, apart int)) {
	for _, n := range [][2]int{{1, 2}, {1, 5}, {3, 3}, {3, 5}, {5, 5}} {
		for apart := 0; apart < 40; apart += 2 {
			what := fmt.Sprintf("%d voters of %d members, %d ms apart", n[0], n[1], apart)
			try(what, func(t *testing.T) *town {
				return village(t, n[0], []string{"a", "b", "c", "d", "e"}[:n[1]]...)
			}, apart)
		}
	}
}

// All can leave at once, or one after the other at any distance, and none of them
// waits for somebody who is gone.
func TestAllLeave(t *testing.T) {
	each(func(what string, build func(t *testing.T) *town, apart int) {
		w := build(t)
		if stay := allLeave(w, apart, false); stay != nil {
			t.Errorf("%s: %q stay for ever", what, stay)
		}
		for _, h := range w.houses {
			if h.Err != nil || !slices.Equal(h.ends, []engine.Ending{engine.Left}) {
				t.Errorf("%s: %s: %v, %v", what, h.name, h.ends, h.Err)
			}
		}
	})
}

// So it is if the first that each of them is told, a view or that it is gone, is lost.
func TestAllLeaveLossy(t *testing.T) {
	for _, kind := range []engine.Kind{engine.View, engine.Gone} {
		each(func(what string, build func(t *testing.T) *town, apart int) {
			w := build(t)
			lost := map[string]bool{}
			w.lost = func(p parcel) bool {
				first := p.bytes[0] == Service && engine.Kind(p.bytes[1]) == kind && !lost[p.to]
				lost[p.to] = lost[p.to] || first
				return first
			}
			if stay := allLeave(w, apart, false); stay != nil {
				t.Errorf("%s, without a %v: %q stay for ever", what, kind, stay)
			}
		})
	}
}

// The check itself: if the last one does not wait for the others, they stay.
func TestHastyLast(t *testing.T) {
	found := 0
	each(func(what string, build func(t *testing.T) *town, apart int) {
		if found < 10 && allLeave(build(t), apart, true) != nil {
			found++
		}
	})
	if found < 10 {
		t.Errorf("found %d times", found)
	}
}
