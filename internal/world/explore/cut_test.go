package explore

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A drawn graph is a model given by its edges. It starts in state 0.
type drawn struct {
	waiting []bool // whether process 0 waits in each state
	calm    []bool
	edges   [][]arrow
}

// An arrow is an edge; class 0 is not fair.
type arrow struct {
	to, class int
	enters    bool
}

func (d *drawn) Worker() Worker { return d }

func (d *drawn) Init(emit func([]byte) bool) error {
	emit([]byte{0})
	return nil
}

func (d *drawn) Next(state []byte, emit func(Step, []byte)) (Broken, error) {
	for _, a := range d.edges[state[0]] {
		s := Step{Fair: a.class > 0, Class: uint32(a.class)}
		if a.enters {
			s.Enters = 2
		}
		emit(s, []byte{byte(a.to)})
	}
	return 0, nil
}

func (d *drawn) Waiting(state []byte) (waiting, calm uint32) {
	if d.waiting[state[0]] {
		waiting = 1
		if d.calm[state[0]] {
			calm = 1
		}
	}
	return waiting, calm
}

// judge asks the checker.
func (d *drawn) judge(t *testing.T) (starves bool, bypass, FromCalm int) {
	t.Helper()
	g, err := BuildGraph(d, GraphLimits{Edges: true})
	if err != nil {
		t.Fatal(err)
	}
	c := g.Cut(0)
	bad := c.Starves()
	if bad != nil {
		d.checkLoop(t, c, bad)
	}
	by := c.Bypass()
	bypass, FromCalm = by.FromRequest, by.FromCalm
	return bad != nil, bypass, FromCalm
}

// checkLoop: what is shown as a loop is a closed walk inside the component, and
// to repeat it is fair: what is possible in all its states is done in it. So is
// the long way round, which is taken where no short loop is fair.
func (d *drawn) checkLoop(t *testing.T, c *Cut, bad []uint32) {
	t.Helper()
	first := bad[len(bad)-1]
	for _, walk := range [][]uint32{c.Loop(bad), c.around(bad, first)} {
		if walk[0] != walk[len(walk)-1] {
			t.Errorf("%+v: the loop %v is not closed", d, walk)
		}
		in, taken := map[uint32]bool{walk[0]: true}, map[int]bool{}
		for i, s := range walk[1:] {
			in[s] = true
			found := false
			for e := c.first[walk[i]]; e < c.first[walk[i]+1]; e++ {
				if c.to[e] == s && c.comp[s] == c.comp[first] {
					taken[int(c.class[e]&^(classEnters|classFair))] = true
					found = true
				}
			}
			if !found {
				t.Errorf("%+v: no step %d -> %d in the loop %v", d, walk[i], s, walk)
			}
		}
		for class := 1; class <= 3; class++ {
			everywhere := true
			for s := range in {
				here := false
				for e := c.first[s]; e < c.first[s+1]; e++ {
					here = here || c.class[e]&^classEnters == classFair|uint32(class)
				}
				everywhere = everywhere && here
			}
			if everywhere && !taken[class] {
				t.Errorf("%+v: action %d is possible all along the loop %v and never done", d, class, walk)
			}
		}
	}
}

// reach returns which states can be reached from which by at least one step, in
// the part of the graph that in allows.
func (d *drawn) reach(in func(s int) bool) [][]bool {
	n := len(d.edges)
	r := make([][]bool, n)
	for s := range r {
		r[s] = make([]bool, n)
		for _, a := range d.edges[s] {
			r[s][a.to] = r[s][a.to] || in(s) && in(a.to)
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				r[i][j] = r[i][j] || r[i][k] && r[k][j]
			}
		}
	}
	return r
}

// Starves is the definition: there is a set of states, all waiting, that a run
// can visit for ever, and no fair action is possible in all of them without
// being taken among them; or a state where nothing need happen.
func (d *drawn) starves() bool {
	n := len(d.edges)
	from0 := d.reach(func(int) bool { return true })[0]
	from0[0] = true
	for set := 1; set < 1<<n; set++ {
		in := func(s int) bool { return set>>s&1 == 1 }
		r := d.reach(in)
		ok := true
		for s := range n {
			ok = ok && (!in(s) || d.waiting[s] && from0[s])
			for u := range n {
				ok = ok && (!in(s) || !in(u) || r[s][u])
			}
		}
		if ok && d.fair(in) {
			return true
		}
	}
	for s := range n {
		possible := false
		for _, a := range d.edges[s] {
			possible = possible || a.class > 0
		}
		if from0[s] && d.waiting[s] && !possible {
			return true
		}
	}
	return false
}

// fair reports whether staying in a set for ever is fair.
func (d *drawn) fair(in func(s int) bool) bool {
	for class := 1; class <= 3; class++ {
		everywhere, taken := true, false
		for s := range d.edges {
			here := false
			for _, a := range d.edges[s] {
				here = here || a.class == class
				taken = taken || in(s) && in(a.to) && a.class == class
			}
			everywhere = everywhere && (here || !in(s))
		}
		if everywhere && !taken {
			return false
		}
	}
	return true
}

// overtaken is the definition of bypass, by trying longer and longer walks.
func (d *drawn) overtaken() (bypass, FromCalm int) {
	n := len(d.edges)
	from0 := d.reach(func(int) bool { return true })[0]
	from0[0] = true
	most := make([]int, n)
	const enough = 100 // walks this long repeat any loop
	for range enough {
		next := make([]int, n)
		for s := range n {
			for _, a := range d.edges[s] {
				if !d.waiting[s] || !d.waiting[a.to] {
					continue
				}
				count := most[a.to]
				if a.enters {
					count++
				}
				next[s] = max(next[s], count)
			}
		}
		most = next
	}
	for s := range n {
		if !from0[s] || !d.waiting[s] {
			continue
		}
		v := most[s]
		if v > n {
			v = Unbounded
		}
		bypass = Worse(bypass, v)
		if d.calm[s] {
			FromCalm = Worse(FromCalm, v)
		}
	}
	return bypass, FromCalm
}

// draw draws a graph by chance.
func draw(r *rand.Rand) *drawn {
	n := 1 + r.IntN(6)
	d := &drawn{edges: make([][]arrow, n)}
	for range n {
		d.waiting = append(d.waiting, r.IntN(4) > 0)
		d.calm = append(d.calm, r.IntN(2) > 0)
	}
	for range r.IntN(3*n + 1) {
		s := r.IntN(n)
		d.edges[s] = append(d.edges[s], arrow{r.IntN(n), r.IntN(4), r.IntN(4) == 0})
	}
	return d
}

// Whether some run goes on for ever, against the definition; and where none
// does, who starves is in a state in which nothing need happen.
func TestOutlookAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 72))
	count := map[Runs]int{}
	const runs = 4000
	for range runs {
		d := draw(r)
		o, err := OutlookOf(d, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got := o.Runs
		all := d.reach(func(int) bool { return true })
		want, stuck := AllEnd, false
		for s := range d.edges {
			if s != 0 && !all[0][s] {
				continue
			}
			if all[s][s] {
				want = SomeGoOn
			}
			fair := slices.ContainsFunc(d.edges[s], func(a arrow) bool { return a.class > 0 })
			stuck = stuck || d.waiting[s] && !fair
		}
		if got != want {
			t.Fatalf("%+v: outlook %d, want %d", d, got, want)
		}
		if got == AllEnd && stuck != d.starves() {
			t.Fatalf("%+v: every run ends, stuck is %v, but starves is %v", d, stuck, !stuck)
		}
		count[got]++
	}
	if count[AllEnd] < runs/10 || count[SomeGoOn] < runs/10 {
		t.Errorf("outlooks of %d graphs: %v, too lopsided to tell", runs, count)
	}
	if o, _ := OutlookOf(draw(r), Limits{Time: time.Nanosecond}); o.Runs != Unknown || o.Unfinished != OutOfTime {
		t.Errorf("without time: %+v, want unknown, and why", o)
	}
}

// The checker against the definitions, on random graphs.
func TestLivenessAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	starving, finite := 0, 0
	const runs = 4000
	for range runs {
		d := draw(r)
		starves, bypass, FromCalm := d.judge(t)
		if want := d.starves(); starves != want {
			t.Fatalf("%+v: starves is %v, want %v", d, starves, want)
		}
		if wantBypass, wantCalm := d.overtaken(); bypass != wantBypass || FromCalm != wantCalm {
			t.Fatalf("%+v: bypass is %d and %d, want %d and %d", d, bypass, FromCalm, wantBypass, wantCalm)
		}
		if starves {
			starving++
		}
		if bypass > 0 {
			finite++
		}
	}
	if starving < runs/10 || starving > runs*9/10 || finite < runs/20 {
		t.Errorf("of %d graphs %d starve and %d have a finite bypass: too lopsided to tell", runs, starving, finite)
	}
}

// Graphs drawn by hand, one for each subtlety.
func TestLivenessByHand(t *testing.T) {
	all := []bool{true, true, true, true}
	for _, c := range []struct {
		name    string
		waiting []bool
		edges   [][]arrow
		starves bool
		bypass  int
	}{
		{"a loop of fair actions", []bool{false, true, true}, [][]arrow{{{1, 0, false}}, {{2, 1, false}}, {{1, 2, false}}}, true, 0},
		{"a fair way out that is always possible", []bool{true, true, false}, [][]arrow{{{1, 1, false}, {2, 2, false}}, {{0, 1, false}, {2, 2, false}}, nil}, false, 0},
		{"a fair way out that is possible only now and then", []bool{true, true, false}, [][]arrow{{{1, 1, false}, {2, 2, false}}, {{0, 1, false}}, nil}, true, 0},
		{"a way out that is not fair", []bool{true, true, false}, [][]arrow{{{1, 1, false}, {2, 0, false}}, {{0, 1, false}, {2, 0, false}}, nil}, true, 0},
		{"a fair action possible in all states of the loop, and never taken there", []bool{true, true, true, false},
			[][]arrow{{{1, 1, false}, {2, 2, false}}, {{0, 1, false}, {2, 2, false}}, {{3, 3, false}}, nil}, false, 0},
		{"a loop that nobody need leave or take", all[:1], [][]arrow{{{0, 0, false}}}, true, 0},
		{"the end of everything", all[:1], [][]arrow{nil}, true, 0},
		{"another goes in once", []bool{true, true, false}, [][]arrow{{{1, 1, true}}, {{2, 1, true}}, nil}, false, 1},
		{"another goes in again and again", []bool{true, true, false}, [][]arrow{{{1, 1, true}, {2, 2, false}}, {{0, 1, false}, {2, 2, false}}, nil}, false, Unbounded},
		{"a loop in which nobody waits", []bool{false, false}, [][]arrow{{{1, 1, true}}, {{0, 1, true}}}, false, 0},
	} {
		d := &drawn{waiting: c.waiting, calm: all, edges: c.edges}
		starves, bypass, _ := d.judge(t)
		if starves != c.starves || bypass != c.bypass {
			t.Errorf("%s: starves is %v and bypass %d, want %v and %d", c.name, starves, bypass, c.starves, c.bypass)
		}
	}
}
