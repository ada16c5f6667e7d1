package lab

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// A clerk decides whose sentence is written anew. In a run that is not too long
// that is everybody who waits, after each step; in a long one only who has
// changed, and the sentence is about it alone, so that it stays true.
type clerk struct {
	all     bool // everybody's
	written int  // how many were written
	bytes   int  // of those that differed
	short   bool
}

// How many sentences are written in full, and how many bytes they may have.
const (
	fullSentences = 20_000
	fullBytes     = 1 << 20
)

// touch notes that a lane has changed.
func (r *recorder) touch(i int) {
	r.lanes[i].stale = true
	if !r.clerk.short {
		r.clerk.all = true
	}
}

// why writes the sentences of those who wait.
func (r *recorder) why() {
	if !r.clerk.short && (r.clerk.written > fullSentences || r.clerk.bytes > fullBytes) {
		r.clerk.short, r.clerk.all = true, true
	}
	for i := range r.lanes {
		l := &r.lanes[i]
		if l.status != Waiting || !l.stale && !r.clerk.all {
			continue
		}
		l.stale = false
		r.clerk.written++
		if s := r.sentence(i); s != l.wait {
			l.wait = s
			r.clerk.bytes += len(s)
			r.delta(Delta{Event: r.seen, Proc: i, Wait: &s})
		}
	}
	r.clerk.all = false
}

// sentence says why a lane waits.
func (r *recorder) sentence(i int) string {
	switch {
	case r.sites > 0:
		return r.whyLocked(i)
	case len(r.sc.Sections) > 0:
		return r.whySections(i)
	}
	shape := &r.spec.Shape
	p := core.ID(i)
	switch {
	case shape.Pointer != "" && shape.Asked != "":
		return r.whyPointer(p)
	case shape.Carrier != "":
		return r.whyToken(p)
	case shape.Picture == core.Star:
		return r.whyHub(p)
	}
	if who := r.awaited(p); len(who) > 0 {
		return r.whyAwaited(p, who)
	}
	return r.whyElse(p)
}

// since says when a lane asked.
func (r *recorder) since(i int) string {
	if r.sc.Steps {
		return ", since step " + strconv.FormatInt(r.lanes[i].askedAt, 10)
	}
	return ", since " + scenario.FormatTime(r.lanes[i].askedAt)
}

// who names a process, with what it is doing if that matters.
func (r *recorder) who(p core.ID) string {
	if r.clerk.short || int(p) >= len(r.lanes) || p < 0 {
		return p.String()
	}
	switch r.lanes[p].status {
	case Inside:
		return p.String() + ", which is inside"
	case Crashed:
		return p.String() + ", which has crashed"
	case Paused:
		return p.String() + ", which stands still"
	}
	return p.String()
}

// whyPointer follows the arrows to the token.
func (r *recorder) whyPointer(p core.ID) string {
	s := "waits for the token"
	q, ok := r.pointed(p)
	if !ok || q == p {
		return s
	}
	s += ": it "
	if r.lanes[p].field(r.spec.Shape.Asked) != "yes" {
		return s + "has not asked " + q.String() + " yet"
	}
	s += "asked " + r.who(q)
	if r.clerk.short {
		return s
	}
	for range r.lanes {
		next, ok := r.pointed(q)
		switch {
		case !ok:
			return s
		case next == q && r.lanes[q].status != Inside:
			return s + "; " + q.String() + " has it"
		case next == q:
			return s
		case r.carried(next, q) || r.carried(q, next):
			return s + "; the token is on its way between " + q.String() + " and " + next.String()
		case r.lanes[q].field(r.spec.Shape.Asked) != "yes":
			return s + "; " + q.String() + " has not asked " + next.String() + " yet"
		}
		s += "; " + q.String() + " asked " + r.who(next)
		q = next
	}
	return s + "; and so on round in a circle"
}

// pointed returns where the arrow of a process leads.
func (r *recorder) pointed(p core.ID) (core.ID, bool) {
	return seat(r.lanes[p].field(r.spec.Shape.Pointer), len(r.lanes))
}

// carried reports whether the token is on its way from one to another.
func (r *recorder) carried(from, to core.ID) bool {
	_, ok := r.wire.between(from, to, r.spec.Shape.Carrier)
	return ok
}

// whyToken says where the token is.
func (r *recorder) whyToken(p core.ID) string {
	s := "waits for the token"
	if r.clerk.short {
		return s
	}
	if len(r.wire.tokens) > 0 {
		t := r.wire.tokens[0]
		return s + ", which is on its way from " + t.from.String() + " to " + r.who(t.to)
	}
	shape := &r.spec.Shape
	for i := range r.lanes {
		q := core.ID(i)
		l := &r.lanes[i]
		if shape.Next != "" && l.field(shape.Next) == itoa(int(p)+1) {
			return s + ": " + r.who(q) + ", passes it on to it"
		}
	}
	for i := range r.lanes {
		l := &r.lanes[i]
		if l.field(shape.Token) != "yes" {
			continue
		}
		q := core.ID(i)
		s += ", which " + q.String() + " has"
		switch l.status {
		case Inside:
			s += ": it is inside"
		case Crashed:
			s += ": it has crashed"
		case Paused:
			s += ": it stands still"
		}
		if at := slices.Index(strings.Fields(l.field(shape.Queue)), itoa(int(p)+1)); at >= 0 {
			s += "; " + p.String() + " is number " + itoa(at+1) + " in its queue"
		} else if m, ok := r.wire.between(p, q, ""); ok {
			s += "; its " + m.name + " is on its way there"
		}
		return s
	}
	return s + ", which nobody has"
}

// whyHub says what the one in the middle is doing.
func (r *recorder) whyHub(p core.ID) string {
	shape := &r.spec.Shape
	hub := core.ID(0)
	if shape.Hub != nil {
		hub = shape.Hub(len(r.lanes))
	}
	if len(r.lanes[p].asked) == 1 {
		hub = r.lanes[p].asked[0]
	}
	s := "waits for " + shape.Answer + " from " + hub.String()
	if r.clerk.short || int(hub) >= len(r.lanes) {
		return s
	}
	h := &r.lanes[hub]
	switch {
	case h.status == Crashed || h.status == Paused:
		return "waits for " + shape.Answer + " from " + r.who(hub)
	default:
		if m, ok := r.wire.between(p, hub, ""); ok {
			return s + "; its " + m.name + " is on its way"
		}
		if m, ok := r.wire.between(hub, p, ""); ok {
			return s + ", which is on its way: " + m.name
		}
	}
	if q, ok := seat(h.field(shape.Vote), len(r.lanes)); ok {
		s += ", which has let " + r.who(q) + ", go first"
		if r.lanes[q].status != Inside && r.lanes[q].status != Crashed && r.lanes[q].status != Paused {
			s = strings.Replace(s, ", go first", " go first", 1)
		}
	}
	if at := slices.Index(strings.Fields(h.field(shape.Queue)), itoa(int(p)+1)); at >= 0 {
		s += "; " + p.String() + " is number " + itoa(at+1) + " in its queue"
	}
	return s
}

// awaited returns whose answers a process still needs.
func (r *recorder) awaited(p core.ID) []core.ID {
	l, shape := &r.lanes[p], &r.spec.Shape
	for _, name := range shape.Awaited {
		if who := seats(l.field(name), len(r.lanes)); len(who) > 0 {
			return who
		}
	}
	if shape.Got == "" {
		return nil
	}
	got := seats(l.field(shape.Got), len(r.lanes))
	ask := l.asked
	if shape.Sets != nil {
		if sets := shape.Sets(len(r.lanes)); int(p) < len(sets) {
			ask = nil
			for q := sets[p].Next(0); q != core.None; q = sets[p].Next(q + 1) {
				ask = append(ask, q)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(ask), func(q core.ID) bool { return slices.Contains(got, q) })
}

// manyNames is how many processes a sentence names.
const manyNames = 4

// whyAwaited says whose answers are missing, and what these are doing.
func (r *recorder) whyAwaited(p core.ID, who []core.ID) string {
	shape := &r.spec.Shape
	var names []string
	for _, q := range who {
		if len(names) == manyNames && len(who) > manyNames+1 {
			names = append(names, itoa(len(who)-manyNames)+" others")
			break
		}
		name := q.String()
		if q == p {
			name = "itself"
		} else if len(who) <= manyNames {
			name = r.who(q)
		}
		names = append(names, name)
	}
	s := "waits for " + shape.Answer + " from " + list(names)
	if r.clerk.short {
		return s
	}
	if len(who) == 1 {
		if m, ok := r.wire.between(p, who[0], ""); ok {
			return s + "; its " + m.name + " is on its way there"
		}
		if _, ok := r.wire.between(who[0], p, shape.Answer); ok {
			return s + ": it is on its way"
		}
	}
	said := 0
	for _, q := range who {
		if shape.Vote == "" || said == 3 {
			break
		}
		if v, ok := voted(r.lanes[q].field(shape.Vote), len(r.lanes)); ok && v != p {
			s += "; " + q.String() + " has voted for " + r.who(v)
			said++
		}
	}
	if in := r.insider(); len(who) > manyNames && in != core.None {
		s += "; " + in.String() + " is inside"
	}
	return s
}

// insider returns somebody who is inside, or None.
func (r *recorder) insider() core.ID {
	for i := range r.lanes {
		if r.lanes[i].status == Inside {
			return core.ID(i)
		}
	}
	return core.None
}

// whyElse says what can be said of any algorithm.
func (r *recorder) whyElse(p core.ID) string {
	s := "waits" + r.since(int(p))
	if r.clerk.short {
		return s
	}
	if in := r.insider(); in != core.None {
		return s + ": " + in.String() + " is inside"
	}
	if n := len(r.wire.letters); n > 0 {
		return s + ": nobody is inside, and " + itoa(n) + " messages are under way"
	}
	return s + ": nobody is inside, and nothing is under way"
}

// whySections names the sections that a process waits for.
func (r *recorder) whySections(i int) string {
	var names []string
	for _, ph := range r.lanes[i].phases {
		if ph.is != Waiting {
			continue
		}
		name := ph.section
		if in := slices.IndexFunc(r.lanes, func(l lane) bool { return slices.Contains(l.phases, phase{ph.section, Inside}) }); in >= 0 && !r.clerk.short {
			name += ", in which " + core.ID(in).String() + " is"
		}
		names = append(names, name)
	}
	return "waits for " + list(names)
}

// whyLocked says who has the lock that a transaction waits for.
func (r *recorder) whyLocked(i int) string {
	s := "waits for " + r.lanes[i].lock
	at := slices.IndexFunc(r.edges, func(e Edge) bool { return e.From == i })
	if at < 0 {
		return s + ": nobody has it for long, or the request is on its way"
	}
	to := r.edges[at].To
	s += ", which " + r.name(to) + " has"
	for n := 0; n < len(r.edges); n++ {
		at = slices.IndexFunc(r.edges, func(e Edge) bool { return e.From == to })
		if at < 0 {
			return s
		}
		next := r.edges[at].To
		s += "; " + r.name(to) + " waits for " + r.name(next)
		if next == i {
			return s + ": a deadlock"
		}
		to = next
	}
	return s + ", which is part of a deadlock"
}
