package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
)

// Orders are what operators ask of a node. An operator may ask any node: the one that is asked
// checks the rights, and passes the order on to the one that can carry it out. Both audit it.

// An Order asks a node to do something for a caller of another member.
type Order struct {
	What  uint64 `json:"what"`            // AskRelease, AskLeave, AskEvict, AskChoose or AskMove
	About string `json:"about,omitempty"` // as in that question
	For   string `json:"for"`             // identity of the caller, for the audit log
}

// An Outcome is the answer to an order.
type Outcome interface {
	audited() []any // attributes for the audit log
}

// A Released is the outcome of a forced release.
type Released struct {
	Name  string `json:"name"`
	Token string `json:"token"` // fencing token of the entry that was ended
	Who   string `json:"who"`
}

func (r *Released) audited() []any { return []any{"holder", r.Who, "token", r.Token} }

// An Ordered is the outcome of an order that later views carry out.
type Ordered struct {
	Epoch uint64 `json:"epoch"` // the epoch in which it was given
}

func (*Ordered) audited() []any { return nil }

// A Moving is the outcome of asking a client to use another node.
type Moving struct {
	Who   string `json:"who"`
	Holds int    `json:"holds"` // number of locks that it holds in the session
	Waits int    `json:"waits"` // number of locks that it waits for
}

func (m *Moving) audited() []any { return []any{"client", m.Who, "holds", m.Holds, "waits", m.Waits} }

// subjects are the attributes of what orders are about, for the audit log.
var subjects = map[uint64]string{AskRelease: "lock", AskLeave: "", AskEvict: "member", AskChoose: "algorithm", AskMove: "session"}

// attrs returns the attributes of an order for the audit log.
func (o *Order) attrs() (all []any) {
	if o.For != "" {
		all = append(all, "for", o.For)
	}
	if s := subjects[o.What]; s != "" {
		all = append(all, s, o.About)
	}
	return all
}

// lock returns the lock that an order is about; empty if it is about the cluster.
func (o *Order) lock() string {
	if o.What == AskRelease {
		return o.About
	}
	return ""
}

// parseOrder reads an Order.
func parseOrder(b []byte) (o Order, err error) {
	if err := json.Unmarshal(b, &o); err != nil {
		return Order{}, fmt.Errorf("malformed order: %w: use the same version of stile on both sides", err)
	}
	return o, nil
}

// OrderFor gives an order for a caller, if the caller may do that. The function find returns
// the addresses of the members that must carry it out, possibly this one.
func (n *Node) OrderFor(ctx context.Context, who Caller, what uint64, about string, find func() ([]string, error), to Outcome) error {
	o := Order{What: what, About: about}
	if err := n.Admit(who, askNames[what], rights.Administer, o.lock()); err != nil {
		return err
	}
	all, err := find()
	attrs := o.attrs()
	o.For = who.Identity.String()
	for _, address := range all {
		if err == nil {
			err = n.orderAt(ctx, address, &o, to)
		}
	}
	n.audit.done(who, askNames[what], err, slices.Concat(attrs, to.audited())...)
	return err
}

// orderAt gives an order to a member, possibly this one.
func (n *Node) orderAt(ctx context.Context, address string, o *Order, to Outcome) error {
	if address != n.address {
		about, err := json.Marshal(o)
		if err != nil {
			return err
		}
		return n.AskAt(ctx, address, AskOrderFor, about, to)
	}
	n.enter()
	if n.over {
		n.mu.Unlock()
		return ErrEnded
	}
	defer n.leave()
	r, err := n.obey(o)
	if err != nil {
		return client.Declined(err.Error())
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// answerOrder carries out an order of a caller who may give it, and audits it.
func (n *Node) answerOrder(who *Caller, o *Order) ([]byte, error) {
	r, err := n.obey(o)
	n.audit.done(*who, orderName(o.What), err, slices.Concat(o.attrs(), r.audited())...)
	if err != nil {
		return nil, err
	}
	return json.Marshal(r)
}

// orderName returns the name of an order.
func orderName(what uint64) string {
	if _, ok := subjects[what]; ok {
		return askNames[what]
	}
	return fmt.Sprintf("order %d", what)
}

// obey carries out an order.
func (n *Node) obey(o *Order) (Outcome, error) {
	switch o.What {
	case AskRelease:
		r, err := n.forceRelease(o.About)
		return &r, err
	case AskEvict, AskChoose:
		r, err := n.reform(o.What, o.About)
		return &r, err
	case AskMove:
		r, err := n.moveClient(o.About)
		return &r, err
	case AskLeave:
		go n.leaveSoon()
		return &Ordered{n.p.Record().Epoch}, nil
	}
	return &Ordered{}, fmt.Errorf("the node does not know order %d: use the same version of stile on both sides", o.What)
}

// reform makes the view service evict a member or choose other algorithms, if its leader is
// this node.
func (n *Node) reform(what uint64, about string) (o Ordered, err error) {
	r := n.p.Record()
	o.Epoch = r.Epoch
	in := process.Input{Kind: process.Evict}
	if what == AskEvict {
		i := slices.IndexFunc(r.Members, func(m views.Member) bool { return m.Name == about })
		if i < 0 {
			return o, fmt.Errorf("cannot evict %q: it is not a member: 'stile members' lists them", about)
		}
		in.Number = r.Members[i].Inc
	} else {
		all, err := n.c.chosen(about)
		if err != nil {
			return o, err
		}
		in.Kind, in.Choice = process.Choose, merged(r.Choices, all)
	}
	n.step(in)
	if err = n.p.Out.Err; errors.Is(err, views.ErrNotLeader) {
		err = fmt.Errorf("%s does not lead the view service: 'stile status' shows which node does", n.c.Name)
	}
	return o, err
}

// moveClient asks the client of a session to use another node.
func (n *Node) moveClient(about string) (m Moving, err error) {
	session, err := strconv.ParseUint(about, 10, 64)
	if err != nil {
		return m, fmt.Errorf("move session %q: want its number, as 'stile locks --json' shows it", about)
	}
	if c, ok := n.p.Client(session); ok {
		m = Moving{n.who(session).Who, c.Holds, c.Waits}
		if v := n.conns[c.Conn]; v != nil && v.inside {
			return m, fmt.Errorf("move session %d: its client uses HTTP, and such a session stays at the node that opened it", session)
		}
	}
	n.step(process.Input{Kind: process.Move, Number: session})
	if err = n.p.Out.Err; err != nil {
		err = fmt.Errorf("move session %d: %w", session, err)
	}
	return m, err
}
