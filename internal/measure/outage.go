package measure

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/process"
)

// An Outage is what happens to one process of a cluster, or to two at once.
type Outage struct {
	Name  string
	How   How
	Roles []Role // roles of the affected processes
}

// A How is what happens.
type How uint8

// What happens.
const (
	Crashing How = iota // the process crashes
	Leaving             // it leaves, and its applications release their locks at once
	Pausing             // it is paused for two leases, and then resumes
)

// A Role is the role of a process in the cluster.
type Role struct {
	Duty  Duty
	Holds bool // it holds the lock that another process waits for
}

// A Duty is what a process does for the view service.
type Duty uint8

// The duties.
const (
	Plain  Duty = iota // it is not a voter
	Voter              // it is a voter, and does not lead
	Leader             // it leads
	Other              // it does not lead, and is a voter only if all are
)

// Outages returns all measured outages.
func Outages() []Outage {
	return []Outage{
		{"a member crashes", Crashing, []Role{{Plain, false}}},
		{"the holder crashes", Crashing, []Role{{Plain, true}}},
		{"a voter crashes", Crashing, []Role{{Voter, false}}},
		{"a voter that is the holder crashes", Crashing, []Role{{Voter, true}}},
		{"the leader crashes", Crashing, []Role{{Leader, false}}},
		{"the leader and the holder crash", Crashing, []Role{{Leader, false}, {Other, true}}},
		{"the leader, which is the holder, crashes", Crashing, []Role{{Leader, true}}},
		{"the holder leaves", Leaving, []Role{{Other, true}}},
		{"the leader leaves", Leaving, []Role{{Leader, false}}},
		{"the leader is paused", Pausing, []Role{{Leader, false}}},
	}
}

// Possible reports whether a group has such processes, and keeps a majority of its voters.
func (o *Outage) Possible(g *Group) bool {
	voters := 0
	for _, r := range o.Roles {
		switch {
		case r.Duty == Plain && g.Voters == g.Members:
			return false
		case r.Duty == Voter || r.Duty == Leader || r.Duty == Other && g.Voters == g.Members:
			voters++
		}
	}
	return o.How != Crashing || 2*(g.Voters-voters) > g.Voters
}

// leads reports whether the outage affects the leader.
func (o *Outage) leads() bool {
	return slices.ContainsFunc(o.Roles, func(r Role) bool { return r.Duty == Leader })
}

// held reports whether the outage affects the holder of the lock that another process waits
// for.
func (o *Outage) held() bool {
	return slices.ContainsFunc(o.Roles, func(r Role) bool { return r.Holds })
}

// An Outcome is the effect of an outage: times from its start, or -1.
type Outcome struct {
	Next    int64 // until the waiting process enters the lock that was held
	Other   int64 // the longest wait for another lock
	Serves  int64 // until another leader serves
	View    int64 // until all other members are in a view without the victims
	Renewal int64 // longest time that a renewal was not confirmed
	Free    int64 // until a process that leaves may end
	Lost    int   // lost locks of the other members
}

// Measure makes an outage happen in a cluster, at a time drawn from the seed.
func (o Outage) Measure(g Group, seed uint64) (Outcome, error) {
	x := outageRun{outage: o}
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

// An outageRun is one run of Measure.
type outageRun struct {
	*cluster
	outage  Outage
	victims []*site
	gone    []uint64 // their incarnations
	term    uint64   // term of the old leader
	next    int      // number of the request that waits, or none
	at      int64    // time of the outage
	out     Outcome
}

// The locks.
const (
	waited = "waited-for"
	mine   = "mine-" // with a number: one of the other members holds it all the time
)

// prepare picks the victims, and makes the other members use locks: each holds one all the
// time, one waits for the victim's, and two use another one in turns that no victim uses.
func (x *outageRun) prepare() error {
	renew := int64(x.Settings.Renew)
	if err := x.pass(2 * renew); err != nil {
		return err
	}
	if err := x.pick(); err != nil {
		return err
	}
	x.next = none
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

// other returns the name of a lock whose home is not a victim.
func (x *outageRun) other() string {
	v := x.victims[0].record.View()
	for i := 0; ; i++ {
		name := fmt.Sprint("other-", i)
		if !slices.Contains(x.gone, v.Members[v.Home(name)].Inc) {
			return name
		}
	}
}

// pick picks the victims.
func (x *outageRun) pick() error {
	lead, term := x.leader()
	if lead == nil {
		return errors.New("no voter leads")
	}
	x.term = term
	for _, r := range x.outage.Roles {
		var fit []*site
		for _, s := range x.sites {
			plain := s.Voter() == nil
			ok := s == lead
			switch r.Duty {
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
			return errors.New("no process of the cluster has this role")
		}
		s := fit[x.chance.Below(int64(len(fit)))]
		s.victim = true
		x.victims = append(x.victims, s)
		x.gone = append(x.gone, s.Inc())
	}
	return nil
}

// shuffle puts processes in a random order.
func shuffle(all []*site, r *kernel.Rand) {
	for i := len(all) - 1; i > 0; i-- {
		k := r.Below(int64(i + 1))
		all[i], all[k] = all[k], all[i]
	}
}

// measure makes the outage happen, and waits until its consequences have ended.
func (x *outageRun) measure() error {
	x.at = x.Now()
	x.out = Outcome{Next: -1, Serves: -1, View: -1, Free: -1}
	for _, s := range x.sites {
		s.slow = 0
	}
	x.entry = x.entered
	for _, s := range x.victims {
		switch x.outage.How {
		case Crashing:
			x.Crash(s.id)
		case Leaving:
			s.step(process.Input{Kind: process.Leave})
			x.empty(s)
		case Pausing:
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

// empty makes the applications of a process release their locks: it does not leave before.
func (x *outageRun) empty(s *site) {
	for i := range x.wants {
		if x.wants[i].at == s {
			x.release(i)
		}
	}
}

// entered records how long an entry took.
func (x *outageRun) entered(w *want) {
	switch {
	case w.again && !w.at.victim:
		x.out.Other = max(x.out.Other, x.Now()-max(w.asked, x.at))
	case x.next >= 0 && w == &x.wants[x.next]:
		x.out.Next = x.Now() - x.at
	}
}

// over reports whether three leases have passed, and records what has happened so far.
func (x *outageRun) over() bool {
	if s, term := x.leader(); x.out.Serves < 0 && x.outage.leads() && s != nil && term > x.term {
		x.out.Serves = x.Now() - x.at
	}
	if x.out.View < 0 && !slices.ContainsFunc(x.sites, x.stale) {
		x.out.View = x.Now() - x.at
	}
	if x.out.Free < 0 && x.outage.How == Leaving && x.victims[0].record == nil {
		x.out.Free = x.Now() - x.at
	}
	return x.Now() >= x.at+3*int64(x.Settings.Lease)
}

// stale reports whether a member is still in a view with a victim.
func (x *outageRun) stale(s *site) bool {
	return !s.victim && slices.ContainsFunc(x.gone, func(inc uint64) bool { return s.record.Rank(inc) >= 0 })
}
