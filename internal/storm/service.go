package storm

import (
	"slices"
	"strconv"

	"github.com/stile-lock/stile/internal/member"
)

// tickEvery is how often the service looks around.
const tickEvery = 5 * ms

// A service is the view service as an oracle: its clock is true, and it never
// fails. Others may not hear it, and it may not hear them.
type service struct {
	w        *world
	views    []member.View // all that were committed; the first has epoch 1
	known    []standing    // by incarnations; the first is none
	since    int64         // when the view was committed
	grudges  []grudge
	forget   bool
	next     []member.Choice // the algorithms that the next view has, or nil
	hurry    int             // so many views follow as fast as they can
	skipper  *proc           // who does not hear of them
	surprise bool            // the last of them is without one who is inside a lock
	sessions uint64          // of clients: how many there have been
	requests uint64          // of clients: likewise
}

// A standing is what the service knows of an incarnation.
type standing struct {
	wants   bool  // to join
	in      bool  // a member
	leaves  bool  // it has promised never to enter again
	out     bool  // it was a member, and never will be again
	falsely bool  // it is to be evicted, though it is well
	renewed int64 // when it last renewed
	until   int64 // by when its lease is over, whatever its clock does
}

// A grudge is a complaint of a member about another one.
type grudge struct {
	of, about   uint64
	since, last int64
}

func (s *service) view() *member.View { return &s.views[len(s.views)-1] }

// quiet is how long the service bears with somebody who does not renew.
func (w *world) quiet() int64 { return int64(w.Settings.Patience()) / 2 }

// counted is how long the service counts a lease.
func (w *world) counted() int64 {
	switch {
	case w.misreads(ShortLease):
		return int64(w.Settings.Lease) / 2
	case w.misreads(NoMargin):
		return int64(w.Settings.Lease)
	}
	return int64(w.Settings.Patience())
}

// begin commits the first view.
func (s *service) begin(all []*proc) {
	v := member.View{Epoch: 1, Choices: s.w.choices(0)}
	for _, q := range all {
		v.Members = append(v.Members, s.admit(q.inc))
	}
	s.commit(v)
}

// choices are the algorithms of a run, the one of a number serving most names.
func (w *world) choices(n int) []member.Choice {
	k := len(w.Algorithms)
	all := []member.Choice{w.Algorithms[n%k]}
	if w.Prefixed && k > 1 {
		for i, prefix := range [...]string{prefixes[0], prefixes[2]} {
			c := w.Algorithms[(n+1+i)%k]
			c.Prefix = prefix
			all = append(all, c)
		}
	}
	return all
}

func (s *service) admit(inc uint64) member.Who {
	k := &s.known[inc]
	k.wants, k.in, k.renewed = false, true, s.w.Now()
	k.until = s.w.Now() + s.w.counted()
	return member.Who{Name: "m" + strconv.Itoa(s.w.at[inc].place()+1), Inc: inc}
}

func (s *service) commit(v member.View) {
	s.since = s.w.Now()
	s.views = append(s.views, v)
	s.grudges = s.grudges[:0]
	s.w.note(v.Epoch, uint64(len(v.Members)))
	for _, m := range v.Members {
		s.push(m.Inc)
	}
}

// push tells a member of the view.
func (s *service) push(inc uint64) {
	if q := s.w.at[inc]; q != s.skipper {
		s.w.tell(serviceID, q.id, viewMsg, inc, s.view().Epoch)
	}
}

func (s *service) receive(kind byte, l letter) {
	inc := l.next()
	k := &s.known[inc]
	switch kind {
	case joinMsg:
		switch {
		case k.in:
			s.push(inc)
		case k.out && !s.w.misreads(ReadmitGhosts|SameInc):
			s.w.tell(serviceID, s.w.at[inc].id, goneMsg, inc)
		default:
			k.wants = true
		}
	case leaveMsg:
		if k.in {
			k.leaves = true
		} else if k.out {
			s.w.tell(serviceID, s.w.at[inc].id, goneMsg, inc)
		}
	case fetchMsg:
		if k.in {
			s.push(inc)
		}
	case renewMsg:
		s.renew(inc, l)
	}
}

// renew confirms a renewal, unless its sender is no member.
func (s *service) renew(inc uint64, l letter) {
	k := &s.known[inc]
	to := s.w.at[inc].id
	number, epoch, forget := l.next(), l.next(), l.next()
	switch {
	case k.in && !k.leaves:
		k.renewed = s.w.Now()
		k.until = s.w.Now() + s.w.counted()
		s.forget = s.forget || forget == 1
		s.w.tell(serviceID, to, renewedMsg, inc, number, s.view().Epoch)
		if epoch < s.view().Epoch {
			s.push(inc)
		} else {
			s.complaints(inc, l)
		}
	case k.out && s.w.misreads(RenewEvicted):
		s.w.tell(serviceID, to, renewedMsg, inc, number, epoch)
	case k.out:
		s.w.tell(serviceID, to, goneMsg, inc)
	}
}

// complaints takes whom a member does not reach.
func (s *service) complaints(inc uint64, l letter) {
	now := s.w.Now()
	for l.more() {
		about := l.next()
		i := slices.IndexFunc(s.grudges, func(g grudge) bool { return g.of == inc && g.about == about })
		if i < 0 {
			s.grudges = append(s.grudges, grudge{inc, about, now, now})
		} else {
			s.grudges[i].last = now
		}
	}
	s.grudges = slices.DeleteFunc(s.grudges, func(g grudge) bool { return g.of == inc && g.last != now })
}

// accused returns who is to be evicted because others do not reach it: of two who
// complain about each other for some time the one with more accusers, or else
// the younger one. Who alone complains must do so for longer.
func (s *service) accused() uint64 {
	stable := int64(s.w.Settings.Lease) / 2
	now := s.w.Now()
	for _, g := range s.grudges {
		if s.known[g.of].leaves || s.known[g.about].leaves {
			continue // one end goes anyway
		}
		age := now - g.since
		if age < stable || age < 3*stable && !s.mutual(g) && 2*s.accusers(g.about) <= len(s.view().Members) {
			continue
		}
		if a, b := s.accusers(g.of), s.accusers(g.about); a > b || a == b && g.of > g.about {
			return g.of
		}
		return g.about
	}
	return 0
}

func (s *service) mutual(g grudge) bool {
	return slices.ContainsFunc(s.grudges, func(o grudge) bool { return o.of == g.about && o.about == g.of })
}

func (s *service) accusers(inc uint64) int {
	n := 0
	for _, g := range s.grudges {
		if g.about == inc {
			n++
		}
	}
	return n
}

// calmViews is how far apart views of the same members are, at least, while
// progress is demanded.
const calmViews = 40 * ms

// tick changes the view if there is a reason to, and the last one has lived for
// long enough.
func (s *service) tick() {
	w := s.w
	now := w.Now()
	if w.phase == demanding && now-s.since > calmViews && w.Faults.has(Forget|Switch) && w.wire.chance.Below(6) == 0 {
		s.forget = true
		if w.Faults.has(Switch) {
			s.next = w.choices(int(w.wire.chance.Below(10)))
		}
	}
	if now-s.since < int64(w.Settings.ViewLife) && s.hurry == 0 || now-s.since < 2*tickEvery {
		return
	}
	if s.hurry == 1 && s.surprise {
		w.surprise()
	}
	old := s.view()
	v := member.View{Epoch: old.Epoch + 1, BeforeEpoch: old.Epoch, Choices: old.Choices}
	accused := s.accused()
	changed := s.forget && now-s.since > 4*int64(w.Settings.ViewLife) || s.next != nil || s.hurry > 0
	var drop []uint64
	for _, m := range old.Members {
		v.Before = append(v.Before, m.Inc)
		k := &s.known[m.Inc]
		if k.leaves || k.falsely || m.Inc == accused || now-k.renewed > w.quiet() {
			drop = append(drop, m.Inc)
			continue
		}
		v.Members = append(v.Members, m)
	}
	var add []uint64
	for inc := range s.known {
		if inc := uint64(inc); s.known[inc].wants && s.reaches(inc, v.Members) && !slices.ContainsFunc(add, s.w.strangers(inc)) {
			add = append(add, inc)
		}
	}
	if len(v.Members)+len(add) == 0 { // somebody must stay: whom nothing is wrong with
		for _, inc := range drop {
			s.known[inc].falsely = false
		}
		return
	}
	if !changed && len(drop)+len(add) == 0 {
		return
	}
	s.drop(drop)
	for _, inc := range add {
		v.Members = append(v.Members, s.admit(inc))
	}
	v.Ghosts = s.ghosts(drop)
	s.forget, s.hurry = false, max(0, s.hurry-1)
	if s.next != nil {
		v.Choices, s.next = s.next, nil
	}
	s.commit(v)
	if s.hurry == 0 {
		s.skipper = nil
	}
}

// strangers returns a test for who cannot hear an incarnation.
func (w *world) strangers(inc uint64) func(o uint64) bool {
	return func(o uint64) bool {
		a, b := w.at[inc].id, w.at[o].id
		return w.wire.cut(a, b) || w.wire.cut(b, a)
	}
}

// reaches reports whether one who wants to join hears all members, and they it.
func (s *service) reaches(inc uint64, all []member.Who) bool {
	apart := s.w.strangers(inc)
	return !slices.ContainsFunc(all, func(m member.Who) bool { return apart(m.Inc) })
}

// drop notes who is a member no more.
func (s *service) drop(all []uint64) {
	for _, inc := range all {
		k := &s.known[inc]
		if s.w.calm() && !k.leaves {
			s.w.broken(Calm, "m%d is evicted, and all is well", inc)
		}
		k.in, k.out = false, true
		if k.leaves {
			k.until = 0
		}
	}
}

// ghosts returns all whose leases may still run.
func (s *service) ghosts(dropped []uint64) []member.Ghost {
	var all []member.Ghost
	for inc := range s.known {
		k := &s.known[inc]
		rest := k.until - s.w.Now()
		if s.w.misreads(EarlyRest) {
			rest -= int64(s.w.Settings.Lease) / 2
		}
		if !k.out || k.in || rest <= 0 || s.w.misreads(LastGhosts) && !slices.Contains(dropped, uint64(inc)) {
			continue
		}
		all = append(all, member.Ghost{Inc: uint64(inc), Rest: member.Span(rest)})
	}
	return all
}
