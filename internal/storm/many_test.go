package storm

import (
	"os"
	"strconv"
	"testing"
)

func TestMany(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("SEEDS"))
	if err != nil {
		t.Skip()
	}
	from, _ := strconv.Atoi(os.Getenv("FROM"))
	sum := map[Invariant]int{}
	shown := map[Invariant]int{}
	var all Result
	for s := from; s < from+n; s++ {
		c := pick(uint64(s))
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		all.Entries += r.Entries
		all.Views += r.Views
		all.Lost += r.Lost
		all.Strikes += r.Strikes
		all.Longest = max(all.Longest, r.Longest)
		all.Simulated += r.Simulated
		for i := range r.Frames {
			all.Frames[i] += r.Frames[i]
		}
		if v := r.Violation; v != nil {
			sum[v.Invariant]++
			if shown[v.Invariant]++; shown[v.Invariant] < 6 {
				t.Logf("seed %d (%s, %d, handover %d): %v", s, c.Algorithms[0].Algorithm, c.Nodes, c.Settings.Handover, v)
			}
		}
	}
	t.Logf("%v %+v", sum, all)
}
