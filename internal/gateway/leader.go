package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/survey"
)

// election returns an election as the caller sees it. This node is asked as the caller, and
// the others as this node, if the caller may read the lock.
func (g cluster) election(ctx context.Context, name string) (*survey.Election, error) {
	if err := member.CheckName(name); err != nil {
		return nil, badRequest.error(err)
	}
	c := callOf(ctx)
	who := c.who
	if err := g.node.Admit(who, c.route.what, rights.Read, name); err != nil {
		return nil, answer(err)
	}
	e := &survey.Election{Name: name}
	e.Members = func(context.Context) ([]node.MemberInfo, error) {
		s, err := g.status()
		return s.Members, err
	}
	e.Ask = func(ctx context.Context, address string, what uint64, about []byte, to any) error {
		s := g.node.Status()
		switch {
		case address == s.Address:
			return g.ask(ctx, what, about, to)
		case !g.node.Reads(who)(name):
			return fmt.Errorf("election %q: %w", name, lock.ErrDenied)
		case !linked(s.Members, address):
			return errUnlinked
		}
		return g.node.AskAt(ctx, address, what, about, to)
	}
	return e, nil
}

func describeLeader(l *survey.Leader) *pb.Leader {
	return &pb.Leader{Term: l.Term.String(), Value: l.Value, Who: l.Who, Node: l.Node}
}

// Leader implements stile.v1.Cluster.
func (g cluster) Leader(ctx context.Context, in *pb.LeaderRequest) (*pb.LeaderResponse, error) {
	e, err := g.election(ctx, in.GetName())
	if err != nil {
		return nil, err
	}
	l, err := e.Leader(ctx)
	switch {
	case errors.Is(err, survey.ErrNoLeader):
		return &pb.LeaderResponse{}, nil
	case err != nil:
		return nil, answer(err)
	}
	return &pb.LeaderResponse{Leader: describeLeader(&l)}, nil
}

// ObserveLeader implements stile.v1.Cluster.
func (g cluster) ObserveLeader(ctx context.Context, in *pb.ObserveLeaderRequest, out *connect.ServerStream[pb.ObserveLeaderResponse]) error {
	e, err := g.election(ctx, in.GetName())
	if err != nil {
		return err
	}
	inner, cancel := context.WithCancel(ctx)
	news := make(chan *pb.ObserveLeaderResponse)
	var final error // set before news is closed
	go func() {
		defer close(news)
		for l, err := range e.Observe(inner) {
			final = err
			select {
			case news <- observed(&l, err):
			case <-inner.Done():
				return
			}
		}
	}()
	defer func() {
		cancel()
		for range news { // until the observer has ended
		}
	}()
	beat := time.NewTicker(quiet)
	defer beat.Stop()
	for {
		m := &pb.ObserveLeaderResponse{}
		select {
		case one, more := <-news:
			if !more {
				return answer(errors.Join(final, context.Cause(ctx)))
			}
			m = one
		case <-beat.C:
		case <-ctx.Done():
			return answer(context.Cause(ctx))
		case <-g.closing:
			return noNode.error(errStopping)
		}
		callOf(ctx).writeWithin(writeTimeout)
		if err := out.Send(m); err != nil {
			return err
		}
	}
}

// observed describes what an observer yields.
func observed(l *survey.Leader, err error) *pb.ObserveLeaderResponse {
	switch {
	case err != nil:
		return &pb.ObserveLeaderResponse{Event: &pb.ObserveLeaderResponse_Unanswered{Unanswered: err.Error()}}
	case *l == survey.Leader{}:
		return &pb.ObserveLeaderResponse{Event: &pb.ObserveLeaderResponse_None{None: &pb.NoLeader{}}}
	}
	return &pb.ObserveLeaderResponse{Event: &pb.ObserveLeaderResponse_Leader{Leader: describeLeader(l)}}
}
