package views

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// A Membership is the end of the view service's protocol at the host of a member: it
// joins, renews, fetches and leaves, repeats what is not answered, and finds the voter
// that leads. Its methods must be called one at a time, with readings of the member's
// own clock. Its effects are in Out; take them after each call.
//
// It serves one process from joining to its end. A process that is notified that it is
// gone and wants to rejoin makes another Membership, with another nonce.
type Membership struct {
	Out    MembershipOut
	config MembershipConfig
	now    member.Instant
	phase  phase
	inc    uint64
	record Record // newest known record

	target  string // voter to ask
	others  int    // number of times that it has asked all voters in vain, or a process that is not one
	hops    int    // redirects followed since it last asked by itself
	heard   bool   // the target has answered since
	due     member.Instant
	proper  member.Instant // when a voter of its cluster last answered
	served  member.Instant // the same, without its own voter if that does not lead
	renewal *Message       // not confirmed yet
	newer   uint64         // epoch of a newer view that exists
	fresh   uint64         // epoch after which it wants another view; 0 if it does not
	stops   bool           // it leaves the view, but keeps its vote
	led     member.Instant // when a leader last answered
	reached []timed        // members that answered a probe, and when
	why     Reason         // why it was not admitted when it last asked
	refused error          // why it must not go on
}

type phase uint8

const (
	idle phase = iota
	joining
	taking  // it is a member
	leaving // it has promised never to enter again; it leaves or stops
	ended
)

// A MembershipConfig describes a process that wants to join, and the voters it may ask.
type MembershipConfig struct {
	Name    string
	Address string // where others reach it
	Nonce   uint64 // random, above 0, new for every process and every attempt
	Voter   uint64 // number of the voter whose disk it has; 0 if it has none
	Cluster uint64 // if known; 0 joins whichever it finds
	Past    Past   // what it remembers; ignored by another cluster
	Voters  []string
	Join    []string    // those of Voters that the operator has named: they must be of this cluster
	Retry   member.Span // pause before asking again, until the settings are known (default 0.5 s)
}

// An Ending is how a membership ends.
type Ending uint8

// How it ends.
const (
	Running  Ending = iota // it has not ended
	Evicted                // the others continue without it
	Left                   // it has left
	Replaced               // its voters belong to another cluster now
	Stopped                // it has stopped, and keeps its vote
	Refused                // it must not go on: see Err
)

// MembershipOut holds the effects that a Membership wants. The host that takes them
// resets it.
type MembershipOut struct {
	Send    []Envelope
	View    bool     // there is a new view, with this process in it: install it
	Renewed []uint64 // confirmed renewals
	Ending  Ending   // stop; nothing more is sent
	Back    uint64   // if not 0: epoch that was seen, and that the new record's history does not have
	Wake    member.Instant
}

// Reset empties it.
func (o *MembershipOut) Reset() {
	*o = MembershipOut{Send: o.Send[:0], Renewed: o.Renewed[:0], Wake: o.Wake}
}

// NewMembership returns a Membership that has not sent anything yet.
func NewMembership(c MembershipConfig) (*Membership, error) {
	switch {
	case c.Name == "" || len(c.Name) > maxName || len(c.Address) > member.MaxAddress:
		return nil, fmt.Errorf("member %q at %q: want a name of 1 to %d bytes and an address of up to %d", c.Name, c.Address, maxName, member.MaxAddress)
	case c.Nonce == 0 || len(c.Voters) == 0:
		return nil, fmt.Errorf("%d known voters and nonce %d: want at least one voter and a nonce above 0", len(c.Voters), c.Nonce)
	}
	if c.Retry <= 0 {
		c.Retry = member.Second / 2
	}
	p := &Membership{config: c, target: c.Voters[0], due: member.Never}
	p.Out.Wake = member.Never
	return p, nil
}

// Inc returns its incarnation; 0 before it is admitted.
func (p *Membership) Inc() uint64 { return p.inc }

// Nonce returns the number that it has drawn.
func (p *Membership) Nonce() uint64 { return p.config.Nonce }

// Err returns why the process must not go on, if its membership has ended as Refused.
func (p *Membership) Err() error { return p.refused }

// Record returns the newest known record.
func (p *Membership) Record() *Record { return &p.record }

func (p *Membership) hear(now member.Instant) { p.now = max(p.now, now) }

// retry is the pause before it asks again.
func (p *Membership) retry() member.Instant {
	if p.record.Cluster == 0 {
		return member.Instant(p.config.Retry)
	}
	return member.Instant(p.record.Settings.Renew / 4)
}

// Join begins to ask for membership.
func (p *Membership) Join(now member.Instant) {
	p.hear(now)
	if p.phase == idle {
		p.phase, p.proper, p.served = joining, p.now, p.now
		p.ask()
	}
}

// Renew sends a renewal, with the members that this one does not reach. It is repeated
// until it is confirmed, or superseded by the next one.
func (p *Membership) Renew(now member.Instant, number uint64, forget bool, unreached []uint64) {
	p.hear(now)
	if p.phase == taking {
		p.renewal = &Message{Kind: Renew, Inc: p.inc, Number: number, Forget: forget, Who: slices.Clone(unreached)}
		p.ask()
	}
}

// Leave asks to leave. The member must have promised before never to enter again,
// because no process waits for its lease.
func (p *Membership) Leave(now member.Instant) {
	p.hear(now)
	switch p.phase {
	case taking:
		p.phase, p.renewal, p.led = leaving, nil, p.now
		p.ask()
	case idle, joining: // it never was a member, as far as it knows
		p.end(p.parting())
	}
}

// Stop is like Leave, but the process keeps its vote. It gives up if no leader answers
// for two renewals. The others then evict it, and when it returns they learn from its
// past that it had promised.
func (p *Membership) Stop(now member.Instant) {
	p.stops = p.stops || p.phase < leaving
	p.Leave(now)
}

// parting returns how the membership of a process ends that leaves or stops.
func (p *Membership) parting() Ending {
	if p.stops {
		return Stopped
	}
	return Left
}

// Refresh asks for a view later than an epoch, of the same members if nothing else
// happens. It is repeated until there is one.
func (p *Membership) Refresh(now member.Instant, epoch uint64) {
	p.hear(now)
	if p.phase == taking && epoch > p.fresh && epoch >= p.record.Epoch {
		p.fresh = epoch
		p.ask()
	}
}

// wants reports whether it asks for another view.
func (p *Membership) wants() bool { return p.fresh != 0 && p.fresh >= p.record.Epoch }

// Seen returns the highest epoch of its cluster that it has heard of.
func (p *Membership) Seen() uint64 { return max(p.past().Epoch, p.record.Epoch, p.newer) }

// past returns what it remembers of the cluster that it asks.
func (p *Membership) past() Past {
	if past := p.config.Past; past.Cluster == p.cluster() {
		return past
	}
	return Past{}
}

// cluster returns its cluster; 0 if it is not known yet.
func (p *Membership) cluster() uint64 { return cmp.Or(p.record.Cluster, p.config.Cluster) }

// Newer reports that a member has installed a view of this epoch.
func (p *Membership) Newer(now member.Instant, epoch uint64) {
	p.hear(now)
	if (p.phase == taking || p.phase == leaving) && epoch > max(p.newer, p.record.Epoch) {
		p.newer = epoch
		p.ask()
	}
}

// Wake must be called when Out.Wake is due.
func (p *Membership) Wake(now member.Instant) {
	p.hear(now)
	if p.now < p.due {
		return
	}
	if p.stops && p.now-p.led >= 2*member.Instant(p.record.Settings.Renew) {
		p.end(Stopped)
		return
	}
	if !p.heard {
		p.rotate()
	}
	p.hops = 0
	p.ask()
}

func (p *Membership) send(to string, m *Message) {
	m.Cluster = p.cluster()
	p.Out.Send = append(p.Out.Send, Envelope{to, m.AppendTo(nil)})
}

// ask sends everything due to the target.
func (p *Membership) ask() {
	p.heard = false
	n := len(p.Out.Send)
	wait := p.retry()
	switch p.phase {
	case joining:
		p.send(p.target, &Message{Kind: Join, Nonce: p.config.Nonce, Epoch: p.record.Epoch, Seen: p.Seen(), Voter: p.config.Voter, Stopped: p.past().Stopped, Name: p.config.Name, Address: p.config.Address, Who: p.reaches()})
	case leaving:
		p.send(p.target, &Message{Kind: Leave, Inc: p.inc, Seen: p.Seen(), Voter: p.config.Voter, Stops: p.stops})
	}
	if p.renewal != nil {
		p.renewal.Epoch, p.renewal.Seen = p.record.Epoch, p.Seen()
		p.send(p.target, p.renewal)
	}
	if p.newer > p.record.Epoch || p.wants() {
		p.send(p.target, &Message{Kind: Fetch, Inc: p.inc, Epoch: p.record.Epoch, Seen: p.Seen(), Refresh: p.wants()})
	}
	if p.due = member.Never; len(p.Out.Send) > n {
		p.due = p.now + wait
	}
	p.Out.Wake = p.due
}

// rotate moves on to the next voter. When all of them were asked in vain, it asks
// another process, which may know others, and then the voters again.
func (p *Membership) rotate() {
	all := p.voters()
	voters := max(1, len(p.record.staying()))
	at := slices.Index(all, p.target) + 1
	if len(all) > voters && at >= voters { // it asked the last of them, or another process
		p.others++
		if at = 0; p.others%2 == 1 {
			at = voters + p.others/2%(len(all)-voters)
		}
	}
	p.target = all[at%len(all)]
}

// voters returns the addresses to ask, in turn: the voters of the record, the
// configured ones, and, in case all voters have changed by now, the members, which know
// them.
func (p *Membership) voters() []string {
	var all []string
	add := func(address string) {
		if !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	for _, v := range p.record.Voters {
		if !v.Leaves {
			add(v.Address) // possibly its own
		}
	}
	for _, a := range p.config.Voters {
		add(a)
	}
	for _, m := range p.record.Members {
		if m.Address != p.config.Address {
			add(m.Address)
		}
	}
	return all
}

// Refer answers a message for a voter that arrived at a process without one: it names
// the voter that this process asks.
func (p *Membership) Refer(now member.Instant, from string, b []byte) error {
	p.hear(now)
	m, err := ParseMessage(b)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(p.record.Voters, func(v Voter) bool { return v.Address == p.target }) && p.phase != ended {
		p.send(from, &Message{Kind: NotLeader, Inc: m.Inc, Epoch: p.record.Epoch, Address: p.target})
	}
	return nil
}

func (p *Membership) end(how Ending) {
	p.phase, p.Out.Ending = ended, how
	p.renewal, p.newer, p.fresh, p.due, p.Out.Wake = nil, 0, 0, member.Never, member.Never
}
