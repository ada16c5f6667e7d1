package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stile-lock/stile"
)

// A tally is the work of one goroutine.
type tally struct {
	count, handoffs int
	_               [6]int // each has a cache line of its own
}

// spin makes goroutines lock and unlock one lock. An entry whose number does not follow the
// last one here comes after one of another process.
func spin(o *order, enter func(name string) (holder, uint64, error)) (answer, error) {
	var last uint64 // guarded by the lock
	return run(o, func(i int, t *tally, over *atomic.Bool) error {
		for !over.Load() {
			l, n, err := enter(o.Lock)
			if err != nil {
				return err
			}
			if n != last+1 {
				t.handoffs++
			}
			last = n
			if err := l.Unlock(); err != nil {
				return err
			}
			t.count++
		}
		return nil
	})
}

// spread makes goroutines lock and unlock many locks, at random.
func (s *site) spread(o *order) (answer, error) {
	all := make([]string, o.Locks)
	for i := range all {
		all[i] = "many/" + strconv.Itoa(i)
	}
	return run(o, func(i int, t *tally, over *atomic.Bool) error {
		r := rand.New(rand.NewPCG(o.Seed, uint64(i)))
		for !over.Load() {
			if err := once(s.node, all[r.IntN(len(all))]); err != nil {
				return err
			}
			t.count++
		}
		return nil
	})
}

// client locks and unlocks locks in turn, as a client of a node.
func (s *site) client(o *order) (a answer, err error) {
	if s.dialed == nil {
		if s.dialed, err = s.dial(o.Address); err != nil {
			return a, err
		}
	}
	all := make([]string, o.Locks)
	for i := range all {
		all[i] = o.Lock + "/" + strconv.Itoa(i)
	}
	return run(&order{Users: 1, For: o.For}, func(_ int, t *tally, over *atomic.Bool) error {
		for ; !over.Load(); t.count++ {
			if err := once(s.dialed, all[t.count%len(all)]); err != nil {
				return err
			}
		}
		return nil
	})
}

// once locks and unlocks.
func once(at stile.Locker, name string) error {
	l, err := at.Lock(context.Background(), name)
	if err != nil {
		return err
	}
	return l.Unlock()
}

func (s *site) dial(address string) (*stile.Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	return stile.Dial(ctx, stile.DialConfig{Nodes: []string{address}, TLS: s.files})
}

// run makes goroutines run f for the duration of the order, and adds up.
func run(o *order, f func(i int, t *tally, over *atomic.Bool) error) (a answer, err error) {
	tallies, errs := make([]tally, o.Users), make([]error, o.Users)
	var over atomic.Bool
	var all sync.WaitGroup
	since, before := time.Now(), spent()
	for i := range o.Users {
		all.Go(func() { errs[i] = f(i, &tallies[i], &over) })
	}
	time.Sleep(o.For)
	over.Store(true)
	all.Wait()
	a.Took, a.CPU = time.Since(since), spent()-before
	for _, t := range tallies {
		a.Count, a.Handoffs = a.Count+t.count, a.Handoffs+t.handoffs
	}
	return a, errors.Join(errs...)
}
