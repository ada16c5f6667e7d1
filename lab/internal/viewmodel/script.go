package viewmodel

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// A Change leads from one view to the next.
type Change struct {
	Evict, Join, Leave []uint64 // incarnations
	Algorithm          string   // from now on; empty means the same as before
}

// Script returns the views that a sequence of changes leads to, from one with the members
// 1 to n. An evicted process stays a ghost in all later views.
func Script(algorithm string, n int, changes ...Change) []member.View {
	v := member.View{Epoch: 1, Choices: []member.Choice{{Algorithm: algorithm}}}
	for inc := range uint64(n) {
		v.Members = append(v.Members, who(inc+1))
	}
	views := []member.View{v}
	for _, c := range changes {
		v = next(v, c)
		views = append(views, v)
	}
	return views
}

// rest is how long a ghost may act: the model only knows that it ends.
const rest = member.Second

func who(inc uint64) member.Who {
	return member.Who{Name: string(rune('a' + inc - 1)), Inc: inc}
}

func next(v member.View, c Change) member.View {
	n := member.View{Epoch: v.Epoch + 1, BeforeEpoch: v.Epoch, Ghosts: slices.Clone(v.Ghosts), Choices: v.Choices}
	if c.Algorithm != "" {
		n.Choices = []member.Choice{{Algorithm: c.Algorithm}}
	}
	for _, m := range v.Members {
		n.Before = append(n.Before, m.Inc)
		switch {
		case slices.Contains(c.Evict, m.Inc):
			n.Ghosts = append(n.Ghosts, member.Ghost{Inc: m.Inc, Rest: rest})
		case !slices.Contains(c.Leave, m.Inc):
			n.Members = append(n.Members, m)
		}
	}
	for _, inc := range c.Join {
		n.Members = append(n.Members, who(inc))
	}
	return n
}

// LockWith returns a name whose homes in the given views are these members.
func LockWith(views []member.View, homes ...uint64) (string, error) {
	for i := range 100_000 {
		name := fmt.Sprintf("lock%d", i)
		fits := func(v int, inc uint64) bool { return views[v].Members[views[v].Home(name)].Inc == inc }
		ok := true
		for v, inc := range homes {
			ok = ok && fits(v, inc)
		}
		if ok {
			return name, nil
		}
	}
	return "", fmt.Errorf("no lock has the homes %v: each must be a member, and a home moves only where members change", homes)
}
