package storm

import (
	"bytes"
	"fmt"
	"slices"

	talk "github.com/stile-lock/stile/internal/session"

	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
)

// thiefName is the identity of the thief. It may acquire all locks, within a quota.
const thiefName = "client/thief"

// A thief is a client that is not honest. It hears what processes send to all clients. It tries
// to resume their sessions, and claims locks: with tickets of others, with its own ones of
// locks that it has released, with changed ones and for other locks. It never uses a lock that
// it holds, so the others need not wait for it for longer than its session lasts.
type thief struct {
	chance kernel.Rand
	lines  []*line           // its connection to each process; nil if there is none
	asked  map[uint64]string // names of the locks of its requests
	number uint64            // of its last request
	proofs []proof           // the last ones that it has heard
}

// A proof is a ticket that the thief has heard.
type proof struct {
	own         bool
	name        string
	first, last member.Token
	ticket      []byte
}

const (
	maxProofs  = 64
	thiefLocks = 1 // its quota at each process
)

func newThief(w *world) thief {
	return thief{chance: kernel.NewRand(w.Seed, 900), lines: make([]*line, len(w.procs)), asked: map[uint64]string{}}
}

// identity returns who a client is. Two clients share an identity.
func (c *client) identity() string { return fmt.Sprint("client/", c.number/2) }

// overheard notes what a process sends to a client. It reports whether the frame is for the
// thief.
func (l *line) overheard(frame []byte) bool {
	mine := l.c == nil
	if len(frame) == 0 {
		return mine
	}
	t := &l.w.thief
	switch talk.Kind(frame[0]) {
	case talk.Welcome:
		f, err := talk.Parse(frame)
		switch {
		case err != nil: // its client reports it
		case !mine:
			l.c.overheard = heardSession{f.Session, f.Secret, l.q, l.q.boots}
		case f.Session == l.prey:
			l.w.broken(Owners, "%s lets %s resume session %x of another client", l.w.Name(l.q.id), thiefName, f.Session)
		}
	case talk.Held, talk.Delegated:
		f, err := talk.Parse(frame)
		names := t.asked
		if !mine {
			names = l.c.asked
		}
		if err != nil || names[f.Number] == "" {
			break
		}
		if len(t.proofs) == maxProofs {
			t.proofs = slices.Delete(t.proofs, 0, 1)
		}
		last := member.Token{Epoch: f.Token.Epoch, Count: max(f.Count, f.Token.Count)}
		t.proofs = append(t.proofs, proof{mine, names[f.Number], f.Token, last, bytes.Clone(f.Ticket)})
	}
	return mine
}

// A heardSession is what the thief knows of that of a client.
type heardSession struct {
	number uint64
	secret talk.Secret
	at     *proc
	boots  int // how often the process had been started then
}

// robbed lets the thief act now and then at a process that has just heard from a client. The
// thief's connections have no delays: it would only come too late.
func (q *proc) robbed(l *line, frame []byte) {
	w := q.w
	t := &w.thief
	if len(frame) > 0 && talk.Kind(frame[0]) == talk.Lock {
		if f, err := talk.Parse(frame); err == nil {
			l.c.asked[f.Number] = f.Name
		}
	}
	if q.state == dead || w.phase != stormy || t.chance.Below(5) > 0 {
		return
	}
	if s := &l.c.overheard; t.chance.Below(4) == 0 && s.at == q && s.boots == q.boots {
		q.resumes(s)
		return
	}
	x := t.lines[q.place()]
	if x == nil || x.boots != q.boots || t.chance.Below(16) == 0 {
		x = q.admits(0)
		t.lines[q.place()] = x
		x.thieves(&talk.Frame{Kind: talk.Hello, Number: 1, Protocol: talk.Protocol, Oldest: talk.OldestProtocol, Name: "thief"})
	}
	x.thieves(t.trick(w))
	busy := 0
	q.p.Clients(func(c talk.ClientInfo) {
		if c.Who == thiefName {
			busy += c.Holds + c.Waits
		}
	})
	if busy > thiefLocks {
		w.broken(Owners, "%s has %d requests of %s, whose quota is %d", w.Name(q.id), busy, thiefName, thiefLocks)
	}
}

// admits begins a connection of the thief.
func (q *proc) admits(prey uint64) *line {
	w := q.w
	x := &line{w: w, no: len(w.lines) + 1, q: q, boots: q.boots, prey: prey}
	w.lines = append(w.lines, x)
	q.step(process.Input{Kind: process.Opened, Number: uint64(x.no), Text: thiefName, Quota: talk.Quota{Locks: thiefLocks}})
	return x
}

// thieves sends a frame of the thief.
func (l *line) thieves(f *talk.Frame) {
	if l.q.state != dead && l.boots == l.q.boots {
		l.q.step(process.Input{Kind: process.Frame, Number: uint64(l.no), Bytes: f.AppendTo(nil)})
	}
}

// resumes lets the thief try to resume the session of another client.
func (q *proc) resumes(s *heardSession) {
	x := q.admits(s.number)
	x.thieves(&talk.Frame{Kind: talk.Hello, Number: 1 << 40, Protocol: talk.Protocol, Oldest: talk.OldestProtocol, Session: s.number, Secret: s.secret, Name: "thief"})
	x.thieves(&talk.Frame{Kind: talk.Close}) // of its own session, which it got instead
	if q.state != dead {
		q.step(process.Input{Kind: process.Closed, Number: uint64(x.no)})
	}
}

// trick draws what the thief does next.
func (t *thief) trick(w *world) *talk.Frame {
	t.number++
	name := w.names[t.chance.Below(int64(len(w.names)))]
	switch t.chance.Below(8) {
	case 0:
		return &talk.Frame{Kind: talk.Renew, Number: t.number}
	case 1:
		t.asked[t.number] = name
		return &talk.Frame{Kind: talk.Lock, Number: t.number, Name: name, Try: t.chance.Below(2) == 0}
	case 2, 3: // of one of its last requests, wherever that was made
		return &talk.Frame{Kind: talk.Unlock, Number: t.number - uint64(t.chance.Below(min(int64(t.number), 16)))}
	}
	if len(t.proofs) == 0 {
		return &talk.Frame{Kind: talk.Claim, Number: t.number, Name: name, Count: 1, Ticket: make([]byte, 40)}
	}
	p := t.proofs[t.chance.Below(int64(len(t.proofs)))]
	for range 8 { // preferably of its own
		if !p.own {
			p = t.proofs[t.chance.Below(int64(len(t.proofs)))]
		}
	}
	f := talk.Frame{Kind: talk.Claim, Number: t.number, Name: p.name, Count: p.first.Count, Ticket: bytes.Clone(p.ticket)}
	switch t.chance.Below(10) {
	case 0, 1:
		f.Name = name
	case 2:
		if f.Count += uint64(t.chance.Below(9000)); t.chance.Below(2) == 0 {
			f.Count = p.first.Count - 1
		}
	case 3:
		if len(f.Ticket) > 0 {
			f.Ticket[t.chance.Below(int64(len(f.Ticket)))] ^= 1 << t.chance.Below(8)
		}
	case 4:
		f.Count = p.last.Count
	case 5, 6:
		f = t.spliced(p, f)
	}
	t.asked[t.number] = f.Name
	return &f
}

// spliced gives what another ticket of a lock says the code of one of the thief's own.
func (t *thief) spliced(p proof, f talk.Frame) talk.Frame {
	const code = 16
	for _, o := range t.proofs {
		if o.name == p.name && o.own != p.own && len(o.ticket) > code && len(p.ticket) > code {
			says, own := o, p
			if o.own {
				says, own = p, o
			}
			f.Count = says.first.Count
			f.Ticket = append(bytes.Clone(says.ticket[:len(says.ticket)-code]), own.ticket[len(own.ticket)-code:]...)
		}
	}
	return f
}

// granted notes that the thief holds a lock: it never acts on it.
func (t *thief) granted(l *judged, x *ask) { l.done = append(l.done, x.token) }

// robs judges a claim of the thief that was honoured: it must once have been granted the lock,
// with a block that has the token, and no member of the same view may hold it by a later entry.
func (o *oracle) robs(q *proc, x *ask) {
	w, l := o.w, &o.locks[x.lock]
	t := x.token
	if !w.thief.had(w.names[x.lock], t) {
		w.broken(Owners, "%s: m%d honours a claim of %s with %v, which it was not granted", w.names[x.lock], q.no, thiefName, t)
	}
	for i := range l.holds {
		h := &l.holds[i]
		if w.within() && !w.isKept(x.lock) && h.c == nil && t.Less(h.token) && h.q.epoch() == q.epoch() && h.valid() && !l.idle(h) {
			w.broken(Owners, "%s: m%d honours a claim of %s with %v, while %s holds it with %v", w.names[x.lock], q.no, thiefName, t, h.name(), h.token)
		}
	}
}

// refusedBeside judges a claim that was refused: not because the thief has claimed the lock by an
// earlier entry, while the client still holds it.
func (o *oracle) refusedBeside(q *proc, e *process.Effect) {
	w := o.w
	i, ok := w.numbers[e.To]
	if !ok || e.Err == nil || e.Client.Who == thiefName || !w.within() || w.isKept(i) {
		return
	}
	l, t := &o.locks[i], e.Event.Token
	holds := func(client bool) *hold {
		for k := range l.holds {
			if h := &l.holds[k]; client && h.c != nil && h.token == t && h.valid() || !client && h.c == nil && h.token.Less(t) && l.idle(h) && h.q.epoch() == q.epoch() && h.valid() && w.thief.had(e.To, h.token) {
				return h
			}
		}
		return nil
	}
	if c, h := holds(true), holds(false); c != nil && h != nil && l.freedBy(t) == nil {
		w.broken(Owners, "%s: m%d refuses the claim of %s, which holds it with %v, and %s has it for %s with %v", e.To, q.no, c.name(), t, h.name(), thiefName, h.token)
	}
}

// had reports whether the thief was granted a lock with a token.
func (t *thief) had(name string, token member.Token) bool {
	return slices.ContainsFunc(t.proofs, func(p proof) bool {
		return p.own && p.name == name && p.first.Epoch == token.Epoch && p.first.Count <= token.Count && token.Count <= p.last.Count
	})
}
