package trace_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// closure is happened-before as it is defined, without any clock: the next
// event of the same process, a message from its sending to its end, and what
// follows from these.
func closure(t *trace.Trace) [][]bool {
	n := len(t.Events)
	before := make([][]bool, n)
	for i := range before {
		before[i] = make([]bool, n)
	}
	for j, b := range t.Events {
		start := -1
		for i, a := range t.Events[:j] {
			local := a.Proc == b.Proc && a.Proc != algorithm.None
			before[i][j] = local && a.Kind != trace.Drop && b.Kind != trace.Drop
			if a.Msg == b.Msg && (a.Kind == trace.Send || a.Kind == trace.Duplicate) {
				start = i
			}
		}
		if start >= 0 && (b.Kind == trace.Receive || b.Kind == trace.Drop) {
			before[start][j] = true
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				before[i][j] = before[i][j] || before[i][k] && before[k][j]
			}
		}
	}
	return before
}

func TestClocksAreTheClosure(t *testing.T) {
	for seed := range uint64(60) {
		tr := random(seed, 2+int(seed%5), 60)
		if err := tr.Check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		c, want := tr.Causality(), closure(tr)
		for i := range tr.Events {
			var past, future []int
			for j := range tr.Events {
				if got := c.HappenedBefore(i, j); got != want[i][j] {
					t.Fatalf("seed %d: %q before %q: %v, want %v", seed, tr.Events[i].Sentence(), tr.Events[j].Sentence(), got, want[i][j])
				}
				if got := c.Concurrent(i, j); got != (i != j && !want[i][j] && !want[j][i]) {
					t.Fatalf("seed %d: events %d and %d concurrent: %v", seed, i, j, got)
				}
				if want[j][i] {
					past = append(past, j)
				}
				if want[i][j] {
					future = append(future, j)
				}
			}
			if !slices.Equal(c.Past(i), past) || !slices.Equal(c.Future(i), future) {
				t.Fatalf("seed %d: past or future of event %d is wrong", seed, i)
			}
		}
	}
}

// Nobody knows of a loss, so nothing happens after it.
func TestALossHasNoFuture(t *testing.T) {
	tr := trouble()
	c := tr.Causality()
	for i, e := range tr.Events {
		if e.Kind != trace.Drop {
			continue
		}
		if f := c.Future(i); len(f) > 0 {
			t.Errorf("%q has a future: %v", e.Sentence(), f)
		}
		if p := c.Past(i); len(p) == 0 || tr.Events[p[len(p)-1]].Msg != e.Msg {
			t.Errorf("%q does not come from its sending: past %v", e.Sentence(), p)
		}
	}
}

// A viewer that knows nothing but the log must find the same order.
func TestShiVizLog(t *testing.T) {
	for seed := range uint64(20) {
		tr := random(seed, 4, 60)
		want := closure(tr)
		head, log, _ := strings.Cut(tr.ShiViz(), "\n\n")
		// ShiViz puts ^ and $ around the first line, and uses it on lines.
		parser := regexp.MustCompile("(?m)^" + strings.ReplaceAll(head, "(?<", "(?P<") + "$")
		found := parser.FindAllStringSubmatch(log, -1)
		var events []int
		for i, e := range tr.Events {
			if e.Proc != algorithm.None && e.Kind != trace.Drop {
				events = append(events, i)
			}
		}
		if len(found) != len(events) {
			t.Fatalf("seed %d: %d events in the log, want %d", seed, len(found), len(events))
		}
		clocks := make([]map[string]int, len(found))
		own := make(map[string]int)
		for k, m := range found {
			if err := json.Unmarshal([]byte(m[2]), &clocks[k]); err != nil {
				t.Fatalf("seed %d: clock %s: %v", seed, m[2], err)
			}
			own[m[1]]++
			if host := tr.Events[events[k]].Proc.String(); m[1] != host || clocks[k][host] != own[host] {
				t.Fatalf("seed %d: event %d is told as %s %s, want the %d. of %s", seed, events[k], m[1], m[2], own[host], host)
			}
			for l := range k {
				first := found[l][1]
				if got := clocks[l][first] <= clocks[k][first]; got != want[events[l]][events[k]] {
					t.Fatalf("seed %d: the log says %v about %q before %q", seed, got, found[l][3], m[3])
				}
			}
		}
	}
}

// What the simulator records is a trace, on every kind of network.
func TestSimulatedRunsAreTraces(t *testing.T) {
	for _, spec := range []algorithm.Spec{mutex.RicartAgrawala(), mutex.SuzukiKasami()} {
		for net := algorithm.FIFO; net <= algorithm.Lossy; net++ {
			tr := &trace.Trace{N: 4, Title: spec.Title + " " + net.String(), Kinds: spec.Kinds, Unit: scenario.T}
			_, err := sim.Run(sim.Config{
				Spec: spec, Nodes: 4, Entries: 30, Seed: 1, Network: net,
				Latency: scenario.Uniform(1, 2*scenario.T), Hold: scenario.Always(scenario.T),
				Observe: func(e trace.Event) { tr.Events = append(tr.Events, e) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := tr.Check(); err != nil {
				t.Errorf("%s: %v", tr.Title, err)
			}
			roundTrip(t, tr)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(tr *trace.Trace)
	}{
		{"0 processes", func(tr *trace.Trace) { tr.N = 0 }},
		{"a unit of 7", func(tr *trace.Trace) { tr.Unit = 7 }},
		{"process 5", func(tr *trace.Trace) { tr.Events[0].Proc = 4 }},
		{"process 0", func(tr *trace.Trace) { tr.Events[0].Proc = algorithm.None }},
		{"as its peer", func(tr *trace.Trace) { tr.Events[1].Peer = 9 }},
		{"numbered from 1", func(tr *trace.Trace) { tr.Events[1].Msg = 0 }},
		{"sent twice", func(tr *trace.Trace) { tr.Events[4].Msg = 1 }},
		{"does not come after", func(tr *trace.Trace) { tr.Events[3].Step = 2 }},
		{"does not come after", func(tr *trace.Trace) { tr.Events[3].At, tr.Events[4].At = 5, 4 }},
		{"which was sent as", func(tr *trace.Trace) { tr.Events[7].Peer = 2 }},
		{"which was sent as", func(tr *trace.Trace) { tr.Events[7].Name = "OK" }},
		{"after it has arrived", func(tr *trace.Trace) { tr.Events[12].Msg, tr.Events[7].Msg = 99, 99 }},
		{"unknown kind 77", func(tr *trace.Trace) { tr.Events[7].Kind = 77 }},
		{"tick -1", func(tr *trace.Trace) { tr.Events[0].At = -1 }},
	} {
		tr := trouble()
		if err := tr.Check(); err != nil {
			t.Fatal(err)
		}
		c.spoil(tr)
		if err := tr.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}

func BenchmarkCausality(b *testing.B) {
	for _, n := range []int{3, 30} {
		tr := random(1, n, 10_000)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				tr.Causality()
			}
		})
	}
}
