package recovery_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/recovery"
	"github.com/stile-lock/stile/internal/nightly"
)

// Frames of a view that has not come are kept, all of them: but a peer that
// sends them without end fills no memory.
func TestEarlyFramesAreKept(t *testing.T) {
	spec := recovery.With(plain(mutex.RicartAgrawala), election.Bully())
	group, err := spec.Group(algorithm.View{N: 3})
	if err != nil {
		t.Fatal(err)
	}
	var out host.Output
	if err := group[0].Step(host.Input{Kind: host.Request, From: algorithm.None}, &out); err != nil || len(out.Sends) == 0 {
		t.Fatalf("%d messages, %v", len(out.Sends), err)
	}
	frame := slices.Clone(out.Bytes(0))
	frame[1] = 1 // of the next epoch
	for sent := 1; sent <= 1100; sent++ {
		if err := group[2].Step(host.Input{Kind: host.Receive, From: 0, Bytes: frame}, &out); err != nil {
			t.Fatal(err)
		}
		if got := early(group[2]); got != min(sent, 1000) {
			t.Fatalf("after %d frames %d are kept, want them all, up to 1000", sent, got)
		}
	}
}

// early returns how many frames a process keeps.
func early(m algorithm.Machine) int {
	for _, f := range m.Describe() {
		if f.Name == "early" {
			n, _ := strconv.Atoi(f.Value)
			return n
		}
	}
	return -1
}

// The checker, too, sees that early frames are needed: it finds nothing wrong,
// and without them somebody waits for ever.
func TestEarlyFramesInTheChecker(t *testing.T) {
	nightly.Only(t)
	if explored(t, flawed{}) {
		t.Errorf("something is broken without a flaw")
	}
	lost := flawed{take: func(f *flawed, in *host.Input) bool { return !f.ofLock(in) || in.Bytes[1] <= f.epoch() }}
	if !explored(t, lost) {
		t.Errorf("the checker does not notice that early frames are lost")
	}
}
