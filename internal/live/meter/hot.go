package meter

import (
	"cmp"
	"slices"
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
	count uint64 // acquisitions since the name is here
}

// A Busy is a lock that is acquired often.
type Busy struct {
	Name  string
	Count uint64 // acquisitions at this node since it is known to be busy
}

// acquired counts an acquisition, if the lock is one of the busy ones.
func (s *slot) acquired(name string, of *Series) {
	switch {
	case s.name == name:
		s.votes = min(s.votes+1, maxVotes)
		s.count++
		s.of = of
	case s.votes == 0:
		*s = slot{name: name, of: of, votes: 1, count: 1}
	default:
		s.votes--
	}
}

// Busiest returns up to n locks that are acquired often at this node, the busiest first. A
// lock that is acquired more often than all others together that share its place in the
// table, one in 512 of all, is among those that are known. Counts never go back while a
// lock is known, so the difference of two of them is the number of acquisitions in between.
func (m *Meter) Busiest(n int) []Busy {
	var all []Busy
	for i := range m.hot {
		if s := &m.hot[i]; s.name != "" {
			all = append(all, Busy{s.name, s.count})
		}
	}
	slices.SortFunc(all, func(a, b Busy) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(n, len(all))]
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
