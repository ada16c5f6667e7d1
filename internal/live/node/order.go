package node

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/live/process"
	"github.com/stile-lock/stile/internal/live/views"
)

// An Ordered is the answer to an order of an operator, which the next view carries out.
type Ordered struct {
	Epoch uint64 `json:"epoch"` // the epoch in which it was given
}

// order gives an order to the view service, if its leader is this node.
func (n *Node) order(what uint64, about string) (o Ordered, err error) {
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
