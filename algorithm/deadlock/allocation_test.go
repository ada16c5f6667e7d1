package deadlock

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// allocated returns a graph: what each transaction has, and then asks for.
func allocated(t testing.TB, transactions int, units []int, has, asks [][2]int) *Allocation {
	a := NewAllocation(transactions, units...)
	for _, x := range has {
		if err := a.Assign(algorithm.ID(x[0]-1), x[1]-1); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range asks {
		a.Request(algorithm.ID(x[0]-1), x[1]-1)
	}
	return a
}

// bothPicture is the pair of textbooks: the same cycle P1 - R1 - P3 - R2, once
// with a way out and once without.
func bothPicture(t testing.TB) (cycle, deadlocked *Allocation) {
	cycle = allocated(t, 4, []int{2, 2}, [][2]int{{2, 1}, {3, 1}, {1, 2}, {4, 2}}, [][2]int{{1, 1}, {3, 2}})
	deadlocked = allocated(t, 3, []int{1, 2}, [][2]int{{3, 1}, {1, 2}, {2, 2}}, [][2]int{{1, 1}, {2, 1}, {3, 2}})
	return cycle, deadlocked
}

// TestAllocationText: a cycle that is no deadlock, and one that is.
func TestAllocationText(t *testing.T) {
	cycle, deadlocked := bothPicture(t)
	if len(cycle.WaitFor().Cycles()) == 0 || len(deadlocked.WaitFor().Cycles()) == 0 {
		t.Error("want a cycle in both")
	}
	want := `  R1 [P2] [P3] <-- P1
  R2 [P1] [P4] <-- P3
  can end, in this order: P2 P4 P1 P3
`
	if got := cycle.Text(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	want = `  R1 [P3] <-- P1 <-- P2
  R2 [P1] [P2] <-- P3
  deadlocked: P1 P2 P3
`
	if got := deadlocked.Text(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	many := NewAllocation(40, 60)
	for tx := range algorithm.ID(40) {
		if err := many.Assign(tx, 0); err != nil {
			t.Fatal(err)
		}
		many.Request(tx, 0)
		many.Request(tx, 0)
	}
	for line := range strings.Lines(many.Text()) {
		if len(line) > 81 {
			t.Errorf("a line of %d columns: %s", len(line)-1, line)
		}
	}
}

// TestAllocationSVG: a dot for every instance, an arrow for every edge, and
// the colour of rings for who is deadlocked only; and each once more in the
// legend, if it is there.
func TestAllocationSVG(t *testing.T) {
	cycle, deadlocked := bothPicture(t)
	for _, c := range []struct {
		a                  *Allocation
		dots, blue, alarms int
	}{{cycle, 4 + 1, 6 + 1, 0}, {deadlocked, 3 + 1, 0, 6 + 1}} {
		svg := c.a.SVG("a < b")
		for what, want := range map[string]int{`r="3.5"`: c.dots, "url(#wait)": c.blue, "url(#ring)": c.alarms, "a &lt; b": 1, ">1.<": min(1, c.blue) * 2, ">4.<": min(1, c.blue)} {
			if got := strings.Count(svg, what); got != want {
				t.Errorf("%s is there %d times, want %d", what, got, want)
			}
		}
	}
}

func ExampleAllocation() {
	a := NewAllocation(3, 1, 2) // R1, and R2 of which there are two
	_ = a.Assign(0, 1)
	_ = a.Assign(1, 1)
	_ = a.Assign(2, 0)
	a.Request(0, 0)
	a.Request(2, 1)
	fmt.Print(a.Text())
	fmt.Println("cycle", Round(a.WaitFor().Cycles()[0]))
	// Output:
	//   R1 [P3] <-- P1
	//   R2 [P1] [P2] <-- P3
	//   can end, in this order: P2 P3 P1
	// cycle P1->P3->P1
}
