package session

import (
	"errors"

	"github.com/stile-lock/stile/internal/member"
)

// A Claimed is what became of a client's claim.
type Claimed struct {
	Of    *Owner // may be kept
	Conn  uint64 // connection on which the claim came
	Name  string
	Token member.Token
	On    uint64 // incarnation that the hold rests on, as the client says; 0 if it names none
	Why   error  // nil if the claim was honoured
}

// Reasons why claims are refused.
var (
	errLeaves    = errors.New("the node is about to leave")
	errQuota     = errors.New("it exceeds the quota of this identity")
	errWithdrawn = errors.New("the client has withdrawn it")
	errRefused   = errors.New("the lock is not held as claimed, as far as the other members know")
	errPassedOn  = errors.New("the lock has been passed on")
	errStopped   = errors.New("the node or the session has stopped")
)

// claimed returns what is known of a claim that has just arrived.
func (d *Server) claimed(s *session, f *Frame) *Claimed {
	c := &Claimed{Of: &s.Owner, Conn: s.conn, Name: f.Name, Token: f.Token}
	if n := len(f.Through); n > 0 {
		c.On = f.Through[n-1]
	}
	return c
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
