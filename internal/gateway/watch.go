package gateway

import (
	"context"
	"hash/maphash"
	"slices"
	"time"

	"connectrpc.com/connect"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
)

const (
	maxWatched = 10_000 // locks that a stream watches
	// quiet is the time after which a stream without changes sends a message.
	quiet = 10 * time.Second
)

// A watch compares what nodes say about locks with what they said before.
type watch struct {
	seed    maphash.Seed
	seen    map[string]uint64 // fingerprints, by name
	unasked []string          // names of the members that did not answer
}

// print returns the fingerprint of a lock: its holders with their values, and its waiters,
// but not for how long they are that.
func (w *watch) print(l *survey.Lock) uint64 {
	var h maphash.Hash
	h.SetSeed(w.seed)
	holder := func(x *survey.Holder) { _, _ = h.WriteString(x.Who + "\x00" + x.Token + "\x00" + x.Value + "\x02") }
	if l.Holder != nil {
		holder(l.Holder)
	}
	for i := range l.Shared {
		holder(&l.Shared[i])
	}
	for _, x := range l.Waiters {
		_, _ = h.WriteString("\x01" + x.Who)
	}
	maphash.WriteComparable(&h, l.Unlisted)
	return h.Sum64()
}

// compare returns what has changed, and whether anything has. While a member does not answer,
// a lock that is missing counts as unchanged.
func (w *watch) compare(all *survey.Locks) (out *pb.WatchLocksResponse, differs bool) {
	out = &pb.WatchLocksResponse{Unasked: describeUnasked(all.Unasked)}
	now := make(map[string]uint64, len(all.Locks))
	for i := range all.Locks {
		l := &all.Locks[i]
		p := w.print(l)
		if old, known := w.seen[l.Name]; !known || old != p {
			out.Changed = append(out.Changed, describeLock(l))
		}
		now[l.Name] = p
	}
	for name, p := range w.seen {
		if _, in := now[name]; !in && len(all.Unasked) > 0 {
			now[name] = p
		} else if !in {
			out.Gone = append(out.Gone, name)
		}
	}
	slices.Sort(out.Gone)
	var unasked []string
	for _, s := range all.Unasked {
		unasked = append(unasked, s.Node)
	}
	differs = len(out.Changed)+len(out.Gone) > 0 || !slices.Equal(unasked, w.unasked)
	w.seen, w.unasked = now, unasked
	return out, differs
}

// WatchLocks implements stile.v1.Cluster.
func (g cluster) WatchLocks(ctx context.Context, in *pb.WatchLocksRequest, out *connect.ServerStream[pb.WatchLocksResponse]) error {
	interval, err := duration(in.GetInterval(), "interval", time.Second)
	if err != nil {
		return err
	}
	w := watch{seed: maphash.MakeSeed()}
	tick := time.NewTicker(max(interval, 100*time.Millisecond))
	defer tick.Stop()
	for last := (time.Time{}); ; {
		all, err := g.watched(ctx, in.GetPrefix())
		if ctx.Err() != nil {
			return answer(context.Cause(ctx))
		}
		if err != nil {
			return err
		}
		m, differs := w.compare(all)
		if len(w.seen) > maxWatched {
			return manyToWatch(in.GetPrefix())
		}
		if differs || time.Since(last) >= quiet {
			last = time.Now()
			callOf(ctx).writeWithin(writeTimeout)
			if err := out.Send(m); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return answer(context.Cause(ctx))
		case <-g.closing:
			return noNode.error(errStopping)
		}
	}
}

// manyToWatch is the error of a stream that would watch too many locks.
func manyToWatch(prefix string) error {
	return manyLocks.errorf("more than %d locks begin with %q: watch a longer prefix", maxWatched, prefix)
}

// watched returns all locks in use.
func (g cluster) watched(ctx context.Context, prefix string) (*survey.Locks, error) {
	all := &survey.Locks{}
	for after := ""; ; {
		page, next, err := g.readable(ctx, callOf(ctx).who, node.LockQuery{Prefix: prefix, After: after})
		if err != nil {
			return nil, answer(err)
		}
		all.Locks = append(all.Locks, page.Locks...)
		for _, s := range page.Unasked {
			if !slices.ContainsFunc(all.Unasked, func(x survey.Silent) bool { return x.Node == s.Node }) {
				all.Unasked = append(all.Unasked, s)
			}
		}
		switch {
		case len(all.Locks) > maxWatched:
			return nil, manyToWatch(prefix)
		case next == "":
			return all, nil
		}
		after = next
	}
}
