package draw

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

func graphOf(edges ...[2]int) *deadlock.Graph {
	g := &deadlock.Graph{}
	for _, e := range edges {
		g.Add(algorithm.ID(e[0]-1), algorithm.ID(e[1]-1), "")
	}
	return g
}

// TestWaitForText: each cycle is a ring of its own, within 80 columns.
func TestWaitForText(t *testing.T) {
	g := graphOf([2]int{1, 2}, [2]int{2, 3}, [2]int{3, 4}, [2]int{4, 2})
	want := " +->P2 --> P3 --> P4 -+\n +--------------------+\n  P1 --> P2\n"
	if got := WaitForText(g); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	long := &deadlock.Graph{}
	for i := range 40 {
		long.Add(algorithm.ID(i), algorithm.ID((i+1)%40), "L100")
	}
	for line := range strings.Lines(WaitForText(long)) {
		if len(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
	}
	if WaitForText(&deadlock.Graph{}) != "  no process waits\n" {
		t.Error("the empty graph says something else")
	}
}

// TestWaitFor: everybody is drawn once, each ring in the colour of rings, and the
// legend says what is there, and no more.
func TestWaitFor(t *testing.T) {
	g := graphOf([2]int{1, 2}, [2]int{2, 3}, [2]int{3, 4}, [2]int{4, 2}, [2]int{7, 8})
	svg := WaitFor(g, Caption{Title: "a < b", Victim: 3})
	checkSVG(t, svg)
	for _, name := range []string{"P1", "P2", "P3", "P4", "P7", "P8"} {
		if n := strings.Count(svg, ">"+name+"</text>"); n != 1 {
			t.Errorf("%s is drawn %d times", name, n)
		}
	}
	if n := strings.Count(svg, "url(#ring)"); n != 3+1 {
		t.Errorf("%d edges of rings and signs for them, want 3 and 1", n)
	}
	for means, want := range map[string]bool{
		waitSign().means: true, ringSign().means: true, "chosen to abort": true, saidSign().means: false,
	} {
		if strings.Contains(svg, ">"+means+"<") != want {
			t.Errorf("%q in the legend: %t, want %t", means, !want, want)
		}
	}
	if !strings.Contains(svg, "a &lt; b") {
		t.Error("the title is not escaped")
	}
}

// TestReported: of a cycle that was reported, what is not so is dashed, and
// it is no ring.
func TestReported(t *testing.T) {
	g := graphOf([2]int{2, 3}, [2]int{3, 1}, [2]int{5, 6}, [2]int{6, 5})
	svg := WaitFor(g, Caption{Title: "a", Victim: 1, Reported: []algorithm.ID{0, 1, 2}})
	for what, want := range map[string]int{"url(#said)": 1 + 1, "stroke-dasharray=\"5 4\"": 1 + 1, "url(#wait)": 2 + 1, "url(#ring)": 2 + 1, "P1 was reported to wait for P2": 1} {
		if n := strings.Count(svg, what); n != want {
			t.Errorf("%s is there %d times, want %d", what, n, want)
		}
	}
	if g.Has(0, 1) {
		t.Error("drawing a graph has changed it")
	}
	if empty := WaitFor(&deadlock.Graph{}, Caption{Victim: algorithm.None}); !strings.Contains(empty, "No process waits") {
		t.Error("the empty graph says nothing")
	}
}

// allocated returns a graph: what each transaction has, and then asks for.
func allocated(t testing.TB, transactions int, units []int, has, asks [][2]int) *deadlock.Allocation {
	a := deadlock.NewAllocation(transactions, units...)
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
func bothPicture(t testing.TB) (cycle, deadlocked *deadlock.Allocation) {
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
	if got := AllocationText(cycle); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	want = `  R1 [P3] <-- P1 <-- P2
  R2 [P1] [P2] <-- P3
  deadlocked: P1 P2 P3
`
	if got := AllocationText(deadlocked); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	many := deadlock.NewAllocation(40, 60)
	for tx := range algorithm.ID(40) {
		if err := many.Assign(tx, 0); err != nil {
			t.Fatal(err)
		}
		many.Request(tx, 0)
		many.Request(tx, 0)
	}
	for line := range strings.Lines(AllocationText(many)) {
		if len(line) > 81 {
			t.Errorf("a line of %d columns: %s", len(line)-1, line)
		}
	}
}

// TestAllocation: a dot for every instance, an arrow for every edge, and
// the colour of rings for who is deadlocked only; and each once more in the
// legend, if it is there.
func TestAllocation(t *testing.T) {
	cycle, deadlocked := bothPicture(t)
	for _, c := range []struct {
		a                  *deadlock.Allocation
		dots, blue, alarms int
	}{{cycle, 4 + 1, 6 + 1, 0}, {deadlocked, 3 + 1, 0, 6 + 1}} {
		svg := Allocation(c.a, "a < b")
		checkSVG(t, svg)
		for what, want := range map[string]int{`r="3.5"`: c.dots, "url(#wait)": c.blue, "url(#ring)": c.alarms, "a &lt; b": 1, ">1.<": min(1, c.blue) * 2, ">4.<": min(1, c.blue)} {
			if got := strings.Count(svg, what); got != want {
				t.Errorf("%s is there %d times, want %d", what, got, want)
			}
		}
	}
}
