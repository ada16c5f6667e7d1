package member

import (
	"errors"

	"github.com/stile-lock/stile/internal/codec"
)

// The walk over a member's state. It lists everything that a member keeps between two calls
// and that can matter later, once for both directions, provided that the member knows at
// most one lock and only its own process and one client, with one request, use it, without
// deadlines. Equal states have equal bytes. They contain no time: a lease runs or has
// expired, and so does a ghost's.

var (
	errState = errors.New("cannot load the state of a member")

	// errNotSmall is the error for a member whose state is more than the walk lists.
	errNotSmall = errors.New("cannot save the member's state: it knows several locks, or has several clients, a client with several requests, or deadlines")
)

// Load puts the member into a state. Its clock reads 0, and both renewals can be confirmed.
func (d *Template) Load(b []byte) error {
	d.Reset()
	c := codec.Coder{B: b, Bad: errState}
	d.state(&c)
	d.rests(Never - 1)
	return c.End()
}

// Append appends the member's state to b.
func (d *Template) Append(b []byte) ([]byte, error) {
	m := d.Member
	one := m.clients[TheClient]
	if len(m.schedule.heap) != len(m.clients) || len(m.clients) > 0 && (len(m.clients) > 1 || one == nil || one.uses > 1) {
		return b, errNotSmall
	}
	for _, e := range []*epoch{m.epoch, m.frozen} {
		if e != nil && (e.table.len() > 1 || len(e.universe) > 60) {
			return b, errNotSmall
		}
	}
	c := codec.Coder{B: b}
	d.state(&c)
	return c.B, nil
}

const most = 1 << 30 // bound of everything that is counted here

func (d *Template) state(c *codec.Coder) {
	m := d.Member
	c.Number(&m.clock)
	c.Flag(&m.gone)
	c.Flag(&m.ghost)
	lease, session := m.leaseState(), m.clients[TheClient] != nil
	if codec.Within(c, &lease, 0, uint64(Over)); c.Reads() {
		d.setLease(lease)
	}
	if c.Flag(&session); c.Reads() && session {
		d.begin()
	}
	c.Number(&m.claims)
	d.tickets(c)
	d.part(c, &m.epoch, d.epochs)
	d.part(c, &m.frozen, d.frozen)
}

// tickets codes which tickets were given, and which are free.
func (d *Template) tickets(c *codec.Coder) {
	m := d.Member
	n := len(m.waiters)
	count(c, &n)
	for i := range n {
		if c.Reads() {
			m.waiters = append(m.waiters, d.empty(i))
		}
		c.Number((*uint64)(&m.waiters[i].ticket))
	}
	n = len(m.spare)
	count(c, &n)
	for i := range n {
		at := uint64(0)
		if !c.Reads() {
			at = uint64(m.spare[i])
		}
		if c.Number(&at); c.Reads() {
			m.spare = append(m.spare, uint32(at))
		}
	}
}

// part codes what the member knows in the current view, or in the one before. That one is
// only asked about: by what the home suspected then, or by what the instance says.
func (d *Template) part(c *codec.Coder, at **epoch, all []*epoch) {
	m := d.Member
	present := at == &m.epoch
	number := uint64(0)
	if *at != nil {
		number = (*at).view.Epoch
	}
	if c.Number(&number); c.Reads() && number != 0 {
		if *at = d.find(all, number); *at == nil {
			c.Fail("epoch of no view that includes the member")
		}
	}
	e := *at
	if e == nil {
		return
	}
	c.Number(&e.reported[0])
	over := e.over[0] >> e.survivors()
	if c.Number(&over); c.Reads() {
		e.outlive(over)
	}
	owes, asks := uint64(0), uint64(0)
	if present {
		owes, asks = e.owes(), m.asks()
		c.Number(&owes)
		if c.Number(&asks); c.Reads() {
			e.setOwes(owes)
		}
	}
	known := e.table.len() > 0
	if c.Flag(&known); !known {
		return
	}
	if c.Reads() {
		lockOf(e, d.name)
	}
	l := e.table.lock(0)
	kept := cleared
	if present {
		kept |= touched | opened | d.silent
	}
	flags := l.flags & kept
	codec.Within(c, &flags, 0, uint64(kept))
	if c.Number(&l.count); c.Reads() {
		l.flags = flags
	}
	d.instance(c, e)
	if present && d.claims {
		e.codeNewest(c)
	}
	u := e.found(0)
	used := u != nil && (present || e.isHome(l))
	if c.Flag(&used); !used {
		return
	}
	if c.Reads() {
		u = e.use(0)
	}
	if present {
		d.use(c, u, owes|asks != 0)
	}
	if e.isHome(l) {
		d.home(c, u, present)
	}
	if present || e.isHome(l) {
		u.codeHonoured(c)
	}
	if c.Reads() && present {
		m.setAsks(u, asks)
	}
}

// instance codes the state of the algorithm's instance.
func (d *Template) instance(c *codec.Coder, e *epoch) {
	if !c.Reads() {
		e.keep(0)
	}
	b := e.table.state(0)
	if c.Bytes(&b, most); c.Reads() {
		e.table.setState(0, b)
	}
}

// codeNewest codes the highest token that was reported or claimed.
func (e *epoch) codeNewest(c *codec.Coder) {
	h := e.newest[0]
	if c.Number(&h.token.Epoch); h.token.Epoch == 0 {
		return
	}
	c.Number(&h.token.Count)
	c.Number(&h.last)
	c.Flag(&h.client)
	if c.Flag(&h.byClaim); c.Reads() {
		e.note(0, h)
	}
}

// use codes the requests for the lock here, and how the member stands with the others. What
// a REPORT must still say matters only as long as a bulk frame is owed.
func (d *Template) use(c *codec.Coder, u *use, bulk bool) {
	e := d.Member.epoch
	held := u.holder != nil
	if c.Flag(&held); held {
		if u.holder = d.request(c, u, u.holder); c.Reads() {
			e.holders++
		}
	}
	if c.Flag(&u.lapsed); c.Reads() && u.lapsed {
		e.lapses++
	}
	if u.taken() {
		d.hold(c, u)
	}
	w := u.first
	n := u.waiting
	count(c, &n)
	for range n {
		if is := d.request(c, u, w); c.Reads() {
			u.push(is)
		} else {
			w = w.next
		}
	}
	d.claimed(c, u)
	codec.Within(c, &u.handed, 0, most)
	c.Flag(&u.asked)
	c.Flag(&u.inside)
	c.Flag(&u.back)
	owed := u.owed
	if !bulk {
		owed = 0
	}
	if codec.Within(c, &owed, 0, uint64(owedHold|owedWait)); c.Reads() {
		u.owed = owed
	}
	if c.Flag(&u.lent); u.lent {
		codeStamp(c, &u.until)
	}
}

// hold codes a hold, or one that was lost and may still be acted on.
func (d *Template) hold(c *codec.Coder, u *use) {
	codeToken(c, &u.token)
	c.Flag(&u.carried)
	c.Flag(&u.client)
	c.Flag(&u.byClaim)
	proof := u.lapsed && u.proof > 0
	if c.Flag(&proof); c.Reads() && proof {
		u.proof = AfterLoss
	}
	lent := u.block != nil
	if c.Flag(&lent); lent {
		if c.Reads() {
			u.block = &block{end: due{block: u}}
		}
		c.Number(&u.block.last)
		c.Flag(&u.block.recalled)
	}
}

// request codes a request: which is the next one, or, when c reads, any.
func (d *Template) request(c *codec.Coder, u *use, w *waiter) *waiter {
	m := d.Member
	slot, client := uint64(0), false
	if !c.Reads() {
		slot, client = uint64(uint32(w.ticket)), w.client != &m.own
	}
	c.Number(&slot)
	c.Flag(&client)
	if c.Reads() {
		if slot >= uint64(len(m.waiters)) {
			c.Fail("request without a ticket")
			return &waiter{at: u}
		}
		w = m.waiters[slot]
		if w.client, w.at = &m.own, u; client {
			w.client = &d.client
		}
		w.client.put(w)
	}
	codeStamp(c, &w.stamp)
	c.Flag(&w.try)
	c.Number(&w.block)
	codec.Within(c, &w.missing, 0, most)
	return w
}

// claimed codes the claim of the client here, and at the home, those that wait.
func (d *Template) claimed(c *codec.Coder, u *use) {
	claims := u.claimed()
	if c.Flag(&claims); !claims {
		return
	}
	k := u.claim()
	mine := len(k.mine) > 0
	if c.Flag(&mine); mine {
		if c.Reads() {
			k.mine = append(k.mine, nil)
			d.Member.epoch.claims = append(d.Member.epoch.claims, u.lock)
		}
		w := d.request(c, u, k.mine[0])
		if c.Reads() {
			k.mine[0], w.claim = w, &claim{}
		}
		c.Number(&w.claim.number)
		codeToken(c, &w.claim.token)
		c.Numbers(&w.claim.through, most)
		c.Flag(&w.claim.sent)
	}
	n := len(k.asked)
	count(c, &n)
	for i := range n {
		if c.Reads() {
			k.asked = append(k.asked, asked{})
		}
		a := &k.asked[i]
		codec.Within(c, &a.rank, 0, MaxMembers-1)
		c.Number(&a.number)
		codeToken(c, &a.token)
		c.Numbers(&a.through, most)
	}
}

// codeHonoured codes which members' claims the home has honoured.
func (u *use) codeHonoured(c *codec.Coder) {
	by := uint64(0)
	if u.claims != nil {
		by = u.claims.by
	}
	var late Token
	var told uint64
	if u.claims != nil {
		late, told = u.claims.late, u.claims.told
	}
	c.Number(&by)
	c.Number(&told)
	if codeToken(c, &late); c.Reads() && (by != 0 || !late.IsNone()) {
		k := u.claim()
		k.by, k.late, k.told = by, late, told
	}
}

// home codes what only a home has, until it releases the lock: which processes may be
// inside, and, in the current view, which others want it.
func (d *Template) home(c *codec.Coder, u *use, present bool) {
	c.Number(&u.held[0])
	c.Number(&u.may[0])
	lendee := u.lendee + 1
	codec.Within(c, &lendee, 0, MaxMembers)
	if u.lendee = lendee - 1; !present {
		return
	}
	c.Flag(&u.queried)
	c.Flag(&u.interest)
	n := len(u.queue)
	count(c, &n)
	for i := range n {
		if c.Reads() {
			u.queue = append(u.queue, turn{})
		}
		codeStamp(c, &u.queue[i].stamp)
		codec.Within(c, &u.queue[i].rank, 0, MaxMembers-1)
	}
}

// count codes the number of elements that follow, each of which takes at least a byte.
func count(c *codec.Coder, n *int) { codec.Within(c, n, 0, uint64(len(c.B))) }

func codeToken(c *codec.Coder, t *Token) {
	c.Number(&t.Epoch)
	c.Number(&t.Count)
}

func codeStamp(c *codec.Coder, s *Stamp) {
	c.Number(&s.Epoch)
	c.Number(&s.Clock)
	c.Number(&s.Inc)
}
