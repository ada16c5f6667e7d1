package gateway

import (
	"context"
	"hash/maphash"
	"slices"
	"time"

	"connectrpc.com/connect"

	pb "github.com/stile-lock/stile/internal/live/gateway/stilev1"
	"github.com/stile-lock/stile/internal/live/node"
)

const (
	maxWatched = 10_000 // locks that a stream watches
	maxWatches = 64     // streams that watch locks
	// quiet is the time after which a stream without changes sends a message.
	quiet = 10 * time.Second
)

// A watch compares what a node says about locks with what it said before.
type watch struct {
	seed maphash.Seed
	seen map[string]uint64 // fingerprints, by name
}

// print returns the fingerprint of a lock: its holder with its value, and its waiters, but
// not for how long they are that.
func (w *watch) print(l *node.LockInfo) uint64 {
	var h maphash.Hash
	h.SetSeed(w.seed)
	if l.Holder != nil {
		_, _ = h.WriteString(l.Holder.Who + "\x00" + l.Holder.Token + "\x00" + l.Holder.Value)
	}
	for _, x := range l.Waiters {
		_, _ = h.WriteString("\x01" + x.Who)
	}
	maphash.WriteComparable(&h, l.Unlisted)
	return h.Sum64()
}

// compare returns what has changed.
func (w *watch) compare(all []node.LockInfo) *pb.WatchLocksResponse {
	out, now := &pb.WatchLocksResponse{}, make(map[string]uint64, len(all))
	for i := range all {
		l := &all[i]
		p := w.print(l)
		if old, known := w.seen[l.Name]; !known || old != p {
			out.Changed = append(out.Changed, describeLock(l))
		}
		now[l.Name] = p
	}
	for name := range w.seen {
		if _, in := now[name]; !in {
			out.Gone = append(out.Gone, name)
		}
	}
	slices.Sort(out.Gone)
	w.seen = now
	return out
}

// WatchLocks implements stile.v1.Cluster.
func (g cluster) WatchLocks(ctx context.Context, in *pb.WatchLocksRequest, out *connect.ServerStream[pb.WatchLocksResponse]) error {
	interval, err := duration(in.GetInterval(), "interval", time.Second)
	if err != nil {
		return err
	}
	if g.watches.Add(1) > maxWatches {
		g.watches.Add(-1)
		return manyCalls.errorf("%d streams watch locks at this node, the maximum: use another node", maxWatches)
	}
	defer g.watches.Add(-1)
	w := watch{seed: maphash.MakeSeed()}
	tick := time.NewTicker(max(interval, 100*time.Millisecond))
	defer tick.Stop()
	for last := (time.Time{}); ; {
		all, err := g.watched(ctx, in.GetPrefix())
		if err != nil {
			return err
		}
		if m := w.compare(all); len(m.Changed)+len(m.Gone) > 0 || time.Since(last) >= quiet {
			last = time.Now()
			callOf(ctx).writeWithin(writeTimeout)
			if err := out.Send(m); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return answer(ctx.Err())
		case <-g.closing:
			return noNode.error(errStopping)
		}
	}
}

// watched returns all locks in use.
func (g cluster) watched(ctx context.Context, prefix string) (all []node.LockInfo, err error) {
	for after := ""; ; {
		page, err := g.page(ctx, prefix, after)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Locks...)
		switch {
		case len(all) > maxWatched:
			return nil, manyLocks.errorf("more than %d locks begin with %q: watch a longer prefix", maxWatched, prefix)
		case page.Next == "":
			return all, nil
		}
		after = page.Next
	}
}
