package member

// An owner is for whom a member holds a lock: its own process, or a client. Members report
// it with what they hold, so that another client cannot claim it.
type owner struct {
	client bool
	who    string // identity of the client; empty if it has none
}

// An olderHold is what is known of a lock that is held by an older epoch.
type olderHold struct {
	token Token
	last  uint64 // last count with which its client may enter by itself; that of the token if the lock is not delegated
	owner
	byClaim bool // whoever has it has claimed it: it may be over, as a later entry then shows
}

// is reports whether a client with an identity that has this hold may name a token.
func (h *olderHold) is(t Token, who string) bool {
	return h.client && h.who == who && t.Epoch == h.token.Epoch && t.Count >= h.token.Count && t.Count <= h.last
}

// Identify reports the identity of a client that has a session here: claims of what it
// holds must be of the same identity. Clients without an identity are not told apart.
func (m *Member) Identify(client uint64, who string) {
	if c := m.clients[client]; c != nil {
		c.who = who
	}
}

// olderHold returns what to report of a lock that is held here.
func (u *use) olderHold() olderHold {
	h := olderHold{u.token, u.token.Count, owner{u.client, u.who}, u.byClaim}
	if u.block != nil {
		h.last = u.block.last
	}
	return h
}

// owner returns for whom a kept lock is requested or held.
func (m *Member) owner(p *part) owner { return owner{p.tx.client != &m.own, p.tx.client.who} }

// mayHold reports whether something may be held through an incarnation: it is a member, was
// one in the view before, or is a ghost whose lease may still run.
func (e *epoch) mayHold(inc uint64) bool {
	i := e.place(inc)
	return e.view.Rank(inc) >= 0 || i >= 0 && !e.over.has(i)
}
