package mutex

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/internal/kernel"
)

// Lamport's and Ricart and Agrawala's algorithms grant all requests in the order of their
// stamps, concurrent ones too; so does the version of 1981, which breaks the order in
// which requests happened. Algorithms that ask fewer processes do not.
func TestEntriesInStampOrder(t *testing.T) {
	for _, test := range []struct {
		spec  algorithm.Spec
		keeps bool
	}{
		{Lamport(), true},
		{RicartAgrawala(), true},
		{RicartAgrawala1981(), true},
		{CarvalhoRoucairol(), false},
		{Maekawa(quorum.Grid), false},
		{Majority(), false},
	} {
		backwards := 0
		for seed := range uint64(30) {
			backwards += entriesBackwards(t, test.spec, 4, seed, 200)
		}
		if (backwards == 0) != test.keeps {
			t.Errorf("%s: %d entries have a smaller stamp than the one before", test.spec.Name, backwards)
		}
	}
}

// entriesBackwards counts the entries of a random schedule whose stamp is smaller than
// that of the entry before.
func entriesBackwards(t *testing.T, spec algorithm.Spec, n int, seed uint64, steps int) (count int) {
	t.Helper()
	w := &walk{rig: group(t, spec, n), rand: kernel.NewRand(seed, 11), fifo: spec.Network == algorithm.FIFO, asking: true}
	type stamp struct{ time, process int }
	stamps := make([]stamp, n)
	var last stamp
	for range steps {
		before, entries := slices.Clone(w.phase), len(w.entries)
		w.move()
		for i, was := range before {
			if was == released && w.phase[i] != released {
				stamps[i] = stamp{requestTime(t, w.ms[i]), i}
			}
		}
		if len(w.entries) == entries {
			continue
		}
		now := stamps[w.entries[entries]-1]
		if now.time < last.time || now.time == last.time && now.process < last.process {
			count++
		}
		last = now
	}
	return count
}

// requestTime returns the time with which a process has just stamped its request: its
// clock.
func requestTime(t *testing.T, m algorithm.Machine) int {
	t.Helper()
	for _, f := range m.Describe() {
		if f.Name == "clock" {
			time, err := strconv.Atoi(f.Value)
			if err != nil {
				t.Fatal(err)
			}
			return time
		}
	}
	t.Fatal("a machine without a clock")
	return 0
}
