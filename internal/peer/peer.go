package peer

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
)

// A Config says what a process is, and what it has.
type Config struct {
	Name     string
	Address  string   // where others find it
	Contacts []string // addresses of processes that may know the cluster; none if it has one itself
	Cluster  uint64   // of which it was a member before; 0 joins whichever it finds
	Store    engine.Store
	Seed     uint64      // of what the voter's log needs chance for
	Tick     member.Span // how often a voter looks around: some ten times for each renewal
	Links    member.SessionLimits
	Limits   member.Limits
	// Fit returns the tick and the limits of links for the settings of the cluster,
	// when they are known; nil keeps the ones above.
	Fit func(s member.Settings) (tick member.Span, links member.SessionLimits)
	// Spec returns an algorithm by its name.
	Spec  func(algorithm string, version int) (core.Spec, error)
	Host  Host
	Watch Watcher // nil if nobody judges
}

// A Host is the world around a process. Its methods are called in the middle of
// things: none may call the peer back.
type Host interface {
	// Send sends a message to a process. It may get lost. The bytes are valid
	// during the call alone.
	Send(to string, b []byte)
	// Told is what the member tells an application.
	Told(e *member.Event)
	// Linked reports whether there is a connection to a process, for packets.
	Linked(address string) bool
	// Installed tells that the member has begun a view.
	Installed(r *engine.Record)
	// Ended tells that the process is a member no more. It may Join again.
	Ended(how engine.Ending)
}

// A Peer is one process. Its methods are called one at a time. When Err is not
// nil the process must end: its store has failed, and nothing may be sent.
type Peer struct {
	Err    error
	config Config
	now    member.Instant
	inc    uint64
	m      *member.Member // nil before it is admitted
	links  *member.Sessions
	asks   *engine.Petitioner // nil before it joins
	clerk  *engine.Clerk      // nil if it is no voter
	view   uint64             // the epoch that is installed
	tick   member.Instant     // when the clerk ticks next
	alarm  member.Instant     // when it is woken for one
	flow   member.Instant     // when the links have something to send, if nothing happens before
	within bool               // the links are calling back
	own    [][]byte           // what it has sent to itself
	buf    []byte
}

// The kinds of messages between processes, by their first byte.
const (
	Packet  byte = iota // between members: what a link sends
	Service             // to or from the view service
	Post                // between voters
)

// New makes a process. If its store is that of a voter, the voter runs from now on.
func New(now member.Instant, c Config) (*Peer, error) {
	p := &Peer{config: c, now: now}
	_, id, err := c.Store.Identity()
	if err != nil {
		return nil, err
	}
	if id != 0 {
		return p, p.open()
	}
	return p, nil
}

// open starts the clerk.
func (p *Peer) open() (err error) {
	c := engine.ClerkConfig{Store: p.config.Store, Seed: p.config.Seed}
	if w := p.config.Watch; w != nil {
		c.Seen = w.Applied
	}
	if p.clerk, err = engine.OpenClerk(c); err != nil {
		p.clerk = nil
		return err
	}
	if r := p.clerk.Record(); r.Cluster != 0 {
		p.fit(r)
	}
	p.tick = p.now + member.Instant(p.config.Tick)
	p.rest()
	return nil
}

// fit takes the times that fit the cluster, which may be others than those of this
// process alone: voters that tick at different paces have no steady leader.
func (p *Peer) fit(r *engine.Record) {
	if p.config.Fit != nil {
		p.config.Tick, p.config.Links = p.config.Fit(r.Settings)
	}
}

// Found begins a cluster, or takes one up again, in an empty store: first is what
// engine.Birth or engine.Restored returned, the latter with the record of the
// backup. The process is to Join with the nonce that is in it.
func (p *Peer) Found(old engine.Record, first engine.Change) error {
	if _, err := engine.Found(p.config.Store, old, first); err != nil {
		return err
	}
	return p.open()
}

// Join begins to ask for membership, with a nonce that is drawn for this attempt.
func (p *Peer) Join(now member.Instant, nonce uint64) error {
	p.hear(now)
	if p.asks != nil {
		return fmt.Errorf("join the cluster: %q has joined, or is about to: wait until it has ended", p.config.Name)
	}
	c := engine.PetitionerConfig{Name: p.config.Name, Address: p.config.Address, Nonce: nonce, Voters: p.config.Contacts, Cluster: p.config.Cluster}
	if p.clerk != nil {
		c.Voter, c.Cluster = p.clerk.ID(), p.clerk.Record().Cluster
		c.Voters = append([]string{p.config.Address}, c.Voters...)
	}
	if p.config.Tick > 0 {
		c.Retry = 4 * p.config.Tick
	}
	asks, err := engine.NewPetitioner(c)
	if err != nil {
		return err
	}
	p.asks = asks
	p.asks.Join(now)
	p.settle()
	return nil
}

// Do lets somebody use the member, if there is one, and reports that. What the
// member is asked must be asked in there.
func (p *Peer) Do(now member.Instant, use func(m *member.Member)) bool {
	p.hear(now)
	if p.m == nil {
		return false
	}
	use(p.m)
	if p.take() || p.now >= p.flow {
		p.settle()
	} // else nobody but the member has done anything, and there is nothing to send
	return true
}

// Leave promises never to enter again, and then asks to be let go. Host.Ended
// tells when it is. It must have joined, or be about to.
func (p *Peer) Leave(now member.Instant) {
	p.hear(now)
	if p.asks == nil {
		return
	}
	if p.m != nil {
		p.m.Leave(now)
		p.take()
	}
	p.asks.Leave(now)
	p.settle()
}

// Wake is to be called when Due has come.
func (p *Peer) Wake(now member.Instant) {
	p.hear(now)
	if p.clerk != nil && now >= p.tick {
		p.tick = now + member.Instant(p.config.Tick)
		p.clerk.Tick(now)
		p.settle()
	}
	if p.asks != nil && now >= p.asks.Out.Wake {
		p.asks.Wake(now)
		p.settle()
	}
	if p.m != nil {
		p.m.Wake(now)
		p.take()
	}
	p.settle()
}

// Due returns when Wake is to be called, if nothing happens before.
func (p *Peer) Due() member.Instant {
	due := member.Never
	if p.m != nil {
		due = min(p.m.Out.Wake, p.flow)
	}
	if p.asks != nil {
		due = min(due, p.asks.Out.Wake)
	}
	if p.clerk != nil {
		due = min(due, p.alarm)
	}
	return due
}

// Up tells that there is a connection to a process, and Down that it has broken.
func (p *Peer) Up(now member.Instant, address string) { p.connected(now, address, true) }

// Down tells that the connection to a process has broken.
func (p *Peer) Down(now member.Instant, address string) { p.connected(now, address, false) }

func (p *Peer) connected(now member.Instant, address string, up bool) {
	p.hear(now)
	if p.view == 0 {
		return
	}
	for _, m := range p.asks.Record().Members {
		if m.Address == address && m.Inc != p.inc {
			if up {
				p.links.Up(now, m.Inc)
			} else {
				p.links.Down(now, m.Inc)
			}
		}
	}
	p.settle()
}

// Member returns the member, or nil.
func (p *Peer) Member() *member.Member { return p.m }

// Inc returns its incarnation, or 0.
func (p *Peer) Inc() uint64 { return p.inc }

// Clerk returns the voter's, or nil.
func (p *Peer) Clerk() *engine.Clerk { return p.clerk }

// Record returns the newest record that the process knows.
func (p *Peer) Record() *engine.Record {
	switch {
	case p.asks == nil && p.clerk == nil:
		return &engine.Record{}
	case p.asks == nil || p.clerk != nil && p.clerk.Record().Epoch > p.asks.Record().Epoch:
		return p.clerk.Record()
	}
	return p.asks.Record()
}

// hear notes what time it is. Ticks that nobody was woken for pass before anything
// else happens: all but the last of those that nothing comes of, so that a process
// that stood still hears what has come for it meanwhile before it doubts its leader.
func (p *Peer) hear(now member.Instant) {
	p.now = max(p.now, now)
	for p.clerk != nil && p.tick < p.now && p.clerk.Rest() > 1 {
		p.tick += member.Instant(p.config.Tick)
		p.clerk.Tick(p.now)
	}
}

// rest says when the clerk is to be woken: it sleeps through ticks that nothing comes
// of.
func (p *Peer) rest() {
	if p.clerk != nil {
		p.alarm = p.tick + member.Instant(max(p.clerk.Rest()-1, 0))*member.Instant(p.config.Tick)
	}
}

// voterOf returns the number of the voter that a record wants in this process.
func (p *Peer) voterOf(r *engine.Record) uint64 {
	if i := r.Rank(p.inc); p.inc != 0 && i >= 0 {
		return r.Members[i].Voter
	}
	return 0
}

// office begins to be a voter, or ends it, as the newest record says; unless the
// process must end.
func (p *Peer) office() {
	if p.Err != nil {
		return
	}
	r := p.Record()
	if p.clerk != nil && r.Over(p.clerk.ID()) {
		p.clerk = nil
		if p.Err = p.config.Store.Erase(); p.Err != nil {
			return
		}
	}
	id := p.voterOf(r)
	if p.clerk != nil || id == 0 || slices.ContainsFunc(r.Voters, func(v engine.Voter) bool { return v.ID == id && v.Leaves }) {
		return
	}
	if p.Err = p.config.Store.Join(r.Cluster, id); p.Err == nil {
		p.Err = p.open()
	}
}
