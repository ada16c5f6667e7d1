package meter

import (
	"cmp"
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// slots is the size of the table of busy locks, a power of 2.
const slots = 512

// maxVotes bounds how long a lock that was busy once keeps its place.
const maxVotes = 1000

// A slot holds one of the names that belong there by their hashes: the one that makes up
// most of the acquisitions of these, if there is one. Others vote against it, and one of
// them replaces it when it has no votes left.
type slot struct {
	name  string
	of    *Series
	votes uint64
	count uint64    // acquisitions since the name is here
	marks [2]uint64 // count when the present period began, and the one before
	past  *ring     // holds of all names that belong here; nil if there were none
}

// A Busy is a lock that is acquired often.
type Busy struct {
	Name   string
	Count  uint64 // acquisitions at this node since it is known to be busy
	Lately uint64 // the same in the last seconds: see Hottest
}

// acquired counts an acquisition, if the lock is one of the busy ones.
func (s *slot) acquired(name string, of *Series) {
	switch {
	case s.name == name:
		s.votes = min(s.votes+1, maxVotes)
		s.count++
		s.of = of
	case s.votes == 0:
		s.name, s.of, s.votes, s.count, s.marks = name, of, 1, 1, [2]uint64{}
	default:
		s.votes--
	}
}

// Busiest returns up to n locks that are acquired often at this node, the busiest first. A
// lock that is acquired more often than all others together that share its place in the
// table, one in 512 of all, is among those that are known. Counts never go back while a
// lock is known, so the difference of two of them is the number of acquisitions in between.
func (m *Meter) Busiest(n int) []Busy {
	return m.busy(n, func(a, b *Busy) int { return cmp.Compare(b.Count, a.Count) })
}

// Hottest is Busiest for readers who ask every second or so: it returns the locks that were
// acquired most often in the present and in the previous period, each of which lasts for
// Period or, if Hottest is not called, longer.
func (m *Meter) Hottest(now member.Instant, n int) []Busy {
	if now >= m.marked+member.Instant(Period) {
		m.marked = now
		for i := range m.hot {
			s := &m.hot[i]
			s.marks = [2]uint64{s.count, s.marks[0]}
		}
	}
	return m.busy(n, func(a, b *Busy) int {
		return cmp.Or(cmp.Compare(b.Lately, a.Lately), cmp.Compare(b.Count, a.Count))
	})
}

// Period is how long the periods of Hottest last at least.
const Period = 5 * member.Second

// busy returns up to n of the locks that are known to be busy, in an order.
func (m *Meter) busy(n int, order func(a, b *Busy) int) []Busy {
	var all []Busy
	for i := range m.hot {
		if s := &m.hot[i]; s.name != "" {
			all = append(all, Busy{s.name, s.count, s.count - s.marks[1]})
		}
	}
	slices.SortFunc(all, func(a, b Busy) int { return cmp.Or(order(&a, &b), cmp.Compare(a.Name, b.Name)) })
	return all[:min(n, len(all))]
}

// Count returns how often a lock was acquired at this node since it is known to be busy; 0
// if it is not.
func (m *Meter) Count(name string) uint64 {
	if s := &m.hot[hash(name)%slots]; s.name == name {
		return s.count
	}
	return 0
}

// hash returns a number that differs between most names.
func hash(name string) uint64 {
	h := uint64(len(name))
	for ; len(name) >= 8; name = name[8:] {
		w := uint64(name[0]) | uint64(name[1])<<8 | uint64(name[2])<<16 | uint64(name[3])<<24 |
			uint64(name[4])<<32 | uint64(name[5])<<40 | uint64(name[6])<<48 | uint64(name[7])<<56
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29 ^ h>>47
}
