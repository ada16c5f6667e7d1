package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/words"
)

// Why says why requests wait for a lock at a node, which calls clients as client does.
func Why(s *member.Snapshot, node string, now member.Instant, client func(session uint64) string) string {
	switch {
	case len(s.Shared) > 0:
		return fmt.Sprintf("held by %s and %s", client(s.Holder.Client), words.Plural(len(s.Shared), "other"))
	case s.Holder != nil:
		return "held by " + client(s.Holder.Client)
	case s.Pending:
		return "granted, but " + node + " has no lease at present, because no majority of the voters answers"
	case s.Lapsed:
		return "the previous holder was notified that it lost the lock; waiting for its lease to expire"
	case len(s.Recovering) > 0:
		return "recovering: " + suspects(s, now)
	case s.Lent != nil:
		return "lent to " + s.Lent.Name
	case s.Carried:
		return "waiting since an earlier view, for its turn from home " + s.Home.Name
	case s.Spec == nil:
		return "requested from home " + s.Home.Name + ", which grants it in turn"
	}
	if kind, from := Needs(s); kind != "" {
		return "requested with " + s.Algorithm + ": waits for " + kind + " from " + members(from)
	}
	if s.Asked {
		return "requested from the other members with " + s.Algorithm
	}
	return "about to request it from the other members"
}

// mostNamed is how many members a sentence names.
const mostNamed = 5

func members(all []member.Who) string {
	var names []string
	for _, w := range all[:min(mostNamed, len(all))] {
		names = append(names, w.Name)
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, words.Plural(more, "other"))
	}
	return words.List(names)
}

func suspects(s *member.Snapshot, now member.Instant) string {
	var all []string
	for _, x := range s.Recovering {
		name := cmp.Or(x.Name, fmt.Sprintf("evicted member %d", x.Inc))
		switch {
		case x.Reason == member.Holds:
			all = append(all, "held by "+name+" since an earlier view")
		case x.Reason == member.Ghostly && x.Until > now:
			all = append(all, fmt.Sprintf("waiting up to %.1f s for the lease of %s", float64(x.Until-now)/float64(member.Second), name))
		case x.Reason == member.Ghostly:
			all = append(all, "the lease of "+name+" has expired")
		default:
			all = append(all, "waiting for the report of "+name)
		}
	}
	return strings.Join(all, "; ")
}

// Needs returns the kind of the message that the algorithm needs before it grants a lock, and
// the members that it needs it from, according to its own state here. The kind is empty if
// it does not say, as algorithms do that ask for a token without knowing where it is.
func Needs(s *member.Snapshot) (kind string, from []member.Who) {
	if s.Spec == nil || !s.Asked || s.Granted {
		return "", nil
	}
	fields, shape := s.Instance(), &s.Spec.Shape
	read := func(name string) []string {
		i := slices.IndexFunc(fields, func(f host.Field) bool { return name != "" && f.Name == name })
		if i < 0 {
			return nil
		}
		return strings.Fields(fields[i].Value)
	}
	var seats []string // numbered from 1
	kind = shape.Answer
	for _, name := range shape.Awaited {
		if seats = read(name); len(seats) > 0 && seats[0] != "none" {
			break
		}
	}
	switch asked := read(shape.Asked); {
	case len(asked) > 0 && asked[0] == "yes":
		kind, seats = shape.Carrier, read(shape.Pointer)
	case shape.Picture == algorithm.Star:
		hub := 0
		if shape.Hub != nil {
			hub = int(shape.Hub(s.Seats()))
		}
		seats = []string{strconv.Itoa(hub + 1)}
	case shape.Got != "" && shape.Enough == nil:
		got := read(shape.Got)
		for seat := range algorithm.ID(s.Seats()) {
			asks := shape.Sets == nil || shape.Sets(s.Seats())[s.Seat].Has(seat)
			if x := strconv.Itoa(int(seat) + 1); asks && !slices.Contains(got, x) && (shape.Sets != nil || seat != s.Seat) {
				seats = append(seats, x)
			}
		}
	}
	for _, x := range seats {
		if seat, err := strconv.Atoi(x); err == nil && seat >= 1 && seat <= s.Seats() {
			from = append(from, s.At(algorithm.ID(seat-1)))
		}
	}
	if len(from) == 0 {
		return "", nil
	}
	return kind, from
}

// A Decision is why the requests of a member wait, as the algorithm decided at a member.
type Decision struct {
	Who  member.Who // member whose requests wait
	Text string     // in the words of the algorithm, with the names of members
}

// Decisions says by which decisions of the algorithm here requests wait.
func Decisions(s *member.Snapshot) []Decision {
	var all []Decision
	for _, r := range s.Decided {
		d := Decision{s.At(r.Who), s.Spec.SayWith(s.Seat, r, func(seat algorithm.ID) string { return s.At(seat).Name })}
		if s.Spec.Rules[r.Rule].Waits == "self" {
			d.Who = s.At(s.Seat)
		}
		all = append(all, d)
	}
	return all
}
