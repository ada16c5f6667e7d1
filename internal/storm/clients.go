package storm

import (
	"slices"

	talk "github.com/stile-lock/stile/internal/session"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
)

// A client is a process that is not a member: a session.Client and its applications. It
// holds a lock only until its own clock says that its session may have expired: before the
// member's lease can.
type client struct {
	w       *world
	id      algorithm.ID
	number  int
	clock   clock
	chance  kernel.Rand
	boots   int
	up      bool
	session *talk.Client
	lines   []*line // its connections
	hands   []hand
	ponder  int64 // when its applications may request something again
	seq     int

	deal    deal
	curious curious

	overheard heardSession      // as the thief has heard it
	asked     map[uint64]string // names of the locks of its requests, as the thief has heard them
}

// hands is the number of applications of a client.
const hands = 2

// A hand is an application of a client: it requests one lock after another.
type hand struct {
	c       *client
	request uint64 // number of the current request; 0 if there is none
	lock    int
	terms   member.Terms // of a kept lock
	asked   int64
	mark    mark // of the lock, then or at the end of the grace period
	holds   bool
	leaves  bool // it has released or withdrawn, and that is not confirmed
	token   member.Token
	until   member.Instant // how long it may act, by the client's clock, as last known
	errand  visit          // visit to the bank
	next    int64          // true time of its release or withdrawal; 0 if there is none
	again   int64          // true time of its next request, for the same lock; 0 if it may be for any
}

func newClient(w *world, number int, id algorithm.ID) *client {
	c := &client{w: w, id: id, number: number, chance: kernel.NewRand(w.Seed, 500+uint64(number)), hands: make([]hand, hands+w.Kept), deal: deal{chance: kernel.NewRand(w.Seed, 950+uint64(number))}, curious: curious{chance: kernel.NewRand(w.Seed, 700+uint64(number)), voter: algorithm.None}, asked: map[uint64]string{}}
	for i := range c.hands {
		c.hands[i].c = c
	}
	return c
}

func (c *client) now() member.Instant { return c.clock.at(c.w.Now()) }

// begin starts the client anew, with nothing remembered.
func (c *client) begin() {
	w := c.w
	c.boots++
	c.up = true
	c.curious.open = c.curious.open[:0]
	c.clock = clock{base: w.Now(), read: member.Instant(1 + c.chance.Below(1000*ms)), rate: w.rate(&c.chance)}
	var nodes []string
	for i := range w.procs {
		nodes = append(nodes, w.Name(w.procs[(i+c.number)%len(w.procs)].id))
	}
	config := talk.ClientConfig{
		Name: w.Name(c.id), Nodes: nodes, Dial: member.Span(30 * ms), Retry: member.Span(2 * ms), MaxRetry: member.Span(20 * ms),
		Seed: uint64(c.chance.Below(1 << 62)),
	}
	if c.chance.Below(3) == 0 {
		config.Length = w.Settings.Lease / 2
	}
	var err error
	if c.session, err = talk.NewClient(c.now(), config); err != nil {
		w.broken(Errors, "%s cannot start: %v", w.Name(c.id), err)
		c.up = false
		return
	}
	for i := range c.hands {
		c.hands[i] = hand{c: c}
	}
	c.deal.transaction, c.deal.at = transaction{}, w.Now()
	c.ponder = w.Now() + c.chance.Below(10*ms)
	c.take()
}

// crash ends the client: silently, or gracefully if it holds nothing.
func (c *client) crash() {
	if !c.inside() && c.chance.Below(3) == 0 {
		c.session.Close(c.now())
		c.take()
	}
	c.w.oracle.clientGone(c)
	c.up = false
	for len(c.lines) > 0 {
		c.hang(c.lines[0])
	}
}

func (c *client) pulse(d int64) {
	c.seq++
	c.w.At(c.w.Now()+1+d, pulse, c.id, c.seq)
}

// node returns the process that the client has, or tries to open, a session with.
func (c *client) node() *proc {
	_, address, _ := c.session.Session()
	return c.w.addressed(address)
}

// valid reports whether the application sees its lock as valid, or did a moment before.
func (h *hand) valid() bool {
	if !h.c.up || !h.holds {
		return false
	}
	h.look()
	return h.c.now() < h.until
}

// look records how long a hand may act: somewhat longer than its session says that the lock
// is valid.
func (h *hand) look() {
	if end := h.c.session.Deadline(h.request); h.holds && end != 0 {
		h.until = end + member.Instant(h.c.session.Act(h.request))
	}
}

// happen lets the client do what is due.
func (c *client) happen(seq int) {
	if !c.up || seq != c.seq {
		return
	}
	w := c.w
	c.rush()
	c.session.Wake(c.now())
	c.take()
	asks := w.Now() >= c.ponder
	if asks {
		every := int64(w.Settings.Renew)
		c.ponder = w.Now() + every/2 + c.chance.Below(every/2)
		if w.Questions && w.phase > forming && w.phase < draining {
			c.wonder()
		}
	}
	for i := range hands {
		c.hands[i].act(asks)
	}
	c.transact()
	c.rewake()
}

// rush lets applications do what is due at the bank before anything else happens in the
// client: they may have checked its clock just before it was paused.
func (c *client) rush() {
	for i := range c.hands {
		if h := &c.hands[i]; h.holds && h.errand.state == fetched && h.due() {
			h.settle()
		}
	}
}

// rewake schedules what is due next.
func (c *client) rewake() {
	next := c.ponder
	if c.deal.at > 0 && c.w.Workers > 0 {
		next = min(next, max(c.deal.at, c.w.Now()+1))
	}
	if x := c.session.Out.Wake; x != member.Never {
		next = min(next, c.clock.when(x))
	}
	for i := range c.hands {
		for _, at := range []int64{c.hands[i].next, c.hands[i].again} {
			if at > 0 {
				next = min(next, at)
			}
		}
	}
	c.pulse(max(0, next-c.w.Now()-1))
}

// due reports whether a hand must release or withdraw now.
func (h *hand) due() bool { return h.next > 0 && h.c.w.Now() >= h.next }

// act requests a lock, releases it, or withdraws the request.
func (h *hand) act(asks bool) {
	c, w := h.c, h.c.w
	session, _, _ := c.session.Session()
	switch {
	case h.holds && h.due():
		h.settle()
	case h.request != 0 && !h.leaves && h.due():
		h.leave()
	case h.request != 0 || w.Now() < h.again:
	case w.phase >= draining || w.phase <= forming || session == 0:
		h.again = 0
	case h.again > 0:
		h.ask(h.lock)
	case asks && c.chance.Below(2) == 0:
		h.ask(w.somewhere(&c.chance))
	}
}

// ask requests a lock.
func (h *hand) ask(lock int) {
	c, w := h.c, h.c.w
	var o talk.Opts
	switch c.chance.Below(10) {
	case 0:
		o.Try = true
	case 1:
		o.Wait = member.Span(1 + c.chance.Below(60*ms))
	}
	*h = hand{c: c, lock: lock, asked: w.Now()}
	h.mark = w.oracle.mark(h.lock)
	if c.chance.Below(10) == 0 {
		h.next = w.Now() + c.chance.Below(60*ms)
	}
	r, err := c.session.Lock(c.now(), w.names[h.lock], o)
	if err != nil {
		w.broken(Errors, "%s cannot request %s: %v", w.Name(c.id), w.names[h.lock], err)
	}
	h.request = r
	c.take()
}

// leave releases the lock, or withdraws the request.
func (h *hand) leave() {
	c, w := h.c, h.c.w
	h.next = 0
	if c.session.Unlock(c.now(), h.request) == nil {
		if w.oracle.clientLeft(h); h.holds {
			w.remark(c.id, "releases %s", w.names[h.lock])
			w.note(uint64(c.id), h.token.Count)
		}
		h.holds, h.leaves, h.mark = false, true, w.oracle.mark(h.lock)
	}
	c.take()
}

// receive handles a message that is not a frame.
func (c *client) receive(kind byte, l numbers) {
	switch {
	case !c.up:
	case !c.w.Bank:
		c.w.deposit(c.id, l)
	default:
		c.banked(kind, l)
	}
}

// take carries out the effects of the session.
func (c *client) take() {
	w := c.w
	out := c.session.Out
	c.session.Out = talk.ClientOut{Wake: out.Wake}
	for i := range out.Events {
		c.told(&out.Events[i])
	}
	for i := range c.hands {
		h := &c.hands[i]
		if h.look(); h.holds && c.now() >= h.until {
			w.broken(Told, "%s: %s holds the lock with %v, its session has expired, and it has not been notified", w.names[h.lock], w.Name(c.id), h.token)
		}
	}
	for _, d := range out.Dials {
		c.dial(d)
	}
	for _, f := range out.Frames {
		if l := c.lined(f.Conn); l != nil {
			l.send(c.id, f.Bytes)
		}
	}
	for _, conn := range out.HangUps {
		if l := c.lined(conn); l != nil {
			c.hang(l)
		}
	}
	for _, d := range out.Dials {
		c.session.Connected(c.now(), d.Conn)
		c.take()
	}
	c.rewake()
}

// told handles an event of the session for an application.
func (c *client) told(e *talk.Event) {
	w := c.w
	i := slices.IndexFunc(c.hands, func(h hand) bool { return h.request == e.Request })
	if i < 0 {
		w.broken(Events, "%s receives event %d for a finished request", w.Name(c.id), e.Kind)
		return
	}
	h := &c.hands[i]
	if h.isPart() && !h.leaves {
		c.toldDeal(e)
	}
	switch e.Kind {
	case talk.Granted:
		h.enter(e.Token)
		return
	case talk.Again, talk.Doomed:
		return
	case talk.Taken:
		w.remark(c.id, "loses %s", w.names[h.lock])
		w.oracle.clientLost(h, e.Cause)
	}
	where, again := h.lock, w.Eager && !h.isPart() && e.Kind == talk.Left
	*h = hand{c: c}
	if again && w.phase < draining {
		h.lock, h.again = where, w.Now()+c.eagerly()
	}
}

// eagerly draws how soon a client that is eager requests the lock again that it has released.
func (c *client) eagerly() int64 {
	if c.chance.Below(16) == 0 {
		return c.chance.Below(30 * ms)
	}
	return c.chance.Below(ms)
}

// enter is what an application does with a grant.
func (h *hand) enter(t member.Token) {
	c, w := h.c, h.c.w
	h.holds, h.token, h.errand = true, t, visit{}
	w.oracle.clientEntered(h)
	w.remark(c.id, "acquires %s with %v", w.names[h.lock], t)
	if h.isPart() {
		return
	}
	hold := c.chance.Below(shortHold)
	if w.Eager && c.chance.Below(8) > 0 {
		hold = c.chance.Below(ms)
	}
	if w.phase == stormy && c.chance.Below(4) == 0 {
		hold = c.chance.Below(int64(w.Settings.Lease) * 3 / 2)
	}
	if w.phase == stormy && w.network.cutOff(c.node().id) {
		hold = 2 * int64(w.Settings.Lease) // its member will lose the lock
	}
	h.next = w.Now() + 1 + hold
	if c.chance.Below(2) == 0 {
		w.visit(c.id, h.lock, t, &h.errand)
	}
}

// linger lets all of the client's hands that are inside stay there for long.
func (c *client) linger() {
	for i := range c.hands {
		if h := &c.hands[i]; h.holds && !h.errand.open() { // one that is at the bank continues as soon as it can
			h.next = c.w.Now() + 2*int64(c.w.Settings.Lease)
			if h.isPart() {
				c.deal.at, h.next = h.next, 0
			}
		}
	}
}

// move makes an operator ask one of the clients of a process to use another node.
func (w *world) move(q *proc, which int) bool {
	if q.state != taking || w.Paused(q.id) {
		return false
	}
	var all []uint64
	q.p.Clients(func(c talk.ClientInfo) { all = append(all, c.Session) })
	return len(all) > 0 && q.step(process.Input{Kind: process.Move, Number: all[which%len(all)]}) == nil
}

// inside reports whether the client holds a lock.
func (c *client) inside() bool {
	return slices.ContainsFunc(c.hands, func(h hand) bool { return h.holds })
}

// waits returns a hand that has a current request, or nil.
func (c *client) waits() *hand {
	for i := range c.hands {
		if h := &c.hands[i]; h.request != 0 {
			return h
		}
	}
	return nil
}
