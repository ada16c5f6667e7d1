package views

import "slices"

// A roster is what the leader knows when it decides which members vote. It
// holds facts only; the decision is a pure function of them.
//
// The log rests on its list of voters: it decides nothing unless a majority of
// them runs. Any change of the list is safe, but if a majority of the new voters
// turns out to be dead, the cluster stands still until they return, perhaps
// forever. The invariant, stated by [roster.mayRest], is therefore: the log moves
// only to voters of which a majority is sure to run.
//
// Within the invariant these rules hold.
//
//   - There are 1, 3 or 5 voters. They become three with the third member and five
//     with the fifth, if so many are wanted, and fewer if fewer are wanted.
//   - A voter is replaced when it leaves, or when it is overdue: absent for longer
//     than the cluster's settings allow, or its disk is lost, because a member with
//     its name does not have it. Overdue voters are replaced one at a time.
//   - If a leaving voter has no replacement, the voters become fewer: they continue
//     without it, and without one more if an even number would be left. Before that,
//     all members get time to answer the leader's call, because any of them may be a
//     replacement. There is no other way, apart from the operator, in which voters
//     become fewer: not because members do, and not because voters are absent.
//   - Nothing begins before the log's list agrees with the record, with one
//     exception: a new voter that dies or leaves before the log has it is treated
//     like a leaving voter, but the voters never become fewer than the log has.
type roster struct {
	list    []uint64 // voters of the log
	steady  bool     // the list is known, and no change of it is in flight
	growing bool     // the log has learners, which will vote soon
	voters  []uint64 // voters of the record, without those it retires
	wanted  int      // number of voters that the operator wants: 1, 3 or 5
	members int      // number of members that neither leave nor are evicted

	// Voters that are known to run and to stay: each belongs to a member that has not
	// missed three renewals, and that has answered the leader's call since a voter
	// last asked to leave.
	present []uint64
	leaving []uint64 // voters that want to leave
	overdue []uint64 // voters that have been absent for too long, or whose disks are lost
	spares  []uint64 // nonces of members that can become voters, as present as voters must be, oldest first
	awaited bool     // some member still has time to answer the leader's call
}

// A slate is a proposed set of voters.
type slate struct {
	keep []uint64 // voters that stay
	add  []uint64 // nonces of members that become voters
}

func (s slate) size() int { return len(s.keep) + len(s.add) }

// mayRest reports whether the log may rest on a slate that is taken from the
// roster: keep from its voters, add from its spares.
func (r *roster) mayRest(s slate) bool {
	n, had, goal := s.size(), len(r.voters), r.goal()
	retired := without(r.voters, s.keep)
	gone := common(r.going(), retired)
	switch {
	case !r.steady || !r.agreed() && len(gone) == 0:
		return false // the log must have the voters of the record first
	case n%2 == 0 || n > max(had, goal) || n > had && len(retired) > 0:
		return false // the number is odd, and grows only towards the goal
	case len(without(without(s.keep, r.list), r.present)) > 0:
		return false // a new voter would never fetch the log
	case n == had && len(gone) < len(retired) && (len(retired) > 1 || !slices.Contains(r.overdue, retired[0])):
		return false // only voters that go, or a single overdue one, are replaced
	case n < min(had, goal) && (r.awaited || n < r.fewest(gone)):
		return false // the number falls below the goal only for lack of replacements
	}
	return r.runs(s)
}

// runs reports whether a majority of a slate runs, whatever has happened to nodes
// that the leader has not heard from. These run for sure:
//
//   - voters that are new to the log, because they fetch it before they vote;
//   - voters of the list that are present. If most of them are silent, something
//     else is known: a majority of the list runs, or it could not decide on this
//     change. At worst all that are retired belong to that majority.
func (r *roster) runs(s slate) bool {
	stay := common(s.keep, r.list)
	fresh := s.size() - len(stay)
	left := majority(len(r.list)) - (len(r.list) - len(stay))
	return fresh+max(len(common(stay, r.present)), left) >= majority(s.size())
}

// agreed reports whether the log has exactly the voters of the record.
func (r *roster) agreed() bool {
	return r.steady && !r.growing && len(r.voters) == len(r.list) && len(without(r.voters, r.list)) == 0
}

// going returns the voters that the others should do without: those that leave,
// or, before the log has the voters of the record, new ones that die or leave.
func (r *roster) going() []uint64 {
	if r.agreed() {
		return r.leaving
	}
	return without(without(r.voters, r.list), r.present)
}

// goal returns how many voters there should be.
func (r *roster) goal() int {
	if !r.agreed() {
		return len(r.voters)
	}
	return min(r.wanted, max(len(r.voters), fit(r.members)))
}

// fewest returns the smallest allowed number of voters when some are gone: what the
// others and the spares add up to.
func (r *roster) fewest(gone []uint64) int {
	n := min(len(r.voters), r.goal())
	if len(gone) > 0 {
		n = min(n, len(without(r.voters, gone))+len(r.spares))
	}
	if !r.agreed() {
		n = max(n, min(len(r.voters), len(r.list)))
	}
	return max(1, odd(n))
}

// choose returns the best slate that the log may rest on. It first tries to do
// without all voters that are going, then without all but one, and so on. If no
// slate will do, the voters stay as they are.
func (r *roster) choose() slate {
	going := r.going()
	for i := range len(going) + 1 {
		for _, s := range r.options(going[i:]) {
			if r.mayRest(s) {
				return s
			}
		}
	}
	return slate{keep: r.voters}
}

// options returns slates without the voters that are gone, best first.
func (r *roster) options(gone []uint64) []slate {
	had, goal := len(r.voters), r.goal()
	more := odd(min(had+len(r.spares), goal)) - had
	switch {
	case more > 0 && len(gone) == 0:
		return []slate{{r.voters, r.spares[:more]}}
	case goal < had:
		return []slate{r.best(r.fewest(gone), gone), r.replace(gone)}
	}
	return []slate{r.replace(gone), r.best(r.fewest(gone), gone)}
}

// replace returns the voters with spares in place of those that are gone, or, if
// none is, of one that is overdue. It returns no voters if there are too few spares.
func (r *roster) replace(gone []uint64) slate {
	if len(gone) == 0 {
		gone = firstOf(r.overdue, 1)
	}
	if len(gone) > len(r.spares) {
		return slate{}
	}
	return slate{without(r.voters, gone), r.spares[:len(gone)]}
}

// best returns the n best voters without those that are gone: first those present,
// then spares, then voters that may come back, overdue ones, and leaving ones.
func (r *roster) best(n int, gone []uint64) slate {
	all := without(without(r.voters, gone), r.present)
	rest := slices.Concat(without(without(all, r.overdue), r.leaving), common(all, r.overdue), common(all, r.leaving))
	s := slate{keep: firstOf(r.present, n)}
	s.add = firstOf(r.spares, n-len(s.keep))
	s.keep = slices.Concat(s.keep, firstOf(rest, n-s.size()))
	return s
}

// majority returns the smallest majority of n voters.
func majority(n int) int { return n/2 + 1 }

// odd returns the largest odd number up to n.
func odd(n int) int { return n - 1 + n%2 }

// without returns the numbers of a that are not in b.
func without(a, b []uint64) []uint64 {
	return slices.DeleteFunc(slices.Clone(a), func(id uint64) bool { return slices.Contains(b, id) })
}

// common returns the numbers of a that are in b.
func common(a, b []uint64) []uint64 {
	return slices.DeleteFunc(slices.Clone(a), func(id uint64) bool { return !slices.Contains(b, id) })
}

// firstOf returns the first n of a, or all if there are fewer.
func firstOf(a []uint64, n int) []uint64 { return a[:min(n, len(a))] }
