package session

import (
	"errors"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/ticket"
)

// A Claimed is what became of a client's claim.
type Claimed struct {
	Of    *Owner // may be kept
	Conn  uint64 // connection on which the claim came
	Name  string
	Token member.Token // what the ticket names; none if it is not one
	On    uint64       // incarnation that the hold rests on, by the ticket; 0 if it is not one
	Why   error        // nil if the claim was honoured
}

// Reasons why claims are refused.
var (
	errLeaves    = errors.New("the node is about to leave")
	errQuota     = errors.New("it exceeds the quota of this identity")
	errCount     = errors.New("the count is not in the block of the ticket")
	errWithdrawn = errors.New("the client has withdrawn it")
	errRefused   = errors.New("the lock is not held as claimed, as far as the other members know")
	errPassedOn  = errors.New("the lock has been passed on")
	errStopped   = errors.New("the node or the session has stopped")
)

// claim has the member claim a lock that the client holds through another node, as its ticket
// proves. The member reports the outcome. A claim needs no less than a request: quotas count it.
func (d *Server) claim(now member.Instant, m *member.Member, s *session, f *Frame) {
	c := &Claimed{Of: &s.Owner, Conn: s.conn, Name: f.Name}
	t, err := d.office.Check(f.Ticket, s.Who, f.Name)
	if err == nil {
		c.Token, c.On = member.Token{Epoch: t.Token.Epoch, Count: f.Count}, t.Through[len(t.Through)-1]
	}
	refused := Frame{Kind: Lost, Number: f.Number}
	var id member.Ticket
	switch {
	case err != nil:
	case d.leaves:
		err = errLeaves
	case f.Count < t.Token.Count || f.Count > t.Last:
		err = errCount
	case s.quota != (Quota{}) && d.count(s.Who).full(&s.quota, f.Name):
		refused.Kind, refused.Why, err = Over, OverQuota, errQuota
	default:
		id, err = m.Claim(now, f.Name, c.Token, s.Session, t.Through, t.Terms)
	}
	if err != nil {
		d.answered(c, err)
		if errors.Is(err, member.ErrSession) {
			d.expire(s)
		} else {
			d.send(s, &refused)
		}
		return
	}
	r := d.add(s, f, id)
	r.claim, r.terms, r.through = c, t.Terms, t.Through
	if w := d.config.Watch; w != nil {
		w.Claimed(&s.Owner, id, f.Name, c.Token, t.Terms)
	}
}

// ticket returns the ticket of a lock that is held, which is valid until the effects are taken.
func (d *Server) ticket(r *request) []byte {
	t := ticket.Ticket{Token: r.token, Last: max(r.token.Count, r.block), Terms: r.terms, Through: d.through[:]}
	if t.Terms.Born = r.born; len(r.through) > 0 {
		t.Through = ticket.Named(r.through, d.through[0])
	}
	d.proof = d.office.AppendTo(d.proof[:0], &t, r.of.Who, r.name)
	return d.proof
}

// answered reports the end of a claim to the host.
func (d *Server) answered(c *Claimed, why error) {
	c.Why = why
	d.Out.Claims = append(d.Out.Claims, *c)
}

// refusedFor returns why the member has refused a claim.
func refusedFor(e *member.Event) error {
	switch {
	case e.Kind != member.Lost:
		return errStopped
	case e.Cause == member.Released:
		return errPassedOn
	}
	return errRefused
}
