package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/nightly"
)

// A drawn graph is a model given by its edges. It starts in state 0.
type drawn struct {
	waiting []bool // whether process 0 waits in each state
	calm    []bool
	edges   [][]arrow
	names   []renaming // those of arrows, from number 1 on
}

// An arrow is an edge; class 0 is not fair.
type arrow struct {
	to, class int
	enters    bool
	renaming  int
}

// A renaming is the class that each class becomes.
type renaming [classes + 1]int

// classes is the number of fair actions in a drawn graph.
const classes = 3

func (d *drawn) Renamed(renaming, class uint32) uint32 {
	return uint32(d.names[renaming-1][class])
}

func (d *drawn) Worker() Worker { return d }

func (d *drawn) Init(emit func([]byte) bool) error {
	emit([]byte{0})
	return nil
}

func (d *drawn) Next(state []byte, emit func(Step, []byte)) (Broken, error) {
	for _, a := range d.edges[state[0]] {
		s := Step{Fair: a.class > 0, Class: uint32(a.class), Renaming: uint32(a.renaming)}
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

// checkLoop: what is shown as a loop is a closed walk inside the component, and to repeat
// it is fair. So is the long way round, which is taken where no short loop is fair.
func (d *drawn) checkLoop(t *testing.T, c *Cut, bad []uint32) {
	t.Helper()
	first := bad[len(bad)-1]
	for _, walk := range []*Walk{c.Loop(bad), c.around(first)} {
		stem := c.PathTo(walk.From)
		_, states, _, err := c.Along(stem, walk.Edges)
		if err != nil {
			t.Fatal(err)
		}
		at := walk.From
		m := d.meet(int(states[len(stem)-1][0]), nil)
		old := len(m.age)
		for _, e := range walk.Edges {
			if c.source(e) != at || c.comp[c.to[e]] != c.comp[first] {
				t.Fatalf("%+v: the loop %v leaves its component, or is none", d, walk)
			}
			var gone []int
			m, gone = d.take(m, int(e-c.first[at]))
			for _, i := range gone {
				if i < old {
					old--
				}
			}
			at = c.to[e]
		}
		if at != walk.From || old > 0 {
			t.Errorf("%+v: the loop %v ends in %d with %d actions still owed", d, walk, at, old)
		}
	}
}

// A meeting is a state of a drawn graph together with the actions that are possible
// there, those that have been possible longest first. So each action has an identity,
// which is its place, whatever it is called.
type meeting struct {
	state int
	age   []int // classes
}

// meet returns the meeting in a state, where some actions have been possible before.
func (d *drawn) meet(state int, before []int) meeting {
	m := meeting{state, before}
	for _, a := range d.edges[state] {
		if a.class > 0 && !slices.Contains(m.age, a.class) {
			m.age = append(m.age, a.class)
		}
	}
	return m
}

// take follows an edge. It returns the meeting there, and the places of the actions that
// are not the same as before, the last first: those taken, and those no longer possible.
func (d *drawn) take(m meeting, edge int) (next meeting, gone []int) {
	a := d.edges[m.state][edge]
	var kept []int
	for i, class := range m.age {
		called := class
		if a.renaming > 0 {
			called = d.names[a.renaming-1][class]
		}
		possible := slices.ContainsFunc(d.edges[a.to], func(b arrow) bool { return b.class == called })
		if class == a.class || !possible || slices.Contains(kept, called) {
			gone = append(gone, i)
		} else {
			kept = append(kept, called)
		}
	}
	slices.Reverse(gone)
	return d.meet(a.to, kept), gone
}

// starvesByAge is the definition, with the identities of actions: there is a run in which
// the process waits forever, and again and again the action that has been possible
// longest is done or no longer possible, or none is possible.
func (d *drawn) starvesByAge() bool {
	index := map[string]int{}
	var all []meeting
	var next [][]int
	var pays [][]bool
	visit := func(m meeting) int {
		k := fmt.Sprint(m)
		n, ok := index[k]
		if !ok {
			n = len(all)
			index[k] = n
			all = append(all, m)
		}
		return n
	}
	reach := d.reach(func(int) bool { return true })[0]
	for s := range d.edges {
		if d.waiting[s] && (s == 0 || reach[s]) {
			visit(d.meet(s, nil))
		}
	}
	for i := 0; i < len(all); i++ {
		m := all[i]
		if len(m.age) == 0 {
			return true
		}
		var to []int
		var pay []bool
		for e, a := range d.edges[m.state] {
			if d.waiting[a.to] {
				n, gone := d.take(m, e)
				to = append(to, visit(n))
				pay = append(pay, len(gone) > 0 && gone[len(gone)-1] == 0)
			}
		}
		next, pays = append(next, to), append(pays, pay)
	}
	for i := range all {
		for e, pay := range pays[i] {
			if pay && reaches(next, next[i][e], i) {
				return true
			}
		}
	}
	return false
}

// reaches reports whether there is a walk from one node to another.
func reaches(next [][]int, from, to int) bool {
	seen := make([]bool, len(next))
	stack := []int{from}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == to {
			return true
		}
		if !seen[n] {
			seen[n] = true
			stack = append(stack, next[n]...)
		}
	}
	return false
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
		d.edges[s] = append(d.edges[s], arrow{to: r.IntN(n), class: r.IntN(4), enters: r.IntN(4) == 0})
	}
	return d
}

// drawInFlight draws a graph of a process that waits while messages are in flight: most of
// them arrive outside, in the last state, and what an edge does not take stays in flight,
// though under another name.
func drawInFlight(r *rand.Rand) *drawn {
	n := 2 + r.IntN(4)
	d := &drawn{edges: make([][]arrow, n), calm: make([]bool, n)}
	names := make([][]int, n)
	for s := range n {
		d.waiting = append(d.waiting, s < n-1)
		for _, k := range r.Perm(classes)[:1+r.IntN(classes)] {
			names[s] = append(names[s], k+1)
		}
	}
	for s := range n - 1 {
		for _, k := range append(names[s], make([]int, r.IntN(3))...) {
			a := arrow{class: k, to: r.IntN(n)}
			if k > 0 && r.IntN(3) > 0 {
				a.to = n - 1
			}
			d.names = append(d.names, drawRenaming(r, names[s], k, names[a.to]))
			a.renaming = len(d.names)
			d.edges[s] = append(d.edges[s], a)
		}
	}
	return d
}

// drawRenaming draws a renaming of all names but one to other names, as far as these suffice. Few
// make one of two.
func drawRenaming(r *rand.Rand, names []int, but int, to []int) renaming {
	n := renaming{0, 1, 2, 3}
	free := slices.Clone(to)
	r.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	for _, k := range names {
		if k != but && len(free) > 0 {
			n[k] = free[0]
			if r.IntN(8) > 0 {
				free = free[1:]
			}
		}
	}
	return n
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

// The checker against explicit identities of actions, on random graphs with random
// renamings. Two other rules must be seen to be wrong: that an action is its class,
// whatever becomes of it, and that all actions are one, as if links were fair and not
// messages.
func TestFairnessAgainstIdentities(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 1))
	runs := 20_000
	if !nightly.On() {
		runs = 4000
	}
	var starving, falseHolds, falseViolations, byLink int
	for range runs {
		d := drawInFlight(r)
		starves, _, _ := d.judge(t)
		if want := d.starvesByAge(); starves != want {
			t.Fatalf("%+v: starves is %v, want %v", d, starves, want)
		}
		switch old := d.starves(); {
		case old && !starves:
			falseViolations++
		case !old && starves:
			falseHolds++
		}
		one := &drawn{waiting: d.waiting, calm: d.calm, edges: make([][]arrow, len(d.edges))}
		for s, list := range d.edges {
			for _, a := range list {
				one.edges[s] = append(one.edges[s], arrow{to: a.to, class: min(a.class, 1)})
			}
		}
		if link, _, _ := one.judge(t); link != starves {
			byLink++
		}
		if starves {
			starving++
		}
	}
	if starving < runs/10 || starving > runs*9/10 || falseHolds < runs/500 || falseViolations < runs/500 || byLink < runs/500 {
		t.Errorf("of %d graphs %d starve; without renamings %d would falsely hold and %d be falsely violated, by link %d be wrong: too few to tell",
			runs, starving, falseHolds, falseViolations, byLink)
	}
	t.Logf("of %d graphs %d starve; without renamings %d would falsely hold and %d be falsely violated, by link %d be wrong",
		runs, starving, falseHolds, falseViolations, byLink)
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
		{"a loop of fair actions", []bool{false, true, true}, [][]arrow{{{1, 0, false, 0}}, {{2, 1, false, 0}}, {{1, 2, false, 0}}}, true, 0},
		{"a fair way out that is always possible", []bool{true, true, false}, [][]arrow{{{1, 1, false, 0}, {2, 2, false, 0}}, {{0, 1, false, 0}, {2, 2, false, 0}}, nil}, false, 0},
		{"a fair way out that is possible only now and then", []bool{true, true, false}, [][]arrow{{{1, 1, false, 0}, {2, 2, false, 0}}, {{0, 1, false, 0}}, nil}, true, 0},
		{"a way out that is not fair", []bool{true, true, false}, [][]arrow{{{1, 1, false, 0}, {2, 0, false, 0}}, {{0, 1, false, 0}, {2, 0, false, 0}}, nil}, true, 0},
		{"a fair action possible in all states of the loop, and never taken there", []bool{true, true, true, false},
			[][]arrow{{{1, 1, false, 0}, {2, 2, false, 0}}, {{0, 1, false, 0}, {2, 2, false, 0}}, {{3, 3, false, 0}}, nil}, false, 0},
		{"a loop that nobody need leave or take", all[:1], [][]arrow{{{0, 0, false, 0}}}, true, 0},
		{"the end of everything", all[:1], [][]arrow{nil}, true, 0},
		{"another goes in once", []bool{true, true, false}, [][]arrow{{{1, 1, true, 0}}, {{2, 1, true, 0}}, nil}, false, 1},
		{"another goes in again and again", []bool{true, true, false}, [][]arrow{{{1, 1, true, 0}, {2, 2, false, 0}}, {{0, 1, false, 0}, {2, 2, false, 0}}, nil}, false, Unbounded},
		{"two fair actions that lead to the same state, of which one is taken", []bool{true, true}, [][]arrow{{{1, 1, false, 0}, {1, 2, false, 0}}, {{0, 3, false, 0}, {0, 1, false, 0}, {0, 2, false, 0}}}, true, 0},
		{"a loop in which nobody waits", []bool{false, false}, [][]arrow{{{1, 1, true, 0}}, {{0, 1, true, 0}}}, false, 0},
	} {
		d := &drawn{waiting: c.waiting, calm: all, edges: c.edges}
		starves, bypass, _ := d.judge(t)
		if starves != c.starves || bypass != c.bypass {
			t.Errorf("%s: starves is %v and bypass %d, want %v and %d", c.name, starves, bypass, c.starves, c.bypass)
		}
	}
}
