package views

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// A PartingReason is why a leader makes a view without a member.
type PartingReason uint8

// Why members go.
const (
	Silent   PartingReason = iota // it did not renew its lease
	Ordered                       // an operator evicts it
	Accused                       // other members cannot reach it
	Departed                      // it leaves
	Pauses                        // it stops, or has stopped, and keeps its place
)

// A Parting says why a member has gone, for people: only the leader that decided it knows,
// and nothing depends on it.
type Parting struct {
	Inc    uint64
	Why    PartingReason
	Silent member.Span // of Silent: for how long
	Rival  bool        // of Silent: another process of its name wanted to join, so it was given less time
	By     []string    // of Accused: names of the members that complained about it
}

// maxPartings is how many of the last partings a leader remembers.
const maxPartings = 16

// Parted returns why a member has gone, if this leader has decided that lately.
func (w *Leader) Parted(inc uint64) (Parting, bool) {
	i := slices.IndexFunc(w.partings, func(p Parting) bool { return p.Inc == inc })
	if i < 0 || w.record.Rank(inc) >= 0 {
		return Parting{}, false
	}
	return w.partings[i], true
}

// explain notes why members go with a change that is proposed. What was noted before of the
// same members, for a change that did not come about, is replaced.
func (w *Leader) explain(x *Change) {
	var all []Parting
	for _, inc := range x.Drop {
		all = append(all, w.parting(inc))
	}
	for _, inc := range x.Left {
		p := Parting{Inc: inc, Why: Departed}
		if w.standing(inc).stops {
			p.Why = Pauses
		}
		all = append(all, p)
	}
	for _, p := range w.partings {
		if !slices.ContainsFunc(all, func(o Parting) bool { return o.Inc == p.Inc }) {
			all = append(all, p)
		}
	}
	w.partings = all[:min(len(all), maxPartings)]
}

// parting returns why a member is evicted.
func (w *Leader) parting(inc uint64) Parting {
	name := w.record.Members[w.record.Rank(inc)].Name
	s, quiet := w.standing(inc), w.quiet(name)
	switch silent := w.now - s.heard; {
	case silent > quiet:
		return Parting{Inc: inc, Why: Silent, Silent: member.Span(silent), Rival: quiet < w.silence()}
	case s.evict:
		return Parting{Inc: inc, Why: Ordered}
	}
	p := Parting{Inc: inc, Why: Accused}
	for _, g := range w.grudges {
		if g.about == inc {
			p.By = append(p.By, w.record.Members[w.record.Rank(g.of)].Name)
		}
	}
	return p
}
