package session

import (
	"fmt"

	"github.com/stile-lock/stile/internal/member"
)

// A node that lies could end the use of a resource by a single fencing token that is higher than
// all that its cluster will ever issue. So a client believes no epoch that the cluster cannot
// have reached by now: a later view takes more than viewPace on average, and no cluster numbers
// its epochs ahead of the clock, beyond what ClientConfig.Newest allows.

const (
	viewPace  = 10 * member.Millisecond
	viewSlack = 1000 // views that may follow each other faster
)

// credible is what a client knows of the epochs of its cluster.
type credible struct {
	cluster uint64
	epoch   uint64         // highest one of a token; 0: none is known
	at      member.Instant // when the client learned of it
	start   member.Instant // of the client
}

// An EpochError is the error of a node that grants a lock with a token of an epoch that the
// cluster cannot have reached.
type EpochError struct {
	Token member.Token
	Most  uint64 // highest epoch that is possible
}

func (e *EpochError) Error() string {
	return fmt.Sprintf("the node grants token %v, but its cluster cannot be beyond epoch %d yet: do not use this token; check the node and the clocks, then see docs/security.md", e.Token, e.Most)
}

// believe returns an error if a frame has a token that cannot be one of the cluster.
func (g *Client) believe(a *attachment, f *Frame) error {
	if f.Kind != Held && f.Kind != Delegated {
		return nil
	}
	k := &g.credible
	if k.cluster != g.cluster { // it was recovered, and has jumped
		*k = credible{cluster: g.cluster, start: k.start}
	}
	most := ^uint64(0)
	if g.config.Newest != 0 {
		most = g.config.Newest + uint64((g.now-k.start)/member.Instant(member.Millisecond))
	}
	if k.epoch != 0 && a.cluster == k.cluster {
		most = min(most, k.epoch+viewSlack+uint64((g.now-k.at)/member.Instant(viewPace)))
	}
	if f.Token.Epoch > most {
		return &EpochError{f.Token, most}
	}
	if f.Token.Epoch > k.epoch && a.cluster == k.cluster { // not of the cluster that was recovered
		k.epoch, k.at = f.Token.Epoch, g.now
	}
	return nil
}
