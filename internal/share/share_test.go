package share

import "testing"

// take takes as many places as a user gets, beside those that others have.
func take(room, others int) int {
	own := 0
	for Allows(room, others+own, own, 1) && own < 1000 {
		own++
	}
	return own
}

// One user gets half of an idle pool, and of one that others use half of what they leave.
func TestAllows(t *testing.T) {
	for _, c := range []struct{ room, others, want int }{
		{800, 0, 400},
		{800, 300, 250},
		{800, 750, 25},
		{800, 799, 1},
		{800, 800, 0},
		{1, 0, 1},
		{2, 0, 1},
		{4, 0, 2},
		{4, 2, 1},
		{0, 0, 1000},
	} {
		if got := take(c.room, c.others); got != c.want {
			t.Errorf("of %d places, of which others have %d, one gets %d, and not %d", c.room, c.others, got, c.want)
		}
	}
}

// However many users take all that they can get, there is a place for another one.
func TestGreedy(t *testing.T) {
	for greedy := range 20 {
		own, used := make([]int, greedy), 0
		for more := true; more; {
			more = false
			for i := range own {
				if Allows(100, used, own[i], 1) {
					own[i]++
					used++
					more = true
				}
			}
		}
		if !Allows(100, used, 0, 1) {
			t.Errorf("%d users leave no place", greedy)
		}
	}
}
