package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/stile-lock/stile/internal/live/gateway/stilev1"
	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/node"
)

// cluster is the service Cluster.
type cluster struct{ *Gateway }

// ask asks the node a question for the caller, and decodes the answer.
func (g cluster) ask(ctx context.Context, what uint64, query []byte, to any) error {
	b, err := g.node.QueryFor(ctx, callOf(ctx).who, what, query)
	if err != nil {
		return answer(err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("malformed answer of the node: %w", err)
	}
	return nil
}

func seconds(s float64) *durationpb.Duration {
	return durationpb.New(time.Duration(s * float64(time.Second)))
}

// Status implements stile.v1.Cluster.
func (g cluster) Status(ctx context.Context, _ *pb.StatusRequest) (*pb.StatusResponse, error) {
	var s node.Status
	if err := g.ask(ctx, node.AskStatus, nil, &s); err != nil {
		return nil, err
	}
	return &pb.StatusResponse{
		Node: s.Node, Address: s.Address, State: s.State, Why: s.Why, Cluster: s.Cluster, Epoch: s.Epoch, Lease: seconds(s.Lease), LeaseLeft: seconds(s.Left),
		Leader: s.Leader, Algorithm: s.Algorithm, Clients: uint32(s.Clients), Held: uint32(s.Held), Waiting: uint32(s.Waiting), Known: uint32(s.Known),
	}, nil
}

// Members implements stile.v1.Cluster.
func (g cluster) Members(ctx context.Context, _ *pb.MembersRequest) (*pb.MembersResponse, error) {
	var s node.Status
	if err := g.ask(ctx, node.AskStatus, nil, &s); err != nil {
		return nil, err
	}
	out := &pb.MembersResponse{Epoch: s.Epoch}
	for _, m := range s.Members {
		out.Members = append(out.Members, &pb.Member{Name: m.Name, Address: m.Address, Voter: m.Voter, Linked: m.Linked})
	}
	return out, nil
}

// ListLocks implements stile.v1.Cluster.
func (g cluster) ListLocks(ctx context.Context, in *pb.ListLocksRequest) (*pb.ListLocksResponse, error) {
	if len(in.GetPageToken()) > member.MaxName {
		return nil, badRequest.errorf("page_token of %d bytes: want the next_page_token of an earlier answer", len(in.GetPageToken()))
	}
	page, err := g.page(ctx, in.GetPrefix(), in.GetPageToken())
	if err != nil {
		return nil, err
	}
	out := &pb.ListLocksResponse{NextPageToken: page.Next}
	for i := range page.Locks {
		out.Locks = append(out.Locks, describeLock(&page.Locks[i]))
	}
	return out, nil
}

// page returns locks in use. While the node looks for them all else waits, so only some
// calls may ask at a time.
func (g cluster) page(ctx context.Context, prefix, after string) (*node.LockPage[node.LockInfo], error) {
	select {
	case g.listing <- struct{}{}:
		defer func() { <-g.listing }()
	case <-ctx.Done():
		return nil, answer(ctx.Err())
	}
	query, err := json.Marshal(node.LockQuery{Prefix: prefix, After: after})
	if err != nil {
		return nil, err
	}
	page := new(node.LockPage[node.LockInfo])
	return page, g.ask(ctx, node.AskLocks, query, page)
}

// describeLock describes a lock.
func describeLock(l *node.LockInfo) *pb.Lock {
	out := &pb.Lock{Name: l.Name, Node: l.Node, Algorithm: l.Algorithm, Home: l.Home, Unlisted: uint32(l.Unlisted), Why: l.Why}
	if h := l.Holder; h != nil {
		out.Holder = &pb.Holder{Who: h.Who, Token: h.Token, HeldFor: seconds(h.Held), LeaseLeft: seconds(h.Left), Value: h.Value, Identity: h.Identity, Label: h.Label}
	}
	for _, w := range l.Waiters {
		out.Waiters = append(out.Waiters, &pb.Waiter{Who: w.Who, WaitedFor: seconds(w.Waited), Identity: w.Identity, Label: w.Label})
	}
	return out
}

// ForceRelease implements stile.v1.Cluster.
func (g cluster) ForceRelease(ctx context.Context, in *pb.ForceReleaseRequest) (*pb.ForceReleaseResponse, error) {
	if err := member.CheckName(in.GetName()); err != nil {
		return nil, badRequest.error(err)
	}
	var r node.Released
	if err := g.ask(ctx, node.AskRelease, []byte(in.GetName()), &r); err != nil {
		return nil, err
	}
	return &pb.ForceReleaseResponse{Who: r.Who, Token: r.Token}, nil
}
