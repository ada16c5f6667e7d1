package member

import (
	"errors"

	"github.com/stile-lock/stile/algorithm"
)

// A State is everything that a member keeps between two calls and that can matter
// later, if it knows at most one lock and only its own process and one client, with one
// request, use it, without deadlines. Equal states have equal fields. A State contains no time: a lease
// runs or has expired, and so does a ghost's.
type State struct {
	Clock uint64
	Gone  bool // it leaves, or was evicted
	Ghost bool // it was evicted
	Lease LeaseState
	Pass  bool // lost locks are passed on as soon as the member is called: not coded, set by the driver

	Session     bool   // the client has a session
	SessionOver bool   // it ends as soon as the member is called: not coded, set by the driver
	Claims      uint64 // number of claims made here

	Present Part
	Before  Part // the previous epoch, frozen
	tickets []Ticket
	spare   []uint32
}

// A LeaseState is the state of a member's lease.
type LeaseState uint8

// The states of a lease.
const (
	NoLease LeaseState = iota // it never had one
	Runs
	Over // or so near its end that nothing is begun
)

// A Part is the member's state of one view.
type Part struct {
	Epoch    uint64 // 0 if there is no view
	Reported uint64 // members whose REPORT has arrived, by index in the universe
	Over     uint64 // ghosts that can no longer act, by index among the ghosts
	Due      uint64 // ghosts whose leases have expired as soon as the member is called: not coded, set by the driver

	Known        bool // the lock is known
	Touched      bool
	Cleared      bool
	Opened       bool // of the home: it has entered or lent the lock
	Silent       bool // no frame about the lock has come since it was last idle here; kept only with Delegates
	Count        uint64
	Bytes        []byte // of the algorithm's instance
	Newest       Token  // of the home, until it releases the lock: the highest token reported or claimed; kept only with Clients
	NewestLast   uint64 // of Newest: last count with which its client may enter by itself
	NewestClient bool   // of Newest: a client holds it

	Busy                        bool
	Holder                      Request // of the zero Stamp and no client if the lock is not held
	Lapsed                      bool    // the holder was notified that the lock is lost, and may still act
	Token                       Token
	Carried                     bool
	Client                      bool   // the client holds or held it, not the member's own process
	ByClaim                     bool   // of Client: it has claimed the lock here
	Last                        uint64 // of Client: last count of the lock, which is delegated; 0 if it is not
	Recalled                    bool   // of Last
	Proof                       bool   // of Lapsed and Client: the former holder no longer acts, and only proof of membership is missing
	Waiters                     []Request
	Handed                      int
	Asked, Inside, Back, IsLent bool
	Until                       Stamp

	Owes               uint64 // ranks whose REPORT is not complete
	OwesHold, OwesWait bool   // what the REPORT to the home has not said yet
	Asks               uint64 // ranks that have not been asked about the lock yet

	Held, May uint64 // of the home, until it releases the lock
	Queried   bool
	Interest  bool
	Lendee    int // a rank, or -1
	Queue     []Turn

	Claim     Claim      // of the client here, not answered yet
	Claimants []Claimant // of the home: claims that wait
	ClaimedBy uint64     // of the home: members, by rank, whose claims were honoured

	home bool // it is the home and has not released the lock
}

// A Claim is a client's claim, at the member that it has attached to.
type Claim struct {
	Token   Token
	Through []uint64
	Sent    bool
	number  uint64
	slot    int
}

// Is reports whether there is a claim.
func (c *Claim) Is() bool { return c.number != 0 }

// A Claimant is a member with a claim that waits at the home.
type Claimant struct {
	Rank    int
	Token   Token
	Through []uint64
	number  uint64
}

// A Request is a request of the member's own process or of the client.
type Request struct {
	Stamp   Stamp // zero of a hold that was claimed
	Client  bool
	Try     bool
	block   uint64
	missing int
	slot    int
}

// A Turn is a member with a waiter from an older epoch.
type Turn struct {
	Stamp Stamp
	Rank  int
}

// Holds reports whether the member's own process or the client holds the lock.
func (p *Part) Holds() bool { return p.Holder.Stamp != Stamp{} || p.Holder.Client }

const (
	most      = 1 << 30 // bound of everything that is counted here
	mostRanks = MaxMembers
)

// Fields codes a state.
func (s *State) Fields(c *algorithm.Coder) {
	counter(c, "clock", &s.Clock)
	c.Bool("gone", &s.Gone)
	c.Bool("ghost", &s.Ghost)
	c.Uint8("lease", (*uint8)(&s.Lease), "none", "runs", "over")
	c.Bool("session", &s.Session)
	counter(c, "claims", &s.Claims)
	s.Present.fields(c)
	s.Before.frozenFields(c)
	n := len(s.tickets)
	c.Int("tickets", &n, most)
	s.tickets = sized(s.tickets, n)
	for i := range s.tickets {
		counter(c, "ticket", (*uint64)(&s.tickets[i]))
	}
	n = len(s.spare)
	c.Int("spare", &n, most)
	s.spare = sized(s.spare, n)
	for i := range s.spare {
		at := int(s.spare[i])
		c.Int("slot", &at, most)
		s.spare[i] = uint32(at)
	}
}

func (p *Part) fields(c *algorithm.Coder) {
	if counter(c, "epoch", &p.Epoch); p.Epoch == 0 {
		p.forget()
		return
	}
	counter(c, "reported", &p.Reported)
	counter(c, "over", &p.Over)
	bulk := p.Owes|p.Asks != 0
	if c.Bool("bulk", &bulk); bulk {
		counter(c, "owes", &p.Owes)
		counter(c, "asks", &p.Asks)
	} else {
		p.Owes, p.Asks = 0, 0
	}
	if c.Bool("known", &p.Known); !p.Known {
		p.forget()
		return
	}
	c.Bool("touched", &p.Touched)
	c.Bool("cleared", &p.Cleared)
	c.Bool("opened", &p.Opened)
	c.Bool("silent", &p.Silent)
	counter(c, "count", &p.Count)
	c.Bytes("instance", &p.Bytes)
	if counter(c, "newest epoch", &p.Newest.Epoch); p.Newest.Epoch != 0 {
		counter(c, "newest", &p.Newest.Count)
		counter(c, "newest last", &p.NewestLast)
		c.Bool("newest of a client", &p.NewestClient)
	} else {
		p.Newest.Count, p.NewestLast, p.NewestClient = 0, 0, false
	}
	if c.Bool("busy", &p.Busy); !p.Busy {
		p.rest()
		return
	}
	p.Holder.fields(c)
	if c.Bool("lapsed", &p.Lapsed); !p.Holds() && !p.Lapsed {
		p.Token, p.Carried, p.Client, p.ByClaim, p.Proof, p.Last, p.Recalled = Token{}, false, false, false, false, 0, false
	} else {
		p.Token.fields(c)
		c.Bool("carried", &p.Carried)
		c.Bool("client", &p.Client)
		c.Bool("by claim", &p.ByClaim)
		c.Bool("proof", &p.Proof)
		counter(c, "last", &p.Last)
		c.Bool("recalled", &p.Recalled)
	}
	n := len(p.Waiters)
	c.Int("waiters", &n, most)
	p.Waiters = sized(p.Waiters, n)
	for i := range p.Waiters {
		p.Waiters[i].fields(c)
	}
	p.claimFields(c)
	c.Int("handed", &p.Handed, most)
	c.Bool("asked", &p.Asked)
	c.Bool("inside", &p.Inside)
	c.Bool("back", &p.Back)
	if p.OwesHold, p.OwesWait = p.OwesHold && bulk, p.OwesWait && bulk; bulk {
		c.Bool("owes hold", &p.OwesHold)
		c.Bool("owes wait", &p.OwesWait)
	}
	if c.Bool("lent", &p.IsLent); p.IsLent {
		p.Until.fields(c)
	} else {
		p.Until = Stamp{}
	}
	if c.Bool("home", &p.home); p.home {
		p.homeFields(c)
	} else {
		p.letGo()
	}
}

// forget, rest and letGo reset what a part has of an unknown lock, of one that is not
// in use, and of one whose home is elsewhere, or has released it.
func (p *Part) forget() {
	p.rest()
	p.Known, p.Touched, p.Cleared, p.Opened, p.Silent, p.Count, p.Bytes = false, false, false, false, false, 0, p.Bytes[:0]
	p.Newest, p.NewestLast, p.NewestClient = Token{}, 0, false
	if p.Epoch == 0 {
		p.Reported, p.Over, p.Owes, p.Asks = 0, 0, 0, 0
	}
}

func (p *Part) rest() {
	p.letGo()
	p.Busy, p.Holder, p.Lapsed, p.Token, p.Carried, p.Waiters = false, Request{}, false, Token{}, false, p.Waiters[:0]
	p.Last, p.Recalled = 0, false
	p.Client, p.ByClaim, p.Proof, p.Claim, p.Claimants, p.ClaimedBy = false, false, false, Claim{}, p.Claimants[:0], 0
	p.Handed, p.Asked, p.Inside, p.Back, p.IsLent, p.Until = 0, false, false, false, false, Stamp{}
	p.OwesHold, p.OwesWait = false, false
}

func (p *Part) letGo() {
	p.home, p.Held, p.May, p.Queried, p.Interest, p.Lendee, p.Queue = false, 0, 0, false, false, -1, p.Queue[:0]
}

// homeFields codes what only a home has, until it releases the lock.
func (p *Part) homeFields(c *algorithm.Coder) {
	p.suspectFields(c)
	c.Bool("queried", &p.Queried)
	c.Bool("interest", &p.Interest)
	n := len(p.Queue)
	c.Int("queue", &n, most)
	p.Queue = sized(p.Queue, n)
	for i := range p.Queue {
		p.Queue[i].Stamp.fields(c)
		c.Int("rank", &p.Queue[i].Rank, mostRanks-1)
	}
}

// frozenFields codes an epoch that is only asked about: by what the home suspected
// then, or by what the instance says.
func (p *Part) frozenFields(c *algorithm.Coder) {
	if counter(c, "frozen", &p.Epoch); p.Epoch == 0 {
		p.forget()
		return
	}
	counter(c, "reported", &p.Reported)
	counter(c, "over", &p.Over)
	if c.Bool("known", &p.Known); !p.Known {
		p.forget()
		return
	}
	c.Bool("cleared", &p.Cleared)
	counter(c, "count", &p.Count)
	c.Bytes("instance", &p.Bytes)
	if c.Bool("home", &p.home); p.home {
		p.suspectFields(c)
		counter(c, "claimed by", &p.ClaimedBy)
	} else {
		p.letGo()
		p.ClaimedBy = 0
	}
}

// claimFields codes the claims of a lock.
func (p *Part) claimFields(c *algorithm.Coder) {
	any := p.Claim.Is() || len(p.Claimants) > 0 || p.ClaimedBy != 0
	if c.Bool("claims", &any); !any {
		p.Claim, p.Claimants, p.ClaimedBy = Claim{}, p.Claimants[:0], 0
		return
	}
	if counter(c, "claim", &p.Claim.number); p.Claim.Is() {
		p.Claim.Token.fields(c)
		through(c, &p.Claim.Through)
		c.Bool("sent", &p.Claim.Sent)
		c.Int("slot", &p.Claim.slot, most)
	} else {
		p.Claim = Claim{}
	}
	n := len(p.Claimants)
	c.Int("claimants", &n, most)
	p.Claimants = sized(p.Claimants, n)
	for i := range p.Claimants {
		a := &p.Claimants[i]
		c.Int("rank", &a.Rank, mostRanks-1)
		counter(c, "claim", &a.number)
		a.Token.fields(c)
		through(c, &a.Through)
	}
	counter(c, "claimed by", &p.ClaimedBy)
}

// through codes a list of incarnations. It may be shared with another state, so it is
// never written into.
func through(c *algorithm.Coder, all *[]uint64) {
	n := len(*all)
	c.Int("through", &n, most)
	list := make([]uint64, n)
	copy(list, *all)
	for i := range list {
		counter(c, "incarnation", &list[i])
	}
	*all = list
}

func (t *Token) fields(c *algorithm.Coder) {
	counter(c, "token epoch", &t.Epoch)
	counter(c, "token", &t.Count)
}

// suspectFields codes what a home knows about which processes may be inside.
func (p *Part) suspectFields(c *algorithm.Coder) {
	counter(c, "held", &p.Held)
	counter(c, "may", &p.May)
	lendee := p.Lendee + 1
	c.Int("lendee", &lendee, mostRanks)
	p.Lendee = lendee - 1
}

func (r *Request) fields(c *algorithm.Coder) {
	r.Stamp.fields(c)
	if c.Bool("client", &r.Client); r.Stamp == (Stamp{}) && !r.Client {
		*r = Request{}
		return // there is none
	}
	c.Bool("try", &r.Try)
	counter(c, "block", &r.block)
	c.Int("missing", &r.missing, most)
	c.Int("slot", &r.slot, most)
}

// fields codes a stamp: the last of all as one of epoch 0 with a clock.
func (s *Stamp) fields(c *algorithm.Coder) {
	if *s == lastStamp() {
		*s = Stamp{Clock: 1}
	}
	counter(c, "epoch", &s.Epoch)
	counter(c, "clock", &s.Clock)
	if s.Epoch != 0 {
		counter(c, "member", &s.Inc)
	} else if s.Inc = 0; s.Clock != 0 {
		*s = lastStamp()
	}
}

// counter codes a number that is only copied and compared.
func counter(c *algorithm.Coder, name string, v *uint64) { c.Seq(name, 0, v) }

// sized returns a list of this length, in the memory of another if possible.
func sized[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]T, n)
}

// Renumber gives requests the tickets that a member would give that has seen no others.
// Without tries, only the process itself knows them.
func (s *State) Renumber() {
	s.tickets, s.spare = s.tickets[:0], s.spare[:0]
	next := func(r *Request) {
		r.slot = len(s.tickets)
		s.tickets = append(s.tickets, Ticket(r.slot)|1<<32)
	}
	if s.Present.Holds() {
		next(&s.Present.Holder)
	}
	for i := range s.Present.Waiters {
		next(&s.Present.Waiters[i])
	}
	if s.Present.Claim.Is() {
		r := Request{}
		next(&r)
		s.Present.Claim.slot = r.slot
	}
}

// Ticket returns the ticket of a request in this state.
func (s *State) Ticket(r Request) Ticket { return s.tickets[r.slot] }

// ClaimTicket returns the ticket of the claim in this state.
func (s *State) ClaimTicket() Ticket { return s.tickets[s.Present.Claim.slot] }

// errNotSmall is the error for a member whose state is more than a State.
var errNotSmall = errors.New("cannot save the member's state: it knows several locks, or has several clients, a client with several requests, or deadlines")
