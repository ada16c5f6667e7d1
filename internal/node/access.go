package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

// Who may do what at this node. Package rights decides; here is where it is asked, and where
// its files are read.

// refusal returns the answer to a frame from a client that may not send it; nil if it may.
func (n *Node) refusal(conn uint64, v *clientConn, b []byte) []byte {
	if n.rules.Open() || len(b) == 0 {
		return nil
	}
	switch kind := session.Kind(b[0]); {
	case kind == session.Ask:
		return n.unasked(v, b)
	case kind == session.Hello:
		return n.unopened(v, b)
	case kind != session.Lock && kind != session.Claim:
		return nil
	case !n.rules.Given() && v.who.Kind != cert.Anyone: // everyone with an identity may
		return nil
	}
	return n.unlocked(conn, v, b)
}

// unasked refuses a question.
func (n *Node) unasked(v *clientConn, b []byte) []byte {
	f, err := session.Parse(b)
	if err != nil || f.What == AskLocks { // the process refuses it; its answer has only what the caller may read
		return nil
	}
	action, lock, what := permission(&f)
	ok, why := n.rules.Decide(v.who.Identity, action, lock)
	if ok || f.What == AskOrderFor && n.seats(v.who.Identity) {
		return nil
	}
	n.audit.denied(v.who, what, why, lockAttr(lock)...)
	return (&session.Frame{Kind: session.Answer, Number: f.Number, Denied: true, Last: true, Bytes: []byte(why)}).AppendTo(nil)
}

// unopened refuses a session to an identity that may not do anything. One that has a session from
// before may resume it: to refuse that would be to forget the locks in it.
func (n *Node) unopened(v *clientConn, b []byte) []byte {
	f, err := session.Parse(b)
	if err != nil || n.rules.Known(v.who.Identity) || n.p.Resumes(v.who.Path(), &f) {
		return nil
	}
	n.audit.denied(v.who, "session", "no rule of the rights file is about "+v.who.Identity.String())
	return (&session.Frame{Kind: session.Bye, Why: session.Denied}).AppendTo(nil)
}

// unlocked refuses a request for a lock. Frames that repeat a known request pass, whatever
// the rights are by now: to refuse them would be to forget a lock that the client may hold.
func (n *Node) unlocked(conn uint64, v *clientConn, b []byte) []byte {
	f, err := session.Parse(b)
	if err != nil || !n.p.Bound(conn) || n.p.Knows(conn, f.Number) {
		return nil
	}
	ok, why := n.rules.Decide(v.who.Identity, rights.Lock, f.Name)
	if ok {
		return nil
	}
	what := "lock"
	if f.Kind == session.Claim {
		what = "claim"
	}
	n.audit.denied(v.who, what, why, lockAttr(f.Name)...)
	return (&session.Frame{Kind: session.Over, Number: f.Number, Why: session.Denied}).AppendTo(nil)
}

// permission returns what a caller must be allowed to do to ask a question, and its name. A
// question that is not listed is for administrators.
func permission(f *session.Frame) (a rights.Action, lock, what string) {
	if f.What >= uint64(len(askNames)) || askNames[f.What] == "" {
		return rights.Administer, "", fmt.Sprintf("query %d", f.What)
	}
	what = askNames[f.What]
	switch f.What {
	case AskStatus, AskLocks, AskPulse:
		return rights.Look, "", what
	case AskLeader:
		q, _ := parseQuery[LeaderQuery](f.Bytes) // malformed ones are refused later
		return rights.Read, q.Name, what
	case AskPast:
		q, _ := parseQuery[PastQuery](f.Bytes)
		return rights.Read, q.Name, what
	case AskTrail:
		q, _ := parseTrail(f.Bytes) // malformed ones are refused later
		return rights.Read, q.Name, what
	case AskRelease:
		return rights.Administer, string(f.Bytes), what
	case AskOrderFor:
		o, _ := parseOrder(f.Bytes) // malformed ones are refused later
		return rights.Administer, o.lock(), orderName(o.What)
	}
	return rights.Administer, "", what
}

// mayRead returns which locks a caller may read, if it asks for itself or for another
// identity, whose path it gives.
func (n *Node) mayRead(who *Caller, other string) (func(name []byte) bool, error) {
	readers := []cert.Identity{who.Identity}
	if other != "" {
		i, err := cert.ParsePath(other)
		if err != nil {
			return nil, err
		}
		readers = append(readers, i)
	}
	if n.rules.Open() {
		return func([]byte) bool { return true }, nil
	}
	return func(name []byte) bool {
		return !slices.ContainsFunc(readers, func(i cert.Identity) bool {
			ok, _ := n.rules.Decide(i, rights.Read, string(name))
			return !ok
		})
	}, nil
}

// seats reports whether an identity is that of a member of the cluster. It may give orders for
// an administrator who is connected to it: it has checked the rights.
func (n *Node) seats(who cert.Identity) bool {
	return who.Kind == cert.IsNode && slices.ContainsFunc(n.p.Record().Members, func(m views.Member) bool { return m.Name == who.Name })
}

// Reads returns which locks a caller may see in lists, by the rules at present.
func (n *Node) Reads(who Caller) func(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	rules := n.rules
	return func(name string) bool {
		ok, _ := rules.Decide(who.Identity, rights.Read, name)
		return ok
	}
}

// May returns an error if a caller may not do something with a lock, or with the cluster if
// there is no lock.
func (n *Node) May(who Caller, a rights.Action, name string) error {
	if why := n.mayNot(&who, a, name); why != "" {
		return fmt.Errorf("%w: %s", lock.ErrDenied, why)
	}
	return nil
}

// Admit is May for something that the caller is about to do: what is denied is audited.
func (n *Node) Admit(who Caller, what string, a rights.Action, name string) error {
	if why := n.mayNot(&who, a, name); why != "" {
		n.audit.denied(who, what, why, lockAttr(name)...)
		return fmt.Errorf("%w: %s", lock.ErrDenied, why)
	}
	return nil
}

// mayNot returns why a caller may not do something; empty if it may.
func (n *Node) mayNot(who *Caller, a rights.Action, name string) string {
	if err := n.barred(who, time.Now()); err != nil {
		return err.Error()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	_, why := n.rules.Decide(who.Identity, a, name)
	return why
}

// introduce reports the identity and the quota of a client to the process, if it has any and
// they have changed.
func (n *Node) introduce(conn uint64, v *clientConn) {
	who, q := v.who.Path(), n.rules.Quota(v.who.Identity)
	if q == v.quota && (who == "" || v.known) {
		return
	}
	v.known, v.quota = true, q
	n.step(process.Input{Kind: process.Opened, Number: conn, Text: who, Quota: q})
	n.carryOut()
}

// fits returns why a peer may not be a node.
func (n *Node) fits(p *transport.Peer) error {
	err := cert.Fits(p.Cert, p.Name)
	if err != nil && p.Cert != nil {
		who := Caller{From: p.Remote}
		who.Identity, _ = cert.Of(p.Cert) // Anyone if it does not say
		n.audit.denied(who, "join", err.Error(), "as", p.Name)
	}
	return err
}

// barred returns why a caller may no longer be connected: its certificate is revoked, or its
// token.
func (n *Node) barred(who *Caller, now time.Time) error {
	switch {
	case who.Token:
		return n.tokens.Load().Check(who.Identity, now)
	case who.Cert != nil && n.keys != nil:
		return n.keys.Check(who.Cert)
	}
	return nil
}
