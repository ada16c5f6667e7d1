package node

import (
	"crypto/x509"
	"fmt"
	"time"

	"github.com/stile-lock/stile/internal/lock"
)

// What the HTTP interface of a node asks about its callers, beside what they may do.

// Denied audits that a caller is refused.
func (n *Node) Denied(who Caller, what, why string) { n.audit.denied(who, what, why) }

// Barred returns an error if a caller is no longer accepted: its certificate or its token is
// revoked, or has expired.
func (n *Node) Barred(who Caller) error {
	if err := n.barred(&who, time.Now()); err != nil {
		return fmt.Errorf("%w: %w", lock.ErrDenied, err)
	}
	return nil
}

// Revoked returns an error if a certificate of a connection is revoked.
func (n *Node) Revoked(chain []*x509.Certificate) error {
	if n.keys == nil {
		return nil
	}
	for _, c := range chain {
		if err := n.keys.Check(c); err != nil {
			return fmt.Errorf("%w: %w", lock.ErrDenied, err)
		}
	}
	return nil
}

// OnRecheck has a function called each time that the node has read the files that say who may
// do what again, or would have if they had changed; nil calls none.
func (n *Node) OnRecheck(f func()) { n.rechecked.Store(&f) }

// callRechecked calls the function.
func (n *Node) callRechecked() {
	if f := n.rechecked.Load(); f != nil && *f != nil {
		(*f)()
	}
}
