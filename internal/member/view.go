package member

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// A Who is a member: its display name, and its incarnation, which is different for
// every process that ever has the name.
type Who struct {
	Name string
	Inc  uint64
}

// A Ghost is an evicted incarnation that may still act on its lease.
type Ghost struct {
	Inc  uint64
	Rest Span // how long, by a true clock, from when the view was committed
}

// A Choice maps the names that begin with a prefix to an algorithm.
type Choice struct {
	Prefix    string
	Algorithm string
	Version   int // of its encoding
}

// A View is what all members agree on in one epoch.
type View struct {
	Epoch       uint64
	Members     []Who
	BeforeEpoch uint64   // epoch of the previous view; 0 if there was none
	Before      []uint64 // incarnations of its members
	Ghosts      []Ghost
	Choices     []Choice // the longest prefix wins; one of them is ""
}

// Bounds of a view.
const (
	MaxMembers = 64 // clients are many, members few
	MaxGhosts  = 3 * MaxMembers
	MaxAddress = 255 // bytes of a member's address, as other members know it
	maxChoices = 255
)

// Check reports why this is not a valid view.
func (v *View) Check() error {
	switch {
	case v.Epoch == 0 || v.BeforeEpoch >= v.Epoch:
		return fmt.Errorf("epoch %d after %d: want epochs that start at 1 and rise", v.Epoch, v.BeforeEpoch)
	case len(v.Members) == 0 || len(v.Members) > MaxMembers:
		return fmt.Errorf("%d members: want 1 to %d", len(v.Members), MaxMembers)
	case len(v.Before) > MaxMembers || len(v.Ghosts) > MaxGhosts:
		return fmt.Errorf("%d earlier members and %d ghosts: want at most %d and %d", len(v.Before), len(v.Ghosts), MaxMembers, MaxGhosts)
	case len(v.Choices) > maxChoices:
		return fmt.Errorf("%d choices of algorithms: want at most %d", len(v.Choices), maxChoices)
	}
	for i, m := range v.Members {
		if m.Inc == 0 || v.Rank(m.Inc) != i {
			return fmt.Errorf("incarnation %d of %q: want incarnations above 0, each once", m.Inc, m.Name)
		}
	}
	for i, g := range v.Ghosts {
		switch {
		case v.Rank(g.Inc) >= 0:
			return fmt.Errorf("incarnation %d is a ghost and a member: an evicted incarnation is never a member again", g.Inc)
		case g.Rest < 0 || g.Rest > MaxSpan:
			return fmt.Errorf("ghost %d may act for %v: want 0 to a day", g.Inc, g.Rest)
		case slices.IndexFunc(v.Ghosts, func(o Ghost) bool { return o.Inc == g.Inc }) != i:
			return fmt.Errorf("ghost %d is listed twice", g.Inc)
		}
	}
	for i, c := range v.Choices {
		if slices.IndexFunc(v.Choices, func(o Choice) bool { return o.Prefix == c.Prefix }) != i {
			return fmt.Errorf("two algorithms for names that begin with %q: want one", c.Prefix)
		}
	}
	if !slices.ContainsFunc(v.Choices, func(c Choice) bool { return c.Prefix == "" }) {
		return errors.New("no default algorithm: want a choice with an empty prefix")
	}
	return nil
}

// Rank returns the index of an incarnation among the members, or -1.
func (v *View) Rank(inc uint64) int {
	return slices.IndexFunc(v.Members, func(m Who) bool { return m.Inc == inc })
}

// Choose returns which of the choices serves a name.
func (v *View) Choose(name string) int {
	if len(v.Choices) == 1 {
		return 0
	}
	best := -1
	for i, c := range v.Choices {
		if strings.HasPrefix(name, c.Prefix) && (best < 0 || len(c.Prefix) > len(v.Choices[best].Prefix)) {
			best = i
		}
	}
	return best
}

// Home returns the rank of the member that is inside the lock of this name when the
// view begins: the first by rendezvous hashing of the name and the members. So homes
// are spread evenly, and few move when members change.
func (v *View) Home(name string) int { return v.home(hashName(name)) }

func (v *View) home(hash uint64) int {
	home, most := 0, uint64(0)
	for i := range v.Members {
		if x := mix(hash ^ mix(v.Members[i].Inc)); i == 0 || x > most {
			home, most = i, x
		}
	}
	return home
}

// seat returns the seat of a member in a lock with this home. The home is seat 0 of
// every lock, so that what an algorithm asks of its first seat is spread over the
// members.
func (v *View) seat(rank, home int) algorithm.ID {
	if rank < home {
		rank += len(v.Members)
	}
	return algorithm.ID(rank - home)
}

// rankOf is the reverse of seat.
func (v *View) rankOf(seat algorithm.ID, home int) int {
	rank := int(seat) + home
	if rank >= len(v.Members) {
		rank -= len(v.Members)
	}
	return rank
}

// universe returns all processes that may be inside a lock by an older epoch when the
// view begins: the members that were in the previous view, and then the ghosts. Sets of
// them use indices into this list.
func (v *View) universe() []uint64 {
	var all []uint64
	for _, m := range v.Members {
		if slices.Contains(v.Before, m.Inc) {
			all = append(all, m.Inc)
		}
	}
	for _, g := range v.Ghosts {
		all = append(all, g.Inc)
	}
	return all
}

// hashName hashes a name, the same on every machine and in every version.
func hashName[S ~string | ~[]byte](name S) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return mix(h)
}

// mix spreads the bits of a number over all of them.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
