package model

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A crew is machines with what is under way between them, as dumb as the
// reference: concrete states in a map, everything rebuilt for every step. It is
// what the references of elections and of transactions have in common.
type crew struct {
	machines []string
	dead     []bool
	messages []post
	timers   []alarm
}

// A post is a message under way.
type post struct {
	from, to int
	bytes    string
	old      bool // sent before the last unit of time passed
	fresh    bool // of an election begun in this round
}

// An alarm is a timer that runs.
type alarm struct {
	at, id, left int
	fresh        bool
}

func (c *crew) clone() crew {
	return crew{slices.Clone(c.machines), slices.Clone(c.dead), slices.Clone(c.messages), slices.Clone(c.timers)}
}

// key writes a crew down, links one after the other.
func (c *crew) key() string {
	sort.SliceStable(c.messages, func(a, b int) bool {
		x, y := c.messages[a], c.messages[b]
		return x.from < y.from || x.from == y.from && x.to < y.to
	})
	sort.Slice(c.timers, func(a, b int) bool {
		x, y := c.timers[a], c.timers[b]
		return x.at < y.at || x.at == y.at && x.id < y.id
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%q %v %v", c.machines, c.dead, c.timers)
	for _, l := range c.messages {
		fmt.Fprintf(&b, " %d>%d %q %v %v", l.from, l.to, l.bytes, l.old, l.fresh)
	}
	return b.String()
}

// heads returns which messages are first on their links.
func (c *crew) heads() []int {
	var first []int
	for k, l := range c.messages {
		if k == 0 || c.messages[k-1].from != l.from || c.messages[k-1].to != l.to {
			first = append(first, k)
		}
	}
	return first
}

// A book is all crews of one kind that were found.
type book[S any] struct {
	t     testing.TB
	birth algorithm.Birth
	view  algorithm.View
	seen  map[string]bool
	queue []S
	faces map[string]bool // what is broken
}

func newBook[S any](t testing.TB, spec algorithm.Spec, v algorithm.View) *book[S] {
	t.Helper()
	birth, err := spec.Birth(v.N)
	if err != nil {
		t.Fatal(err)
	}
	return &book[S]{t: t, birth: birth, view: v, seen: map[string]bool{}, faces: map[string]bool{}}
}

func (b *book[S]) add(key string, s S) {
	if !b.seen[key] {
		b.seen[key] = true
		b.queue = append(b.queue, s)
	}
}

func (b *book[S]) machine(i int, state string) algorithm.Machine {
	m := b.birth(algorithm.ID(i), b.view)
	if state != "" {
		if err := m.LoadState([]byte(state)); err != nil {
			b.t.Fatal(err)
		}
	}
	return m
}

// born returns a crew of which nobody has done anything.
func (b *book[S]) born() crew {
	c := crew{dead: make([]bool, b.view.N)}
	for i := range b.view.N {
		c.machines = append(c.machines, string(b.machine(i, "").AppendState(nil)))
	}
	return c
}

// step lets a machine take a step and returns what it says.
func (b *book[S]) step(c *crew, i int, in host.Input) *host.Output {
	m, out := b.machine(i, c.machines[i]), &host.Output{}
	if err := m.Step(in, out); err != nil {
		b.t.Fatal(err)
	}
	c.machines[i] = string(m.AppendState(nil))
	return out
}

// moves reports whether a step would do anything.
func (b *book[S]) moves(c crew, i int, in host.Input) bool {
	before := c.machines[i]
	c = c.clone()
	out := b.step(&c, i, in)
	return c.machines[i] != before || len(out.Sends) > 0 || len(out.Notices) > 0
}

// send puts what a step wants sent on its way, and sets its timers.
func (c *crew) send(i int, out *host.Output, fresh, timed bool) {
	for k, s := range out.Sends {
		c.messages = append(c.messages, post{from: i, to: int(s.To), bytes: string(out.Bytes(k)), fresh: fresh})
	}
	for _, n := range out.Notices {
		if n.Kind != host.SetTimer {
			continue
		}
		c.timers = slices.DeleteFunc(c.timers, func(a alarm) bool { return a.at == i && a.id == n.Timer })
		a := alarm{at: i, id: n.Timer, fresh: fresh}
		if timed {
			a.left = int(n.After)
		}
		if n.After > 0 {
			c.timers = append(c.timers, a)
		}
	}
}

// broken lists what was found broken.
func (b *book[S]) broken() string {
	var all []string
	for f := range b.faces {
		all = append(all, f)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
