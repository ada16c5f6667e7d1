package member

import (
	"fmt"
	"slices"
)

// A Template loads states into one member and saves them from it, again and again.
type Template struct {
	Member *Member
	name   string
	views  []View
	epochs []*epoch // of each view: the current one and, separately, the frozen one
	frozen []*epoch
	pool   []*waiter
	client session
	claims bool // Save keeps what only claims need
	silent bool // Save keeps what only delegations need
}

// TheClient is the only client whose session a State can have.
const TheClient = 1

// Renewals that are not confirmed yet, in a member that was put into a state.
const (
	BeforeLoss uint64 = 1 + iota // sent before any hold was lost
	AfterLoss                    // sent afterwards: it proves that the member was a member then
)

// NewTemplate returns a member that can be put into any state that it can have with one
// lock of this name in these views.
func NewTemplate(c Config, name string, views []View) (*Template, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	m, err := New(c)
	if err != nil {
		return nil, err
	}
	d := &Template{Member: m, name: name, views: views, epochs: make([]*epoch, len(views)), frozen: make([]*epoch, len(views))}
	for i, v := range views {
		if v.Rank(c.Inc) < 0 {
			continue
		}
		for _, to := range []*[]*epoch{&d.epochs, &d.frozen} {
			if (*to)[i], err = m.newEpoch(v); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

// Later has Install leave all parts of reports to More, so that they can be made at any
// later time.
func (d *Template) Later() { d.Member.later = true }

// Clients has Save keep what only the claims of clients need.
func (d *Template) Clients() { d.claims = true }

// Delegates has Save keep what only the delegation of locks to clients needs.
func (d *Template) Delegates() { d.silent = true }

// Load puts the member into a state. Its clock reads 0, and both renewals can be
// confirmed.
func (d *Template) Load(s *State) error {
	m := d.Member
	m.now, m.clock, m.gone, m.ghost = 0, s.Clock, s.Gone, s.Ghost
	m.renewals, m.renewal, m.renewAt = append(m.renewals[:0], renewal{number: BeforeLoss}, renewal{number: AfterLoss}), AfterLoss, Never
	m.proven, m.claims = 0, s.Claims
	switch m.lease = 0; s.Lease {
	case Runs:
		m.lease = Never - 1
	case Over:
		m.lease = 1
	}
	if m.lapse = Never - 1; s.Pass {
		m.lapse = 0
	}
	m.own = session{}
	d.session(s)
	m.Out.Reset()
	d.requests(s)
	var err error
	if m.epoch, err = d.load(d.epochs, &s.Present); err != nil {
		return err
	}
	m.frozen, err = d.load(d.frozen, &s.Before)
	if m.epoch != nil {
		for _, u := range m.epoch.uses {
			if u.proof == 0 {
				u.rests = m.lapse
			}
		}
	}
	return err
}

// session begins the session of the client, or not.
func (d *Template) session(s *State) {
	m := d.Member
	clear(m.clients)
	m.schedule.heap = m.schedule.heap[:0]
	if d.client = (session{id: TheClient}); !s.Session {
		return
	}
	d.client.end.session = &d.client
	m.clients[TheClient] = &d.client
	if m.schedule.put(&d.client.end, Never-1); s.SessionOver {
		m.schedule.put(&d.client.end, 0)
	}
}

// requests makes room for all tickets of a state.
func (d *Template) requests(s *State) {
	m := d.Member
	for i, t := range s.tickets {
		if i == len(d.pool) {
			d.pool = append(d.pool, &waiter{})
		}
		*d.pool[i] = waiter{ticket: t}
	}
	m.waiters = append(m.waiters[:0], d.pool[:len(s.tickets)]...)
	m.spare = append(m.spare[:0], s.spare...)
}

// load puts one view's epoch into a state.
func (d *Template) load(all []*epoch, p *Part) (*epoch, error) {
	if p.Epoch == 0 {
		return nil, nil
	}
	var e *epoch
	for i := range d.views {
		if d.views[i].Epoch == p.Epoch {
			e = all[i]
		}
	}
	if e == nil {
		return nil, fmt.Errorf("state in epoch %d: want an epoch of a view that includes the member", p.Epoch)
	}
	e.reset()
	e.reported[0], e.over[0] = p.Reported, p.Over<<e.survivors()
	for i := range e.ghosts {
		switch {
		case p.Due>>i&1 == 1 || p.Over>>i&1 == 1:
			e.ghosts[i] = 0
		default:
			e.ghosts[i] = Never - 1
		}
		if p.Over>>i&1 == 0 {
			e.next = min(e.next, e.ghosts[i])
		}
	}
	for rank := range e.reports {
		if e.reports[rank].owed = p.Owes>>rank&1 == 1; e.reports[rank].owed {
			e.reporting++
		}
	}
	if !p.Known {
		return e, nil
	}
	n := lockOf(e, d.name)
	l := e.table.lock(n)
	if l.count = p.Count; p.Touched {
		l.flags |= touched
	}
	if p.Cleared {
		l.flags |= cleared
	}
	if p.Opened {
		l.flags |= opened
	}
	if p.Silent {
		l.flags |= silent
	}
	e.table.setState(n, p.Bytes)
	e.note(n, olderHold{p.Newest, p.NewestLast, owner{client: p.NewestClient}})
	if p.Busy || p.home {
		d.use(e, e.use(n), p)
	}
	return e, nil
}

// use puts the use of a lock into a state.
func (d *Template) use(e *epoch, u *use, p *Part) {
	if p.home {
		u.held[0], u.may[0], u.queried, u.interest, u.lendee = p.Held, p.May, p.Queried, p.Interest, p.Lendee
		for _, t := range p.Queue {
			u.queue = append(u.queue, turn{t.Stamp, t.Rank})
		}
	}
	if p.Holds() {
		u.holder = d.waiter(u, p.Holder)
		e.holders++
	}
	u.client, u.byClaim = p.Client, p.ByClaim
	if p.Last > 0 {
		u.block = &block{last: p.Last, recalled: p.Recalled}
		u.block.end.block = u
	}
	if p.Proof {
		u.proof = AfterLoss
	}
	if u.lapsed, u.token, u.carried = p.Lapsed, p.Token, p.Carried; u.lapsed {
		e.lapses++
	}
	for _, r := range p.Waiters {
		u.push(d.waiter(u, r))
	}
	d.loadClaims(e, u, p)
	d.bulk(e, u, p)
	u.handed, u.asked, u.inside, u.back, u.lent, u.until = p.Handed, p.Asked, p.Inside, p.Back, p.IsLent, p.Until
}

// loadClaims puts the claims of a lock into a state.
func (d *Template) loadClaims(e *epoch, u *use, p *Part) {
	if p.Claim.Is() {
		w := d.waiter(u, Request{Client: true, slot: p.Claim.slot})
		w.claim = &claim{p.Claim.number, p.Claim.Token, slices.Clone(p.Claim.Through), p.Claim.Sent}
		u.claim().mine = []*waiter{w}
		e.claims = append(e.claims, u.lock)
	}
	for _, a := range p.Claimants {
		u.claim().asked = append(u.claim().asked, asked{a.Rank, a.number, a.Token, slices.Clone(a.Through), ""})
	}
	if p.ClaimedBy != 0 {
		u.claim().by = p.ClaimedBy
	}
}

// bulk puts the bulk frames that a lock still needs into a state.
func (d *Template) bulk(e *epoch, u *use, p *Part) {
	if p.OwesHold {
		u.owed |= owedHold
	}
	if p.OwesWait {
		u.owed |= owedWait
	}
	d.Member.owe(e, u.lock)
	if p.Asks == 0 {
		return
	}
	e.ask(u)
	for rank := range e.asked {
		if e.asked[rank] = 1; p.Asks>>rank&1 == 1 {
			e.asked[rank] = 0
		}
	}
}

// waiter puts a request into a state.
func (d *Template) waiter(u *use, r Request) *waiter {
	m := d.Member
	w := m.waiters[r.slot]
	w.client, w.stamp, w.try, w.block, w.missing, w.at = &m.own, r.Stamp, r.Try, r.block, r.missing, u
	if r.Client {
		w.client = &d.client
	}
	w.client.put(w)
	return w
}

// reset forgets all locks.
func (e *epoch) reset() {
	t := &e.table
	t.records.n, t.names.n = 0, 0
	clear(t.index)
	for i := range t.shelves {
		t.shelves[i].n, t.shelves[i].free = 0, t.shelves[i].free[:0]
	}
	for _, u := range e.uses {
		if u != nil {
			e.recycle(u)
		}
	}
	e.uses, e.free = e.uses[:0], e.free[:0]
	e.busy, e.holders, e.lapses, e.next = 0, 0, 0, Never
	e.reporting, e.queries, e.claims = 0, e.queries[:0], e.claims[:0]
	clear(e.reports)
	clear(e.asked)
	clear(e.newest)
	for i := range e.schools {
		for seat := range e.schools[i].loaded {
			e.schools[i].loaded[seat] = -1
		}
	}
}

// Save copies the state out of the member.
func (d *Template) Save(s *State) error {
	m := d.Member
	s.Clock, s.Gone, s.Ghost, s.Lease = m.clock, m.gone, m.ghost, Over
	switch {
	case m.lease == 0:
		s.Lease = NoLease
	case m.now < m.deadline():
		s.Lease = Runs
	}
	c := m.clients[TheClient]
	s.Session, s.Claims = c != nil, m.claims
	if len(m.schedule.heap) != len(m.clients) || len(m.clients) > 0 && (len(m.clients) > 1 || c == nil || c.uses > 1) {
		return errNotSmall
	}
	s.tickets = s.tickets[:0]
	for _, w := range m.waiters {
		s.tickets = append(s.tickets, w.ticket)
	}
	s.spare = append(s.spare[:0], m.spare...)
	if err := d.save(m.epoch, &s.Present); err != nil {
		return err
	}
	if err := d.save(m.frozen, &s.Before); err != nil {
		return err
	}
	s.Before.freeze()
	return nil
}

func (d *Template) save(e *epoch, p *Part) error {
	*p = Part{Bytes: p.Bytes[:0], Waiters: p.Waiters[:0], Claimants: p.Claimants[:0], Queue: p.Queue[:0], Lendee: -1}
	if e == nil {
		return nil
	}
	p.Epoch, p.Reported = e.view.Epoch, e.reported[0]
	p.Over = e.over[0] >> e.survivors()
	for rank := range e.reports {
		if e.reports[rank].owed {
			p.Owes |= 1 << rank
		}
	}
	if e.table.len() == 0 {
		return nil
	}
	if e.table.len() > 1 || len(e.universe) > 60 {
		return errNotSmall
	}
	l := e.table.lock(0)
	p.Known, p.Touched, p.Cleared, p.Count = true, l.is(touched), l.is(cleared), l.count
	p.Opened, p.Silent = l.is(opened), d.silent && l.is(silent)
	e.keep(0)
	p.Bytes = append(p.Bytes, e.table.state(0)...)
	if d.claims {
		h := e.newest[0]
		p.Newest, p.NewestLast, p.NewestClient = h.token, h.last, h.client
	}
	u := e.found(0)
	if u == nil {
		return nil
	}
	p.Busy = true
	if u.holder != nil {
		p.Holder = d.request(u.holder)
	}
	p.Lapsed, p.Token, p.Carried, p.Client, p.ByClaim = u.lapsed, u.token, u.carried, u.client, u.byClaim
	p.Proof = u.lapsed && u.proof > 0
	if b := u.block; b != nil {
		p.Last, p.Recalled = b.last, b.recalled
	}
	for w := u.first; w != nil; w = w.next {
		p.Waiters = append(p.Waiters, d.request(w))
	}
	p.saveClaims(u)
	p.Handed, p.Asked, p.Inside, p.Back, p.IsLent = u.handed, u.asked, u.inside, u.back, u.lent
	if u.lent {
		p.Until = u.until
	}
	p.OwesHold, p.OwesWait = u.owed&owedHold != 0, u.owed&owedWait != 0
	for at := range e.queries { // the frozen epoch has none
		for rank := range e.asked {
			if at >= e.asked[rank] && rank != e.me && e.survivor(rank) && d.Member.useful(at) {
				p.Asks |= 1 << rank
			}
		}
	}
	if p.home = e.isHome(l); p.home {
		p.Held, p.May, p.Queried, p.Interest, p.Lendee = u.held[0], u.may[0], u.queried, u.interest, u.lendee
		for _, t := range u.queue {
			p.Queue = append(p.Queue, Turn{t.stamp, t.rank})
		}
	}
	return nil
}

func (d *Template) request(w *waiter) Request {
	return Request{Stamp: w.stamp, Client: w.client != &d.Member.own, Try: w.try, block: w.block, missing: w.missing, slot: int(uint32(w.ticket))}
}

// saveClaims copies the claims of a lock.
func (p *Part) saveClaims(u *use) {
	c := u.claims
	if c == nil {
		return
	}
	for _, w := range c.mine { // there is one client
		p.Claim = Claim{w.claim.token, slices.Clone(w.claim.through), w.claim.sent, w.claim.number, int(uint32(w.ticket))}
	}
	for _, a := range c.asked {
		p.Claimants = append(p.Claimants, Claimant{a.rank, a.token, slices.Clone(a.through), a.number})
	}
	p.ClaimedBy = c.by
}

// freeze leaves only what a frozen epoch is asked about.
func (p *Part) freeze() {
	by := p.ClaimedBy
	*p = Part{
		Epoch: p.Epoch, Reported: p.Reported, Over: p.Over, Known: p.Known, Cleared: p.Cleared, Count: p.Count, Bytes: p.Bytes,
		Waiters: p.Waiters[:0], Claimants: p.Claimants[:0], Queue: p.Queue[:0], home: p.home, Held: p.Held, May: p.May, Lendee: p.Lendee,
	}
	if p.home {
		p.ClaimedBy = by
	}
}
