package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// What every sound algorithm must do, whatever it is.

var sizes = nightly.Pick([]int{1, 2, 3, 4, 7, 9, 13}, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 25, 31, 57, 100})

// constant is a run in which every message and every stay takes T.
func constant(spec algorithm.Spec, n, entries int) Config {
	return Config{
		Spec: spec, Nodes: n, Entries: entries, Seed: 1,
		Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T),
	}
}

// varied is a run in which everything takes a random time.
func varied(spec algorithm.Spec, n, entries int, seed uint64) Config {
	return Config{
		Spec: spec, Nodes: n, Entries: entries, Seed: seed, Network: spec.Network,
		Think:   scenario.Exponential(2 * scenario.T),
		Hold:    scenario.Exponential(scenario.T / 2),
		Latency: scenario.Exponential(scenario.T),
	}
}

func mustRun(t *testing.T, c Config) *Result {
	t.Helper()
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Violations > 0 {
		t.Fatalf("%s among %d, seed %d: %v\nreproduce: stile-lab sim %s --nodes %d --entries %d --seed %d --think %v --hold %v --latency %v --network %v",
			r.Algorithm, r.Nodes, r.Seed, r.Found[0], r.Algorithm, r.Nodes, c.Entries, r.Seed, c.Think, c.Hold, c.Latency, c.Network)
	}
	if r.Entries != c.Entries {
		t.Fatalf("%s among %d: %d of %d requests granted", r.Algorithm, r.Nodes, r.Entries, c.Entries)
	}
	return r
}

// topologies returns spec and the same algorithm over its other topologies.
func topologies(t *testing.T, spec algorithm.Spec) []algorithm.Spec {
	names := map[string][]string{
		"maekawa": {"plane", "majority"},
		"raymond": {"star", "line", "tree:3"},
		"sanders": {"maekawa", "central"},
	}[spec.Name]
	specs := []algorithm.Spec{spec}
	for _, name := range names {
		s, err := catalog.Make(spec.Name, algorithm.Options{Topology: name})
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, s)
	}
	return specs
}

// Messages and delays are what theory says, at light load and at saturation,
// for every size.
func TestTheory(t *testing.T) {
	for _, spec := range catalog.Sound() {
		t.Run(spec.Name, func(t *testing.T) {
			for _, spec := range topologies(t, spec) {
				for _, n := range sizes {
					if spec.Accepts(n) != nil {
						continue
					}
					full := constant(spec, n, max(60, 4*n))
					checkTheory(t, full, algorithm.Saturated)
					light := constant(spec, n, 60)
					light.Think = scenario.Exponential(1000 * int64(n) * scenario.T)
					checkTheory(t, light, algorithm.Light)
				}
			}
		})
	}
}

func checkTheory(t *testing.T, c Config, load algorithm.Load) {
	t.Helper()
	r := mustRun(t, c)
	if c.Nodes == 1 {
		load = algorithm.AnyLoad
	}
	inside := func(what string, cost algorithm.Cost, lo, hi float64) {
		// Light runs are random: two requests may meet after all.
		want, ok := cost.At(c.Nodes, load)
		if any, _ := cost.At(c.Nodes, algorithm.AnyLoad); load == algorithm.Light && r.Sync != nil {
			want = algorithm.Range{Lo: min(want.Lo, any.Lo), Hi: max(want.Hi, any.Hi)}
		}
		const rounding = 1e-9
		if ok && (lo < want.Lo-rounding || hi > want.Hi+rounding) {
			t.Errorf("%s among %d, think %v: %s is %v to %v, theory says %v to %v",
				c.Spec.Name, c.Nodes, c.Think, what, lo, hi, want.Lo, want.Hi)
		}
	}
	theory := c.Spec.Theory
	inside("messages per entry", theory.Messages, r.PerEntry, r.PerEntry)
	inside("multicasts per entry", theory.Multicasts, r.Multicasts, r.Multicasts)
	if r.Client != nil {
		inside("client delay", theory.Client, r.Client.P50, r.Client.Max)
	}
	if r.Sync != nil {
		inside("synchronisation delay", theory.Sync, r.Sync.P50, r.Sync.Max)
	}
}

// Nobody enters while another is inside and every request is granted, with
// random times, on the weakest network that the algorithm claims, and a
// machine rebuilt from its bytes before every step behaves the same.
func TestVaried(t *testing.T) {
	for _, spec := range catalog.Sound() {
		t.Run(spec.Name, func(t *testing.T) {
			for _, spec := range topologies(t, spec) {
				for _, n := range nightly.Pick([]int{1, 3, 7}, []int{1, 2, 3, 4, 5, 7, 13}) {
					if spec.Accepts(n) != nil {
						continue
					}
					for seed := range nightly.Pick[uint64](2, 5) {
						c := varied(spec, n, 100, seed)
						resident := run(t, c)
						c.Paged = true
						if paged := run(t, c); !bytes.Equal(paged, resident) {
							t.Fatalf("%s among %d, seed %d: a machine rebuilt from its bytes behaves differently", spec.Name, n, seed)
						}
					}
				}
			}
		})
	}
}

// run returns everything that a run measured and a digest of what happened.
func run(t *testing.T, c Config) []byte {
	t.Helper()
	var digest uint64
	c.Observe = func(e trace.Event) {
		mixed := kernel.NewRand(digest, uint64(e.At)<<8^uint64(e.Kind)^uint64(e.Proc)<<40^uint64(e.Msg)<<20)
		digest = mixed.Uint64()
	}
	b, err := json.Marshal(mustRun(t, c))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(b, "%x", digest)
}

// Every start is legitimate: any holder, inside or not.
func TestStart(t *testing.T) {
	for _, spec := range catalog.Sound() {
		t.Run(spec.Name, func(t *testing.T) {
			for _, spec := range topologies(t, spec) {
				for _, n := range []int{1, 2, 3, 4, 7} {
					if spec.Accepts(n) != nil {
						continue
					}
					for holder := range algorithm.ID(n) {
						for _, busy := range []bool{false, true} {
							c := varied(spec, n, 30, uint64(holder))
							c.Holder, c.Busy = holder, busy
							mustRun(t, c)
						}
					}
				}
			}
		})
	}
}

// If a machine gives d an alibi and takes no further step, d is not inside and
// does not get inside.
func TestAlibi(t *testing.T) {
	given := map[string]int{}
	for _, spec := range catalog.Sound() {
		for _, spec := range topologies(t, spec) {
			for _, n := range []int{3, 7} {
				if spec.Accepts(n) != nil {
					continue
				}
				for seed := range uint64(60) {
					given[spec.Name] += alibi(t, spec, n, seed)
				}
			}
		}
	}
	for _, spec := range catalog.Live() {
		if given[spec.Name] == 0 {
			t.Errorf("%s never gave an alibi: nothing was tested", spec.Name)
		}
	}
}

// alibi freezes a machine at a random moment and returns how many alibis it
// gave then.
func alibi(t *testing.T, spec algorithm.Spec, n int, seed uint64) int {
	t.Helper()
	c := varied(spec, n, 30, seed)
	c.Network = algorithm.FIFO
	c.Holder = algorithm.ID(seed) % algorithm.ID(n)
	k := c.kernel()
	k.Adversary = true
	load, err := c.prepare(k, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := load.world
	on := load.loads[0]
	load.begin()
	r := kernel.NewRand(seed, 99)
	frozen := algorithm.None
	var excluded algorithm.Set
	for step, at := int64(0), r.Below(300); w.Pending() && step < 3000; step++ {
		if step == at {
			frozen = algorithm.ID(r.Below(int64(n)))
			for d := range algorithm.ID(n) {
				if on.machines[frozen].Alibi(d) {
					excluded.Add(d)
					if on.env.Inside(d) {
						t.Fatalf("%s among %d, seed %d: %v gives %v an alibi, which is inside", spec.Name, n, seed, frozen, d)
					}
				}
			}
			w.Pause(frozen)
		}
		if err := w.next(); err != nil {
			t.Fatal(err)
		}
		for d := range excluded.All() {
			if on.env.Inside(d) {
				t.Fatalf("%s among %d, seed %d: %v gave %v an alibi, and it got inside", spec.Name, n, seed, frozen, d)
			}
		}
	}
	return excluded.Len()
}
