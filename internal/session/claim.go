package session

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// Claims: how a lock that is held through one node comes to be held through another. A
// hold rests on one attachment, always. It moves when the current node confirms a claim
// before the deadline of the attachment that it rests on.

// A past is through what a lock was held before.
type past struct {
	at []*attachment // those that may not have ended
}

// claims claims at the current node what is held through others.
func (g *Client) claims() {
	for _, t := range g.requests {
		if t.state == inside && t.on != g.cur {
			g.keep(t)
			t.claim, t.refused = g.cur, nil
			g.assert(t)
		}
	}
}

// assert sends a claim.
func (g *Client) assert(t *task) {
	g.send(t.claim, &Frame{Kind: Claim, Number: t.wire, Name: t.name, Count: t.token.Count, Ticket: t.ticket})
	g.show(t, t.claim)
}

// answered handles the answer to a claim. What arrives after the deadline of the
// attachment that the lock rests on does not come here: the lock is then lost.
func (g *Client) answered(t *task, f *Frame) {
	a := t.claim
	switch {
	case f.Kind == Held && f.Token == t.token:
		rests(t, a)
		t.ticket = slices.Clone(f.Ticket)
		g.resume(t.tx)
	case f.Kind == Held: // of another entry
		t.claim = nil
		g.owe(a, t.wire)
	case f.Kind == Lost && f.Cause == member.Released: // which the node that it rests on could not report
		t.claim = nil
		g.taken(t, f.Cause)
		g.remove(t)
	case f.Kind == Lost || f.Kind == Over: // refused: another node may honour it
		t.claim, t.refused, g.strays = nil, a, true
	}
}

// rests moves a held lock to the attachment at which it was claimed.
func rests(t *task, a *attachment) {
	if t.past == nil {
		t.past = &past{}
	}
	p, from := t.past, t.on
	p.at = slices.DeleteFunc(p.at, func(o *attachment) bool {
		if o == a {
			a.moved--
		}
		return o == a || o.phase == ended
	})
	if from.phase != ended {
		from.moved++
		p.at = append(p.at, from)
	}
	t.on, t.claim, t.granted = a, nil, t.token
	from.holds--
	a.holds++
}

// withdraw ends what attachments other than the one that a request rests on know of it.
// If an application may still act, those that held the lock are notified when it no
// longer can, as far as they still exist.
func (g *Client) withdraw(t *task, acts bool) {
	if t.claim != nil {
		g.owe(t.claim, t.wire)
		t.claim = nil
	}
	if t.past == nil {
		return
	}
	for _, a := range t.past.at {
		if a.moved--; acts {
			a.quiet, a.late = max(a.quiet, t.on.until), append(a.late, late{t.wire, t.on.until})
		} else {
			g.owe(a, t.wire)
		}
	}
	t.past = nil
}

// was reports whether a lock was held through an attachment before.
func (t *task) was(a *attachment) bool {
	return t != nil && t.past != nil && slices.Contains(t.past.at, a)
}
