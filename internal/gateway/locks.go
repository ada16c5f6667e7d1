package gateway

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/clock"
	protocol "github.com/stile-lock/stile/internal/session"
)

const (
	// maxLabel is the maximum number of bytes of a label, and of a key that is not a name.
	maxLabel = protocol.MaxLabel
	// maxWait is the maximum time that a call to Acquire waits, and the default.
	maxWait = time.Minute
)

// locks is the service Locks.
type locks struct{ *Gateway }

// duration reads a duration of a request; fallback if it is not given.
func duration(d *durationpb.Duration, what string, fallback time.Duration) (time.Duration, error) {
	if d == nil {
		return fallback, nil
	}
	if err := d.CheckValid(); err != nil || d.AsDuration() < 0 {
		return 0, badRequest.errorf("%s of %v: want a duration of at least 0s", what, d.AsDuration())
	}
	return d.AsDuration(), nil
}

// OpenSession implements stile.v1.Locks.
func (g locks) OpenSession(ctx context.Context, in *pb.OpenSessionRequest) (*pb.OpenSessionResponse, error) {
	length, err := duration(in.GetLength(), "length", 0)
	if err != nil {
		return nil, err
	}
	c := callOf(ctx)
	s, err := g.sessions.open(ctx, g.node, c.who, in.GetLabel(), length)
	if err != nil {
		return nil, answer(err)
	}
	defer s.leave()
	return &pb.OpenSessionResponse{Session: s.id, Length: durationpb.New(s.length), Node: g.node.Name()}, nil
}

// KeepAlive implements stile.v1.Locks.
func (g locks) KeepAlive(ctx context.Context, in *pb.KeepAliveRequest) (*pb.KeepAliveResponse, error) {
	c := callOf(ctx)
	s, err := g.sessions.find(in.GetSession(), c.who)
	if err != nil {
		return nil, err
	}
	defer s.leave()
	x := s.state()
	out := &pb.KeepAliveResponse{ValidFor: durationpb.New(0)}
	if x.until != 0 {
		out.ValidFor = durationpb.New(granted(c.received, x.until, x.end, s.length))
	}
	for _, r := range x.lost {
		out.Lost = append(out.Lost, r.lost())
	}
	slices.SortFunc(out.Lost, func(a, b *pb.Lost) int {
		return cmp.Or(cmp.Compare(a.Transaction, b.Transaction), cmp.Compare(a.Key, b.Key))
	})
	for _, r := range x.wanted {
		out.MustAbort = append(out.MustAbort, r.mustAbort(r.hold.Doom()))
	}
	for _, t := range x.aborted {
		if d := t.tx.Doomed(); d != nil { // it may have ended meanwhile
			out.MustAbort = append(out.MustAbort, &pb.MustAbort{Transaction: t.id, Deadlock: describeDeadlock(d)})
		}
	}
	slices.SortFunc(out.MustAbort, func(a, b *pb.MustAbort) int {
		return cmp.Or(cmp.Compare(a.Transaction, b.Transaction), cmp.Compare(a.Key, b.Key))
	})
	return out, nil
}

// mustAbort says that an older transaction waits for a lock outside of transactions.
func (r *request) mustAbort(d *lock.Deadlock) *pb.MustAbort {
	return &pb.MustAbort{Name: r.name, Key: r.key, Deadlock: describeDeadlock(d)}
}

// lost describes the loss of a lock.
func (r *request) lost() *pb.Lost {
	return &pb.Lost{Name: r.name, Key: r.key, Transaction: r.tx, Token: r.hold.Token().String(), Reason: r.hold.Err().Error()}
}

// CloseSession implements stile.v1.Locks.
func (g locks) CloseSession(ctx context.Context, in *pb.CloseSessionRequest) (*pb.CloseSessionResponse, error) {
	s, err := g.sessions.find(in.GetSession(), callOf(ctx).who)
	if err != nil {
		return nil, err
	}
	defer s.leave()
	s.end()
	return &pb.CloseSessionResponse{}, nil
}

// Acquire implements stile.v1.Locks.
func (g locks) Acquire(ctx context.Context, in *pb.AcquireRequest) (*pb.AcquireResponse, error) {
	wait, err := duration(in.GetWait(), "wait", maxWait)
	if err != nil {
		return nil, err
	}
	a, err := askOf(in, in.GetKey(), in.Units, in.Of, in.Value)
	if err != nil {
		return nil, err
	}
	a.tx = in.GetTransaction()
	c := callOf(ctx)
	s, err := g.sessions.find(in.GetSession(), c.who)
	if err != nil {
		return nil, err
	}
	defer s.leave()
	ctx, cancel := context.WithTimeout(ctx, min(wait, maxWait))
	defer cancel()
	for {
		held, decided, err := g.await(ctx, c, s, a)
		switch {
		case errors.Is(err, lock.ErrBusy) && ctx.Err() == nil: // it was that of a TryAcquire
		case err != nil:
			return nil, answer(err)
		case !decided:
			return &pb.AcquireResponse{Result: &pb.AcquireResponse_Waiting{Waiting: &pb.Waiting{Position: g.places.of(g.node, in.GetName(), s.client.Session())}}}, nil
		default:
			return &pb.AcquireResponse{Result: &pb.AcquireResponse_Held{Held: held}}, nil
		}
	}
}

// TryAcquire implements stile.v1.Locks.
func (g locks) TryAcquire(ctx context.Context, in *pb.TryAcquireRequest) (*pb.TryAcquireResponse, error) {
	a, err := askOf(in, in.GetKey(), in.Units, in.Of, in.Value)
	if err != nil {
		return nil, err
	}
	a.try = true
	c := callOf(ctx)
	s, err := g.sessions.find(in.GetSession(), c.who)
	if err != nil {
		return nil, err
	}
	defer s.leave()
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	held, decided, err := g.await(ctx, c, s, a)
	switch {
	case errors.Is(err, lock.ErrBusy), err == nil && !decided:
		return &pb.TryAcquireResponse{Result: &pb.TryAcquireResponse_Busy{Busy: &pb.Busy{}}}, nil
	case err != nil:
		return nil, answer(err)
	}
	return &pb.TryAcquireResponse{Result: &pb.TryAcquireResponse_Held{Held: held}}, nil
}

// await waits for a request. It is not decided if the context ends before, or if a try finds
// a request that waits.
func (g locks) await(ctx context.Context, c *call, s *session, a ask) (held *pb.Held, decided bool, err error) {
	r, err := s.attach(a)
	if err != nil {
		return nil, false, err
	}
	defer s.detach(r)
	if !r.decided() && !(a.try && !r.try) {
		select {
		case <-r.done:
		case <-ctx.Done():
		case <-g.closing:
			return nil, false, noNode.error(errStopping)
		}
	}
	switch {
	case c.err() != nil:
		return nil, false, c.err()
	case !r.decided():
		return nil, false, nil
	case r.err != nil:
		return nil, true, r.err
	}
	if err := r.hold.Err(); err != nil {
		return nil, true, err
	}
	if !s.tell(r) {
		return nil, true, errReleased(r)
	}
	end := clock.Now() + member.Instant(s.length)
	return &pb.Held{Token: r.hold.Token().String(), ValidFor: durationpb.New(granted(c.received, r.hold.Until(), end, s.length)), Mode: modeOf(r.terms.Mode)}, true, nil
}

// Release implements stile.v1.Locks.
func (g locks) Release(ctx context.Context, in *pb.ReleaseRequest) (*pb.ReleaseResponse, error) {
	s, err := g.sessions.find(in.GetSession(), callOf(ctx).who)
	if err != nil {
		return nil, err
	}
	defer s.leave()
	o, err := s.release(requestKey{in.GetTransaction(), cmp.Or(in.GetKey(), in.GetName())}, in.GetToken())
	if err != nil {
		return nil, answer(err)
	}
	return &pb.ReleaseResponse{Token: o.token}, nil
}

// SetValue implements stile.v1.Locks.
func (g locks) SetValue(ctx context.Context, in *pb.SetValueRequest) (*pb.SetValueResponse, error) {
	if err := protocol.CheckValue(in.GetValue()); err != nil {
		return nil, badRequest.error(err)
	}
	s, err := g.sessions.find(in.GetSession(), callOf(ctx).who)
	if err != nil {
		return nil, err
	}
	defer s.leave()
	h, err := s.holds(requestKey{in.GetTransaction(), cmp.Or(in.GetKey(), in.GetName())})
	if err == nil {
		err = h.SetValue(in.GetValue())
	}
	if err != nil {
		return nil, answer(err)
	}
	return &pb.SetValueResponse{}, nil
}

// Begin implements stile.v1.Locks.
func (g locks) Begin(ctx context.Context, in *pb.BeginRequest) (*pb.BeginResponse, error) {
	s, err := g.sessions.find(in.GetSession(), callOf(ctx).who)
	if err != nil {
		return nil, err
	}
	defer s.leave()
	t, err := s.begin(nil)
	if err != nil {
		return nil, err
	}
	return &pb.BeginResponse{Transaction: t.id}, nil
}

// Commit implements stile.v1.Locks.
func (g locks) Commit(ctx context.Context, in *pb.CommitRequest) (*pb.CommitResponse, error) {
	s, err := g.sessions.find(in.GetSession(), callOf(ctx).who)
	if err != nil {
		return nil, err
	}
	defer s.leave()
	if err := s.commit(in.GetTransaction()); err != nil {
		return nil, answer(err)
	}
	return &pb.CommitResponse{}, nil
}

// Abort implements stile.v1.Locks.
func (g locks) Abort(ctx context.Context, in *pb.AbortRequest) (*pb.AbortResponse, error) {
	s, err := g.sessions.find(in.GetSession(), callOf(ctx).who)
	if err != nil {
		return nil, err
	}
	defer s.leave()
	if err := s.abort(in.GetTransaction()); err != nil {
		return nil, answer(err)
	}
	return &pb.AbortResponse{}, nil
}

// Retry implements stile.v1.Locks.
func (g locks) Retry(ctx context.Context, in *pb.RetryRequest) (*pb.RetryResponse, error) {
	s, err := g.sessions.find(in.GetSession(), callOf(ctx).who)
	if err != nil {
		return nil, err
	}
	defer s.leave()
	next, err := s.retry(in.GetTransaction())
	if err != nil {
		return nil, answer(err)
	}
	return &pb.RetryResponse{Transaction: next}, nil
}

// places are the places of requests that wait at the node. All that wait for a lock may ask
// at about the same time, so the answer of the node is used for a while.
type places struct {
	mu sync.Mutex
	by map[string]*queue // by name
}

// A queue is how the requests for a lock waited.
type queue struct {
	at    member.Instant
	place map[uint64]uint32 // by session
}

const (
	placesLive = member.Instant(100 * member.Millisecond)
	maxPlaces  = 1000 // queues to keep
)

// of returns the place of a session's first request for a lock; 0 if it is not known.
func (p *places) of(n interface{ Queue(name string) []uint64 }, name string, session uint64) uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := clock.Now()
	q := p.by[name]
	if q == nil || now-q.at > placesLive || q.place[session] == 0 {
		q = &queue{at: now, place: map[uint64]uint32{}}
		for i, s := range n.Queue(name) {
			if q.place[s] == 0 {
				q.place[s] = uint32(i + 1)
			}
		}
		if p.by == nil || len(p.by) >= maxPlaces {
			p.by = map[string]*queue{}
		}
		p.by[name] = q
	}
	return q.place[session]
}
