package views

import (
	"math/bits"
	"testing"
)

// A set is a set of nodes, by their places.
type set uint

func (a set) has(i int) bool { return a>>i&1 != 0 }
func (a set) len() int       { return bits.OnesCount(uint(a)) }
func (a set) in(b set) bool  { return a&^b == 0 }

// ids returns the places as numbers, from a first one on.
func (a set) ids(first uint64) (all []uint64) {
	for i := range bits.UintSize {
		if a.has(i) {
			all = append(all, first+uint64(i))
		}
	}
	return all
}

func (a set) String() string {
	s := ""
	for i := range bits.UintSize {
		if a.has(i) {
			s += string(rune('A' + i))
		}
	}
	return "{" + s + "}"
}

// Facts are a roster in other words. The conditions of the log are stated here a second
// time, only from the rules.
type facts struct {
	list, voters set
	joint        bool // the log is changing its voters
	learners     bool
	wanted       int
	members      int
	known        set // nodes that run and stay
	leaving      set // voters
	overdue      set // voters
	fit          set // nodes that may become voters
	awaited      bool
}

func (f *facts) agreed() bool { return !f.joint && !f.learners && f.list == f.voters }

// stillborn returns the new voters that the log will never have.
func (f *facts) stillborn() set { return f.voters &^ f.list &^ f.known }

// goal returns how many voters there should be.
func (f *facts) goal() int {
	most := 1
	if f.members >= 3 {
		most = 3
	}
	if f.members >= 5 {
		most = 5
	}
	switch had := f.voters.len(); {
	case !f.agreed():
		return had
	case f.wanted < had:
		return f.wanted
	default:
		return max(had, min(most, f.wanted))
	}
}

// forbids says which rule keeps the log from resting on v instead of the voters
// of the record, or nothing.
func (f *facts) forbids(v set) string {
	n, had := v.len(), f.voters.len()
	retired, going := f.voters&^v, f.leaving
	if !f.agreed() {
		going = f.stillborn()
	}
	switch {
	case f.joint:
		return "the log is changing its voters"
	case n != 1 && n != 3 && n != 5:
		return "not 1, 3 or 5 voters"
	case !(v &^ f.voters).in(f.fit):
		return "a new voter that is not fit"
	case v&f.stillborn() != 0:
		return "a voter that the log will never have"
	case !f.agreed() && retired&going == 0:
		return "the log does not have the voters of the record yet"
	case n > max(had, f.goal()):
		return "too many voters"
	case n > had && retired != 0:
		return "a voter is retired while the others become more"
	case n == had && !retired.in(going) && !(retired.len() == 1 && retired.in(f.overdue)):
		return "a voter is replaced that neither goes nor is overdue"
	}
	if least := min(had, f.goal()); n < least {
		left := (f.voters &^ (retired & going)).len() + f.fit.len()
		switch {
		case !f.agreed() && n+2 <= min(least, f.list.len()):
			return "fewer voters than the log has"
		case retired&going == 0:
			return "fewer voters, though none goes"
		case n+2 <= min(least, left):
			return "fewer voters than there could be"
		case f.awaited:
			return "fewer voters while an answer is awaited"
		}
	}
	return f.dies(v)
}

// dies says in which case a majority of v is dead. Those known to run are not,
// nor is a majority of the log's list, which decides on v, nor is a voter that is
// new to the log: it fetches the log before it votes.
func (f *facts) dies(v set) string {
	for alive := f.list; ; alive = (alive - 1) & f.list {
		if 2*alive.len() > f.list.len() && (f.known & f.list).in(alive) && 2*(v&(alive|^f.list)).len() <= v.len() {
			return "a majority may be dead"
		}
		if alive == 0 {
			return ""
		}
	}
}

// allowed returns the slates that the rules allow, but for the present voters.
func (f *facts) allowed() (all []set) {
	from := f.voters | f.fit
	for v := from; v > 0; v = (v - 1) & from {
		if v != f.voters && f.forbids(v) == "" {
			all = append(all, v)
		}
	}
	return all
}

const firstVoter, firstInc, firstNonce = 10 * places, 20 * places, 1000

// roster returns the facts as a leader has them.
func (f *facts) roster() *roster {
	return &roster{
		list: f.list.ids(firstVoter), steady: !f.joint, growing: f.learners, voters: f.voters.ids(firstVoter),
		wanted: f.wanted, members: f.members, present: (f.known & f.voters).ids(firstVoter), leaving: f.leaving.ids(firstVoter),
		overdue: f.overdue.ids(firstVoter), spares: f.fit.ids(firstNonce), awaited: f.awaited,
	}
}

// The predicate says what the rules say, for every slate of every small roster.
func TestMayRest(t *testing.T) {
	rosters, slates, may := 0, 0, 0
	try := func(f facts) {
		rosters++
		r, from := f.roster(), f.voters|f.fit
		for v := from; v > 0; v = (v - 1) & from {
			why := f.forbids(v)
			if slates++; why == "" {
				may++
			}
			if got := r.mayRest(slate{(v & f.voters).ids(firstVoter), (v & f.fit).ids(firstNonce)}); got != (why == "") {
				t.Fatalf("voters %v: got %v, but the rules say %q\n%+v", v, got, why, f)
			}
		}
	}
	const (
		spare = iota
		retiring
		present // voters that the log has
		unknown
		leaving
		overdue
		coming // voters that the log does not have
		stillborn
	)
	var add func(f facts, nodes, most int, kinds ...int)
	add = func(f facts, nodes, most int, kinds ...int) {
		if n := f.voters.len(); n%2 == 1 && n <= MaxVoters && f.list != 0 {
			for _, f.wanted = range []int{1, 3, 5} {
				for _, f.members = range []int{1, 3, 5} {
					f.joint, f.learners, f.awaited = false, false, false
					try(f)
					f.awaited = true
					try(f)
					f.learners = true
					try(f)
					f.joint = true
					try(f)
				}
			}
		}
		for i, k := range kinds {
			if nodes == most {
				break
			}
			g := f
			for _, x := range []struct {
				in *set
				is bool
			}{
				{&g.fit, k == spare}, {&g.voters, k >= present}, {&g.list, k >= retiring && k <= overdue},
				{&g.known, k == present || k == coming}, {&g.leaving, k == leaving}, {&g.overdue, k == overdue},
			} {
				if x.is {
					*x.in |= 1 << nodes
				}
			}
			add(g, nodes+1, most, kinds[i:]...)
		}
	}
	add(facts{}, 0, 6, spare, retiring, present, unknown, leaving, overdue, coming, stillborn)
	add(facts{}, 0, 8, retiring, unknown, coming, stillborn)
	t.Logf("%d rosters and %d slates, of which the log may rest on %d", rosters, slates, may)
}
