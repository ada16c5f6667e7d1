package process

import (
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
)

// frame handles a frame from a client, and reports whether it affects other processes.
func (p *Process) frame(conn uint64, b []byte) (busy bool) {
	if err := p.clients.Receive(p.clock, p.m, conn, b); err != nil {
		p.do(Effect{Kind: Cut, Conn: conn, Err: err})
	}
	return p.m != nil && p.take()
}

// Resumes reports whether a HELLO of an identity resumes a session, and begins none.
func (p *Process) Resumes(who string, f *session.Frame) bool { return p.clients.Resumes(who, f) }

// move asks the client of a session to use another node. It can claim there what it holds
// from the next view on: whatever is granted after it was asked, it gives back.
func (p *Process) move(session uint64) {
	switch {
	case p.m == nil:
		p.Out.Err = member.ErrGone
		return
	case p.phase >= Draining:
		p.Out.Err = ErrLeaving
		return
	case len(p.others) == 0:
		p.Out.Err = ErrAlone
		return
	}
	holds, err := p.clients.Redirect(session)
	if p.Out.Err = err; holds {
		p.refresh()
	}
}

// reply emits the frames and questions of the client sessions.
func (p *Process) reply() {
	out := &p.clients.Out
	if len(out.Frames)+len(out.Asks)+len(out.Shown)+len(out.Claims) == 0 {
		return
	}
	for i := range out.Frames {
		f := &out.Frames[i]
		p.do(Effect{Kind: Reply, Conn: f.Conn, Bytes: p.copy(f.Bytes), Last: f.Last})
	}
	for i := range out.Asks {
		q := out.Asks[i]
		p.do(Effect{Kind: Ask, Conn: q.Conn, Question: &q})
	}
	for i := range out.Claims {
		c := &out.Claims[i]
		p.do(Effect{Kind: ClaimEnded, Conn: c.Conn, Client: c.Of, To: c.Name, Event: member.Event{Token: c.Token}, Peer: c.On, Err: c.Why})
	}
	p.Out.Shown = append(p.Out.Shown, out.Shown...)
	out.Reset()
}

// A watch shows an oracle what happens to clients' requests.
type watch struct{ p *Process }

// Asked implements session.Watcher.
func (w watch) Asked(of *session.Owner, t member.Ticket, name string, try bool, terms member.Terms) {
	w.p.now(Effect{Kind: Asked, Event: member.Event{Ticket: t}, To: name, Lossy: try, Terms: terms, Client: of})
}

// Claimed implements session.Watcher.
func (w watch) Claimed(of *session.Owner, t member.Ticket, name string, token member.Token, terms member.Terms) {
	w.p.now(Effect{Kind: Claimed, Event: member.Event{Ticket: t, Token: token}, To: name, Terms: terms, Client: of})
}

// Cancelled implements session.Watcher.
func (w watch) Cancelled(t member.Ticket) {
	w.p.now(Effect{Kind: Cancelled, Event: member.Event{Ticket: t}})
}

// Unlocked implements session.Watcher.
func (w watch) Unlocked(t member.Ticket, count uint64) {
	w.p.now(Effect{Kind: Unlocked, Number: count, Event: member.Event{Ticket: t}})
}

// Kept implements session.Watcher.
func (w watch) Kept(t member.Ticket, token member.Token) {
	w.p.now(Effect{Kind: Kept, Event: member.Event{Ticket: t, Token: token}})
}
