package node

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/trail"
)

// trailTime is how long a lock is followed after a question about its trail.
const trailTime = 5 * member.Second

// A TrailQuery asks what happens to a lock at this node, step by step. With the first
// question the node begins to follow the lock, and it stops some seconds after the last one.
type TrailQuery struct {
	Name string `json:"name"`
	From uint64 `json:"from"` // Next of the previous answer; 0 for the first

	// Path of an identity, for which another node asks: it, too, must be allowed to read the
	// lock. Empty if the caller asks for itself.
	For string `json:"for,omitempty"`
}

// A TrailReport answers a TrailQuery. The first one is usually empty: the node begins to
// follow the lock with it.
type TrailReport struct {
	trail.Page
	Kept bool   `json:"kept,omitempty"` // it is a kept lock, which has no trail
	Why  string `json:"why,omitempty"`  // why there is no trail at present
}

// A followed is the tail of a lock that is followed.
type followed struct {
	trail.Tail
	until member.Instant // as the member knows it
}

// parseTrail reads a TrailQuery.
func parseTrail(b []byte) (q TrailQuery, err error) {
	if err := json.Unmarshal(b, &q); err != nil {
		return TrailQuery{}, fmt.Errorf("malformed query: %w: use the same version of stile on both sides", err)
	}
	return q, nil
}

// trail answers a question about the trail of a lock, of a caller who may read the lock.
func (n *Node) trail(q *TrailQuery) (*TrailReport, error) {
	if q.For != "" {
		who, err := cert.ParsePath(q.For)
		if err != nil {
			return nil, err
		}
		if ok, why := n.rules.Decide(who, rights.Read, q.Name); !ok && !n.rules.Open() {
			return nil, errors.New(why)
		}
	}
	until := n.clock() + member.Instant(trailTime)
	r := &TrailReport{Page: trail.Page{Node: n.c.Name, Marks: []*member.Mark{}}}
	n.step(process.Input{Kind: process.Trail, Text: q.Name, Late: until})
	switch err := n.p.Out.Err; {
	case errors.Is(err, member.ErrName):
		return nil, err
	case err != nil:
		r.Kept, r.Why = errors.Is(err, member.ErrKept), err.Error()
		return r, nil
	}
	t := n.tails[q.Name]
	if t == nil {
		t = &followed{}
		if n.tails == nil {
			n.tails = map[string]*followed{}
		}
		n.tails[q.Name] = t
	}
	t.until = until
	r.Page = t.Read(q.From)
	r.Node, r.Now = n.c.Name, n.in.At
	return r, nil
}

// marked keeps a mark of a lock that is followed. The first one can come before its tail.
func (n *Node) marked(k *member.Mark) {
	if t := n.tails[k.Name]; t != nil {
		t.Add(k)
	}
}

// dropTails forgets the marks of locks that are no longer followed.
func (n *Node) dropTails() {
	now := n.clock()
	for name, t := range n.tails {
		if now > t.until {
			delete(n.tails, name)
		}
	}
}
