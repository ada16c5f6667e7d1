package node

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/views"
)

// matches reports whether the text of a view matches a pattern.
func (x *ViewChange) matches(text string) bool {
	return regexp.MustCompile("^(?:" + text + ")$").MatchString(x.Text)
}

// remembers waits until a node remembers a view whose text matches a pattern, and returns it.
func remembers(t *testing.T, n *Node, text string) ViewChange {
	t.Helper()
	var c ViewChange
	beats(t, n, text, func(p *Pulse) bool {
		i := slices.IndexFunc(p.History, func(c ViewChange) bool { return c.matches(text) })
		if i >= 0 {
			c = p.History[i]
		}
		return i >= 0
	})
	return c
}

// Nodes remember the views that they have installed, and what each has changed. The leader
// that decided to make a view without a member knows why.
func TestHistory(t *testing.T) {
	all := start(t, 4, func(i int, c *Config) {
		c.Lease, c.Voters = lease, 1
		if i == 3 {
			c.Data = t.TempDir() // it keeps its seat when it stops
		}
	})
	a, b, c, d := all[0], all[1], all[2], all[3]
	check := func(n *Node, text, cause string, known bool) {
		t.Helper()
		x := remembers(t, n, text)
		if x.Cause != cause || x.Known != known || x.Epoch == 0 || len(x.Members) == 0 || x.At < pulse(t, n).Started {
			t.Errorf("%s: %+v, want %s, known %v", n.Name(), x, cause, known)
		}
	}
	check(a, "a founded the cluster", "found", true)
	check(a, "(.*; )?b joined(; .*)?", "join", true)
	check(b, "(.*; )?b joined(; .*)?", "join", true)
	if h := pulse(t, b).History; !h[0].matches("(.*; )?b joined(; .*)?") {
		t.Errorf("the first view of b is %+v", h[0])
	}
	c.Kill()
	silent := `c was evicted: it had not renewed its lease for \d+\.\d s(; .*)?`
	check(a, silent, "evict", true)
	check(b, "c was evicted(; .*)?", "evict", false)
	if x, y := remembers(t, a, silent), remembers(t, b, "c was evicted(; .*)?"); x.Epoch != y.Epoch || slices.Contains(x.Members, "c") || len(x.Members) != 3 {
		t.Errorf("%+v and %+v", x, y)
	}
	ask := func(what uint64, about string) {
		t.Helper()
		ctx, cancel := soon(t)
		defer cancel()
		if _, err := a.QueryFor(ctx, Caller{}, what, []byte(about)); err != nil {
			t.Fatal(err)
		}
	}
	ask(AskEvict, "b")
	check(a, "b was evicted by an operator(; .*)?", "evict", true)
	beats(t, a, "with b again", func(p *Pulse) bool {
		last := p.History[len(p.History)-1]
		return last.matches("(.*; )?b joined(; .*)?") && slices.Contains(last.Members, "b")
	})
	becomes(t, b, "back", func(s Status) bool { return s.Member() && s.Epoch == a.Status().Epoch && s.Left > 0 })
	ask(AskChoose, "ricart-agrawala")
	check(d, "(.*; )?algorithms are now ricart-agrawala,.*", "refresh", true)
	stop(t, d)
	check(a, "d stopped and keeps its place(; .*)?", "leave", true)
	stop(t, b)
	check(a, "b left(; .*)?", "leave", true)
}

// What a view has changed, as one says that does not know why.
func TestChange(t *testing.T) {
	n := start(t, 1, nil)[0]
	n.mu.Lock()
	defer n.mu.Unlock()
	m := func(name string, inc, voter uint64) views.Member {
		return views.Member{Name: name, Inc: inc, Voter: voter}
	}
	n.lastView = []views.Member{m("a", 1, 1), m("b", 2, 2), m("c", 3, 3), m("d", 4, 0)}
	for _, x := range []struct {
		members     []views.Member
		formers     []uint64
		ghosts      []uint64
		votes       []uint64
		text, cause string
		known       bool
	}{
		{n.lastView, []uint64{1, 2, 3, 4}, nil, nil, "the members are the same", "refresh", true},
		{n.lastView[:3], []uint64{1, 2, 3, 4}, nil, nil, "d left", "leave", false},
		{n.lastView[:2], []uint64{1, 2, 3, 4}, []uint64{4}, []uint64{3}, "d was evicted; c stopped", "evict", false},
		{n.lastView, []uint64{1, 2, 3, 4, 9}, []uint64{9}, nil, `a member \(incarnation 9\) was evicted`, "evict", false},
		{[]views.Member{m("a", 1, 1), m("b", 2, 0), m("c", 3, 3), m("d", 4, 4), m("e", 5, 0)}, []uint64{1, 2, 3, 4}, nil, nil, "e joined; d votes; b no longer votes", "join", true},
		{n.lastView, []uint64{1, 2, 4}, nil, nil, "c joined", "join", true}, // the node itself was not a member before, for example
	} {
		r := n.p.Record().Clone()
		r.Before, r.Members, r.Formers, r.Ghosts, r.Voters = 7, x.members, x.formers, nil, nil
		for _, inc := range x.ghosts {
			r.Ghosts = append(r.Ghosts, views.Ghost{Inc: inc})
		}
		for _, id := range x.votes {
			r.Voters = append(r.Voters, views.Voter{ID: id})
		}
		if got := n.change(&r); !got.matches(x.text) || got.Cause != x.cause || got.Known != x.known {
			t.Errorf("%+v, want %+v", got, x)
		}
	}
	r := n.p.Record().Clone()
	for i := range uint64(2 * maxHistory) {
		r.Epoch = 1000 + i
		n.noteView(&r)
	}
	if len(n.history) != maxHistory || n.history[maxHistory-1].Epoch != r.Epoch {
		t.Errorf("%d views", len(n.history))
	}
}

// Members that are not reached are evicted with the names of those that complain.
func TestHistoryAccused(t *testing.T) {
	w, all := lab(t, 3, func(_ int, c *Config) { c.Voters = 1 })
	w.cut(1, 2)
	x := remembers(t, all[0], "c was evicted: b could not reach it(; .*)?|b was evicted: c could not reach it(; .*)?")
	if !x.Known || x.Cause != "evict" {
		t.Errorf("%+v", x)
	}
}

// The history of a recovered cluster begins with that, and that of a node that returns does not.
func TestHistoryRecovered(t *testing.T) {
	dir := t.TempDir()
	begin := func() ViewChange {
		n := start(t, 1, func(i int, c *Config) { c.Data = dir })[0]
		defer n.Kill()
		return pulse(t, n).History[0]
	}
	begin()
	if _, err := Recover(dir, nil, 0); err != nil {
		t.Fatal(err)
	}
	if x := begin(); x.Text != "a recovered the cluster" || x.Cause != "found" {
		t.Errorf("%+v", x)
	}
	if x := begin(); x.Cause == "found" || !x.matches("(.*; )?a joined(; .*)?") {
		t.Errorf("%+v", x)
	}
}
