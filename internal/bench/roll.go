package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stile-lock/stile"
)

// The load while nodes are restarted.
const (
	rollLocks   = 5
	rollClients = 3 // each starts with another node
)

// roll restarts all nodes in turn, each gracefully and as another process, while clients
// constantly use some locks. The next node is restarted as soon as the previous one is a
// member again.
func (g *group) roll() ([]Row, error) { return g.rollBy(stopNode) }

// stopNode stops a node gracefully.
func stopNode(w *worker) error {
	_, err := w.ask(order{Op: opClose})
	return err
}

// rollBy does it, and stops nodes by stop.
func (g *group) rollBy(stop func(w *worker) error) ([]Row, error) {
	var all []string
	for _, w := range g.all {
		all = append(all, w.address)
	}
	users, err := g.run("users")
	if err != nil {
		return nil, err
	}
	defer users.end()
	o := g.all[0].opened
	if _, err := users.ask(order{Op: opBusy, CA: o.CA, Cert: o.Cert, Key: o.Key, Nodes: all, Users: rollClients, Locks: rollLocks}); err != nil {
		return nil, err
	}
	for i := range g.all {
		if err := g.restart(i, all, stop); err != nil {
			return nil, err
		}
	}
	saw, err := users.ask(order{Op: opRested})
	if err != nil {
		return nil, err
	}
	return []Row{
		bounded("rolling restart: longest stall", float64(saw.Stall.Microseconds())/1000, "ms", stallLimit),
		bounded("rolling restart: failed requests", float64(saw.Failed), "requests", 0),
	}, nil
}

// restart stops a node and its process, and starts it again at the same address.
func (g *group) restart(i int, all []string, stop func(w *worker) error) error {
	w := g.all[i]
	o := w.opened
	o.Address, o.Listen = "", w.address
	o.Nodes = slices.DeleteFunc(slices.Clone(all), func(a string) bool { return a == w.address })
	if err := stop(w); err != nil {
		return err
	}
	w.end()
	next, err := g.run(w.name)
	if err != nil {
		return err
	}
	g.all[i] = next
	return next.open(o)
}

// A rush is clients of all nodes that constantly use some locks.
type rush struct {
	over  atomic.Bool
	late  context.CancelFunc // cancels requests that are never granted
	users sync.WaitGroup
	all   []*stile.Client
	locks []*watched

	mu     sync.Mutex
	failed int
	why    error
}

// A watched is a lock with the time of its last entry. Its fields need the lock itself.
type watched struct {
	name  string
	last  time.Time
	stall time.Duration
}

// hurry starts a rush.
func (s *site) hurry(o *order) (a answer, err error) {
	r := &rush{}
	s.rush = r
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	for i := range o.Users {
		at := i % len(o.Nodes)
		d := stile.DialConfig{Nodes: slices.Concat(o.Nodes[at:], o.Nodes[:at]), TLS: stile.Certificates{CA: o.CA, Cert: o.Cert, Key: o.Key}}
		c, err := stile.Dial(ctx, d)
		if err != nil {
			return a, err
		}
		r.all = append(r.all, c)
	}
	ctx, r.late = context.WithCancel(context.Background())
	for i := range o.Locks {
		w := &watched{name: fmt.Sprintf("roll/%d", i), last: time.Now()}
		r.locks = append(r.locks, w)
		for _, c := range r.all {
			r.users.Go(func() {
				for !r.over.Load() {
					r.note(w.enter(ctx, c))
				}
			})
		}
	}
	return a, nil
}

// enter locks and unlocks once.
func (w *watched) enter(ctx context.Context, at stile.Locker) error {
	l, err := at.Lock(ctx, w.name)
	if err != nil {
		return err
	}
	now := time.Now()
	w.stall, w.last = max(w.stall, now.Sub(w.last)), now
	return l.Unlock()
}

// note records the outcome of a request.
func (r *rush) note(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed, r.why = r.failed+1, err
}

// rest ends a rush, and returns what was seen. A request that is never granted has failed.
func (r *rush) rest() (a answer) {
	r.over.Store(true)
	never := time.AfterFunc(soon, r.late)
	r.users.Wait()
	never.Stop()
	r.late()
	for _, w := range r.locks {
		a.Stall = max(a.Stall, w.stall, time.Since(w.last))
	}
	for _, c := range r.all {
		c.Close()
	}
	if a.Failed = r.failed; r.why != nil {
		fmt.Fprintln(os.Stderr, "stile bench: a request failed during the rolling restart:", r.why)
	}
	return a
}
