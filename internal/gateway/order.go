package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/stile-lock/stile/internal/client"
	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/words"
)

// What operators do. Every node takes every order: it checks the rights of the caller, finds
// the node that can carry the order out, and passes it on.

// order gives an order for the caller, to the members at the addresses that find returns.
func (g cluster) order(ctx context.Context, what uint64, about string, find func(ctx context.Context) ([]string, error), to node.Outcome) error {
	ctx, cancel := context.WithTimeout(ctx, 2*answerTimeout)
	defer cancel()
	err := g.node.OrderFor(ctx, callOf(ctx).who, what, about, func() ([]string, error) { return find(ctx) }, to)
	if errors.Is(err, context.DeadlineExceeded) {
		return noNode.error(err)
	}
	return answer(err)
}

// ForceRelease implements stile.v1.Cluster.
func (g cluster) ForceRelease(ctx context.Context, in *pb.ForceReleaseRequest) (*pb.ForceReleaseResponse, error) {
	name := in.GetName()
	if err := member.CheckName(name); err != nil {
		return nil, badRequest.error(err)
	}
	var r node.Released
	err := g.order(ctx, node.AskRelease, name, func(ctx context.Context) ([]string, error) { return g.through(ctx, name) }, &r)
	if err != nil {
		return nil, err
	}
	return &pb.ForceReleaseResponse{Who: r.Who, Token: r.Token}, nil
}

// through returns the addresses of the members through which a lock is held.
func (g cluster) through(ctx context.Context, name string) ([]string, error) {
	page, _, err := g.page(ctx, callOf(ctx).who, node.LockQuery{Prefix: name}, g.node.AskAt) // the name itself comes first
	if err != nil {
		return nil, err
	}
	if len(page.Locks) > 0 && page.Locks[0].Name == name && page.Locks[0].Holder != nil {
		return page.Locks[0].Through, nil
	}
	why := fmt.Sprintf("lock %s is not held", words.Quoted(name))
	for _, s := range page.Unasked {
		why += fmt.Sprintf("; or it is held through %s, which did not answer: %s", s.Node, s.Why)
	}
	return nil, client.Declined(why)
}

// Evict implements stile.v1.Cluster.
func (g cluster) Evict(ctx context.Context, in *pb.EvictRequest) (*pb.EvictResponse, error) {
	if in.GetNode() == "" {
		return nil, badRequest.errorf("node is empty: want the name of a node, as Members lists it")
	}
	var r node.Ordered
	if err := g.order(ctx, node.AskEvict, in.GetNode(), g.leader, &r); err != nil {
		return nil, err
	}
	return &pb.EvictResponse{Epoch: r.Epoch}, nil
}

// Choose implements stile.v1.Cluster.
func (g cluster) Choose(ctx context.Context, in *pb.ChooseRequest) (*pb.ChooseResponse, error) {
	text := in.GetAlgorithm()
	if text == "" {
		return nil, badRequest.errorf("algorithm is empty: want one, such as raymond or orders/=raymond")
	}
	if err := node.CheckAlgorithm(text); err != nil {
		return nil, badRequest.error(err)
	}
	var r node.Ordered
	if err := g.order(ctx, node.AskChoose, text, g.leader, &r); err != nil {
		return nil, err
	}
	return &pb.ChooseResponse{Epoch: r.Epoch}, nil
}

// leader returns the address of the node that leads the view service. Voters know it.
func (g cluster) leader(ctx context.Context) ([]string, error) {
	own, err := g.member()
	if err != nil {
		return nil, err
	}
	for _, m := range own.Members {
		s := own
		if m.Address != own.Address {
			s = &node.Status{}
			if !m.Voter || g.askOther(ctx, own.Members, m.Address, node.AskStatus, nil, s) != nil {
				continue // another voter may answer
			}
		}
		if i := slices.IndexFunc(s.Members, func(m node.MemberInfo) bool { return m.Name == s.Leader }); i >= 0 {
			return []string{s.Members[i].Address}, nil
		}
	}
	return nil, noNode.errorf("no voter knows a leader of the view service at present: try again soon")
}

// member returns the status of this node, which must be a member.
func (g cluster) member() (*node.Status, error) {
	s := g.node.Status()
	if !s.Member() {
		return nil, noNode.errorf("node %s is not a member at present: use another node", s.Node)
	}
	return &s, nil
}

// at returns a function that returns the address of a member.
func (g cluster) at(name string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) {
		s, err := g.member()
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(s.Members, func(m node.MemberInfo) bool { return m.Name == name })
		switch {
		case i < 0:
			return nil, client.Declined(fmt.Sprintf("%s is not a member of the cluster: Members lists them", words.Quoted(name)))
		case !s.Members[i].Linked:
			return nil, noNode.errorf("%s does not answer: %w", name, errUnlinked)
		}
		return []string{s.Members[i].Address}, nil
	}
}

// Leave implements stile.v1.Cluster.
func (g cluster) Leave(ctx context.Context, in *pb.LeaveRequest) (*pb.LeaveResponse, error) {
	out := &pb.LeaveResponse{Node: in.GetNode()}
	if out.Node == "" {
		out.Node = g.node.Name()
	}
	find := func(ctx context.Context) ([]string, error) {
		all, err := g.at(out.Node)(ctx)
		if err == nil {
			out.Address = all[0]
		}
		return all, err
	}
	if err := g.order(ctx, node.AskLeave, "", find, &node.Ordered{}); err != nil {
		return nil, err
	}
	return out, nil
}

// MoveSession implements stile.v1.Cluster.
func (g cluster) MoveSession(ctx context.Context, in *pb.MoveSessionRequest) (*pb.MoveSessionResponse, error) {
	switch {
	case in.GetNode() == "":
		return nil, badRequest.errorf("node is empty: want the name of the node at which the session is, as ListLocks shows it")
	case in.GetSession() == 0:
		return nil, badRequest.errorf("session is 0: want the number of a client's session, as ListLocks shows it")
	}
	var r node.Moving
	if err := g.order(ctx, node.AskMove, strconv.FormatUint(in.GetSession(), 10), g.at(in.GetNode()), &r); err != nil {
		return nil, err
	}
	return &pb.MoveSessionResponse{Who: r.Who, Holds: uint32(r.Holds), Waits: uint32(r.Waits)}, nil
}
