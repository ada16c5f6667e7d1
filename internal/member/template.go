package member

// A Template is a member that can be put into states, again and again.
type Template struct {
	Member *Member
	name   string
	views  []View
	epochs []*epoch // of each view: the current one and, separately, the frozen one
	frozen []*epoch
	pool   []*waiter
	client session
	claims bool  // states have what only claims need
	silent flags // states have what only delegations need
}

// TheClient is the only client whose session a state can have.
const TheClient = 1

// Renewals that are not confirmed yet, in a member that was put into a state.
const (
	BeforeLoss uint64 = 1 + iota // sent before any hold was lost
	AfterLoss                    // sent afterwards: it proves that the member was a member then
)

// NewTemplate returns a member that can be put into any state that it can have with one
// lock of this name in these views. It has seen none of them, and has a lease.
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
	d.Reset()
	return d, nil
}

// Later has Install leave all parts of reports to More, so that they can be made at any
// later time.
func (d *Template) Later() { d.Member.later = true }

// Clients has states keep what only the claims of clients need.
func (d *Template) Clients() { d.claims = true }

// Delegates has states keep what only the delegation of locks to clients needs.
func (d *Template) Delegates() { d.silent = silent }

// Reset puts the member into the state before its first view, with a lease.
func (d *Template) Reset() {
	m := d.Member
	m.now, m.clock, m.gone, m.ghost = 0, 0, false, false
	m.renewals, m.renewal, m.renewAt = append(m.renewals[:0], renewal{number: BeforeLoss}, renewal{number: AfterLoss}), AfterLoss, Never
	m.lease, m.lapse, m.proven, m.claims = Never-1, Never-1, 0, 0
	m.own, m.waiters, m.spare = session{}, m.waiters[:0], m.spare[:0]
	clear(m.clients)
	m.schedule.heap = m.schedule.heap[:0]
	d.client = session{id: TheClient}
	m.epoch, m.frozen = nil, nil
	m.Out.Reset()
}

// Lapse lets the member's lease expire, or so nearly that nothing is begun.
func (d *Template) Lapse() { d.setLease(Over) }

// Pass lets the time end in which former holders may act: lost locks are passed on as soon as
// the member is called.
func (d *Template) Pass() { d.rests(0) }

// EndSession ends the client's session, if it has one, as soon as the member is called.
func (d *Template) EndSession() {
	if d.Member.clients[TheClient] != nil {
		d.Member.schedule.put(&d.client.end, 0)
	}
}

// Outlive ends the rest of a ghost of the current view as soon as the member is called.
func (d *Template) Outlive(ghost int) { d.Member.epoch.ghosts[ghost], d.Member.epoch.next = 0, 0 }

// OutliveBefore ends the rest of a ghost of the view before.
func (d *Template) OutliveBefore(ghost int) {
	d.Member.frozen.ghosts[ghost] = 0
	d.Member.frozen.bury(0)
}

// Renumber gives requests the tickets that a member would give that has seen no others.
// Without tries, only the process itself knows them.
func (d *Template) Renumber() {
	m := d.Member
	m.waiters, m.spare = m.waiters[:0], m.spare[:0]
	next := func(w *waiter) {
		w.ticket = Ticket(len(m.waiters)) | 1<<32
		m.waiters = append(m.waiters, w)
	}
	u := d.only()
	if u == nil {
		return
	}
	if u.holder != nil {
		next(u.holder)
	}
	for w := u.first; w != nil; w = w.next {
		next(w)
	}
	if u.claims != nil && len(u.claims.mine) > 0 {
		next(u.claims.mine[0])
	}
}

// only returns the use of the only lock, or nil.
func (d *Template) only() *use {
	if e := d.Member.epoch; e != nil && e.table.len() > 0 {
		return e.found(0)
	}
	return nil
}

// find returns the epoch with a number, or nil.
func (d *Template) find(all []*epoch, number uint64) *epoch {
	for i := range d.views {
		if d.views[i].Epoch == number && all[i] != nil {
			all[i].reset()
			return all[i]
		}
	}
	return nil
}

// empty returns the unused waiter with an index.
func (d *Template) empty(i int) *waiter {
	if i == len(d.pool) {
		d.pool = append(d.pool, &waiter{})
	}
	*d.pool[i] = waiter{}
	return d.pool[i]
}

// begin begins the session of the client.
func (d *Template) begin() {
	d.client.end.session = &d.client
	d.Member.clients[TheClient] = &d.client
	d.Member.schedule.put(&d.client.end, Never-1)
}

// rests sets until when former holders may act.
func (d *Template) rests(until Instant) {
	d.Member.lapse = until
	if u := d.only(); u != nil && u.proof == 0 {
		u.rests = until
	}
}

// A LeaseState is the state of a member's lease.
type LeaseState uint8

// The states of a lease.
const (
	NoLease LeaseState = iota // it never had one
	Runs
	Over // or so near its end that nothing is begun
)

func (m *Member) leaseState() LeaseState {
	switch {
	case m.lease == 0:
		return NoLease
	case m.now < m.deadline():
		return Runs
	}
	return Over
}

func (d *Template) setLease(s LeaseState) {
	d.Member.lease = [...]Instant{NoLease: 0, Runs: Never - 1, Over: 1}[s]
}

// outlive sets which ghosts can no longer act, as bits.
func (e *epoch) outlive(over uint64) {
	for i := range e.ghosts {
		if e.ghosts[i] = Never - 1; over>>i&1 == 1 {
			e.ghosts[i] = 0
		}
	}
	e.over = set{}
	e.bury(0)
}

// owes returns the ranks whose REPORT is not complete, as bits.
func (e *epoch) owes() (ranks uint64) {
	for rank := range e.reports {
		if e.reports[rank].owed {
			ranks |= 1 << rank
		}
	}
	return ranks
}

func (e *epoch) setOwes(ranks uint64) {
	for rank := range e.reports {
		if e.reports[rank].owed = ranks>>rank&1 == 1; e.reports[rank].owed {
			e.reporting++
		}
	}
}

// asks returns the ranks that have not been asked about the only lock yet, as bits.
func (m *Member) asks() (ranks uint64) {
	e := m.epoch
	for at := range e.queries {
		for rank := range e.asked {
			if at >= e.asked[rank] && rank != e.me && e.survivor(rank) && m.useful(at) {
				ranks |= 1 << rank
			}
		}
	}
	return ranks
}

// setAsks has the REPORT list the lock, as far as it must, and sets which ranks are asked
// about it.
func (m *Member) setAsks(u *use, ranks uint64) {
	e := m.epoch
	if m.owe(e, u.lock); ranks == 0 {
		return
	}
	e.ask(u)
	for rank := range e.asked {
		e.asked[rank] = int(^ranks >> rank & 1)
	}
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

// A State is what a driver can see of a member, to decide what can happen to it next.
type State struct {
	Lease   LeaseState
	Gone    bool // it leaves, or was evicted
	Session bool // the client has a session
	Present Part
	Before  Part // of the view before, which is only asked about: Epoch and Over
}

// A Part is what a driver can see of a member in one view.
type Part struct {
	Epoch    uint64 // 0 if there is no view
	Reported uint64 // members whose REPORT has arrived, by index in the universe
	Over     uint64 // ghosts that can no longer act, by index among the ghosts
	Owes     uint64 // ranks that a REPORT or QUERY must still be made for

	Cleared bool
	Lent    bool    // by the home
	Held    bool    // the member's own process or the client holds the lock
	Holder  Request // of Held
	Lapsed  bool    // the holder was notified that the lock is lost, and may still act
	Proof   bool    // of Lapsed and Client: only proof of membership is missing
	Token   Token   // of Held or Lapsed
	Carried bool
	Client  bool   // the client holds or held it
	Last    uint64 // of Client: last count of the lock, which is delegated; 0 if it is not
	Waiters []Request
	Claim   Ticket // of the client here, not answered yet; 0 if there is none
}

// A Request is a request of the member's own process or of the client.
type Request struct {
	Ticket Ticket
	Stamp  Stamp // zero of a hold that was claimed
	Client bool
}

// Look shows the member's state.
func (d *Template) Look(s *State) {
	m := d.Member
	waiters := s.Present.Waiters[:0]
	*s = State{Lease: m.leaseState(), Gone: m.gone, Session: m.clients[TheClient] != nil}
	if e := m.frozen; e != nil {
		s.Before = Part{Epoch: e.view.Epoch, Over: e.over[0] >> e.survivors()}
	}
	p, e := &s.Present, m.epoch
	if p.Waiters = waiters; e == nil {
		return
	}
	p.Epoch, p.Reported, p.Over, p.Owes = e.view.Epoch, e.reported[0], e.over[0]>>e.survivors(), e.owes()|m.asks()
	p.Cleared = e.table.len() > 0 && e.table.lock(0).is(cleared)
	u := d.only()
	if u == nil {
		return
	}
	request := func(w *waiter) Request { return Request{w.ticket, w.stamp, w.client != &m.own} }
	if p.Held = u.holder != nil; p.Held {
		p.Holder = request(u.holder)
	}
	p.Lent, p.Lapsed, p.Proof = u.lendee >= 0, u.lapsed, u.lapsed && u.proof > 0
	p.Token, p.Carried, p.Client = u.token, u.carried, u.client
	if u.block != nil {
		p.Last = u.block.last
	}
	for w := u.first; w != nil; w = w.next {
		p.Waiters = append(p.Waiters, request(w))
	}
	if u.claims != nil && len(u.claims.mine) > 0 {
		p.Claim = u.claims.mine[0].ticket
	}
}
