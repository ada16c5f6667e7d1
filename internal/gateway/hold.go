package gateway

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/stile-lock/stile/internal/client"
	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/clock"
)

// soon is the time after which a stream reports that its request waits.
const soon = 10 * time.Millisecond

// A holding is a call to Hold.
type holding struct {
	g    locks
	call *call
	s    *session
	out  *connect.ServerStream[pb.HoldResponse]
	held *client.Hold // nil: it waits
	// kept is when the reader of the stream has certainly counted to the end of what it
	// was granted, if nothing more is sent.
	kept  member.Instant
	stuck bool // it was not read for too long
}

// Hold implements stile.v1.Locks.
func (g locks) Hold(ctx context.Context, in *pb.HoldRequest, out *connect.ServerStream[pb.HoldResponse]) error {
	wait, err := duration(in.GetWait(), "wait", 0)
	if err != nil {
		return err
	}
	a, err := askOf(in, "", in.Units, in.Of, in.Value)
	if err != nil {
		return err
	}
	c := callOf(ctx)
	s, err := g.sessions.open(ctx, g.node, c.who, in.GetLabel(), 0)
	if err != nil {
		return answer(err)
	}
	h := &holding{g: g, call: c, s: s, out: out}
	err = h.run(ctx, a, wait)
	// A reader that ended the stream no longer counts on the lock. Any other may, until
	// it has counted to the end: also one whose call this node has ended.
	if h.kept == 0 || errors.Is(ctx.Err(), context.Canceled) && c.ctx.Err() != nil && !h.stuck && byPeer(c.ctx) {
		s.end()
	}
	s.leaveUntil(h.kept)
	s.tick()
	return answer(err)
}

// run waits for the lock, and then reports that it is held until it is lost, or the stream
// ends.
func (h *holding) run(ctx context.Context, a ask, wait time.Duration) error {
	r, err := h.s.attach(a)
	if err != nil {
		return err
	}
	if err := h.queue(ctx, r, wait); err != nil {
		return err
	}
	h.held = r.hold
	return h.keep(ctx, r)
}

// queue waits until a request is decided.
func (h *holding) queue(ctx context.Context, r *request, wait time.Duration) error {
	var late <-chan time.Time
	if wait > 0 {
		late = time.After(wait)
	}
	tick := time.NewTimer(soon)
	defer tick.Stop()
	for {
		select {
		case <-r.done:
			return r.err
		case <-late:
			return tooLate.errorf("lock %q: not acquired within %v", r.name, wait)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.g.closing:
			return noNode.error(errStopping)
		case <-tick.C:
			place := h.g.places.of(h.g.node, r.name, h.s.client.Session())
			if err := h.send(&pb.HoldResponse{Event: &pb.HoldResponse_Waiting{Waiting: &pb.Waiting{Position: place}}}); err != nil {
				return err
			}
			tick.Reset(h.s.lease / 5)
		}
	}
}

// errShort is why a lock is lost to the reader of a stream before the client in this process
// loses it.
var errShort = errors.New("too little is left of the node's lease, which was not renewed in time")

// keep reports that the lock is held, as long as it is.
func (h *holding) keep(ctx context.Context, r *request) error {
	tick := time.NewTimer(0)
	defer tick.Stop()
	first := true
	ended := h.held.Context().Done()
	for {
		select {
		case <-ended:
			d := h.held.Doom()
			if h.held.Err() != nil || d == nil {
				return h.lose(r, h.held.Err())
			}
			ended = nil // it ends once: a loss is noticed when the timer fires
			if err := h.send(&pb.HoldResponse{Event: &pb.HoldResponse_MustAbort{MustAbort: r.mustAbort(d)}}); err != nil {
				return err
			}
			continue
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.g.closing:
			return h.lose(r, errStopping)
		case <-tick.C:
		}
		now, until := clock.Now(), h.held.Until()
		valid := streamed(now, until)
		switch {
		case h.held.Err() != nil:
			return h.lose(r, h.held.Err())
		case tooShort(h.s.lease, valid):
			return h.lose(r, errShort)
		}
		h.kept = max(h.kept, until) // before it is sent: it may arrive even if an error is reported
		m := &pb.HoldResponse{Event: &pb.HoldResponse_Renewed{Renewed: &pb.Renewed{ValidFor: durationpb.New(valid)}}}
		if first {
			if !h.s.tell(r) {
				return errReleased(r)
			}
			m.Event = &pb.HoldResponse_Held{Held: &pb.Held{Token: h.held.Token().String(), ValidFor: durationpb.New(valid), Session: h.s.id, Mode: modeOf(r.terms.Mode)}}
			first = false
		}
		if err := h.send(m); err != nil {
			return err
		}
		tick.Reset(beat(h.s.lease, valid))
	}
}

// lose reports that the lock is lost.
func (h *holding) lose(r *request, why error) error {
	if why == nil {
		why = lock.ErrLost
	}
	return h.send(&pb.HoldResponse{Event: &pb.HoldResponse_Lost{Lost: &pb.Lost{Name: r.name, Key: r.key, Token: h.held.Token().String(), Reason: why.Error()}}})
}

// send sends a message, and gives up if the client does not read for a lease.
func (h *holding) send(m *pb.HoldResponse) error {
	limit := max(h.s.lease, time.Second)
	h.call.writeWithin(limit)
	start := clock.Now()
	err := h.out.Send(m)
	h.stuck = err != nil && clock.Now() >= start+member.Instant(limit)
	return err
}
