package session

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/stile-lock/stile/internal/member"
)

// The states of a request, at the client.
const (
	wanted  uint8 = iota // waiting, whether the node knows of it or not
	inside               // held
	leaving              // released or withdrawn, not confirmed by the node yet
	idle                 // delegated to the client, and no application is inside: see delegate.go
)

// A task is an application's request.
type task struct {
	number  uint64 // by which the application knows it
	wire    uint64 // by which nodes know it: that of the request to which the lock was delegated, or the same
	name    string
	token   member.Token
	since   member.Instant // when it was made
	late    member.Instant // deadline of the wait
	on      *attachment    // to which it was sent, and through which it is held; nil if it must be sent
	claim   *attachment    // at which the lock is claimed; nil if none
	refused *attachment    // that has refused the claim; nil if none has
	past    *past          // through what it was held before; nil if it has not moved
	state   uint8
	try     bool
	terms   member.Terms
	tx      *attempt       // to which it belongs; nil if to none
	stray   member.Instant // since when it waits for claims of its transaction; 0 if it does not
	mute    bool           // already reported to the application as refused
	value   *string        // attached by the application; nil if none was

	ticket  []byte         // proves to other nodes that the lock is held
	granted member.Token   // as the node has granted the lock; token is that of the present entry
	block   uint64         // last count with which an application may enter without a message; 0 if the lock is not delegated
	queue   []*task        // of a delegated lock: requests of other applications
	behind  *task          // in whose queue it is; nil if in none
	expires member.Instant // of an idle one: when it is returned
	before  *task          // among the idle ones
	after   *task
}

// Opts are the options of a request.
type Opts struct {
	Try  bool        // do not wait behind other requests
	Wait member.Span // maximum wait (default forever)
	member.Terms
}

// Lock requests a lock. The outcome is an Event.
func (g *Client) Lock(now member.Instant, name string, o Opts) (uint64, error) {
	g.begin(now)
	defer g.end()
	switch err := member.CheckName(name); {
	case err != nil:
		return 0, err
	case o.Check() != nil:
		return 0, o.Check()
	case g.closed:
		return 0, ErrClosed
	case len(g.requests) >= g.config.Requests:
		return 0, ErrRequests
	}
	g.last++
	d := g.delegations[name]
	if o.Terms != (member.Terms{}) {
		d = nil
	}
	switch {
	case d != nil && d.state == idle:
		g.reenter(d)
		return d.number, nil
	case d != nil && o.Try:
		g.tell(Event{Request: g.last, Kind: Refused, Why: Busy})
		return g.last, nil
	}
	t := &task{number: g.last, wire: g.last, name: name, try: o.Try, terms: o.Terms, since: g.now, late: member.Never}
	if d != nil {
		t.behind = d
		d.queue = append(d.queue, t)
	}
	if o.Tx != 0 {
		g.partake(t)
	}
	if o.Wait > 0 {
		t.late = g.now + member.Instant(min(o.Wait, member.MaxSpan))
	}
	g.requests = append(g.requests, t)
	g.soonest = min(g.soonest, g.waits(t))
	g.repeat(t)
	return t.number, nil
}

// repeat sends what the node must know about a request, again if it was sent before.
func (g *Client) repeat(t *task) {
	switch {
	case t.on != nil:
	case t.behind != nil:
		return
	case t.tx.stranded(g.cur):
		g.strays = true
		return
	case g.cur.phase != open || g.cur.parting:
		return
	case t.tx.away(g.cur):
		if t.stray == 0 {
			t.stray = g.now
		}
		return
	default:
		t.on, t.stray = g.cur, 0
	}
	if t.on.phase != open {
		return
	}
	f := Frame{Kind: Unlock, Number: t.wire}
	switch t.state {
	case leaving:
		if t.block != 0 {
			f.Kind, f.Count = Return, t.token.Count
		}
	case inside:
		f.Kind = Check // a lock lost meanwhile must not be acquired again unnoticed
	case wanted:
		f.Kind, f.Name, f.Try, f.Terms = Lock, t.name, t.try, t.terms
	}
	if g.send(t.on, &f); t.state == inside {
		g.show(t, t.on)
	}
}

// SetValue attaches a value to a held lock, for lists of locks. Nodes do not confirm it.
func (g *Client) SetValue(now member.Instant, request uint64, value string) error {
	g.begin(now)
	defer g.end()
	if err := CheckValue(value); err != nil {
		return err
	}
	t := g.find(request)
	if t == nil || t.state != inside {
		return member.ErrNotHeld
	}
	t.value = &value
	g.show(t, t.on)
	if t.claim != nil {
		g.show(t, t.claim)
	}
	return nil
}

// CheckValue reports why a value cannot be attached to a lock.
func CheckValue(value string) error {
	if len(value) > MaxValue || !utf8.ValidString(value) {
		return fmt.Errorf("value of %d bytes: want up to %d bytes of UTF-8", len(value), MaxValue)
	}
	return nil
}

// show sends the value of a lock, if there is one, to a node that knows the request.
func (g *Client) show(t *task, a *attachment) {
	if t.value != nil && a.phase == open {
		g.send(a, &Frame{Kind: Value, Number: t.wire, Value: *t.value})
	}
}

// unask reports that a waiting request must be sent again, in another session.
func (g *Client) unask(t *task) {
	if t.state == wanted && t.on != nil {
		t.on = nil
		g.tell(Event{Request: t.number, Kind: Again})
	}
}

// Unlock releases a lock, or withdraws a waiting request. It returns member.ErrNotHeld
// if the request is neither held nor waiting by now. The last Event follows when the
// node has confirmed it, or when there is nothing to confirm.
func (g *Client) Unlock(now member.Instant, request uint64) error {
	g.begin(now)
	defer g.end()
	t := g.find(request)
	switch {
	case t == nil || t.state == leaving || t.state == idle:
		return member.ErrNotHeld
	case t.block != 0:
		g.vacate(t)
	case t.on == nil:
		g.dequeue(t)
		g.left(t, true)
		g.remove(t)
	case t.on.phase == ended: // the node has forgotten the session
		g.withdraw(t, false)
		g.left(t, true)
		g.remove(t)
	default:
		g.letGo(t)
	}
	return nil
}

// letGo notifies all nodes that know of a request that it is over, now or when there is
// a connection. The one that it rests on confirms it.
func (g *Client) letGo(t *task) {
	g.scatter(t)
	g.withdraw(t, false)
	if t.state == wanted {
		t.on.holds++
	}
	t.state = leaving
	g.repeat(t)
}

// taken reports that a lock is lost. An application may still act on it, so nodes are
// not notified that it is released.
func (g *Client) taken(t *task, why member.Cause) {
	g.tell(Event{Request: t.number, Kind: Taken, Token: t.token, Cause: why})
	g.withdraw(t, true)
	t.on.quiet = max(t.on.quiet, t.on.until)
	if t.tx != nil {
		t.tx.lost, g.strays = true, true
	}
}

func (g *Client) left(t *task, ok bool) {
	if !t.mute {
		g.tell(Event{Request: t.number, Kind: Left, OK: ok})
	}
}

// heard handles what a node reports about a request or its session.
func (g *Client) heard(a *attachment, f *Frame) {
	if f.Kind == Renewed {
		g.renewed(a, f)
		return
	}
	if f.Kind == Done && a.paid(f.Number) {
		return
	}
	t := g.known(f.Number)
	switch {
	case t == nil || t.on != a && t.claim != a:
		// A grant of a request that had ended or moved, but was sent again on another
		// connection before the client heard so; or of a claim that is no longer made.
		if (f.Kind == Held || f.Kind == Delegated) && !t.was(a) {
			g.send(a, &Frame{Kind: Unlock, Number: f.Number})
		}
	case t.on != a:
		g.answered(t, f)
	case f.Kind == Recall:
		g.recalled(t)
	case (f.Kind == Held || f.Kind == Delegated) && t.state == wanted:
		t.state, t.token, t.terms.Born = inside, f.Token, f.Born
		a.holds++
		t.ticket = append(t.ticket[:0], f.Ticket...)
		g.delegated(t, f)
		g.tell(Event{Request: t.number, Kind: Granted, Token: t.token, Born: f.Born})
	case f.Kind == Delegated && (t.state == inside || t.state == idle) && t.granted == f.Token, f.Kind == Held && t.state == inside && t.token == f.Token:
		// It repeats what the client knows, but for the ticket. If KEEP has not arrived, RECALL is
		// repeated behind it.
		t.ticket = append(t.ticket[:0], f.Ticket...)
	case f.Kind == Abort && t.state == inside:
		g.tell(Event{Request: t.number, Kind: Doomed, Victim: f.Victim})
	case (f.Kind == Held || f.Kind == Delegated) && t.state == inside && t.token != f.Token:
		g.taken(t, member.NoCause) // another entry
		t.mute = true
		g.letGo(t)
	case f.Kind == Lost && t.state == inside:
		g.taken(t, f.Cause)
		g.remove(t)
	case f.Kind == Lost && t.state == idle:
		g.remove(t)
	case f.Kind == Over && t.state == wanted:
		g.tell(Event{Request: t.number, Kind: Refused, Why: f.Why, Born: f.Born, Text: f.Text, Victim: f.Victim})
		g.remove(t)
	case f.Kind == Over && t.state == leaving, f.Kind == Done && t.state == leaving:
		g.left(t, f.OK)
		g.remove(t)
	}
}

// pass handles requests whose time has come.
func (g *Client) pass() {
	g.soonest = member.Never
	g.requests = slices.DeleteFunc(g.requests, func(t *task) bool {
		switch end := g.waits(t); {
		case g.now < end:
			g.soonest = min(g.soonest, end)
			return false
		case g.now >= t.late:
			g.tell(Event{Request: t.number, Kind: Refused, Why: Late})
		default:
			g.tell(Event{Request: t.number, Kind: Refused, Why: Unreachable})
		}
		if t.mute = true; t.on != nil {
			g.letGo(t)
			return false
		}
		g.dequeue(t)
		g.depart(t)
		return true
	})
}

// waits returns until when a request may wait.
func (g *Client) waits(t *task) member.Instant {
	switch {
	case t.state != wanted:
		return member.Never
	case g.cur.session == 0 && g.config.Patience > 0:
		return min(t.late, max(t.since, g.alone)+member.Instant(g.config.Patience))
	}
	return t.late
}

// Valid reports whether a lock is held at this reading of the clock.
func (g *Client) Valid(request uint64, now member.Instant) bool { return now < g.Deadline(request) }

// Deadline returns until when a lock is held, unless the session that it rests on is
// renewed before; 0 if it is not held.
func (g *Client) Deadline(request uint64) member.Instant {
	if t := g.find(request); t != nil && t.state == inside {
		return t.on.limit()
	}
	return 0
}

// Act returns how long an application that has just checked Valid may still act; 0 if
// the lock is not held.
func (g *Client) Act(request uint64) member.Span {
	if t := g.find(request); t != nil && t.state == inside {
		return t.on.act
	}
	return 0
}

func (g *Client) find(request uint64) *task {
	if i, ok := g.place(request); ok {
		return g.requests[i]
	}
	return nil
}

func (g *Client) place(request uint64) (int, bool) {
	return slices.BinarySearchFunc(g.requests, request, func(t *task, n uint64) int { return cmp.Compare(t.number, n) })
}

func (g *Client) remove(t *task) {
	if t.state != wanted {
		t.on.holds--
	}
	g.depart(t)
	if i, ok := g.place(t.number); ok {
		g.requests = slices.Delete(g.requests, i, i+1)
	}
}
