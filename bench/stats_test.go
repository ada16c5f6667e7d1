package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Quantiles of a histogram are those of the sorted times, within the width of a step.
func TestHistogram(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []time.Duration
	var h histogram
	for range 4 { // tallies of four clients
		var x tally
		for range 5000 {
			d := time.Duration(random.ExpFloat64() * float64(200*time.Microsecond))
			all = append(all, d)
			x.add(d)
		}
		var part histogram
		x.into(&part)
		h.merge(&part)
	}
	slices.Sort(all)
	var sum time.Duration
	for _, d := range all {
		sum += d
	}
	if h.Count != uint64(len(all)) || h.Sum != sum || h.mean() != sum/time.Duration(len(all)) || h.Max != all[len(all)-1] {
		t.Errorf("count %d, sum %v, mean %v, max %v", h.Count, h.Sum, h.mean(), h.Max)
	}
	for _, q := range []float64{0.01, 0.5, 0.99, 1} {
		want := all[int(q*float64(len(all)-1))]
		if got := h.quantile(q); got < want-want/32-1 || got > want+want/32+1 {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	if (&histogram{}).quantile(0.5) != 0 || (&histogram{}).mean() != 0 {
		t.Error("an empty histogram has times")
	}
}

// Every time is in the step whose bounds enclose it.
func TestSteps(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 63, 64, 65, 127, 128, 1000, 1 << 20, 1<<40 + 12345, 1<<62 + 1} {
		s := step(d)
		if s < 0 || s >= len(tally{}.counts) || lower(s) > d || (s+1 < len(tally{}.counts) && lower(s+1) <= d && lower(s+1) > 0) {
			t.Errorf("%d is in step %d, from %d to %d", d, s, lower(s), lower(s+1))
		}
	}
	if step(-5) != 0 {
		t.Error("a negative time has no step")
	}
}

func TestSpread(t *testing.T) {
	for _, x := range []struct {
		values []float64
		want   spread
	}{
		{[]float64{3}, spread{3, 3, 3, 1}},
		{[]float64{9, 1, 5}, spread{1, 5, 9, 3}},
		{[]float64{4, 1, 2, 8}, spread{1, 3, 8, 4}},
	} {
		if got := spreadOf(x.values); got != x.want {
			t.Errorf("%v: %+v, want %+v", x.values, got, x.want)
		}
	}
}

func TestCell(t *testing.T) {
	r := &Result{}
	c := r.cell("w", "e")
	c.add(figRate, 123456)
	c.add(figRate, 0.00123456)
	if got := c.Values[figRate]; got[0] != 123500 || got[1] != 0.001235 {
		t.Errorf("four digits of the values: %v", got)
	}
	if r.cell("w", "e") != c || r.find("w", "f") != nil {
		t.Error("the wrong cell")
	}
	var none *Cell
	if _, ok := none.of(figRate); ok || none.median(figRate) != 0 {
		t.Error("a missing cell has values")
	}
}

// A round's figures: the rate counts what the measurement counts, the CPU time is shared out
// among all holds, and the client with the fewest holds shows.
func TestRecord(t *testing.T) {
	var x tally
	for range 100 {
		x.add(10 * time.Microsecond)
	}
	x.all = 200
	a := answer{Took: time.Second, Least: 20, Clients: 4}
	x.into(&a.Times)
	c := &Cell{Values: map[string][]float64{}}
	c.record(&a, time.Millisecond, 1.5)
	for figure, want := range map[string]float64{figRate: 100, figMean: 10, figCPU: 5, figLeast: 80, figForeign: 1.5} {
		if got := c.median(figure); got != want {
			t.Errorf("%s: %v, want %v", figure, got, want)
		}
	}
	c = &Cell{Values: map[string][]float64{}}
	c.record(&answer{Took: time.Second}, 0, 0)
	if _, ok := c.of(figMean); ok || len(c.Values[figRate]) != 1 {
		t.Errorf("of a round without a hold: %v", c.Values)
	}
}

func TestUsage(t *testing.T) {
	s, ok := parseStat([]byte("42 (a) b) S 7 1 1 0 -1 4194560 1 1 1 1 10 20 30 40 20 0 1 0 1 1 1"))
	if !ok || s.parent != 7 || s.cpu != time.Second {
		t.Errorf("stat %+v, %v", s, ok)
	}
	if _, ok := parseStat([]byte("42 (a) S 7")); ok {
		t.Error("a short line is accepted")
	}
	if busy := parseBusy([]byte("cpu  100 10 40 5000 3 7 8 50 0 0\ncpu0 1 1")); busy != 2*time.Second {
		t.Errorf("busy for %v", busy)
	}
	if got := parseMemory([]byte("Pss:    9 kB\nPss_Anon:    4 kB\nPss_File:  5 kB\nPss_Shmem:   2 kB\n")); got != 6<<10 {
		t.Errorf("%d bytes", got)
	}
	all := map[int]stat{1: {0, 1}, 2: {1, 10}, 3: {2, 100}, 4: {9, 1000}}
	if got := spent(all, 2); got != 110 {
		t.Errorf("process 2 and its child have used %d", got)
	}
}

// The background load is what others use: not this process, nor those that it has started.
func TestBackground(t *testing.T) {
	start := time.Now()
	self := map[int]stat{}
	before := sample{start, 0, self}
	after := sample{start.Add(10 * time.Second), 5 * time.Second, self}
	if got := before.background(after, 2); got != 25 {
		t.Errorf("%v %%, want 25", got)
	}
}
