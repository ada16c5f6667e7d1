package measure

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/sim/kernel"
)

// An Outage is what happens to one process of a cluster, or to two at once.
type Outage struct {
	Name  string
	How   How
	Roles []Role
}

// A How is what happens.
type How uint8

// What happens.
const (
	Death  How = iota // it ends without a word
	Parted            // it leaves orderly
	Stands            // it stands still for two leases, and goes on as if nothing had happened
)

// A Role is what somebody was to the cluster whom it happens to.
type Role struct {
	Post  Post
	Holds bool // the lock that somebody waits for
}

// A Post is what one does for the view service.
type Post uint8

// The posts.
const (
	Plain  Post = iota // it is no voter
	Voter              // it is a voter, and does not lead
	Leader             // it leads
	Other              // it does not lead, and is a voter only if all are
)

// Outages are all that are measured.
func Outages() []Outage {
	return []Outage{
		{"a member dies", Death, []Role{{Plain, false}}},
		{"the holder dies", Death, []Role{{Plain, true}}},
		{"a voter dies", Death, []Role{{Voter, false}}},
		{"a voter dies, the holder", Death, []Role{{Voter, true}}},
		{"the leader dies", Death, []Role{{Leader, false}}},
		{"the leader dies, and the holder", Death, []Role{{Leader, false}, {Other, true}}},
		{"the leader dies, the holder", Death, []Role{{Leader, true}}},
		{"the holder leaves", Parted, []Role{{Other, true}}},
		{"the leader leaves", Parted, []Role{{Leader, false}}},
		{"the leader stands still", Stands, []Role{{Leader, false}}},
	}
}

// Possible reports whether there are such processes, and a majority of the voters
// is left.
func (o *Outage) Possible(g *Group) bool {
	voters := 0
	for _, r := range o.Roles {
		switch {
		case r.Post == Plain && g.Voters == g.Members:
			return false
		case r.Post == Voter || r.Post == Leader || r.Post == Other && g.Voters == g.Members:
			voters++
		}
	}
	return o.How != Death || 2*(g.Voters-voters) > g.Voters
}

// leads reports whether the leader is one of them.
func (o *Outage) leads() bool {
	return slices.ContainsFunc(o.Roles, func(r Role) bool { return r.Post == Leader })
}

// held reports whether one of them holds the lock that somebody waits for.
func (o *Outage) held() bool {
	return slices.ContainsFunc(o.Roles, func(r Role) bool { return r.Holds })
}

// An Outcome is what comes of an outage: times from when it happens, or -1.
type Outcome struct {
	Next    int64 // until the lock is entered by who waits for it
	Other   int64 // the longest wait for another lock
	Serves  int64 // until another leader serves
	View    int64 // until all who are left are in a view without them
	Renewal int64 // the longest that a renewal was not confirmed
	Free    int64 // until one that leaves may end
	Lost    int   // holds of those who are left
}

// Suffer has an outage happen to a cluster, at a moment that the seed draws.
func Suffer(o Outage, g Group, seed uint64) (Outcome, error) {
	x := suffering{outage: o}
	var err error
	if x.cluster, err = newCluster(g, seed); err == nil {
		err = x.prepare()
	}
	if err == nil {
		err = x.measure()
	}
	if err != nil {
		return x.out, fmt.Errorf("%s, %d members, %d voters, seed %d: %w", o.Name, g.Members, g.Voters, seed, err)
	}
	return x.out, nil
}

// A suffering is one run of Suffer.
type suffering struct {
	*cluster
	outage  Outage
	victims []*site
	gone    []uint64 // their incarnations
	term    uint64   // in which the leader led
	next    int      // the number of the one that waits; -1 if nobody does
	at      int64    // when it happens
	out     Outcome
}

// The locks.
const (
	waited = "waited-for"
	mine   = "mine-" // and a number: somebody who is left holds it all the time
)

// prepare picks the victims, and lets those who are left use locks: each holds one
// all the time, one waits for that of the victim, and two of them use another one
// that no victim has to do with.
func (x *suffering) prepare() error {
	renew := int64(x.Settings.Renew)
	if err := x.pass(2 * renew); err != nil {
		return err
	}
	if err := x.pick(); err != nil {
		return err
	}
	x.next = -1
	for i, r := range x.outage.Roles {
		if r.Holds {
			x.want(x.victims[i], waited, false)
		}
	}
	left := slices.DeleteFunc(slices.Clone(x.sites), func(s *site) bool { return s.victim })
	for i, s := range left {
		x.want(s, fmt.Sprint(mine, i), false)
	}
	if err := x.until(func() bool { return !slices.ContainsFunc(x.wants, func(w want) bool { return !w.held }) }); err != nil {
		return err
	}
	if x.outage.held() {
		x.next = x.want(left[x.chance.Below(int64(len(left)))], waited, false)
	}
	shuffle(left, &x.chance)
	for _, s := range left[:2] {
		x.want(s, x.other(), true)
	}
	return x.pass(renew + x.chance.Below(renew))
}

// other returns the name of a lock whose home is left.
func (x *suffering) other() string {
	v := x.victims[0].record.View()
	for i := 0; ; i++ {
		name := fmt.Sprint("other-", i)
		if !slices.Contains(x.gone, v.Members[v.Home(name)].Inc) {
			return name
		}
	}
}

// pick picks the victims.
func (x *suffering) pick() error {
	lead, term := x.leader()
	if lead == nil {
		return errors.New("nobody leads")
	}
	x.term = term
	for _, r := range x.outage.Roles {
		var fit []*site
		for _, s := range x.sites {
			plain := s.peer.Clerk() == nil
			ok := s == lead
			switch r.Post {
			case Plain:
				ok = plain
			case Voter:
				ok = !plain && s != lead
			case Other:
				ok = s != lead && (plain || x.Voters == x.Members)
			}
			if ok && !s.victim {
				fit = append(fit, s)
			}
		}
		if len(fit) == 0 {
			return errors.New("there is nobody whom it could happen to")
		}
		s := fit[x.chance.Below(int64(len(fit)))]
		s.victim = true
		x.victims = append(x.victims, s)
		x.gone = append(x.gone, s.peer.Inc())
	}
	return nil
}

// shuffle puts processes in any order.
func shuffle(all []*site, r *kernel.Rand) {
	for i := len(all) - 1; i > 0; i-- {
		k := r.Below(int64(i + 1))
		all[i], all[k] = all[k], all[i]
	}
}

// measure lets it happen, and waits until all is as it was before.
func (x *suffering) measure() error {
	x.at = x.Now()
	x.out = Outcome{Next: -1, Serves: -1, View: -1, Free: -1}
	for _, s := range x.sites {
		s.slow = 0
	}
	x.entry = x.entered
	for _, s := range x.victims {
		switch x.outage.How {
		case Death:
			x.Crash(s.id)
		case Parted:
			s.peer.Leave(x.now())
			s.settled()
		case Stands:
			x.Pause(s.id)
			x.At(x.at+2*int64(x.Settings.Lease), resumes, -1, int(s.id))
		}
	}
	if err := x.until(x.over); err != nil {
		return err
	}
	for _, s := range x.sites {
		if !s.victim {
			x.out.Lost += s.lost
			x.out.Renewal = max(x.out.Renewal, s.slow)
		}
	}
	return nil
}

// entered notes how long an entry took.
func (x *suffering) entered(w *want) {
	switch {
	case w.again && !w.at.victim:
		x.out.Other = max(x.out.Other, x.Now()-max(w.asked, x.at))
	case x.next >= 0 && w == &x.wants[x.next]:
		x.out.Next = x.Now() - x.at
	}
}

// over reports whether three leases are over, and notes what has come meanwhile.
func (x *suffering) over() bool {
	if s, term := x.leader(); x.out.Serves < 0 && x.outage.leads() && s != nil && term > x.term {
		x.out.Serves = x.Now() - x.at
	}
	if x.out.View < 0 && !slices.ContainsFunc(x.sites, x.stale) {
		x.out.View = x.Now() - x.at
	}
	if x.out.Free < 0 && x.outage.How == Parted && x.victims[0].record == nil {
		x.out.Free = x.Now() - x.at
	}
	return x.Now() >= x.at+3*int64(x.Settings.Lease)
}

// stale reports whether one who is left is still in a view with a victim.
func (x *suffering) stale(s *site) bool {
	return !s.victim && slices.ContainsFunc(x.gone, func(inc uint64) bool { return s.record.Rank(inc) >= 0 })
}
