package quorum

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// Properties says which of Maekawa's four desired properties a system has. The first
// makes it safe, the second gives a process a vote in its own case, and the others give
// all processes the same work.
type Properties struct {
	Meet    bool `json:"m1_any_two_meet"`
	Own     bool `json:"m2_own_member"` // whether every process is in its own set
	Sizes   bool `json:"m3_equal_sizes"`
	Loads   bool `json:"m4_equal_loads"` // whether every process is in equally many sets
	MinSize int  `json:"k_min"`          // size K of the smallest set
	MaxSize int  `json:"k_max"`          // size K of the largest set
	MinLoad int  `json:"d_min"`          // fewest sets that contain a process
	MaxLoad int  `json:"d_max"`          // most sets that contain a process
}

// Properties reports the desired properties of s, which need not have any.
func (s System) Properties() Properties {
	load := make([]int, len(s))
	p := Properties{Meet: true, Own: true, MinSize: len(s), MinLoad: len(s)}
	for i := range s {
		p.Own = p.Own && s[i].Has(algorithm.ID(i))
		for j := range i {
			p.Meet = p.Meet && s[i].Meets(&s[j]) != algorithm.None
		}
		size := s[i].Len()
		p.MinSize, p.MaxSize = min(p.MinSize, size), max(p.MaxSize, size)
		for id := range s[i].All() {
			load[id]++
		}
	}
	for _, l := range load {
		p.MinLoad, p.MaxLoad = min(p.MinLoad, l), max(p.MaxLoad, l)
	}
	p.Sizes, p.Loads = p.MinSize == p.MaxSize, p.MinLoad == p.MaxLoad
	return p
}

// String names each property and says whether it holds, with the size K of the sets and
// the number D of sets that contain a process.
func (p Properties) String() string {
	var words []string
	for i, m := range []struct {
		wish  string
		holds bool
		with  string
	}{
		{"any two meet", p.Meet, ""},
		{"each has its owner", p.Own, ""},
		{"equal sizes", p.Sizes, between("K", p.MinSize, p.MaxSize)},
		{"equal loads", p.Loads, between("D", p.MinLoad, p.MaxLoad)},
	} {
		verdict := "yes"
		if !m.holds {
			verdict = "no"
		}
		words = append(words, fmt.Sprintf("M%d %s: %s%s", i+1, m.wish, verdict, m.with))
	}
	return strings.Join(words, "; ")
}

func between(name string, lo, hi int) string {
	if lo == hi {
		return fmt.Sprintf(", %s=%d", name, lo)
	}
	return fmt.Sprintf(", %s=%d..%d", name, lo, hi)
}
