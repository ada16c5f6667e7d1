package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/stile-lock/stile/algorithm/deadlock"
	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
)

// cluster is the service Cluster.
type cluster struct{ *Gateway }

// ask asks the node a question for the caller of a method, and decodes the answer.
func (g cluster) ask(ctx context.Context, what uint64, query []byte, to any) error {
	return answer(g.askFor(ctx, callOf(ctx).who, what, query, to))
}

// askFor asks the node a question for a caller, and decodes the answer.
func (g cluster) askFor(ctx context.Context, who node.Caller, what uint64, query []byte, to any) error {
	b, err := g.node.QueryFor(ctx, who, what, query)
	if err != nil {
		return err
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
	page, next, err := g.readable(ctx, callOf(ctx).who, node.LockQuery{Prefix: in.GetPrefix(), After: in.GetPageToken()})
	if err != nil {
		return nil, answer(err)
	}
	out := &pb.ListLocksResponse{NextPageToken: next, Unasked: describeUnasked(page.Unasked)}
	for i := range page.Locks {
		out.Locks = append(out.Locks, describeLock(&page.Locks[i]))
	}
	return out, nil
}

// answerTimeout is how long another member has to answer.
const answerTimeout = 2 * time.Second

// readable returns a page of the locks that a caller may read, and After of the next one. The
// rules of this node decide, which also refuses callers that it no longer accepts. Other
// members leave out what theirs do not allow.
func (g cluster) readable(ctx context.Context, who node.Caller, q node.LockQuery) (page *survey.Locks, next string, err error) {
	q.For = who.Path()
	page, next, err = g.page(ctx, who, q, func(ctx context.Context, _ string, what uint64, about []byte, to any) error {
		return g.askFor(ctx, who, what, about, to)
	})
	if err != nil {
		return nil, "", err
	}
	reads := g.node.Reads(who)
	page.Locks = slices.DeleteFunc(page.Locks, func(l survey.Lock) bool { return !reads(l.Name) })
	return page, next, nil
}

// page asks all members for a page of locks: this node in the given way. While a node looks
// for locks all else waits there, and the pages of all members are in memory, so only some
// calls may ask at a time, and only half of these for the same caller.
func (g cluster) page(ctx context.Context, who node.Caller, q node.LockQuery, here survey.Ask) (page *survey.Locks, next string, err error) {
	end, err := g.listing.take(ctx, shareKey(&who))
	if err != nil {
		return nil, "", err
	}
	defer end()
	s, err := g.member()
	if err != nil {
		return nil, "", err
	}
	page, next = survey.Page(ctx, s.Members, q, func(ctx context.Context, address string, what uint64, about []byte, to any) error {
		if address == s.Address {
			err = here(ctx, address, what, about, to)
			return err
		}
		return g.askOther(ctx, s.Members, address, what, about, to)
	})
	return page, next, err
}

// status returns the status of the node, if it is a member.
func (g cluster) status() (node.Status, error) {
	s := g.node.Status()
	if !s.Member() {
		return s, fmt.Errorf("node %s is not a member at present: use another node", s.Node)
	}
	return s, nil
}

// errUnlinked is why a member is not asked.
var errUnlinked = errors.New("there is no connection to it at present")

// askOther asks another member, as this node. One that is known to be out of reach is not
// waited for.
func (g cluster) askOther(ctx context.Context, members []node.MemberInfo, address string, what uint64, about []byte, to any) error {
	if !linked(members, address) {
		return errUnlinked
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return g.node.AskAt(ctx, address, what, about, to)
}

// linked reports whether there is a connection to the member at an address.
func linked(members []node.MemberInfo, address string) bool {
	return slices.ContainsFunc(members, func(m node.MemberInfo) bool { return m.Address == address && m.Linked })
}

// describeLock describes a lock.
func describeLock(l *survey.Lock) *pb.Lock {
	out := &pb.Lock{Name: l.Name, Algorithm: l.Algorithm, Home: l.Home, Unlisted: uint32(l.Unlisted)}
	if l.Holder != nil {
		out.Holder = describeHolder(l.Holder)
	}
	for i := range l.Shared {
		out.Others = append(out.Others, describeHolder(&l.Shared[i]))
	}
	for _, w := range l.Waiters {
		out.Waiters = append(out.Waiters, &pb.Waiter{
			Who: w.Who, WaitedFor: seconds(w.Waited), Identity: w.Identity, Label: w.Label, Node: w.Node, Why: w.Why,
			Mode: listedMode(&w.Demand), Units: uint32(w.Units), Of: uint32(w.Of), Tx: w.Tx, Session: w.Session,
		})
	}
	return out
}

func describeHolder(h *survey.Holder) *pb.Holder {
	return &pb.Holder{
		Who: h.Who, Token: h.Token, HeldFor: seconds(h.Held), LeaseLeft: seconds(h.Left), Value: h.Value, Identity: h.Identity, Label: h.Label, Node: h.Node,
		Mode: listedMode(&h.Demand), Units: uint32(h.Units), Of: uint32(h.Of), Tx: h.Tx, Session: h.Session,
	}
}

// listedMode returns the mode of a request in a list.
func listedMode(d *node.Demand) string {
	if d.Units > 0 {
		return unitsMode
	}
	return cmp.Or(d.Mode, deadlock.Exclusive.String())
}

// describeUnasked describes members that did not answer.
func describeUnasked(all []survey.Silent) (out []*pb.Unasked) {
	for _, s := range all {
		out = append(out, &pb.Unasked{Node: s.Node, Address: s.Address, Why: s.Why})
	}
	return out
}
