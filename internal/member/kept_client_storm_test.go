package member

import (
	"errors"
	"slices"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// A keptClient is a client of a keptStorm: it runs one transaction after the other through
// a member, and moves to another one with what it holds, if it cannot reach the first or
// just so. Its time at each member ends by its own clock.
type keptClient struct {
	s      *keptStorm
	at     *keptVisit
	number uint64 // of the transaction
	born   uint64
	plan   []keptWish
	waits  *movedHold
	has    []*movedHold
	doomed bool
	left   int // transactions to go
	rest   Instant
}

// A keptVisit is a session of a client at a member.
type keptVisit struct {
	p       *keptProc
	session uint64
	ends    Instant
}

// A movedHold is a request of a client, or what it holds.
type movedHold struct {
	keptWish
	c     *keptClient
	token Token
	on    *keptVisit  // that it rests on; nil if it is not held
	claim *keptVisit  // at which it is claimed; nil if none
	known []keptPlace // where it was requested or claimed
	over  bool
}

// A keptPlace is a request at a member.
type keptPlace struct {
	p      *keptProc
	ticket Ticket
}

// A keptAsk is a client's request at a member.
type keptAsk struct {
	*movedHold
	keptPlace
	v *keptVisit
}

func (s *keptStorm) addClients() {
	for range 1 + s.r.IntN(3) {
		s.clients = append(s.clients, &keptClient{s: s, at: &keptVisit{p: s.procs[s.r.IntN(len(s.procs))]}, left: 1 + s.r.IntN(25)})
	}
}

// reaches reports whether a client can talk to a process.
func (s *keptStorm) reaches(p *keptProc) bool { return p.acts(s) && !p.out && p.epoch != nil }

// valid reports whether a client may act on a hold now.
func (h *movedHold) valid() bool { return h.on != nil && !h.over && h.c.s.now < h.on.ends }

// renew renews the session at the client's member, or begins one, and those at members that
// holds rest on.
func (c *keptClient) renew() bool {
	s := c.s
	for _, h := range slices.Clone(c.has) {
		if h.valid() && h.on != c.at {
			s.renewAt(h.on)
		}
	}
	if s.reaches(c.at.p) && s.now >= c.at.ends {
		s.sessions++
		c.at = &keptVisit{p: c.at.p, session: s.sessions}
	}
	return s.renewAt(c.at)
}

func (s *keptStorm) renewAt(v *keptVisit) bool {
	if !s.reaches(v.p) {
		return false
	}
	span, err := v.p.Renew(s.now, v.session, v.p.Settings.Lease)
	if err == nil {
		v.ends = max(v.ends, s.now+Instant(span))
	}
	s.take(v.p)
	return err == nil
}

// move goes to another member, and claims there what is held.
func (c *keptClient) move() {
	s := c.s
	p := s.procs[s.r.IntN(len(s.procs))]
	if p == c.at.p || !s.reaches(p) {
		return
	}
	if h := c.waits; h != nil {
		c.waits = nil
		c.end(h)
	}
	if c.at = (&keptVisit{p: p}); !c.renew() {
		return
	}
	for _, h := range c.has {
		if h.claim = nil; !h.valid() {
			continue
		}
		t, err := p.Claim(s.now, h.name, h.token, c.at.session, []uint64{h.on.p.Inc}, c.terms(h.keptWish))
		if err == nil {
			h.claim = c.at
			s.place(h, c.at, t)
		}
		s.take(p)
	}
	if len(c.has) > 0 && !s.quiet && s.r.IntN(2) == 0 { // as if the former member was to stop
		s.commit()
		for _, p := range s.procs {
			if s.reaches(p) && s.r.IntN(3) > 0 {
				s.install(p)
			}
		}
	}
}

func (c *keptClient) terms(w keptWish) Terms {
	return Terms{w.mode, c.s.units[w.name], c.number, c.born}
}

// place notes that a member knows of a request.
func (s *keptStorm) place(h *movedHold, v *keptVisit, t Ticket) {
	x := keptPlace{v.p, t}
	h.known = append(h.known, x)
	s.places[x] = &keptAsk{h, x, v}
}

// end releases a lock, or withdraws a request, at all members that can be reached.
func (c *keptClient) end(h *movedHold) {
	s := c.s
	h.over = true
	for _, x := range h.known {
		if s.reaches(x.p) {
			s.endsAt(h, x)
		}
	}
}

// endsAt releases a lock, or withdraws a request, at one member.
func (s *keptStorm) endsAt(h *movedHold, x keptPlace) {
	if x.p.waiter(x.ticket) == nil {
		return
	}
	if s.logf("m%d hears that a client no longer has %q", x.p.Inc, h.name); x.p.waiter(x.ticket).holds() {
		if err := x.p.Unlock(s.now, h.name, h.token); err != nil && x.p.waiter(x.ticket) != nil {
			s.tb.Fatalf("release %q: %v", h.name, err)
		}
	} else {
		x.p.Cancel(s.now, x.ticket)
	}
	s.waitOver(x)
	s.take(x.p)
}

// waitOver notes that a request no longer waits, for the judge of victims.
func (s *keptStorm) waitOver(x keptPlace) {
	if w := x.p.foreign[x.ticket]; w != nil && w.ended == 0 {
		w.ended = s.now
	}
}

// told handles an event at a member for a client.
func (s *keptStorm) told(a *keptAsk, e Event) {
	h, x, c := a.movedHold, a.keptPlace, a.c
	s.logf("m%d: a client's %q %v: kind %d cause %d token %v", x.p.Inc, h.name, h.mode, e.Kind, e.Cause, e.Token)
	switch {
	case e.Kind == Held:
		if w := x.p.foreign[x.ticket]; w != nil {
			w.inside = s.now
		}
		switch {
		case h.over || c.waits != h && (h.claim != a.v || !h.valid()):
			h.token = e.Token
			s.endsAt(h, x)
		case c.waits == h:
			h.token, h.on, c.waits, c.born = e.Token, a.v, nil, e.Born
			c.has = append(c.has, h)
			s.judgeHeld(h.keptWish, h.token, x.p.Inc, h, true)
			s.holds++
		default:
			if e.Born != c.born || e.Token != h.token {
				s.tb.Fatalf("claimed %v with the age %d, held with %v and %d", e.Token, e.Born, h.token, c.born)
			}
			h.on, h.claim = a.v, nil
			s.judgeHeld(h.keptWish, h.token, x.p.Inc, h, false)
			s.moved++
		}
		return
	case e.Kind == Doomed:
		c.doomed = c.doomed || h.on == a.v
		return
	}
	s.waitOver(x)
	switch {
	case h.claim == a.v:
		h.claim = nil
	case c.waits == h && h.known[len(h.known)-1] == x:
		c.waits, c.doomed, h.over = nil, true, true
		if e.Born != 0 {
			c.born = e.Born
		}
	case h.on == a.v && !h.over:
		if h.valid() && e.Cause == Session {
			s.tb.Fatalf("m%d ends the session of a client before its time", x.p.Inc)
		}
		h.over = h.over || e.Cause != Lease && e.Cause != Evicted // otherwise it has until its own time ends
		c.doomed = true
	}
}

// act lets the client do something.
func (c *keptClient) act() {
	s := c.s
	if s.r.IntN(3) == 0 {
		c.renew()
	}
	if !s.reaches(c.at.p) || s.r.IntN(6) == 0 && len(c.has) > 0 && !s.quiet {
		c.move()
	}
	if s.now < c.rest || !s.reaches(c.at.p) || s.now >= c.at.ends {
		return
	}
	away, claims := false, false
	for _, h := range c.has {
		c.doomed = c.doomed || !h.valid()
		away, claims = away || h.on != c.at, claims || h.claim != nil
	}
	switch {
	case c.doomed:
		c.stop()
		c.again()
	case c.waits != nil:
		if s.r.IntN(s.patience) == 0 && !s.quiet {
			h := c.waits
			c.waits = nil
			c.end(h)
		}
	case claims && s.r.IntN(50) > 0:
	case len(c.plan) == 0 && len(c.has) > 0:
		c.stop()
	case len(c.plan) == 0 && c.left > 0:
		c.left--
		c.born = 0
		c.again()
	case len(c.plan) == 0:
	case away:
		c.doomed = true
	default:
		c.request()
	}
}

// stop ends everything of the transaction.
func (c *keptClient) stop() {
	for _, h := range c.has {
		c.end(h)
	}
	if h := c.waits; h != nil {
		c.end(h)
	}
	c.has, c.waits, c.plan, c.doomed = nil, nil, nil, false
}

// again begins another attempt.
func (c *keptClient) again() {
	c.s.attempts++
	c.number = c.s.attempts
	c.plan = c.s.plan()
	c.rest = c.s.now + Instant(c.s.r.IntN(int(20*Millisecond)))
}

// request requests the next lock.
func (c *keptClient) request() {
	s, p, w := c.s, c.at.p, c.plan[0]
	t, err := p.Lock(s.now, w.name, Ask{Client: c.at.session, Deadline: Never, Terms: c.terms(w)})
	switch {
	case errors.Is(err, ErrDoomed), errors.Is(err, ErrWaits), errors.Is(err, ErrReentrant): // of requests of which the client does not know
		c.doomed = true
		return
	case errors.Is(err, ErrGone), errors.Is(err, ErrSession):
		return
	case err != nil:
		s.tb.Fatalf("%v %q: %v", w.mode, w.name, err)
	}
	h := &movedHold{keptWish: w, c: c}
	c.plan, c.waits = c.plan[1:], h
	s.place(h, c.at, t)
	if p.foreign == nil {
		p.foreign = map[Ticket]*keptHold{}
	}
	p.foreign[t] = &keptHold{keptWish: w, since: s.now}
	if x := p.waiter(t); x != nil {
		p.foreign[t].tx = x.part.Tx
	} else {
		for _, e := range p.Out.Events { // it has ended already
			if e.Ticket == t && len(c.has) > 0 {
				p.foreign[t].tx = c.has[0].txAt(p)
			}
		}
	}
	s.take(p)
}

// txAt returns the number of a hold's transaction at a member; 0 if it has none there.
func (h *movedHold) txAt(p *keptProc) int {
	for _, x := range h.known {
		if w := x.p.waiter(x.ticket); x.p == p && w != nil {
			return w.part.Tx
		}
	}
	return 0
}

// heldBy adds what clients hold of a lock, beside one hold.
func (s *keptStorm) heldBy(name string, but *movedHold) (amount int) {
	for _, c := range s.clients {
		for _, h := range c.has {
			if h != but && h.name == name && h.valid() {
				n, _ := h.mode.Of(s.units[name])
				amount += n
			}
		}
	}
	return amount
}

// plan makes a plan.
func (s *keptStorm) plan() (all []keptWish) {
	for _, i := range s.r.Perm(len(s.names))[:1+s.r.IntN(len(s.names))] {
		w := keptWish{name: s.names[i]}
		switch n := s.units[w.name]; {
		case n > 0:
			w.mode = deadlock.Mode(s.r.IntN(n + 1))
		case s.r.IntN(2) == 0:
			w.mode = deadlock.Shared
		}
		all = append(all, w)
	}
	if s.changes || s.method == "ordered" || s.method == "none" {
		slices.SortFunc(all, func(x, y keptWish) int { return int(x.name[0]) - int(y.name[0]) })
	}
	return all
}
