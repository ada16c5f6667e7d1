package member

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// How frames code what kept locks need.

// appendKept writes the fields of a frame about a kept lock, or its transactions.
func (f *frame) appendKept(w *writer) {
	switch f.kind {
	case demandFrame:
		return
	case collectFrame:
		w.number(f.round)
		return
	case pathFrame:
		w.number(uint64(len(f.path)))
		for _, a := range f.path {
			w.attempt(a)
		}
		return
	case graphFrame:
		w.number(f.round)
		w.bool(f.more)
		w.number(uint64(len(f.arcs)))
		for i := range f.arcs {
			a := &f.arcs[i]
			w.attempt(a.from)
			w.attempt(a.to)
			w.text(a.lock)
			w.number(uint64(a.units))
			w.number(uint64(a.spare))
		}
		return
	}
	w.attempt(f.who)
	switch f.kind {
	case wantFrame:
		w.mode(f.mode, f.units)
		w.bool(f.ext)
		w.bool(f.again)
	case grantFrame:
		w.token(f.token)
	case moveFrame:
		w.mode(f.mode, f.units)
		w.token(f.token)
		w.incs(f.through)
		w.text(f.claimer)
	case movedFrame:
		w.number(uint64(f.verdict))
	case endFrame:
		w.number(f.round)
	case refuseFrame:
		w.number(uint64(f.refusal))
	case confirmFrame:
		w.bool(f.ext)
	case confirmedFrame:
		w.bool(f.ext)
		w.text(f.lock)
	case doomFrame:
		w.number(uint64(f.victim.How))
		w.number(uint64(len(f.victim.Cycle)))
		for _, x := range f.victim.Cycle {
			w.number(x.Inc)
			w.number(x.Tx)
			w.text(x.Lock)
		}
	}
}

// parseKept reads them.
func (f *frame) parseKept(s *scanner) {
	switch f.kind {
	case demandFrame:
		return
	case collectFrame:
		f.round = s.number()
		return
	case pathFrame:
		for range s.many() {
			f.path = append(f.path, s.attempt())
		}
		return
	case graphFrame:
		f.round, f.more = s.number(), s.bool()
		for range s.many() {
			f.arcs = append(f.arcs, arc{s.attempt(), s.attempt(), s.text(), s.count(), s.count()})
		}
		return
	}
	f.who = s.attempt()
	switch f.kind {
	case wantFrame:
		f.mode, f.units = s.mode()
		f.ext, f.again = s.bool(), s.bool()
	case grantFrame:
		f.token = s.token()
	case moveFrame:
		f.mode, f.units = s.mode()
		f.token, f.through, f.claimer = s.token(), s.incs(), s.text()
	case movedFrame:
		f.verdict = s.verdict()
	case endFrame:
		f.round = uint64(s.count())
	case refuseFrame:
		f.refusal = refusal(s.below(uint64(refusals)))
	case confirmFrame:
		f.ext = s.bool()
	case confirmedFrame:
		f.ext, f.lock = s.bool(), s.text()
	case doomFrame:
		f.victim = &Victim{How: How(s.below(uint64(hows)))}
		for range s.many() {
			f.victim.Cycle = append(f.victim.Cycle, Wait{Inc: s.number(), Tx: s.number(), Lock: s.text()})
		}
		if f.victim.How != TimedOut && len(f.victim.Cycle) == 0 {
			s.fail("victim without a reason")
		}
	}
}

// An attempt is told by where and when the transaction began, and the number of its request.
// There is one attempt for each number of a transaction.
func (w *writer) attempt(a deadlock.Attempt) {
	w.number(a.Origin)
	w.number(uint64(a.Tx))
	w.number(algorithm.NumberOf(a.Stamp))
	w.number(uint64(a.Seq))
}

func (s *scanner) attempt() deadlock.Attempt {
	a := deadlock.Attempt{Origin: s.number(), Tx: s.count(), Number: 1}
	stamp := s.number()
	if stamp >= 1<<62 {
		s.fail("stamp exceeds 2^62")
	}
	a.Stamp, a.Seq = algorithm.TimeOf(stamp), s.count()
	return a
}

// mode writes a mode, and the units of the semaphore: 0 is exclusive, 1 shared, and others
// so many units and one.
func (w *writer) mode(m deadlock.Mode, units int) {
	n := uint64(m) + 1
	if m == deadlock.Exclusive {
		n = 0
	} else if m == deadlock.Shared {
		n = 1
	}
	w.number(n)
	w.number(uint64(units))
}

func (s *scanner) mode() (m deadlock.Mode, units int) {
	switch n := s.count(); n {
	case 0:
		m = deadlock.Exclusive
	case 1:
		m = deadlock.Shared
	default:
		m = deadlock.Mode(n - 1)
	}
	if units = s.count(); s.err == nil {
		if err := m.Check(units); err != nil {
			s.fail(err.Error())
		}
	}
	return m, units
}

func (w *writer) line(x *keptLine) {
	w.text(x.name)
	w.attempt(x.Attempt)
	w.mode(x.Mode, x.units)
	w.bool(x.Ext)
	w.token(x.token)
	w.number(uint64(x.by))
	w.text(x.who)
}

func (s *scanner) line() keptLine {
	x := keptLine{name: s.text()}
	x.Attempt = s.attempt()
	x.Mode, x.units = s.mode()
	x.Ext, x.token, x.by, x.who = s.bool(), s.token(), by(s.below(uint64(bys))), s.text()
	return x
}

// count reads a number that fits an int, with room to spare.
func (s *scanner) count() int { return int(s.below(1 << 48)) }

// below reads a number below a bound.
func (s *scanner) below(bound uint64) uint64 {
	n := s.number()
	if n >= bound {
		s.fail("number too large")
		return 0
	}
	return n
}
