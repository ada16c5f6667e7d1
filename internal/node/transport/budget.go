package transport

import (
	"container/list"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/stile-lock/stile/internal/share"
)

// Places of a Budget that are not in its configuration.
const (
	// Reserved are for connections from the machine itself, such as probes, and from addresses of
	// nodes that were linked, when strangers have taken all others.
	Reserved = 32
	// DefaultProbes are for a listener that serves only probes.
	DefaultProbes = 16
)

// A Budget is how many connections a node accepts, at all its addresses together. Every
// connection that was accepted has a Seat.
//
// A connection begins as that of a stranger. Strangers have places of their own, which are few;
// if all are taken, one of the address with the most of them is closed: see pending. What they
// do before they are known has a deadline, which is that of the listener. When it is known whose
// the connection is, it becomes that of a client. Clients have places of their own, too, of which
// each address and each identity has a share: see package share. A link to another node needs no
// place of either kind, because a Pool bounds links.
//
// An idle connection over HTTP costs its client little, because the next request can use another
// one. So if there is no place for a client, the oldest idle one of the user with the most
// clients is closed.
type Budget struct {
	c         BudgetConfig
	strangers pending
	probes    pending

	mu      sync.Mutex
	clients int
	users   map[string]*user // addresses and identities with clients
	idle    list.List        // Seats of clients, the oldest first
	nodes   map[netip.Prefix]bool
}

// BudgetConfig configures a Budget.
type BudgetConfig struct {
	Clients   int // maximum number of clients; 0: unlimited
	Strangers int // connections that have not identified themselves (default DefaultPending)
	Reserved  int // further ones, from this machine and from nodes
	Probes    int // of a listener for probes (default DefaultProbes)
}

// A user is an address or an identity with clients.
type user struct {
	name  string
	seats int
}

// A Seat is the place of a connection in a Budget.
type Seat struct {
	budget *Budget
	conn   io.Closer
	heard  *atomic.Bool
	from   netip.Prefix
	local  bool

	// Guarded by the budget.
	stranger *caller // nil if it is none, or no longer
	address  *user   // nil if it is that of no client
	identity *user   // the same, or it has none
	idle     *list.Element
}

// NewBudget returns a Budget of which nothing is used.
func NewBudget(c BudgetConfig) *Budget {
	if c.Strangers == 0 {
		c.Strangers = DefaultPending
	}
	if c.Probes == 0 {
		c.Probes = DefaultProbes
	}
	return &Budget{
		c: c, strangers: pending{most: c.Strangers}, probes: pending{most: c.Probes},
		users: map[string]*user{}, nodes: map[netip.Prefix]bool{},
	}
}

// Errors of connections for which there is no place.
var (
	errCrowd   = errors.New("too many connections are still unidentified")
	errEvicted = errors.New("too many connections are still unidentified, and this is the oldest of them")

	// ErrCrowded is the error of a client for which there is no place.
	ErrCrowded = errors.New("the node has too many clients")
)

// Enter gives a connection a place, or returns nil. The connection reports in heard that
// something has arrived. Its Seat ends with Leave.
func (b *Budget) Enter(c net.Conn, heard *atomic.Bool) *Seat {
	s := &Seat{budget: b, conn: c, heard: heard, from: origin(c.RemoteAddr()), local: Local(c.RemoteAddr())}
	beyond := 0
	b.mu.Lock()
	if s.local || b.nodes[s.from] {
		beyond = b.c.Reserved
	}
	b.mu.Unlock()
	if s.stranger = b.strangers.enter(c, c.RemoteAddr(), heard, beyond); s.stranger == nil {
		return nil
	}
	return s
}

// Settle makes a stranger a client, whose identity is empty if it has none. What is settled
// stays so. A client that is refused remains a stranger.
func (s *Seat) Settle(identity string) error {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.address != nil {
		return nil
	}
	if err := b.room(s, identity); err != nil {
		return err
	}
	if !b.strangers.leave(s.stranger) {
		return errEvicted
	}
	b.clients++
	s.stranger, s.address = nil, b.user(s.from.String())
	s.address.seats++
	if identity != "" {
		s.identity = b.user(identity)
		s.identity.seats++
	}
	return nil
}

// room makes room for a client, or returns why there is none. Addresses of this machine have no
// share: who can connect from there is no stranger, or comes through a proxy.
func (b *Budget) room(s *Seat, identity string) error {
	full := b.c.Clients > 0 && b.clients >= b.c.Clients
	if full && b.yield(nil) {
		full = false
	}
	if full {
		return fmt.Errorf("%w: it has %d, its maximum: use another node, or restart this one with a higher --max-clients", ErrCrowded, b.clients)
	}
	for _, name := range []string{s.from.String(), identity} {
		u := b.users[name]
		if u == nil || name == "" || name != identity && s.local || share.Allows(b.c.Clients, b.clients, u.seats, 1) || b.yield(u) {
			continue
		}
		return fmt.Errorf("%w: it has %d of at most %d, and %s has %d of them, its share: use another node, or fewer connections", ErrCrowded, b.clients, b.c.Clients, name, u.seats)
	}
	return nil
}

// yield closes the oldest idle client of a user, or, without one, of the user with the most
// clients. It reports whether there was one.
func (b *Budget) yield(of *user) bool {
	var found *Seat
	most := 0
	for e := b.idle.Front(); e != nil; e = e.Next() {
		s := e.Value.(*Seat)
		if of != nil && (s.address == of || s.identity == of) {
			found = s
			break
		}
		if of == nil && s.most() > most {
			found, most = s, s.most()
		}
	}
	if found == nil {
		return false
	}
	b.unseat(found)
	found.conn.Close()
	return true
}

// most returns how many clients the users of a client have.
func (s *Seat) most() int {
	if s.identity != nil {
		return max(s.identity.seats, s.address.seats)
	}
	return s.address.seats
}

// Idle reports that a client over HTTP makes no request at present, or makes one again.
func (s *Seat) Idle(idle bool) {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.address != nil {
		b.wait(s, idle)
	}
}

// wait adds a client to the idle ones, or removes it.
func (b *Budget) wait(s *Seat, idle bool) {
	switch {
	case idle && s.idle == nil:
		s.idle = b.idle.PushBack(s)
	case !idle && s.idle != nil:
		b.idle.Remove(s.idle)
		s.idle = nil
	}
}

// Link makes a stranger a link to another node, and reports whether its place was still its own.
func (s *Seat) Link() bool {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	is := s.stranger != nil && b.strangers.leave(s.stranger)
	s.stranger = nil
	return is
}

// Leave gives up the place of a connection that is closed.
func (s *Seat) Leave() {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.stranger != nil {
		b.strangers.leave(s.stranger)
		s.stranger = nil
	}
	b.unseat(s)
}

// unseat removes a client.
func (b *Budget) unseat(s *Seat) {
	if s.address == nil {
		return
	}
	b.wait(s, false)
	b.clients--
	for _, u := range []*user{s.address, s.identity} {
		if u == nil {
			continue
		}
		if u.seats--; u.seats == 0 {
			delete(b.users, u.name)
		}
	}
	s.address, s.identity = nil, nil
}

// user returns an address or an identity. One cannot be taken for the other.
func (b *Budget) user(name string) *user {
	u := b.users[name]
	if u == nil {
		u = &user{name: name}
		b.users[name] = u
	}
	return u
}

// Used returns how many clients there are, and how many strangers.
func (b *Budget) Used() (clients, strangers int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.strangers.mu.Lock()
	defer b.strangers.mu.Unlock()
	return b.clients, len(b.strangers.conns)
}

// Node notes the address of a node that is linked: connections from there have places that
// strangers cannot take.
func (b *Budget) Node(remote string) {
	a, err := net.ResolveTCPAddr("tcp", remote)
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.nodes) >= DefaultPeers {
		clear(b.nodes) // those that matter will be linked again
	}
	b.nodes[origin(a)] = true
}

// Failed notes that a connection could not be accepted. If that is because the files have run
// out, a stranger that has sent nothing is closed.
func (b *Budget) Failed(err error) {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		b.strangers.dismiss()
	}
}

// Probes returns a listener that serves only probes. Its connections have places of their own.
func (b *Budget) Probes(l net.Listener) net.Listener { return &probes{l, &b.probes, b} }

type probes struct {
	net.Listener
	pending *pending
	budget  *Budget
}

// Accept implements net.Listener.
func (p *probes) Accept() (net.Conn, error) {
	for {
		c, err := p.Listener.Accept()
		if err != nil {
			p.budget.Failed(err)
			return nil, err
		}
		x := &probe{Conn: c, of: p.pending}
		if x.place = p.pending.enter(c, c.RemoteAddr(), &x.heard, 0); x.place != nil {
			return x, nil
		}
		c.Close()
	}
}

// A probe is a connection of a listener for probes.
type probe struct {
	net.Conn
	of    *pending
	heard atomic.Bool
	place *caller
}

// Read implements net.Conn.
func (x *probe) Read(b []byte) (int, error) {
	n, err := x.Conn.Read(b)
	if n > 0 {
		x.heard.Store(true)
	}
	return n, err
}

// Close implements net.Conn.
func (x *probe) Close() error {
	x.of.leave(x.place)
	return x.Conn.Close()
}
