package sim

import (
	"fmt"
	"math"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/lab/scenario"
)

// BenchmarkEvents compares the simulator with its own event loop: the same
// queue at the same length, and nothing else. Compare events/s within one run.
func BenchmarkEvents(b *testing.B) {
	for _, length := range []int{20, 100, 3000} {
		b.Run(fmt.Sprintf("empty-loop/queue=%d", length), func(b *testing.B) { emptyLoop(b, length) })
	}
	ra := mutex.RicartAgrawala()
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("ricart-agrawala/n=%d", n), func(b *testing.B) { saturated(b, ra, n) })
	}
	for _, spec := range []algorithm.Spec{mutex.Raymond(mutex.Kary(2)), mutex.SuzukiKasami()} {
		b.Run(spec.Name+"/n=10", func(b *testing.B) { saturated(b, spec, 10) })
	}
	b.Run("raymond/n=10000", func(b *testing.B) { saturated(b, mutex.Raymond(mutex.Kary(2)), 10_000) })
}

// emptyLoop takes out the next event and schedules another.
func emptyLoop(b *testing.B, length int) {
	k := newWorld(kernel.Config{Processes: 1, Latency: scenario.Always(scenario.T)}).Kernel
	k.Happen = func(e *kernel.Event) { k.At(e.At+scenario.T, kernel.Own, algorithm.None, 0) }
	r := kernel.NewRand(1, 0)
	for range length {
		k.At(r.Below(scenario.T), kernel.Own, algorithm.None, 0)
	}
	for b.Loop() {
		k.Step()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// saturated measures the steady state: one op is one event.
func saturated(b *testing.B, spec algorithm.Spec, n int) {
	c := Config{
		Spec: spec, Nodes: n, Entries: 1 << 40, Seed: 1,
		Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T),
	}
	w := warm(b, c)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.next(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(w.Len()), "queue")
}

// warm runs c until every process has been inside.
func warm(tb testing.TB, c Config) *world {
	load, err := c.prepare(c.kernel(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	load.begin()
	for load.exits < c.Nodes+100 {
		if err := load.next(); err != nil {
			tb.Fatal(err)
		}
	}
	return load.world
}

// TestSteadyStateAllocatesNothing counts allocations per message.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	c := Config{
		Spec: mutex.RicartAgrawala(), Nodes: 10, Entries: 1 << 40, Seed: 1,
		Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T),
	}
	w := warm(t, c)
	w.groups[0].shadow.next = math.MaxInt // twins are born, and do
	const events = 2000
	perRun := testing.AllocsPerRun(10, func() {
		for range events {
			if err := w.next(); err != nil {
				t.Fatal(err)
			}
		}
	})
	// The lists of samples and entries grow now and then; messages never do.
	if perRun > 10 {
		t.Errorf("%v allocations in %d events, want at most the growth of four lists", perRun, events)
	}
}
