package explore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// A maze is a model that is drawn by chance, with several starts, and with states and
// steps that violate properties or fail. The reference explores it with plain lists.
type maze struct {
	starts []int
	steps  [][]passage // out of each state
	broken []Broken    // by each state
	fails  []string    // in each state; empty if it does not
}

// A passage is a step of a maze.
type passage struct {
	Step
	to int
}

// mazeStates is the number of states of a maze.
const mazeStates = 24

func drawMaze(r *rand.Rand, fails bool) *maze {
	m := &maze{broken: make([]Broken, mazeStates), fails: make([]string, mazeStates)}
	for range 1 + r.IntN(3) {
		m.starts = append(m.starts, r.IntN(mazeStates))
	}
	some := func() Broken {
		if r.IntN(12) > 0 {
			return 0
		}
		return Broken(1+r.IntN(7)) << r.IntN(14)
	}
	for s := range mazeStates {
		m.broken[s] = some()
		if fails && r.IntN(12) == 0 {
			m.fails[s] = fmt.Sprint("error ", r.IntN(5))
		}
		var list []passage
		for range r.IntN(4) {
			list = append(list, passage{Step{Label: r.Uint32N(4), Broken: some()}, r.IntN(mazeStates)})
		}
		m.steps = append(m.steps, list)
	}
	return m
}

// mazeState encodes a state: some are short, some are long.
func mazeState(s int) []byte { return bytes.Repeat([]byte{byte(s)}, 1+s*37%150) }

func (m *maze) Worker() Worker { return m }

func (m *maze) Init(emit func([]byte) bool) error {
	for _, s := range m.starts {
		if !emit(mazeState(s)) {
			break
		}
	}
	return nil
}

func (m *maze) Next(state []byte, emit func(Step, []byte)) (Broken, error) {
	s := state[0]
	for _, p := range m.steps[s] {
		emit(p.Step, mazeState(p.to))
	}
	if m.fails[s] != "" {
		return m.broken[s], errors.New(m.fails[s])
	}
	return m.broken[s], nil
}

// levels returns the states by depth, each level in the order in which they are found.
func (m *maze) levels() [][]int {
	seen := map[int]bool{}
	var all [][]int
	for found := m.starts; ; {
		var level, next []int
		for _, s := range found {
			if !seen[s] {
				seen[s] = true
				level = append(level, s)
				for _, p := range m.steps[s] {
					next = append(next, p.to)
				}
			}
		}
		if level == nil {
			return all
		}
		all, found = append(all, level), next
	}
}

// explored is what Explore should return.
func (m *maze) explored(stop Broken) (want Exploration, err string) {
	want.Broken = map[Broken]Sighting{}
	seen := map[int]bool{}
	for depth, level := range m.levels() {
		var now Broken
		saw := func(b Broken, s Sighting) {
			for bit := Broken(1); bit != 0; bit <<= 1 {
				old, ok := want.Broken[bit]
				before := s.Depth == old.Depth && cmp.Or(cmp.Compare(s.From, old.From), cmp.Compare(s.Label, old.Label)) < 0
				if b&bit != 0 && (!ok || before) {
					want.Broken[bit] = s
					now |= bit
				}
			}
		}
		for _, s := range level {
			seen[s] = true
			from := Fingerprint(mazeState(s))
			for _, p := range m.steps[s] {
				want.Transitions++
				seen[p.to] = true
				saw(p.Broken, Sighting{depth, from, p.Label, true})
			}
			saw(m.broken[s], Sighting{Depth: depth, From: from})
			if f := m.fails[s]; f != "" && (err == "" || f < err) {
				err = f
			}
		}
		want.Depth, want.States = depth+1, int64(len(seen))
		if err != "" {
			want.Unfinished = "error"
			break
		}
		if want.Whole++; now&stop != 0 {
			break
		}
	}
	return want, err
}

// texted returns the text of an error.
func texted(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// What an exploration returns is what the reference finds, whatever the number of workers.
func TestExploreAgainstReference(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	failed, stopped := 0, 0
	for i := range 600 {
		m := drawMaze(r, i%2 == 0)
		stop := Broken(r.Uint32N(1 << 16))
		if i%3 == 0 {
			stop = 0
		}
		want, wantErr := m.explored(stop)
		var told Broken
		e, err := ExploreTelling(m, Limits{Workers: 1 + i%3, Stop: stop}, func(now Broken, so Exploration) {
			if now == 0 || now&told != 0 || so.Broken[now&-now].Depth+1 != so.Depth {
				t.Errorf("told of %b after %b, at depth %d", now, told, so.Depth)
			}
			told |= now
		})
		var all Broken
		for b := range want.Broken {
			all |= b
		}
		got := *e
		got.Elapsed, got.Memory, got.Table, got.Broken = 0, 0, 0, nil
		if fmt.Sprint(got) != fmt.Sprint(Exploration{States: want.States, Transitions: want.Transitions, Depth: want.Depth, Whole: want.Whole, Unfinished: want.Unfinished}) || texted(err) != wantErr {
			t.Fatalf("%+v, stop %b: %+v and %v, want %+v and %q", m, stop, got, err, want, wantErr)
		}
		if !maps.Equal(e.Broken, want.Broken) || told != all {
			t.Fatalf("%+v, stop %b: broken %v, told of %b, want %v", m, stop, e.Broken, told, want.Broken)
		}
		for _, some := range []Broken{1, 6, 1 << 12, ^Broken(0)} {
			least := -1
			for b, s := range want.Broken {
				steps := s.Depth
				if s.Edge {
					steps++
				}
				if b&some != 0 && (least < 0 || steps < least) {
					least = steps
				}
			}
			if got := e.StepsTo(some); got != least {
				t.Fatalf("%d steps to %b, want %d: %v", got, some, least, e.Broken)
			}
		}
		if wantErr != "" {
			failed++
		} else if want.States < int64(len(slices.Concat(m.levels()...))) {
			stopped++
		}
	}
	if failed < 50 || stopped < 50 {
		t.Errorf("%d fail and %d stop early: too few to tell", failed, stopped)
	}
}

// mazeGraph is what BuildGraph should find: places of properties, states and edges seen.
type mazeGraph struct {
	found  map[Broken]string
	states []int // in order
	edges  int
	whole  int
	err    string
	broke  bool // it stopped at a violation
}

func place(state int, s *Step) string {
	if s == nil {
		return fmt.Sprint(state)
	}
	return fmt.Sprint(state, *s)
}

func (m *maze) graphed(stop Broken) mazeGraph {
	g := mazeGraph{found: map[Broken]string{}}
	number := map[int]bool{}
	add := func(s int) {
		if !number[s] {
			number[s] = true
			g.states = append(g.states, s)
		}
	}
	for _, s := range m.starts {
		add(s)
	}
	for _, level := range m.levels() {
		for i, s := range level {
			var now Broken
			saw := func(b Broken, at string) {
				for bit := Broken(1); bit != 0; bit <<= 1 {
					if _, ok := g.found[bit]; b&bit != 0 && !ok {
						g.found[bit] = at
						now |= bit
					}
				}
			}
			for _, p := range m.steps[s] {
				add(p.to)
				saw(p.Broken, place(s, &p.Step))
				g.edges++
			}
			saw(m.broken[s], place(s, nil))
			if g.err == "" {
				g.err = m.fails[s]
			}
			if g.err != "" && stop == 0 {
				return g
			}
			if now&stop != 0 {
				g.broke, g.err = true, ""
				return g
			}
			if i == len(level)-1 && g.err != "" {
				return g
			}
		}
		g.whole++
	}
	return g
}

// A graph has the states in the order in which they are found, shortest ways to them, and
// the first place of each violation.
func TestGraphAgainstReference(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	failed, stopped := 0, 0
	for i := range 600 {
		m := drawMaze(r, i%2 == 0)
		stop := Broken(r.Uint32N(1 << 16))
		if i%3 == 0 {
			stop = 0
		}
		want := m.graphed(stop)
		var told Broken
		g, err := BuildGraph(m, GraphLimits{Limits: Limits{Stop: stop}, Edges: i%5 > 0, Seen: func(g *Graph, now Broken) error {
			if now == 0 || now&told != 0 {
				t.Errorf("told of %b after %b", now, told)
			}
			told |= now
			return nil
		}})
		if texted(err) != want.err || g.States() != int64(len(want.states)) || (g.Unfinished != "") != want.broke {
			t.Fatalf("%+v, stop %b: %d states, %q, %v; want %+v", m, stop, g.States(), g.Unfinished, err, want)
		}
		edges := want.edges
		if !g.edges {
			edges = 0
		}
		if g.Transitions() != int64(edges) || len(g.first) != len(want.states)+1 || g.first[len(want.states)] != uint64(edges) {
			t.Fatalf("%+v, stop %b: %d transitions, want %d", m, stop, g.Transitions(), edges)
		}
		found := map[Broken]string{}
		for bit := Broken(1); bit != 0; bit <<= 1 {
			if at, ok := g.Found(bit); ok {
				found[bit] = place(want.states[at.State], at.Step)
			}
		}
		if !maps.Equal(found, want.found) || len(want.found) != len(g.found) {
			t.Fatalf("%+v, stop %b: found %v, want %v", m, stop, found, want.found)
		}
		m.checkPaths(t, g, want.states)
		if want.err != "" {
			failed++
		} else if want.broke {
			stopped++
		} else if levels := len(m.levels()); g.Levels() != levels || g.Whole() != levels-1 {
			t.Fatalf("%+v: %d levels, %d whole, want %d", m, g.Levels(), g.Whole(), levels)
		}
	}
	if failed < 50 || stopped < 50 {
		t.Errorf("%d fail and %d stop early: too few to tell", failed, stopped)
	}
}

// checkPaths: the way to each state begins at a start, and is a shortest one.
func (m *maze) checkPaths(t *testing.T, g *Graph, order []int) {
	t.Helper()
	depth := map[int]int{}
	for d, level := range m.levels() {
		for _, s := range level {
			depth[s] = d
		}
	}
	for n, s := range order {
		if g.prints[n] != Fingerprint(mazeState(s)) {
			t.Fatalf("%+v: state %d is not the one found then", m, n)
		}
		path := g.PathTo(uint32(n))
		if len(path) != depth[s]+1 || path[len(path)-1] != uint32(n) {
			t.Fatalf("%+v: the way to %d is %v, want %d steps", m, s, path, depth[s])
		}
		start, states, labels, err := g.Along(path, nil)
		if err != nil && m.fails != nil {
			continue // a state on the way fails
		}
		if err != nil || labels != nil || len(states) != len(path) || start != slices.Index(m.starts, int(states[0][0])) {
			t.Fatalf("%+v: along %v: start %d, %d states, labels %v, %v", m, path, start, len(states), labels, err)
		}
		for i, state := range states {
			if at := order[path[i]]; !bytes.Equal(state, mazeState(at)) {
				t.Fatalf("%+v: along %v, state %d is % x", m, path, i, state)
			}
			if i > 0 && !slices.ContainsFunc(m.steps[states[i-1][0]], func(p passage) bool { return p.to == int(state[0]) }) {
				t.Fatalf("%+v: along %v there is no step to %d", m, path, state[0])
			}
		}
	}
}

// A walk is followed edge by edge: its labels are those of its steps, even where another
// step leads to the same state.
func TestAlongWalks(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	for range 300 {
		m := drawMaze(r, false)
		g, err := BuildGraph(m, GraphLimits{Edges: true})
		if err != nil {
			t.Fatal(err)
		}
		order := m.graphed(0).states
		at := r.Uint32N(uint32(len(order)))
		path := g.PathTo(at)
		var walk []uint64
		var want []uint32
		states := []int{}
		for range 5 {
			list := m.steps[order[at]]
			if len(list) == 0 {
				break
			}
			i := r.IntN(len(list))
			e := g.first[at] + uint64(i)
			if g.source(e) != at || order[g.to[e]] != list[i].to {
				t.Fatalf("%+v: edge %d leads from %d to %d", m, e, g.source(e), g.to[e])
			}
			walk, want, states = append(walk, e), append(want, list[i].Label), append(states, list[i].to)
			at = g.to[e]
		}
		_, got, labels, err := g.Along(path, walk)
		if err != nil || !slices.Equal(labels, want) {
			t.Fatalf("%+v: along %v and %v: labels %v, %v, want %v", m, path, walk, labels, err, want)
		}
		for i, s := range states {
			if !bytes.Equal(got[len(path)+i], mazeState(s)) {
				t.Fatalf("%+v: along %v and %v: % x, want %d", m, path, walk, got[len(path)+i], s)
			}
		}
	}
}

// A dive finds a run of the maze: from a start, step by step, to a violation.
func TestDiveInMazes(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	caught := 0
	for range 800 {
		m := drawMaze(r, true)
		d := Dive{Stop: Broken(r.Uint32N(1 << 16)), Tries: 1 + r.IntN(4), Steps: 1 + r.IntN(6)}
		c, err := d.Run(m, Limits{})
		if c == nil {
			continue
		}
		caught++
		if err != nil || c.Start >= min(d.Tries, len(m.starts)) || len(c.States) > d.Steps+1 || !bytes.Equal(c.States[0], mazeState(m.starts[c.Start])) {
			t.Fatalf("%+v: %+v: got %+v and %v", m, d, c, err)
		}
		last := len(c.States) - 1
		could := m.broken[c.States[last][0]] & d.Stop
		if last > 0 {
			for _, p := range m.steps[c.States[last-1][0]] {
				if p.to == int(c.States[last][0]) && p.Broken&d.Stop == c.Broken {
					could = c.Broken
				}
			}
		}
		if c.Broken == 0 || c.Broken != could || c.Broken&^d.Stop != 0 {
			t.Fatalf("%+v: %+v: caught %+v, which violates %b", m, d, c, could)
		}
		for i := 1; i <= last; i++ {
			if !slices.ContainsFunc(m.steps[c.States[i-1][0]], func(p passage) bool { return bytes.Equal(mazeState(p.to), c.States[i]) }) {
				t.Fatalf("%+v: no step to state %d of %+v", m, i, c)
			}
		}
	}
	if caught < 100 {
		t.Errorf("%d caught: too few to tell", caught)
	}
}
