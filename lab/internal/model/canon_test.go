package model

import (
	"cmp"
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// drawTimes draws a set of times below a limit.
func drawTimes(r *rand.Rand, limit int) uint64 {
	set := r.Uint64() & r.Uint64() >> r.IntN(64)
	return set & (1<<limit - 1)
}

// listTimes returns the times of a set, in order.
func listTimes(set uint64) (list []int) {
	for t := range 64 {
		if set>>t&1 == 1 {
			list = append(list, t)
		}
	}
	return list
}

// formed returns a worker of a group whose states are renumbered in a form.
func formed(t *testing.T, f Form) *worker {
	t.Helper()
	c := setup{Spec: mutex.CentralStamped(0), Nodes: 2}.config(t)
	c.Form = f
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m.worker()
}

// Times are renumbered as their form says, whichever mappings were made before.
func TestMappings(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, f := range []Form{{}, {Times: Shifted}, {Times: Spread}} {
		w := formed(t, f)
		for range 2000 {
			set := drawTimes(r, 40)
			rule := rule{times: set, whole: r.IntN(4) == 0}
			if f.Times == Spread && r.IntN(2) == 0 {
				rule.wide = set & r.Uint64()
			}
			m := w.mapping(rule)
			if w.mappings[m.id] != m || w.mapping(rule) != m {
				t.Fatalf("%+v: mapping %d is another one", rule, m.id)
			}
			list := listTimes(set)
			next, same := uint64(1), true
			for i, x := range list {
				switch {
				case i == 0 && x == 0:
					next = 0
				case i > 0 && f.Times == Spread && !rule.whole && rule.wide>>x&1 == 1:
					next += 2
				case i > 0 && f.Times == Spread && !rule.whole:
					next += uint64(min(2, x-list[i-1]))
				case i > 0:
					next += uint64(x - list[i-1])
				}
				same = same && next == uint64(x)
				got, as := uint64(x), uint64(x)
				m.Ticket(&got)
				if m.Time(&as); f.Times == Kept && (got != uint64(x) || as != got) || f.Times != Kept && (got != next || x > 0 && as != got || x == 0 && as != 0) {
					t.Fatalf("%v, %+v: %d becomes %d and %d, want %d", f, rule, x, got, as, next)
				}
			}
			if m.same != same {
				t.Fatalf("%v, %+v: the same is %v", f, rule, m.same)
			}
		}
		if w.err != nil {
			t.Fatal(w.err)
		}
	}
}

// Times that would become too late are an error, at the first one that is.
func TestLateTimes(t *testing.T) {
	for _, c := range []struct {
		form  Numbering
		times uint64
		wide  uint64
		late  bool
	}{
		{Shifted, 1 << 63, 0, false}, {Shifted, ^uint64(0), 0, false}, {Shifted, ^uint64(1), 0, false},
		{Spread, ^uint64(1), 0, false}, {Spread, ^uint64(1), 1 << 63, true}, {Spread, ^uint64(0) >> 1, 1 << 62, false},
		{Spread, ^uint64(0) >> 1, 3 << 61, true},
	} {
		w := formed(t, Form{Times: c.form})
		w.mapping(rule{times: c.times, wide: c.wide})
		if much := new(TooMuch); errors.As(w.err, much) != c.late {
			t.Errorf("%+v: %v", c, w.err)
		}
	}
	for _, spreads := range []bool{false, true} {
		l := &lister{b: &blob{}, n: 2, form: Form{Times: Shifted}}
		if spreads {
			l.form.Times = Spread
		}
		for at := range uint64(maxTime + 1) {
			if l.Ticket(&at); l.err != nil || l.b.times>>at&1 == 0 {
				t.Fatalf("time %d is not noted: %v", at, l.err)
			}
		}
		late := uint64(maxTime + 1)
		if l.Ticket(&late); l.err == nil {
			t.Error("a time that is too late is noted")
		}
	}
	kept := &lister{b: &blob{}, n: 2}
	zero, late := uint64(0), uint64(1<<40)
	kept.Time(&zero)
	if kept.Ticket(&late); kept.err != nil || kept.b.times != 0 {
		t.Errorf("times that are kept are noted: %b, %v", kept.b.times, kept.err)
	}
	none := &lister{b: &blob{}, n: 2, form: Form{Times: Shifted}}
	if none.Time(&zero); none.b.times != 0 {
		t.Error("no time is noted as one")
	}
	if none.Ticket(&zero); none.b.times != 1 {
		t.Error("0 is a ticket like others, but it is not noted")
	}
}

// What is open after a step: how far a time is from one that was put into a wide gap before
// it.
func TestShrunk(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	some := 0
	for range 20_000 {
		old, now := drawTimes(r, 63), r.Uint64()>>1
		if r.IntN(2) == 0 {
			now |= old
		}
		var want uint64
		for i, list := 1, listTimes(old); i < len(list); i++ {
			x, y := list[i-1], list[i]
			if y > x+1 && now>>(x+1)&1 == 1 && now>>y&1 == 1 {
				want |= 1 << y
			}
		}
		if got := shrunk(old, now); got != want {
			t.Fatalf("from %b to %b: %b is open, want %b", old, now, got, want)
		}
		if want != 0 {
			some++
		}
	}
	if some < 1000 {
		t.Errorf("%d leave something open: too few to tell", some)
	}
}

// Messages are ordered by link, content, tag and age.
func TestCompareMessages(t *testing.T) {
	var all []message
	for link := range uint16(2) {
		for blob := range uint32(2) {
			for tag := range family.Tag(2) {
				all = append(all, message{blob, tag, link, false}, message{blob, tag, link, true})
			}
		}
	}
	for i, a := range all {
		for j, b := range all {
			if got := compareMessages(a, b); got != cmp.Compare(i, j) {
				t.Errorf("%+v and %+v: %d", a, b, got)
			}
		}
	}
}

// Counters become relative to an anchor or their rank, and a lister notes which there are.
func TestCounters(t *testing.T) {
	m := &mapping{anchor: []uint64{3, 0}}
	for _, c := range []struct {
		column  algorithm.ID
		v, want uint64
	}{{0, 0, 0}, {0, 3, 0}, {0, 4, 1}, {1, 0, 0}, {1, 5, 5}} {
		got, anchor := c.v, c.v
		m.Seq(c.column, &got)
		if m.Anchor(c.column, &anchor); got != c.want || anchor != c.want {
			t.Errorf("column %d: %d becomes %d, and as an anchor %d, want %d", c.column, c.v, got, anchor, c.want)
		}
	}
	m = &mapping{ranks: []counter{{0, 2}, {0, 7}, {2, 7}, {2, 9}, {2, 11}}}
	for _, c := range []struct {
		column  algorithm.ID
		v, want uint64
	}{{0, 0, 0}, {0, 2, 1}, {0, 7, 2}, {1, 0, 0}, {2, 7, 1}, {2, 9, 2}, {2, 11, 3}} {
		got := c.v
		if m.Seq(c.column, &got); got != c.want {
			t.Errorf("column %d: %d becomes %d, want %d", c.column, c.v, got, c.want)
		}
	}
	none, seven := uint64(0), uint64(7)
	for _, f := range []Numbering{Kept, Measured, Ranked} {
		l := &lister{b: &blob{}, n: 3, form: Form{Counters: f}}
		l.Seq(2, &none)
		if l.b.counts || l.b.counters != nil || l.b.seqs != (f != Kept) {
			t.Errorf("%v: %+v after a counter of 0", f, l.b)
		}
		l.Seq(2, &seven)
		l.Seq(2, &seven)
		l.Seq(1, &none)
		want := []counter{{2, 7}}
		if f != Ranked {
			want = nil
		}
		if !l.b.counts || !slices.Equal(l.b.counters, want) {
			t.Errorf("%v: %+v after a counter of 7", f, l.b)
		}
		if l.b.anchor != nil {
			t.Errorf("%v: there is an anchor", f)
		}
		l.Anchor(1, &seven)
		l.Anchor(0, &none)
		if f == Measured && !slices.Equal(l.b.anchor, []uint64{0, 7, 0}) || f != Measured && l.b.anchor != nil {
			t.Errorf("%v: the anchor is %v", f, l.b.anchor)
		}
	}
	for _, c := range []struct {
		a    []uint64
		want string
	}{{[]uint64{0, 0}, ""}, {[]uint64{0, 1}, "\x00\x01"}, {[]uint64{254, 255, 256}, "\xfe\xff\xff"}} {
		if got := small(c.a); got != c.want {
			t.Errorf("%v is %q, want %q", c.a, got, c.want)
		}
	}
}

// The counters of a state are collected, those of the dead left out, and are only renumbered
// if those of a column are not 1, 2, ... already.
func TestRanks(t *testing.T) {
	w := formed(t, Form{Counters: Ranked})
	blobOf := func(list ...counter) uint32 {
		b := &blob{id: uint32(len(w.infos)), counters: list}
		w.remember(b)
		return b.id
	}
	g := newState(2, w.Env)
	for _, c := range []struct {
		first, second, message []counter
		dead                   bool
		dense                  bool
		want                   []counter
	}{
		{nil, nil, nil, false, true, nil},
		{[]counter{{0, 1}}, []counter{{0, 2}}, []counter{{1, 1}}, false, true, []counter{{0, 1}, {0, 2}, {1, 1}}},
		{[]counter{{0, 1}}, []counter{{0, 2}}, []counter{{1, 2}}, false, false, []counter{{0, 1}, {0, 2}, {1, 2}}},
		{[]counter{{1, 1}}, []counter{{0, 1}}, []counter{{1, 1}, {1, 2}}, false, true, []counter{{0, 1}, {1, 1}, {1, 2}}},
		{[]counter{{1, 1}}, nil, []counter{{1, 3}}, false, false, []counter{{1, 1}, {1, 3}}},
		{[]counter{{1, 1}}, []counter{{1, 9}}, nil, true, true, []counter{{1, 1}}},
		{[]counter{{0, 2}}, nil, nil, false, false, []counter{{0, 2}}},
	} {
		g.seats[0] = seat{blob: blobOf(c.first...)}
		g.seats[1] = seat{blob: blobOf(c.second...), dead: c.dead}
		g.messages = []message{{blob: blobOf(c.message...)}}
		name := w.ranksOf(g)
		if (name == "") != c.dense || !slices.Equal(w.counters, c.want) {
			t.Errorf("%+v: %q, %v", c, name, w.counters)
		}
		if r := w.ruleOf(g); r.ranks != name || r.anchor != "" {
			t.Errorf("%+v: the rule is %+v", c, r)
		}
		if m := w.mapping(w.ruleOf(g)); !c.dense && (m.same || !slices.Equal(m.ranks, c.want)) || c.dense && (!m.same || m.ranks != nil) {
			t.Errorf("%+v: the mapping is %+v", c, m)
		}
	}
	for name, list := range map[string][2][]counter{"columns": {{{0, 2}}, {{1, 2}}}, "values": {{{0, 2}}, {{0, 3}}}, "lists": {{{0, 2}}, {{0, 2}, {1, 1}}}} {
		var ranks [2]string
		for i := range ranks {
			g.seats = []seat{{blob: blobOf(list[i]...)}, {blob: blobOf()}}
			g.messages = nil
			ranks[i] = w.ranksOf(g)
		}
		if ranks[0] == ranks[1] {
			t.Errorf("different %s have the name %q", name, ranks[0])
		}
	}
}

// A lifter moves times and counters as its shift says, and takes what it does not know to be
// one more.
func TestLifter(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for range 3000 {
		set := drawTimes(r, 50)
		s := shift{up: r.Uint64N(4), wide: r.Uint64N(4)}
		l, moves := newLifter(set, nil, s)
		list := listTimes(set)
		var last uint64
		some := false
		for i, x := range list {
			to := uint64(x) + s.up
			switch {
			case s.up == 0:
				to = uint64(x)
			case i == 0 && x == 0:
				to = 0
			case i > 0 && x-list[i-1] > 1:
				to = last + uint64(x-list[i-1]) + s.wide
			case i > 0:
				to = last + 1
			}
			some = some || to != uint64(x)
			for more := range uint64(2) {
				if more == 1 && set>>(x+1)&1 == 1 {
					continue
				}
				ticket, time := uint64(x)+more, uint64(x)+more
				l.Ticket(&ticket)
				if l.Time(&time); ticket != to+more || time != ticket && uint64(x)+more != 0 || uint64(x)+more == 0 && time != 0 {
					t.Fatalf("%v, %+v: %d becomes %d and %d, want %d", list, s, uint64(x)+more, ticket, time, to+more)
				}
			}
			last = to
		}
		if moves != some {
			t.Fatalf("%v, %+v: moves is %v", list, s, moves)
		}
	}
	known := []counter{{0, 2}, {1, 5}}
	for _, c := range []struct {
		shift
		column  algorithm.ID
		v, want uint64
		odd     bool
	}{
		{shift{}, 0, 2, 2, false},
		{shift{seqs: 7}, 0, 0, 7, false}, {shift{seqs: 7}, 2, 1, 10, false},
		{shift{ranks: 4}, 0, 0, 0, false}, {shift{ranks: 4}, 0, 2, 10, false}, {shift{ranks: 4}, 0, 3, 11, false},
		{shift{ranks: 4}, 1, 5, 19, false}, {shift{ranks: 4}, 1, 6, 20, false}, {shift{ranks: 4}, 1, 2, 2, true},
		{shift{ranks: 4}, 0, 4, 4, true}, {shift{ranks: 4}, 1, 1, 1, false},
	} {
		l, moves := newLifter(0, known, c.shift)
		got, anchor := c.v, c.v
		l.Seq(c.column, &got)
		if l.Anchor(c.column, &anchor); got != c.want || anchor != got || l.odd != c.odd || moves != (c.seqs+c.ranks > 0) {
			t.Errorf("%+v: %d becomes %d and %d, odd %v, moves %v", c, c.v, got, anchor, l.odd, moves)
		}
	}
	if _, moves := newLifter(0, nil, shift{ranks: 2}); moves {
		t.Error("no counter is moved")
	}
	if _, moves := newLifter(0, nil, shift{up: 2}); moves {
		t.Error("no time is moved")
	}
	if _, moves := newLifter(1, nil, shift{up: 1, seqs: 1}); !moves {
		t.Error("counters are moved, though the time 0 is not")
	}
	for _, s := range timeShifts {
		if s.up == 0 || s.seqs+s.ranks != 0 {
			t.Errorf("%+v does not move times", s)
		}
	}
	if n := bits.OnesCount(far); n != 1 || far <= maxTime {
		t.Errorf("far is %d", far)
	}
}

// Counters are left behind all together and each alone, by little and by much.
func TestLagWays(t *testing.T) {
	if ways := lagWays(0); ways != nil {
		t.Errorf("without counters: %v", ways)
	}
	for n := 1; n <= 3; n++ {
		alone, together := map[int]map[uint64]bool{}, map[string]bool{}
		for _, w := range lagWays(n) {
			if w.up == 0 || w.by == 0 {
				t.Errorf("%+v leaves nothing behind", w)
			}
			if w.only >= 0 {
				if alone[w.only] == nil {
					alone[w.only] = map[uint64]bool{}
				}
				alone[w.only][min(w.behind(w.only), w.up)] = true
				for i := range n {
					if i != w.only && w.behind(i) != 0 {
						t.Errorf("%+v leaves %d behind", w, i)
					}
				}
				continue
			}
			kind := "much"
			switch {
			case w.up == 1 && w.behind(0) == 1 && w.behind(2) == 1:
				kind = "all"
			case w.behind(0) == 1 && w.behind(2) == 1:
				kind = "little"
			case w.behind(0) == 1 && w.behind(1) == 2 && w.behind(2) == 3:
				kind = "apart"
			case w.behind(0) < w.up || w.behind(2) != w.behind(0):
				t.Errorf("%+v leaves %d and %d behind", w, w.behind(0), w.behind(2))
			}
			together[kind] = true
		}
		if len(together) != 4 || len(alone) != n {
			t.Errorf("%d counters: together %v, alone %v", n, together, alone)
		}
		for i, by := range alone {
			if len(by) != 2 || !by[1] || !by[far] || i >= n {
				t.Errorf("%d counters: %d is left behind by %v", n, i, by)
			}
		}
	}
}

// A step has several meanings only if gaps are not counted.
func TestOneMeaning(t *testing.T) {
	m := mustModel(t, setup{Spec: mutex.CentralStamped(0), Nodes: 3, Requests: 2})
	if m.Form.Times != Shifted {
		t.Fatalf("times are %v", m.Form.Times)
	}
	filled := 0
	walk(t, m, func(w *worker, g *state) {
		made := map[uint32]bool{}
		_, err := w.Next(m.pack(nil, g), func(s explore.Step, _ []byte) {
			if made[s.Label] {
				t.Fatalf("%s: step %x is made twice", contents(g), s.Label)
			}
			made[s.Label] = true
			if shrunk(w.old, w.timesOf(w.to)) != 0 {
				filled++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	if filled == 0 {
		t.Error("no step puts a time into a gap: too few to tell")
	}
}

// Steps are tried with their numbers moved by all of 1 to residues if there are few.
func TestEveryShift(t *testing.T) {
	moved := map[string]bool{}
	c := setup{Spec: mutex.RicartAgrawala(), Nodes: 2, Requests: 1}.config(t)
	plan := c.Spec.Plan
	c.Spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return stepped{birth(self, v), moved}
		}, err
	}
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := explore.Explore(m, explore.Limits{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	w := m.worker()
	w.over = explore.Limits{}.Ends()
	tried := 0
	for _, s := range m.taken() {
		if times, _ := before(s.state, s.in, s.msg); times == 0 || s.state.times == 0 {
			continue
		}
		clear(moved)
		if err := w.liftMore([]taken{s}, residues); err != nil {
			t.Fatal(err)
		}
		delete(moved, string(s.state.bytes))
		if tried++; len(moved) != residues {
			t.Fatalf("a step is tried with %d shifts, want %d", len(moved), residues)
		}
	}
	if tried == 0 {
		t.Error("no step has times")
	}
}

// A stepped machine notes the states in which it takes a step.
type stepped struct {
	algorithm.Machine
	states map[string]bool
}

func (m stepped) Step(in host.Input, out *host.Output) error {
	m.states[string(m.AppendState(nil))] = true
	return m.Machine.Step(in, out)
}

// Of neighbours that are copies of an idempotent message, one is kept.
func TestCollapse(t *testing.T) {
	m := mustModel(t, setup{Spec: mutex.SuzukiKasami(), Nodes: 2, Requests: 1})
	kinds := map[bool]int{}
	walk(t, m, func(w *worker, g *state) {
		w.know(g)
		if len(g.messages) != 1 {
			return
		}
		x := g.messages[0]
		want := 3
		if w.info(x.blob).idem {
			want = 1
		}
		kinds[want == 1]++
		g.messages = append(g.messages, x, x)
		if w.collapse(g); len(g.messages) != want {
			t.Errorf("%d of 3 copies are kept, want %d", len(g.messages), want)
		}
	})
	if len(kinds) != 2 {
		t.Errorf("only such messages: %v", kinds)
	}
}
