package storm

import (
	"testing"

	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/nightly"
)

// Thousands of names on links with little room break nothing.
func TestLarge(t *testing.T) {
	nightly.Only(t)
	full := 0
	for _, seed := range []uint64{2, 7, 17, 29} {
		c := pick(seed)
		r := kernel.NewRand(seed, 29)
		c.large(&r)
		got, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if got.Violation != nil {
			t.Errorf("seed %d, %s among %d: %v", seed, c.Algorithms[0].Algorithm, c.Nodes, got.Violation)
		}
		t.Logf("seed %d: %d members, %d locks, %d applications: %d entries, %d views, %d reports, %d full links", seed, c.Nodes, c.Locks, c.Apps, got.Entries, got.Views, got.Frames[frameNumber("REPORT")], got.Full)
		full += got.Full
	}
	if full == 0 {
		t.Error("no link was full")
	}
}
