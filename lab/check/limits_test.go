package check

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/families"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/trace"
)

// Every way to check ends at every limit, and says which it was.
func TestLimitsInEveryMode(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	method, err := deadlock.Find("detect-distributed")
	if err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(l Limits) (*Report, error){
		"lock": func(l Limits) (*Report, error) {
			return Run(Config{Spec: mutex.RicartAgrawala(), Nodes: 4, Properties: []string{MutualExclusion, Starvation}, Limits: l})
		},
		"convergence": func(l Limits) (*Report, error) {
			return Run(Config{Spec: mutex.Dijkstra(10000), Nodes: 2, Properties: []string{Convergence}, Limits: l})
		},
		"election": func(l Limits) (*Report, error) {
			return Run(Config{Spec: election.Bully(), Nodes: 4, Crashes: 2, Comebacks: 2, Limits: l})
		},
		"deadlock": func(l Limits) (*Report, error) {
			c := transacts(t, transactions.Dinner(method, "", 3, 3), 0)
			c.Limits = l
			return Run(c)
		},
	} {
		for why, l := range map[string]Limits{explore.OutOfMemory: {Memory: 1 << 20}, explore.OutOfTime: {Time: 1}, explore.Interrupted: {Context: gone}} {
			r, err := run(l)
			if err != nil || r.Verdict != Unfinished {
				t.Errorf("%s, %s: %+v, %v", name, why, r, err)
				continue
			}
			for _, p := range r.Properties {
				if p.Verdict != NotChecked && (p.Verdict != Unfinished || !strings.HasPrefix(p.Note, why)) {
					t.Errorf("%s, %s: %s is %s: %s", name, why, p.Name, p.Verdict, p.Note)
				}
			}
		}
	}
}

// There may be very many states to start from: nobody counts or lists them all.
func TestManyStarts(t *testing.T) {
	r, err := Run(Config{Spec: mutex.Dijkstra(10000), Nodes: 2, Limits: Limits{Time: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Find(Convergence); p.Verdict != NotChecked || !strings.Contains(p.Note, "1048576 states or more") {
		t.Errorf("convergence is %s: %s", p.Verdict, p.Note)
	}
}

// The probability of a collision is that of all passes together: each is the
// square of its states over 2^65.
func TestCollisionOfAllPasses(t *testing.T) {
	run := func(properties ...string) *Report {
		r, err := Run(Config{Spec: mutex.Central(0), Nodes: 3, Properties: properties})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	square := func(n int64) float64 { return float64(n*n) * math.Pow(2, -65) }
	base, order, fence := run(MutualExclusion), run(Order), run(Fence)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"one pass", base.Collision, square(base.States)},
		{"two passes", run(Order, Fence).Collision, square(order.States) + square(fence.States)},
		{"a pass and the graph", run(Starvation).Collision, 2 * square(base.States)},
		{"all", run(MutualExclusion, Bypass, Order, Fence).Collision, 2*square(base.States) + square(order.States) + square(fence.States)},
	} {
		if base.States == 0 || math.Abs(c.got-c.want) > c.want/1e9 {
			t.Errorf("%s: %g, want %g", c.name, c.got, c.want)
		}
	}
	if order.States == base.States {
		t.Error("the passes have equally many states: nothing is told apart")
	}
}

// A search that is ended early says up to which length all runs are sound, and
// that is true: the shortest run that breaks anything is longer.
func TestUnfinishedSaysHowDeep(t *testing.T) {
	config := Config{Spec: mutex.MajorityNaive(), Nodes: 3, Requests: 1, Properties: []string{Deadlock, MutualExclusion}}
	r, err := Run(config)
	if err != nil || r.Find(Deadlock).Verdict != Violated {
		t.Fatalf("%+v, %v", r, err)
	}
	shortest := len(r.Find(Deadlock).Trace)
	ctx, cancel := context.WithCancel(context.Background())
	config.Limits = Limits{Context: ctx, Workers: 1, Progress: func(p Progress) {
		if p.Depth == shortest-3 {
			cancel()
		}
	}}
	if r, err = Run(config); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Properties {
		found := regexp.MustCompile(`no violation in runs of up to (\d+) steps`).FindStringSubmatch(p.Note)
		if p.Verdict != Unfinished || found == nil {
			t.Errorf("%s is %s: %s", p.Name, p.Verdict, p.Note)
			continue
		}
		if n, _ := strconv.Atoi(found[1]); n >= shortest || n < shortest-4 {
			t.Errorf("%s: sound up to %d steps, but %d break it", p.Name, n, shortest)
		}
	}
}

// What is violated is told as soon as it is found, with its counterexample, and
// everything else goes on and comes to the same.
func TestFoundEarly(t *testing.T) {
	config := Config{Spec: mutex.MajorityNaive(), Nodes: 3, Requests: 1}
	want, err := Run(config)
	if err != nil {
		t.Fatal(err)
	}
	var found []Property
	var before, after int64
	config.Found = func(p Property) { found = append(found, p) }
	config.Progress = func(p Progress) {
		switch {
		case p.Pass != "mutual-exclusion...":
		case len(found) == 0:
			before = p.States
		default:
			after = p.States
		}
	}
	got, err := Run(config)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 || found[0].Name != Deadlock || found[0].Story(trace.TextOptions{}) == "" || after <= before {
		t.Errorf("found %v; the first pass had %d states before and %d after that", found, before, after)
	}
	if got.States != want.States || got.Transitions != want.Transitions || len(got.Properties) != len(want.Properties) {
		t.Errorf("with Found: %d states, %d transitions; without: %d, %d", got.States, got.Transitions, want.States, want.Transitions)
	}
	violated := 0
	for i, p := range got.Properties {
		if w := want.Properties[i]; p.Name != w.Name || p.Verdict != w.Verdict || p.Note != w.Note || !slices.Equal(p.Trace, w.Trace) {
			t.Errorf("with Found: %+v; without: %+v", p, w)
		}
		if p.Verdict == Violated {
			violated++
		}
	}
	if violated != len(found) {
		t.Errorf("%d properties are violated, but %d were told of", violated, len(found))
	}
}

// The same in the other modes: before the graph is complete.
func TestFoundEarlyInGraphs(t *testing.T) {
	none, err := deadlock.Find("none")
	if err != nil {
		t.Fatal(err)
	}
	c := transacts(t, transactions.Dinner(none, "", 3, 3), 2)
	var found []string
	after := false
	c.Found = func(p Property) { found = append(found, p.Name) }
	c.Progress = func(Progress) { after = after || len(found) > 0 }
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 || found[0] != Deadlock || r.Find(Deadlock).Verdict != Violated || !after {
		t.Errorf("told of %v; progress after that is %v; deadlock is %s", found, after, r.Find(Deadlock).Verdict)
	}
}

// What was seen broken but cannot be shown is not violated, but unfinished.
func TestUnconfirmedIsUnfinished(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for why, l := range map[string]Limits{explore.OutOfMemory: {Memory: 1 << 16}, explore.OutOfTime: {Time: 1}, explore.Interrupted: {Context: gone}} {
		c := Config{Spec: mutex.MajorityNaive(), Nodes: 4, Network: algorithm.Unordered, Properties: []string{Deadlock}, Limits: l}
		c.Family = families.Of(c.Spec)
		r := newRun(c)
		m, err := r.model("", false)
		if err != nil {
			t.Fatal(err)
		}
		e := &explore.Exploration{Unfinished: why, Broken: map[explore.Broken]explore.Sighting{m.Bit(Deadlock): {Depth: 12}}}
		if err := r.judge(m, e, r.wanted(family.InSteps)[0]); err != nil {
			t.Fatal(err)
		}
		p := r.report.Find(Deadlock)
		if p == nil || p.Verdict != Unfinished || !strings.Contains(p.Note, "after 12 steps") || !strings.HasSuffix(p.Note, why) {
			t.Errorf("%s: %+v", why, p)
		}
	}
}

// A deadlock that was shown before the check was interrupted is starvation, too.
func TestDeadlockShownIsStarvation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Run(Config{
		Spec: mutex.MajorityNaive(), Nodes: 3, Requests: 2, Properties: []string{MutualExclusion, Deadlock, Starvation},
		Found: func(Property) { cancel() }, Limits: Limits{Context: ctx},
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, b, c := r.Find(MutualExclusion), r.Find(Deadlock), r.Find(Starvation); a.Verdict != Unfinished || b.Verdict != Violated || c.Verdict != Violated {
		t.Errorf("mutual exclusion is %s, deadlock %s, starvation %s: %s", a.Verdict, b.Verdict, c.Verdict, c.Note)
	}
}

// Each pass has a name.
func TestPassesAreNamed(t *testing.T) {
	var passes []string
	l := Limits{Progress: func(p Progress) {
		if !slices.Contains(passes, p.Pass) {
			passes = append(passes, p.Pass)
		}
	}}
	if _, err := Run(Config{Spec: mutex.RicartAgrawala1981(), Nodes: 3, Properties: []string{MutualExclusion, Deadlock, Starvation, Order, Fence, Start}, Limits: l}); err != nil {
		t.Fatal(err)
	}
	want := []string{"mutual-exclusion...", "the state graph", "order", "the way to a violation", "fence", "start: mutual-exclusion...", "start: the state graph", "start: order", "start: the way to a violation", "start: order-open", "start: fence"}
	if !slices.Equal(passes, want) {
		t.Errorf("passes %q, want %q", passes, want)
	}
}

// What is proved from every start, and what does not fit, is said.
func TestStartSaysWhatDidNotFit(t *testing.T) {
	all := &Report{Properties: []Property{
		{Name: MutualExclusion, Verdict: Holds}, {Name: Token, Verdict: NotChecked}, {Name: Bypass, Verdict: Unfinished, Note: "out of memory"},
	}}
	r := newRun(Config{Spec: mutex.Central(0), Family: families.Of(mutex.Central(0)), Nodes: 2})
	if p := r.fromStarts(Start, all); p.Verdict != Holds || p.Note != "mutual-exclusion; not bypass (out of memory)" {
		t.Errorf("%s: %s", p.Verdict, p.Note)
	}
	all.Properties[0] = Property{Name: MutualExclusion, Verdict: Unfinished, Note: "out of time"}
	if p := r.fromStarts(Start, all); p.Verdict != Unfinished || p.Note != "out of time" {
		t.Errorf("%s: %s", p.Verdict, p.Note)
	}
	all.Properties[0] = Property{Name: Fence, Verdict: Violated}
	if p := r.fromStarts(Start, all); p.Verdict != Violated || p.Name != Start {
		t.Errorf("%s %s: %s", p.Name, p.Verdict, p.Note)
	}
}

// A check that names no limit of memory has one.
func TestDefaultMemory(t *testing.T) {
	for memory, want := range map[int64]int64{0: DefaultMemory, 1 << 20: 1 << 20, -1: -1} {
		if got := (Config{Spec: mutex.Central(0), Nodes: 2, Limits: Limits{Memory: memory}}).Settled().Memory; got != want {
			t.Errorf("Memory %d is settled as %d, want %d", memory, got, want)
		}
	}
}

// A countdown is a context that is done after it was asked some number of times.
type countdown struct {
	context.Context
	left, asked atomic.Int64
}

func (c *countdown) Err() error {
	if c.asked.Add(1) > c.left.Load() {
		return context.Canceled
	}
	return nil
}

// Nothing holds if there was no time to test what that rests on, though all states were
// explored, and the note says so.
func TestValidationHasTime(t *testing.T) {
	for _, reduce := range []bool{false, true} {
		run := func(left int64) (*Report, int64) {
			ctx := &countdown{Context: context.Background()}
			ctx.left.Store(left)
			r := mustRun(t, Config{Spec: mutex.SuzukiKasami(), Nodes: 2, Properties: []string{MutualExclusion}, Reduce: reduce, Limits: Limits{Context: ctx, Workers: 1}})
			return r, ctx.asked.Load()
		}
		whole, asked := run(math.MaxInt64)
		cut, _ := run(asked - 1000)
		p := cut.Find(MutualExclusion)
		if whole.Verdict != Holds || len(whole.Assumes) == 0 {
			t.Errorf("reduced %v: %s", reduce, whole.Verdict)
		}
		if p.Verdict != Unfinished || len(cut.Assumes) > 0 || !reduce && (!strings.Contains(p.Note, "before the verdict was validated") || cut.States != whole.States) {
			t.Errorf("reduced %v: %s, %d states of %d: %s", reduce, p.Verdict, cut.States, whole.States, p.Note)
		}
	}
}
