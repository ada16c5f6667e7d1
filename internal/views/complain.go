package views

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// A grudge is a member's complaint that it does not reach another one.
type grudge struct {
	of, about   uint64
	since, last member.Instant
}

// complaints handles all complaints of a member.
func (w *Leader) complaints(inc uint64, about []uint64) {
	for _, a := range about {
		if a == inc || w.record.Rank(a) < 0 {
			continue
		}
		i := slices.IndexFunc(w.grudges, func(g grudge) bool { return g.of == inc && g.about == a })
		if i < 0 {
			w.grudges = append(w.grudges, grudge{inc, a, w.now, w.now})
		} else {
			w.grudges[i].last = w.now
		}
	}
	w.grudges = slices.DeleteFunc(w.grudges, func(g grudge) bool {
		return g.of == inc && !slices.Contains(about, g.about)
	})
}

// accused returns the member to evict because others do not reach it, or 0. Of two that
// complain about each other for half a lease, it is the one with more accusers, or else
// the younger one. If only one of them complains, it must do so for three times as
// long, or together with most members. A complaint is void if one of the two goes
// anyway.
func (w *Leader) accused(goes func(inc uint64) bool) uint64 {
	stable := member.Instant(w.record.Settings.Lease / 2)
	fresh := w.now - 4*member.Instant(w.record.Settings.Renew)
	for _, g := range w.grudges {
		if goes(g.of) || goes(g.about) || g.last < fresh {
			continue
		}
		age := w.now - g.since
		if age < stable || age < 3*stable && !w.mutual(g) && 2*w.accusers(g.about) <= len(w.record.Members) {
			continue
		}
		if a, b := w.accusers(g.of), w.accusers(g.about); a > b || a == b && g.of > g.about {
			return g.of
		}
		return g.about
	}
	return 0
}

func (w *Leader) mutual(g grudge) bool {
	return slices.ContainsFunc(w.grudges, func(o grudge) bool { return o.of == g.about && o.about == g.of })
}

func (w *Leader) accusers(inc uint64) int {
	n := 0
	for _, g := range w.grudges {
		if g.about == inc {
			n++
		}
	}
	return n
}
