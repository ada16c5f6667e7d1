package mutex

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/kernel"
)

// ring is a Dijkstra ring with these flags, each known to the successor.
func ring(t *testing.T, k int, flags string) *rig {
	n := len(flags)
	r := group(t, Dijkstra(k), n)
	for i, m := range r.ms {
		left := (i + n - 1) % n
		for name, text := range map[string]string{"flag": flags[i : i+1], "left": flags[left : left+1]} {
			if err := m.Assign(name, text); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

func (r *rig) flags() string {
	var b strings.Builder
	for _, m := range r.ms {
		for _, f := range m.Describe() {
			if f.Name == "flag" {
				b.WriteString(f.Value)
			}
		}
	}
	return b.String()
}

// round delivers what is in flight now, so that all move at once.
func (r *rig) round() {
	for range len(r.flight) {
		r.take(0)
	}
}

// privileges counts the privileged processes.
func (r *rig) privileges() int {
	n := 0
	for _, m := range r.ms {
		n += m.Tokens()
	}
	return n
}

func TestDijkstraFrom0000(t *testing.T) {
	r := group(t, Dijkstra(0), 4)
	r.ask(1, 2, 3, 4)
	for p := 1; p <= 4; p++ {
		r.leave(p)
		if len(r.flight) != 1 {
			t.Errorf("a move of P%d sent %d messages, want 1", p, len(r.flight))
		}
		r.settleUntilEntry()
	}
	r.wantEntries(1, 2, 3, 4)
}

// settleUntilEntry delivers until somebody enters or the privilege has gone
// round once.
func (r *rig) settleUntilEntry() {
	for n, i := len(r.entries), 0; len(r.entries) == n && i < r.view.N && len(r.flight) > 0; i++ {
		r.take(0)
	}
}

// With two values and all moving at once, three privileges stay for ever.
func TestDijkstraTooFewValues(t *testing.T) {
	r := ring(t, 2, "0101")
	r.start()
	for i := range 24 {
		want := []string{"0010", "1001", "0100", "1010", "1101", "0110", "1011", "0101"}[i%8]
		if got := r.flags(); got != want {
			t.Fatalf("after %d rounds the flags are %s, want %s", i+1, got, want)
		}
		if len(r.flight) != 3 {
			t.Fatalf("%s: %d privileges moved, want 3", r.flags(), len(r.flight))
		}
		r.round()
	}
}

// With 2N values the ring comes to one privilege from any flags and any
// copies, if flags are told again now and then.
func TestDijkstraStabilises(t *testing.T) {
	for seed := range uint64(50) {
		rand := kernel.NewRand(seed, 3)
		n := 2 + int(rand.Below(5))
		r := group(t, Dijkstra(0), n)
		for _, m := range r.ms {
			for _, name := range []string{"flag", "left"} {
				if err := m.Assign(name, strconv.FormatInt(rand.Below(int64(2*n)), 10)); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.start()
		for range 20 * n {
			r.round()
			for p := 1; p <= n; p++ {
				r.step(p, host.Input{Kind: host.Expire})
			}
		}
		r.ask(1)
		for i := 0; len(r.entries) == 0 && i < 3*n; i++ {
			r.round()
		}
		r.wantEntries(1)
		r.settle() // ends only if nobody else is privileged
		if got := r.privileges(); got != 1 {
			t.Errorf("seed %d N=%d: %d privileges, want 1", seed, n, got)
		}
	}
}

func TestDijkstraRefusesOneValue(t *testing.T) {
	for _, k := range []int{-1, 1} {
		if err := Dijkstra(k).Accepts(3); err == nil || !strings.Contains(err.Error(), "at least 2") {
			t.Errorf("k=%d: got %v", k, err)
		}
	}
}

func TestDijkstraAloneIsSilent(t *testing.T) {
	r := group(t, Dijkstra(0), 1)
	r.start()
	for range 3 {
		r.ask(1)
		r.leave(1)
		r.step(1, host.Input{Kind: host.Expire})
	}
	r.wantEntries(1, 1, 1)
	if len(r.flight) > 0 {
		t.Errorf("%d messages, want none", len(r.flight))
	}
}
