package mutex

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/core"
)

// soundA lists the algorithms of this half of the package, central ones with
// two coordinators.
func soundA() []core.Spec {
	return []core.Spec{
		Central(0), Central(2), CentralDeny(0), CentralDeny(2), CentralStamped(0), CentralStamped(2),
		TokenRing(), TokenRingLazy(), Lamport(), CarvalhoRoucairol(), RicartAgrawalaToken(), NaimiTrehel(),
	}
}

// tokensOf returns how many tokens an algorithm has, or -1 if it knows none.
func tokensOf(s core.Spec) int {
	if slices.Contains(s.Kinds, "TOKEN") {
		return 1
	}
	return -1
}

// TestWalkFromAnyView walks at random from every start, with every number of
// processes up to 5, on the weakest network that the algorithm claims.
func TestWalkFromAnyView(t *testing.T) {
	for _, spec := range soundA() {
		for n := 1; n <= 5; n++ {
			if spec.Accepts(n) != nil {
				continue
			}
			for holder := range core.ID(n) {
				for _, busy := range []bool{false, true} {
					v := core.View{N: n, Holder: holder, Busy: busy}
					for seed := range uint64(8) {
						h := newHost(t, spec, v)
						h.start()
						rng := rand.New(rand.NewPCG(seed, uint64(n)))
						if wrong := h.walk(rng, 300, spec.Network == core.FIFO, tokensOf(spec)); wrong != "" {
							t.Errorf("%s, %+v, seed %d: %s", spec.Name, v, seed, wrong)
						}
						if len(h.entries) == 0 {
							t.Errorf("%s, %+v, seed %d: nobody ever got in", spec.Name, v, seed)
						}
					}
				}
			}
		}
	}
}

// TestNeedsFIFO shows that the two that claim FIFO break without it.
func TestNeedsFIFO(t *testing.T) {
	for _, spec := range []core.Spec{TokenRingLazy(), Lamport()} {
		broken := 0
		for seed := range uint64(200) {
			h := newHost(t, spec, core.View{N: 4})
			if h.walk(rand.New(rand.NewPCG(seed, 0)), 100, false, tokensOf(spec)) != "" {
				broken++
			}
		}
		if broken == 0 {
			t.Errorf("%s never breaks on a network that reorders: claim the weaker network", spec.Name)
		}
		t.Logf("%s: %d of 200 walks broke", spec.Name, broken)
	}
}

// TestNonsense feeds machines with every message of the algorithm at any time
// and from anybody: they may lose their way, but must not panic.
func TestNonsense(t *testing.T) {
	for _, spec := range soundA() {
		n := 4
		rng := rand.New(rand.NewPCG(1, 1))
		h := newHost(t, spec, core.View{N: n})
		var seen [][]byte
		for range 4000 {
			p := core.ID(rng.IntN(n))
			in := core.Input{Kind: core.InputKind(rng.IntN(4))}
			if in.Kind == core.Receive {
				in.From = core.ID(rng.IntN(n))
				in.Bytes = make([]byte, rng.IntN(8))
				for i := range in.Bytes {
					in.Bytes[i] = byte(rng.IntN(5))
				}
				if len(seen) > 0 && rng.IntN(2) == 0 {
					in.Bytes = seen[rng.IntN(len(seen))]
				}
			}
			before := h.machines[p].AppendState(nil)
			if err := h.machines[p].Step(in, &h.out); err != nil {
				if !slices.Equal(before, h.machines[p].AppendState(nil)) {
					t.Fatalf("%s: a malformed message changed the state", spec.Name)
				}
				continue
			}
			for i := range h.out.Sends {
				seen = append(seen, slices.Clone(h.out.Bytes(i)))
			}
			if err := h.machines[p].LoadState(h.machines[p].AppendState(nil)); err != nil {
				t.Fatalf("%s: after nonsense: %v", spec.Name, err)
			}
		}
	}
}

// TestCoordinatorMustExist: a coordinator that is not among the processes is
// refused, with the reason.
func TestCoordinatorMustExist(t *testing.T) {
	for _, f := range []func(core.ID) core.Spec{Central, CentralDeny, CentralStamped} {
		for _, c := range []core.ID{-1, 3, 100} {
			if err := f(c).Accepts(3); err == nil {
				t.Errorf("%s: coordinator %d of 3 was accepted", f(c).Name, c+1)
			}
		}
		if err := f(2).Accepts(3); err != nil {
			t.Error(err)
		}
	}
	want := "coordinator 4 among 3 processes: it must be one of them, 1 to 3"
	if err := Central(3).Accepts(3); fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
