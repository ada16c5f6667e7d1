package explore

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A numbered is a graph of a drawn model, and which of its states each number is.
type numbered struct {
	*Graph
	d     *drawn
	state []int
	reach [][]bool // by steps from waiting state to waiting state
}

func number(t *testing.T, d *drawn) *numbered {
	t.Helper()
	g, err := BuildGraph(d, GraphLimits{Edges: true})
	if err != nil {
		t.Fatal(err)
	}
	n := &numbered{Graph: g, d: d, reach: d.reach(func(s int) bool { return d.waiting[s] })}
	for _, fp := range g.prints {
		for s := range d.edges {
			if Fingerprint([]byte{byte(s)}) == fp {
				n.state = append(n.state, s)
			}
		}
	}
	return n
}

// waits reports whether the process waits in a numbered state.
func (n *numbered) waits(s uint32) bool { return n.d.waiting[n.state[s]] }

// together reports whether two states are in one component.
func (n *numbered) together(a, b uint32) bool {
	return a == b || n.reach[n.state[a]][n.state[b]] && n.reach[n.state[b]][n.state[a]]
}

// The components are what they should be, and edges lead to earlier ones. The first bad one
// is found, and the list ends with its first state.
func TestPartsAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	bad := 0
	for range 1500 {
		n := number(t, draw(r))
		c := n.Cut(0)
		total := 0
		worst := -1
		for id := range c.Parts() {
			members := c.Members(id)
			total += len(members)
			for _, a := range members {
				if !n.waits(a) || c.comp[a] != int32(id) {
					t.Fatalf("%+v: %d is in component %d", n.d, n.state[a], id)
				}
				for b := range uint32(len(n.state)) {
					if in := slices.Contains(members, b); in != (n.waits(b) && n.together(a, b)) {
						t.Fatalf("%+v: %d and %d together: %v", n.d, n.state[a], n.state[b], in)
					}
				}
				for e := n.first[a]; e < n.first[a+1]; e++ {
					if c.comp[n.to[e]] > int32(id) {
						t.Fatalf("%+v: an edge leads from component %d to %d", n.d, id, c.comp[n.to[e]])
					}
				}
			}
			if first := int(slices.Min(members)); c.Bad(members) && (worst < 0 || first < worst) {
				worst = first
			}
		}
		waiting := 0
		for s := range uint32(len(n.state)) {
			if n.waits(s) {
				waiting++
			} else if c.comp[s] != -1 {
				t.Fatalf("%+v: %d does not wait, but is in component %d", n.d, n.state[s], c.comp[s])
			}
		}
		if total != waiting {
			t.Fatalf("%+v: %d states in components, want %d", n.d, total, waiting)
		}
		switch list := c.Starves(); {
		case (list != nil) != (worst >= 0):
			t.Fatalf("%+v: starves in %v, want %d", n.d, list, worst)
		case list != nil:
			bad++
			if int(list[len(list)-1]) != worst || !slices.Equal(slices.Sorted(slices.Values(list)), slices.Sorted(slices.Values(c.Members(int(c.comp[worst]))))) {
				t.Fatalf("%+v: starves in %v, want the component of %d, and that last", n.d, list, worst)
			}
			n.checkShortest(t, c, list)
		}
		if want := waiting > 0; (len(n.Waiters()) == 1) != want || want && n.Waiters()[0] != 0 {
			t.Fatalf("%+v: %v wait", n.d, n.Waiters())
		}
	}
	if bad < 200 {
		t.Errorf("%d starve: too few to tell", bad)
	}
}

// checkShortest: if from each state of a bad component there is only one shortest way back,
// the loop is the first of those that give the shortest lasso and are fair.
func (n *numbered) checkShortest(t *testing.T, c *Cut, members []uint32) {
	t.Helper()
	var want *Walk
	size := 0
	for _, s := range slices.Sorted(slices.Values(members)) {
		w := Walk{From: s}
		if len(n.fair(s, nil)) > 0 {
			ways := n.waysBack(c, s)
			if len(ways) != 1 {
				return
			}
			if w.Edges = ways[0]; !c.fairWalk(w) {
				continue
			}
		}
		if all := len(n.PathTo(s)) + len(w.Edges); want == nil || all < size {
			want, size = &w, all
		}
	}
	if got := c.Loop(members); want != nil && (got.From != want.From || !slices.Equal(got.Edges, want.Edges)) {
		t.Fatalf("%+v: the loop is %+v, want %+v", n.d, got, want)
	}
}

// waysBack returns all shortest closed walks from a state inside its component.
func (n *numbered) waysBack(c *Cut, s uint32) (found [][]uint64) {
	for walks := [][]uint64{nil}; found == nil; {
		var longer [][]uint64
		for _, w := range walks {
			at := s
			if len(w) > 0 {
				at = n.to[w[len(w)-1]]
			}
			for e := n.first[at]; e < n.first[at+1]; e++ {
				if c.comp[n.to[e]] == c.comp[s] {
					longer = append(longer, append(slices.Clone(w), e))
				}
			}
		}
		for _, w := range longer {
			if n.to[w[len(w)-1]] == s {
				found = append(found, w)
			}
		}
		if walks = longer; len(walks) > 200 {
			return nil
		}
	}
	return found
}

// The longest run inside the part, with the step out of it, by trying all of them.
func TestLongestAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 2))
	found := 0
	for range 3000 {
		n := number(t, draw(r))
		most, cycle := make([]int, len(n.state)), false
		var longest func(s uint32) int
		longest = func(s uint32) int {
			steps := 0
			for e := n.first[s]; e < n.first[s+1]; e++ {
				if steps = max(steps, 1); n.waits(n.to[e]) {
					steps = max(steps, 1+longest(n.to[e]))
				}
			}
			return steps
		}
		best := -1
		for s := range uint32(len(n.state)) {
			cycle = cycle || n.waits(s) && n.reach[n.state[s]][n.state[s]]
		}
		for s := range uint32(len(n.state)) {
			if cycle || !n.waits(s) {
				continue
			}
			if most[s] = longest(s); best < 0 || most[s] > most[best] {
				best = int(s)
			}
		}
		run, ok := n.Cut(0).Longest()
		if ok == cycle || cycle && run != nil || !cycle && (run == nil) != (best < 0) {
			t.Fatalf("%+v: run %v, %v; cycle %v, longest from %d", n.d, run, ok, cycle, best)
		}
		if run == nil {
			continue
		}
		if int(run[0]) != best || len(run) != most[best]+1 {
			t.Fatalf("%+v: run %v, want %d steps from %d", n.d, run, most[best], best)
		}
		for i, s := range run[1:] {
			if !n.waits(run[i]) || !slices.Contains(n.to[n.first[run[i]]:n.first[run[i]+1]], s) {
				t.Fatalf("%+v: run %v has no step %d", n.d, run, i)
			}
		}
		found++
	}
	if found < 200 {
		t.Errorf("%d runs: too few to tell", found)
	}
}

// A run shows the bypass: from where none of the process's messages is in flight, others
// enter as often as the bypass says, or again and again.
func TestBypassRun(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 3))
	finite, endless := 0, 0
	for range 3000 {
		n := number(t, draw(r))
		if !slices.ContainsFunc(n.all(), func(s uint32) bool { return n.waits(s) && n.d.calm[n.state[s]] }) {
			continue
		}
		b := n.Cut(0).Bypass()
		stem, rest, loop := b.Run()
		at := stem[len(stem)-1]
		if !slices.Equal(stem, n.PathTo(at)) || !n.waits(at) || !n.d.calm[n.state[at]] {
			t.Fatalf("%+v: the run begins with %v", n.d, stem)
		}
		entries := 0
		for i, e := range rest {
			if i == loop {
				entries = 0
			}
			if n.source(e) != at || !n.waits(n.to[e]) {
				t.Fatalf("%+v: the run %v, %v is none", n.d, stem, rest)
			}
			if n.d.edges[n.state[at]][e-n.first[at]].enters {
				entries++
			}
			at = n.to[e]
		}
		switch {
		case b.FromCalm == Unbounded:
			endless++
			if loop < 0 || loop >= len(rest) || n.source(rest[loop]) != at || entries == 0 {
				t.Fatalf("%+v: %v, %v from %d on cannot be repeated with an entry", n.d, stem, rest, loop)
			}
		case loop != -1 || entries != b.FromCalm:
			t.Fatalf("%+v: %v, %v, loop %d: %d entries, want %d", n.d, stem, rest, loop, entries, b.FromCalm)
		case entries > 0:
			finite++
		}
	}
	if finite < 50 || endless < 50 {
		t.Errorf("%d finite, %d endless: too few to tell", finite, endless)
	}
}

// all returns the numbers of all states.
func (n *numbered) all() []uint32 {
	all := make([]uint32, len(n.state))
	for i := range all {
		all[i] = uint32(i)
	}
	return all
}

// A state is marked if one with the target bit can be reached from it.
func TestMarkBeforeAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 4))
	marked := 0
	for range 1500 {
		n := number(t, draw(r))
		all := n.d.reach(func(int) bool { return true })
		n.MarkBefore(0, 5)
		for s, w := range n.waiting {
			want := n.d.waiting[n.state[s]]
			for u := range n.d.edges {
				want = want || all[n.state[s]][u] && n.d.waiting[u]
			}
			if got := w>>5&1 == 1; got != want || w&1 == 1 != n.d.waiting[n.state[s]] {
				t.Fatalf("%+v: %d is marked: %v, want %v", n.d, n.state[s], got, want)
			}
			if want && w&1 == 0 {
				marked++
			}
		}
		if n.extra != 0 {
			t.Fatal("the memory of the question is still counted")
		}
	}
	if marked < 200 {
		t.Errorf("%d marked: too few to tell", marked)
	}
}
