package session

import (
	"cmp"
	"slices"

	"github.com/stile-lock/stile/internal/live/member"
)

// The states of a request, at the client.
const (
	wanted  uint8 = iota // waiting, whether the node knows of it or not
	inside               // held
	leaving              // released or withdrawn, not confirmed by the node yet
)

// A task is an application's request.
type task struct {
	number uint64
	name   string
	token  member.Token
	since  member.Instant // when it was made
	late   member.Instant // deadline of the wait
	until  member.Instant // not 0: held until then, in a session that the node has forgotten
	state  uint8
	try    bool
	asked  bool // sent in this session
	mute   bool // already reported to the application as refused
}

// Opts are the options of a request.
type Opts struct {
	Try  bool        // do not wait behind other requests
	Wait member.Span // maximum wait (default forever)
}

// Lock requests a lock. The outcome is an Event.
func (g *Client) Lock(now member.Instant, name string, o Opts) (uint64, error) {
	g.begin(now)
	defer g.end()
	switch err := member.CheckName(name); {
	case err != nil:
		return 0, err
	case g.phase == closed:
		return 0, ErrClosed
	case len(g.requests) >= g.config.Requests:
		return 0, ErrRequests
	}
	g.last++
	t := &task{number: g.last, name: name, try: o.Try, since: g.now, late: member.Never}
	if o.Wait > 0 {
		t.late = g.now + member.Instant(min(o.Wait, member.MaxSpan))
	}
	g.requests = append(g.requests, t)
	g.soonest = min(g.soonest, g.due(t))
	g.repeat(t)
	return t.number, nil
}

// repeat sends what the node must know about a request, again if it was sent before.
func (g *Client) repeat(t *task) {
	if g.phase != open || g.parting && t.state == wanted || t.until != 0 {
		return
	}
	f := Frame{Kind: Unlock, Number: t.number}
	switch t.state {
	case inside:
		f.Kind = Check // a lock lost meanwhile must not be acquired again unnoticed
	case wanted:
		f.Kind, f.Name, f.Try = Lock, t.name, t.try
		t.asked = true
	}
	g.send(&f)
}

// unask reports that a waiting request must be sent again, in another session.
func (g *Client) unask(t *task) {
	if t.state == wanted && t.asked {
		t.asked = false
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
	case t == nil || t.state == leaving:
		return member.ErrNotHeld
	case t.state == wanted && !t.asked || t.until != 0:
		g.left(t, true)
		g.remove(t)
	default:
		g.letGo(t)
	}
	return nil
}

// letGo notifies the node that a request is over, now or when there is a connection.
func (g *Client) letGo(t *task) {
	t.state = leaving
	if g.phase == open {
		g.send(&Frame{Kind: Unlock, Number: t.number})
	}
}

func (g *Client) left(t *task, ok bool) {
	if !t.mute {
		g.tell(Event{Request: t.number, Kind: Left, OK: ok})
	}
}

// heard handles what the node reports about a request or the session.
func (g *Client) heard(f *Frame) {
	if f.Kind == Renewed {
		g.renewed(f.Number, f.Span)
		return
	}
	t := g.find(f.Number)
	switch {
	case t == nil && f.Kind == Held: // it had ended, but was sent again on another connection before the client heard so
		g.send(&Frame{Kind: Unlock, Number: f.Number})
	case t == nil || t.until != 0:
	case f.Kind == Held && t.state == wanted:
		t.state, t.token = inside, f.Token
		g.tell(Event{Request: t.number, Kind: Granted, Token: t.token})
	case f.Kind == Held && t.state == inside && t.token != f.Token:
		g.tell(Event{Request: t.number, Kind: Taken, Token: t.token}) // another entry
		t.mute = true
		g.letGo(t)
	case f.Kind == Lost && t.state == inside:
		g.tell(Event{Request: t.number, Kind: Taken, Token: t.token, Cause: f.Cause})
		g.remove(t)
	case f.Kind == Over && t.state == wanted:
		g.tell(Event{Request: t.number, Kind: Refused, Why: f.Why})
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
		switch due := g.due(t); {
		case g.now < due:
			g.soonest = min(g.soonest, due)
			return false
		case t.state == inside:
			g.tell(Event{Request: t.number, Kind: Taken, Token: t.token, Cause: member.Session})
			return true
		case g.now >= t.late:
			g.tell(Event{Request: t.number, Kind: Refused, Why: Late})
		default:
			g.tell(Event{Request: t.number, Kind: Refused, Why: Unreachable})
		}
		if t.mute = true; t.asked {
			g.letGo(t)
		}
		return !t.asked
	})
}

// due returns when pass must handle a request.
func (g *Client) due(t *task) member.Instant {
	switch {
	case t.state == inside && t.until != 0:
		return t.until
	case t.state != wanted:
		return member.Never
	case g.session == 0 && g.config.Patience > 0:
		return min(t.late, max(t.since, g.alone)+member.Instant(g.config.Patience))
	}
	return t.late
}

// Valid reports whether a lock is held at this reading of the clock.
func (g *Client) Valid(request uint64, now member.Instant) bool { return now < g.Deadline(request) }

// Deadline returns until when a lock is held, unless the session is renewed before; 0
// if it is not held.
func (g *Client) Deadline(request uint64) member.Instant {
	t := g.find(request)
	switch {
	case t == nil || t.state != inside:
		return 0
	case t.until != 0:
		return t.until
	}
	return g.limit()
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
	if i, ok := g.place(t.number); ok {
		g.requests = slices.Delete(g.requests, i, i+1)
	}
}

// Act returns how long an application that has just checked Valid may still act.
func (g *Client) Act() member.Span { return g.act }
