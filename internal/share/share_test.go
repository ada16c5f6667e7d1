package share

import "testing"

// take takes as many places as a user gets, beside those that others have.
func take(room, others int) int {
	own := 0
	for Allows(room, others+own, own) && own < 1000 {
		own++
	}
	return own
}

// One user gets a little more than half of an idle pool, and an eighth of one that is more
// than half used, as long as there is room.
func TestAllows(t *testing.T) {
	for _, c := range []struct{ room, others, want int }{
		{800, 0, 401},
		{800, 300, 101},
		{800, 401, 100},
		{800, 750, 50},
		{800, 800, 0},
		{1, 0, 1},
		{2, 0, 2},
		{4, 0, 3},
		{4, 3, 1},
		{0, 0, 1000},
	} {
		if got := take(c.room, c.others); got != c.want {
			t.Errorf("of %d places, of which others have %d, one gets %d, and not %d", c.room, c.others, got, c.want)
		}
	}
}
