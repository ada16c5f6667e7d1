package mutex

import (
	"testing"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// TestTheoryIsTrue measures every figure of theory: with constant latency T
// and critical sections of T, full and with hardly anybody asking.
func TestTheoryIsTrue(t *testing.T) {
	for _, spec := range soundA() {
		for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 25, 31, 57, 100} {
			if spec.Accepts(n) != nil {
				continue
			}
			full := sim.Config{
				Spec: spec, Nodes: n, Entries: 3*n + 20, Seed: uint64(n),
				Latency: scenario.Always(scenario.T), Hold: scenario.Always(scenario.T),
			}
			measure(t, full, core.Saturated)
			light := full
			light.Entries = 60
			light.Think = scenario.Dist{Shape: scenario.Exponential, A: 1000 * int64(n) * scenario.T}
			measure(t, light, core.Light)
		}
	}
}

// measure runs c and compares what it measured with what theory says.
func measure(t *testing.T, c sim.Config, load core.Load) {
	t.Helper()
	r, err := sim.Run(c)
	if err != nil {
		t.Fatal(err)
	}
	where := func(what string) string {
		return c.Spec.Name + ": " + what
	}
	if r.Violations != 0 {
		t.Errorf("%s among %d: %v", c.Spec.Name, c.Nodes, r.Found[0])
	}
	if r.Entries != c.Entries {
		t.Errorf("%s among %d: %d entries, want %d", c.Spec.Name, c.Nodes, r.Entries, c.Entries)
	}
	th := c.Spec.Theory
	inside(t, where("messages"), c.Nodes, th.Messages, load, r.PerEntry, r.PerEntry)
	inside(t, where("multicasts"), c.Nodes, th.Multicasts, load, r.Multicasts, r.Multicasts)
	if r.Client != nil {
		inside(t, where("client delay"), c.Nodes, th.Client, load, r.Client.Mean, r.Client.Max)
	}
	if r.Sync != nil {
		inside(t, where("sync delay"), c.Nodes, th.Sync, load, r.Sync.Mean, r.Sync.Max)
	}
}

func inside(t *testing.T, what string, n int, c core.Cost, load core.Load, lo, hi float64) {
	t.Helper()
	want, ok := c.At(n, load)
	const slack = 1e-9
	if ok && (lo < want.Lo-slack || hi > want.Hi+slack) {
		t.Errorf("%s, %d processes, load %d: %.4f to %.4f, theory says %g to %g", what, n, load, lo, hi, want.Lo, want.Hi)
	}
}
