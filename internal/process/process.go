package process

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

// Begin is the part of a Config that can be written down.
type Begin struct {
	Name     string
	Address  string          // where other nodes reach it
	Contacts []string        // addresses of nodes that may know the cluster
	Join     []string        // those of Contacts that an operator has named: it fails if they belong to another cluster than Cluster
	Cluster  uint64          // cluster that it was a member of before; 0 joins whichever it finds
	Seed     [32]byte        // seed of all randomness, session secrets included: drawn by the host
	State    []byte          // state saved before, as one record; empty if there is none
	Past     []byte          // what was last remembered; empty if nothing was
	Settings member.Settings // used until the cluster's settings are known (default member.Usual)
	Limits   member.Limits
	Links    member.LinkLimits // their times follow from the cluster's settings
	Sessions int               // maximum number of client sessions; 0 for the default
	Found    *Founding         // how to found a cluster, unless state was saved before; nil joins one
	Restore  *Restoring        // how to restore a cluster, unless state was saved before; nil if not wanted
}

// A Founding specifies how a cluster begins.
type Founding struct {
	Cluster  uint64 // its number; 0 draws one
	Epoch    uint64 // epoch of the first view
	Settings member.Settings
	Voters   int // wanted number: 1, 3 or 5
	Choices  []member.Choice
}

// A Restoring specifies how a cluster is restored from a backup, with this process as
// its only member and voter. Settings, algorithms and the number of voters are those of
// the backup.
type Restoring struct {
	Cluster uint64 // its number, not used by any earlier cluster; 0 draws one
	Backup  []byte // record of a voter
	Seen    uint64 // as in views.Restore
	Clock   uint64 // as in views.Restore
}

// check reports why a process cannot restore a backup.
func (x *Restoring) check(c *Config) error {
	r, err := views.ParseRecord(x.Backup)
	if err == nil {
		err = c.runs(r.Choices)
	}
	if err != nil {
		return fmt.Errorf("restore a backup: %w", err)
	}
	return nil
}

// A Config specifies what a process is, and what it can run.
type Config struct {
	Begin
	// Logs starts the logs of voters.
	Logs views.Logs
	// Spec returns an algorithm by its name.
	Spec func(algorithm string, version int) (algorithm.Spec, error)
	// Follow adds the effects that show what becomes of clients' requests.
	Follow bool
	// Observe adds all effects that an oracle judges by.
	Observe bool
	Tape    Tape // nil if nothing is recorded
}

// runs reports why a process cannot run some algorithms. It must be able to run what it
// chooses: otherwise it would fail in the view that uses them, and again after each
// start.
func (c *Config) runs(all []member.Choice) error {
	for _, o := range all {
		if method, kept := member.IsKept(o.Algorithm); kept {
			if err := member.CheckKept(method, o.Version); err != nil {
				return err
			}
			continue
		}
		if _, err := c.Spec(o.Algorithm, o.Version); err != nil {
			return err
		}
	}
	return nil
}

// A Tape is shown the inputs of a process and their outputs. Both are valid during the
// call.
type Tape interface {
	Took(in *Input, out *Output)
	// Crashed is shown an input in which the process panics. The panic continues when
	// it returns.
	Crashed(in *Input, out *Output)
}

// A Phase is a stage in the life of a process.
type Phase uint8

// The phases.
const (
	Idle     Phase = iota // before Start
	Joining               // asks to become a member
	Member                // is a member
	Draining              // is a member, grants nothing new, and leaves or stops when no lock is held
	Leaving               // has promised never to enter again
	Over                  // has left or stopped, was evicted while leaving, or has failed
)

// Errors of inputs.
var (
	// ErrLeaving is why a process that is about to leave or to stop accepts no request.
	ErrLeaving = errors.New("the node is leaving the cluster")
	// ErrAlone is why no client is asked to use another node: there is none.
	ErrAlone = errors.New("the cluster has no other node")
	// ErrOver is why a process that has ended accepts no request.
	ErrOver = errors.New("the node has stopped")
)

// A Process is one stile process. Its methods must be called one at a time.
type Process struct {
	Out    Output
	config Config
	rng    *rand.ChaCha8
	clock  member.Instant
	phase  Phase
	stops  bool  // it keeps its vote when it ends
	err    error // why it has failed
	past   views.Past

	inc    uint64
	m      *member.Member // nil unless it is a member
	links  *member.Links
	asks   *views.Membership // nil before it joins
	view   uint64            // installed epoch
	others []uint64          // incarnations of the other members
	known  []string          // addresses of the members when it last was one
	flow   member.Instant    // when the links have something to send, if nothing happens before

	voter   *views.Replica // nil if it is not a voter
	cluster uint64         // cluster of the voter
	tick    member.Span    // length of a voter's tick
	ticks   member.Instant // when the voter ticks next
	alarm   member.Instant // when to wake for a tick
	disk    disk
	nonce   uint64   // of the first attempt to join, if it founds the cluster
	own     [][]byte // messages to itself
	dirty   bool     // the links may have something to send

	clients *session.Server
	linked  map[string]bool // by address: whether there is a connection
	arena   []byte          // backs effects
	traffic Traffic
}

// maxArena is the most memory that is kept from one step to the next.
const maxArena = 1 << 20

// New returns a process. It does nothing before its first input, which is Start.
func New(c Config) (*Process, error) {
	if c.Settings == (member.Settings{}) {
		c.Settings = member.Usual()
	}
	if err := c.Settings.Check(); err != nil {
		return nil, err
	}
	p := &Process{config: c, rng: rand.NewChaCha8(c.Seed), linked: map[string]bool{}}
	p.Out.Wake = member.Never
	_, voter, err := c.Logs.Voter(c.State)
	if err != nil {
		return nil, err
	}
	if p.past, err = views.ParsePast(c.Past); err != nil {
		return nil, fmt.Errorf("read what the process remembers: %w", err)
	}
	switch f, x := c.Found, c.Restore; {
	case voter != 0:
		p.disk.held = true
	case x != nil:
		if err := x.check(&c); err != nil {
			return nil, err
		}
	case f != nil:
		if err := f.Settings.Check(); err != nil {
			return nil, err
		}
		if err := c.runs(f.Choices); err != nil {
			return nil, err
		}
	}
	p.tick = Tick(c.Settings)
	server := session.ServerConfig{Draw: p.drawSession, Sessions: c.Sessions}
	if c.Follow || c.Observe {
		server.Watch = watch{p}
	}
	p.clients = session.NewServer(server)
	p.clients.Nodes = c.Contacts
	return p, nil
}

// Step handles an input. Its result is in Out until the next step.
func (p *Process) Step(in *Input) {
	p.Out.reset()
	if p.arena = p.arena[:0]; cap(p.arena) > maxArena {
		p.arena = nil
	}
	if p.config.Tape != nil {
		p.record(in)
		return
	}
	p.step(in)
}

// record handles an input with the tape running.
func (p *Process) record(in *Input) {
	done := false
	defer func() {
		if !done {
			p.config.Tape.Crashed(in, &p.Out)
		}
	}()
	p.step(in)
	done = true
	p.config.Tape.Took(in, &p.Out)
}

func (p *Process) step(in *Input) {
	if p.phase == Over {
		p.Out.Err, p.Out.Wake = ErrOver, member.Never
		return
	}
	p.hear(in.At)
	busy := true
	switch in.Kind {
	case Start:
		p.start()
	case Leave, Stop:
		p.drain(in.Kind == Stop)
	case Wake:
		p.wake()
	case Up, Down:
		p.connected(in.Text, in.Kind == Up)
	case Message:
		p.message(in.Text, in.Bytes)
	case Frame:
		busy = p.frame(in.Number, in.Bytes)
	case Opened:
		p.clients.Opened(in.Number, in.Text, in.Quota)
		busy = false
	case Recall:
		p.clients.Recall()
		busy = false
	case Closed:
		p.clients.Closed(in.Number)
		busy = false
	case Lock:
		busy = p.lock(in)
	case Cancel:
		busy = p.use(func(m *member.Member) { m.Cancel(p.clock, member.Ticket(in.Number)) })
	case Unlock:
		busy = p.unlock(in)
	case Release:
		p.release(in)
	case Evict, Choose, Refresh, Resize:
		p.order(in)
	case Move:
		p.move(in.Number)
	case Saved:
		p.saved(in.Number, in.Text)
	case Trail:
		p.trail(in)
		busy = false
	}
	p.finish(busy)
}

// finish handles the effects of all parts until there are none left. If only the member
// was used, and has nothing for other processes, there is nothing to do.
func (p *Process) finish(busy bool) {
	if p.dirty = false; busy || p.clock >= p.flow {
		p.settle()
	}
	for p.clients.Out.Wake <= p.clock && p.err == nil {
		p.clients.Wake(p.clock, p.m)
		if p.m != nil {
			p.take()
		}
		p.settle()
	}
	if p.phase == Draining {
		p.leave()
	}
	p.reply()
	if p.err != nil {
		p.fail()
		return
	}
	if p.dirty {
		p.flush()
	}
	p.Out.Wake = p.due()
	if len(p.Out.acts) > 0 {
		p.Out.Effects = append(p.Out.Effects, p.Out.acts...)
		clear(p.Out.acts)
		p.Out.acts = p.Out.acts[:0]
	}
}

// fail ends the process: nothing is sent any more. The host notifies applications that
// their locks are lost.
func (p *Process) fail() {
	p.phase, p.Out.Wake = Over, member.Never
	clear(p.Out.acts)
	p.Out.acts = nil
	p.now(Effect{Kind: Failed, Err: p.err})
}

// broken notes why the process cannot go on.
func (p *Process) broken(err error) {
	if err != nil && p.err == nil {
		p.err = err
	}
}

// hear notes the time. Ticks without effect that the voter was not woken for pass first,
// all but the last, so that a process that was suspended handles what has arrived
// meanwhile before it doubts its leader.
func (p *Process) hear(now member.Instant) {
	p.clock = max(p.clock, now)
	for p.voter != nil && p.ticks < p.clock && p.voter.Rest() > 1 {
		p.ticks += member.Instant(p.tick)
		p.voter.Tick(p.clock)
	}
}

// wake does what is due.
func (p *Process) wake() {
	if p.voter != nil && p.clock >= p.ticks {
		p.ticks = p.clock + member.Instant(p.tick)
		p.voter.Tick(p.clock)
		p.settle()
	}
	if p.asks != nil && p.clock >= p.asks.Out.Wake {
		p.asks.Wake(p.clock)
		p.settle()
	}
	if p.m != nil {
		p.m.Wake(p.clock)
		p.take()
	}
}

// due returns when to wake the process. A process that has ended is not woken, though
// its voter may still exist.
func (p *Process) due() member.Instant {
	if p.phase == Over {
		return member.Never
	}
	due := p.clients.Out.Wake
	if p.m != nil {
		due = min(due, p.m.Out.Wake, p.flow)
	}
	if p.asks != nil {
		due = min(due, p.asks.Out.Wake)
	}
	if p.voter != nil {
		due = min(due, p.alarm)
	}
	return due
}

// settle handles the effects of all parts until there are none left.
func (p *Process) settle() {
	p.dirty = true
	for busy := true; busy && p.err == nil; {
		busy = p.vote()
		if p.err == nil && p.asks != nil {
			busy = p.request() || busy
		}
		if p.err == nil {
			p.office()
		}
		for len(p.own) > 0 && p.err == nil {
			b := p.own[0]
			p.own, busy = p.own[1:], true
			if err := p.receive(p.config.Address, b); err != nil {
				p.broken(fmt.Errorf("handle a message from this process to itself: %w", err))
			}
		}
	}
	p.rest()
}

// draw returns a number above 0 that no other process draws.
func (p *Process) draw() uint64 {
	for {
		if n := p.rng.Uint64() >> 1; n != 0 {
			return n
		}
	}
}

// drawSession returns the number of a new session and its secret.
func (p *Process) drawSession() (session uint64, secret session.Secret) {
	session = p.draw()
	_, _ = p.rng.Read(secret[:])
	return session, secret
}

// drawSecret returns a secret for tickets.
func (p *Process) drawSecret() (secret [32]byte) {
	_, _ = p.rng.Read(secret[:])
	return secret
}

// Phase returns the phase of the process.
func (p *Process) Phase() Phase { return p.phase }

// Err returns why the process has failed, or nil.
func (p *Process) Err() error { return p.err }

// Member returns the member, or nil. Callers must not change it.
func (p *Process) Member() *member.Member { return p.m }

// Inc returns its incarnation, or 0.
func (p *Process) Inc() uint64 { return p.inc }

// Voter returns the voter, or nil. Callers must not change it, except to pass on what
// an operator asks of the view service.
func (p *Process) Voter() *views.Replica { return p.voter }

// Record returns the newest record that the process knows.
func (p *Process) Record() *views.Record {
	switch {
	case p.asks == nil && p.voter == nil:
		return &views.Record{}
	case p.asks == nil || p.voter != nil && p.voter.Record().Epoch > p.asks.Record().Epoch:
		return p.voter.Record()
	}
	return p.asks.Record()
}

// Waits returns why the process is not a member yet, as far as the view service has said.
func (p *Process) Waits() string {
	if p.asks == nil {
		return ""
	}
	return p.asks.Waits()
}

// Linked reports whether there is a connection to a node.
func (p *Process) Linked(address string) bool { return p.linked[address] }

// Bound reports whether a connection of a client has a session.
func (p *Process) Bound(conn uint64) bool { return p.clients.Bound(conn) }

// Knows reports whether a request of a client is waiting or held.
func (p *Process) Knows(conn, number uint64) bool { return p.clients.Knows(conn, number) }

// Sessions returns the number of clients' sessions.
func (p *Process) Sessions() int { return p.clients.Sessions() }

// Value returns the value that a client has attached to a lock that it holds; false if it
// has attached none.
func (p *Process) Value(t member.Ticket) (string, bool) { return p.clients.Value(t) }

// Traffic returns how many frames members have exchanged with this process.
func (p *Process) Traffic() Traffic { return p.traffic }

// Clients calls f for each session.
func (p *Process) Clients(f func(session.ClientInfo)) { p.clients.Each(f) }

// Client returns a session.
func (p *Process) Client(session uint64) (session.ClientInfo, bool) { return p.clients.Find(session) }
