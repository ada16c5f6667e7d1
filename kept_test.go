package stile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// methods choose a method for each prefix.
const methods = "central,detect/=kept,paths/=kept:detect-distributed,wound/=kept:wound-wait,die/=kept:wait-die,time/=kept:timeout,order/=kept:ordered"

// openNodes opens nodes and a client of the last one.
func openNodes(t *testing.T, count int) (ctx context.Context, nodes []*Node, c *Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	for i := range count {
		config := Config{Name: string(rune('a' + i)), Drain: time.Second}
		if i == 0 {
			config.Lease, config.Algorithm = 2*time.Second, methods
		} else {
			config.Join = []string{nodes[0].Address()}
		}
		n, err := Open(ctx, config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		nodes = append(nodes, n)
	}
	c, err := Dial(ctx, DialConfig{Nodes: []string{nodes[count-1].Address()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return ctx, nodes, c
}

// Kept locks have modes, and transactions that deadlock hear of it.
func TestKept(t *testing.T) {
	ctx, nodes, c := openNodes(t, 2)
	all := []Locker{nodes[0], nodes[1], c}
	for name, test := range map[string]func(*testing.T, context.Context, []Locker){
		"modes": testModes, "tries": testTries, "fair": testFair, "semaphore": testSemaphore, "listed": testListed, "deadlock": testDeadlock, "transact": testTransact,
		"retry": testRetry, "ends": testTxEnds, "wounded": testWounded, "ordered": testOrdered, "plain": testPlain,
	} {
		t.Run(name, func(t *testing.T) { test(t, ctx, all) })
	}
}

// must fails the test if there is an error.
func must[T any](t *testing.T) func(x T, err error) T {
	return func(x T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

func release(t *testing.T, all ...interface{ Unlock() error }) {
	t.Helper()
	for _, l := range all {
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
}

// Readers share a lock, a writer excludes them, and tokens rise.
func testModes(t *testing.T, ctx context.Context, all []Locker) {
	var last Token
	var readers []*Lock
	for _, x := range all {
		l := must[*Lock](t)(x.RLock(ctx, "detect/x"))
		if !last.Less(l.Token()) {
			t.Errorf("token %v after %v", l.Token(), last)
		}
		last = l.Token()
		readers = append(readers, l)
	}
	for i, l := range readers {
		if _, err := all[i].TryLock(ctx, "detect/x"); !errors.Is(err, ErrBusy) {
			t.Errorf("a writer beside readers: %v", err)
		}
		release(t, l)
	}
	w := must[*Lock](t)(all[2].Lock(ctx, "detect/x"))
	if !last.Less(w.Token()) {
		t.Errorf("token %v after %v", w.Token(), last)
	}
	release(t, w)
	for _, x := range all {
		if _, err := x.RLock(ctx, "ordinary"); err == nil {
			t.Error("a lock that is not kept is shared")
		}
	}
}

// A try gets what is free, beside the holders that allow it, and never waits.
func testTries(t *testing.T, ctx context.Context, all []Locker) {
	busy := func(_ *Lock, err error) {
		t.Helper()
		if !errors.Is(err, ErrBusy) {
			t.Errorf("it is not busy: %v", err)
		}
	}
	for i, x := range all {
		other := all[(i+1)%3]
		name, units := fmt.Sprint("detect/t", i), fmt.Sprint("detect/pool", i) // a home may hear of a release late
		r := must[*Lock](t)(x.TryRLock(ctx, name))
		release(t, must[*Lock](t)(other.TryRLock(ctx, name)))
		wrote := make(chan *Lock)
		go func() {
			w, err := x.Lock(ctx, name)
			if err != nil {
				t.Error(err)
			}
			wrote <- w
		}()
		waits(t, ctx, all[0], name, 1)
		for { // until the home knows that a writer waits
			l, err := other.TryRLock(ctx, name)
			if err != nil {
				busy(l, err)
				break
			}
			release(t, l)
		}
		release(t, r)
		w := <-wrote
		busy(other.TryRLock(ctx, name))
		release(t, w)

		pool, same := x.Semaphore(units, 3), other.Semaphore(units, 3)
		two := must[*Lock](t)(pool.TryAcquire(ctx, 2))
		busy(same.TryAcquire(ctx, 2))
		release(t, must[*Lock](t)(same.TryAcquire(ctx, 1)), two)
		for _, k := range []int{0, 4} {
			if _, err := pool.TryAcquire(ctx, k); err == nil || errors.Is(err, ErrBusy) {
				t.Errorf("%d units of 3: %v", k, err)
			}
		}
		if _, err := x.TryRLock(ctx, "ordinary"); err == nil || errors.Is(err, ErrBusy) {
			t.Errorf("a lock that is not kept is shared: %v", err)
		}
	}
}

// waits waits until requests wait for a lock.
func waits(t *testing.T, ctx context.Context, x Locker, name string, count int) LockInfo {
	t.Helper()
	for ctx.Err() == nil {
		list, _ := x.(interface { // a node that is down is missing
			Locks(context.Context, string) ([]LockInfo, error)
		}).Locks(ctx, name)
		if len(list) == 1 && len(list[0].Waiters) == count {
			return list[0]
		}
	}
	t.Fatal("no request waits for", name)
	return LockInfo{}
}

// brief is a context that ends before what must not happen would.
func brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 30*time.Millisecond)
}

// A reader does not overtake a writer that waits.
func testFair(t *testing.T, ctx context.Context, all []Locker) {
	r := must[*Lock](t)(all[0].RLock(ctx, "detect/fair"))
	wrote := make(chan *Lock)
	go func() {
		w, err := all[1].Lock(ctx, "detect/fair")
		if err != nil {
			t.Error(err)
		}
		wrote <- w
	}()
	waits(t, ctx, all[0], "detect/fair", 1)
	short, cancel := brief(ctx)
	defer cancel()
	if _, err := all[2].RLock(short, "detect/fair"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a reader overtakes: %v", err)
	}
	release(t, r)
	release(t, <-wrote)
}

// A semaphore grants as many units as it has.
func testSemaphore(t *testing.T, ctx context.Context, all []Locker) {
	var held []*Lock
	for i, x := range all {
		held = append(held, must[*Lock](t)(x.Semaphore("detect/s", 4).Acquire(ctx, []int{2, 1, 1}[i])))
	}
	short, cancel := brief(ctx)
	defer cancel()
	for _, x := range all {
		if _, err := x.Semaphore("detect/s", 4).Acquire(short, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a fifth of four units: %v", err)
		}
		for _, bad := range [][2]int{{4, 0}, {4, 5}, {0, 1}, {5, 1}, {-1, -1}, {1 << 40, 1}} {
			if _, err := x.Semaphore("detect/s", bad[0]).Acquire(ctx, bad[1]); err == nil {
				t.Errorf("%d of %d units are acquired", bad[1], bad[0])
			}
		}
	}
	for _, l := range held {
		release(t, l)
	}
	for _, x := range all {
		if _, err := x.Semaphore("paths/s", 4).Acquire(ctx, 1); err == nil {
			t.Error("a semaphore with a method that has none")
		}
	}
}

// Lists show all holders and waiters, with modes and transactions.
func testListed(t *testing.T, ctx context.Context, all []Locker) {
	a := must[*Lock](t)(all[0].RLock(ctx, "detect/list"))
	c := must[*Lock](t)(all[2].RLock(ctx, "detect/list"))
	if err := c.SetValue("row 7"); err != nil {
		t.Error(err)
	}
	done := make(chan error)
	stopped, stop := context.WithCancel(ctx)
	go func() {
		_, err := all[1].Lock(stopped, "detect/list")
		done <- err
	}()
	l := waits(t, ctx, all[2], "detect/list", 1)
	if l.Token != a.Token() || l.Node != "a" || l.Mode != "shared" || l.Tx == 0 {
		t.Errorf("%+v", l)
	}
	if len(l.Shared) != 1 || l.Shared[0].Token != c.Token() || l.Shared[0].Node != "b" || l.Shared[0].Value != "row 7" || l.Shared[0].Mode != "shared" {
		t.Errorf("%+v", l.Shared)
	}
	if w := l.Waiters[0]; w.Mode != "exclusive" || w.Tx == 0 {
		t.Errorf("%+v", w)
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	release(t, a, c)
}

// With every method, one of two transactions that wait for each other must abort, and hears
// for which lock. The other one commits.
func testDeadlock(t *testing.T, ctx context.Context, all []Locker) {
	for _, prefix := range []string{"detect/", "paths/", "wound/", "die/", "time/"} {
		names := []string{prefix + "x", prefix + "y"}
		errs := make(chan error)
		var first sync.WaitGroup
		first.Add(2)
		for i, x := range []Locker{all[0], all[2]} {
			go func() {
				tx := must[*Tx](t)(x.Begin(ctx))
				_, err := tx.Lock(ctx, names[i])
				first.Done()
				first.Wait()
				if err == nil {
					_, err = tx.Lock(ctx, names[1-i])
				}
				if ended := tx.Commit(); (ended == nil) != (err == nil) {
					t.Errorf("%s: commit: %v after %v", prefix, ended, err)
				}
				errs <- err
			}()
		}
		victims := 0
		for range 2 {
			if err := <-errs; err != nil {
				victims++
				named := strings.Contains(err.Error(), names[0]) && strings.Contains(err.Error(), names[1])
				if !errors.Is(err, ErrDeadlock) || (prefix == "detect/" || prefix == "paths/") && !named {
					t.Errorf("%s: %v", prefix, err)
				}
			}
		}
		if victims == 0 || victims == 2 && prefix != "time/" {
			t.Errorf("%s: %d victims", prefix, victims)
		}
	}
}

// Transact begins again until both transactions have committed.
func testTransact(t *testing.T, ctx context.Context, all []Locker) {
	for _, prefix := range []string{"detect/", "paths/", "wound/", "die/"} {
		names := []string{prefix + "x", prefix + "y", prefix + "z"}
		done := make(chan error)
		count := 0 // of calls that have both locks: the locks guard it
		for i, x := range all {
			go func() {
				for range 5 {
					err := x.Transact(ctx, func(ctx context.Context, tx *Tx) error {
						for _, name := range []string{names[i], names[(i+1)%3]} {
							if _, err := tx.Lock(ctx, name); err != nil {
								return err
							}
						}
						_, err := tx.Lock(ctx, prefix+"last")
						if err == nil {
							count++
						}
						return err
					})
					if err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range all {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if count < 15 {
			t.Errorf("%s: %d transactions, want 15", prefix, count)
		}
	}
	bad := errors.New("bad")
	if err := all[2].Transact(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Lock(ctx, "detect/x")
		return errors.Join(err, bad)
	}); !errors.Is(err, bad) {
		t.Error(err)
	}
	release(t, must[*Lock](t)(all[0].Lock(ctx, "detect/x")))
}

// A begunTx is a transaction that holds a lock.
type begunTx struct {
	*Tx
	first *Lock
}

// begun begins two transactions that hold a lock each, and returns the older one first. Ages
// are logical: of transactions that know nothing of each other, any may be the older one.
func begun(t *testing.T, ctx context.Context, x, y Locker, prefix string) (older, younger begunTx) {
	t.Helper()
	begin := func(x Locker, name string) begunTx {
		tx := must[*Tx](t)(x.Begin(ctx))
		return begunTx{tx, must[*Lock](t)(tx.Lock(ctx, name))}
	}
	born := func(tx begunTx) uint64 { return tx.first.h.Born() }
	older, younger = begin(x, prefix+"1"), begin(y, prefix+"2")
	for born(younger) == born(older) {
		if younger.Abort() != nil {
			t.Fatal("it cannot be aborted")
		}
		younger = begin(y, prefix+"2")
	}
	if born(younger) < born(older) {
		return younger, older
	}
	return older, younger
}

// heldBy returns the name of a lock that a transaction holds.
func heldBy(tx begunTx) string { return tx.first.Name() }

// A transaction that begins again is as old as before.
func testRetry(t *testing.T, ctx context.Context, all []Locker) {
	for i, x := range all {
		older, younger := begun(t, ctx, x, all[(i+1)%3], "die/r")
		if _, err := younger.Lock(ctx, heldBy(older)); !errors.Is(err, ErrDeadlock) || !errors.Is(younger.Commit(), ErrDeadlock) {
			t.Errorf("the younger one: %v", err)
		}
		name := heldBy(older)
		for _, tx := range []begunTx{older, younger} {
			born := tx.first.h.Born()
			var l *Lock
			for l == nil { // another one may not have been released everywhere yet
				if err := tx.Retry(ctx); err != nil {
					t.Fatal(err)
				}
				var err error
				if l, err = tx.Lock(ctx, name); err != nil && !errors.Is(err, ErrDeadlock) {
					t.Fatal(err)
				}
			}
			if l.h.Born() != born || born == 0 {
				t.Errorf("born %d, and then %d", born, l.h.Born())
			}
			if err := tx.Commit(); err != nil {
				t.Error(err)
			}
		}
	}
}

// The locks of a transaction end together, once.
func testTxEnds(t *testing.T, ctx context.Context, all []Locker) {
	for _, x := range all {
		tx := must[*Tx](t)(x.Begin(ctx))
		l := must[*Lock](t)(tx.Lock(ctx, "detect/e"))
		must[*Lock](t)(tx.Acquire(ctx, x.Semaphore("detect/units", 3), 2))
		if err := l.Unlock(); err == nil || l.Err() != nil {
			t.Errorf("one lock of a transaction is released: %v, %v", err, l.Err())
		}
		if _, err := tx.RLock(ctx, "detect/e"); !errors.Is(err, ErrReentrant) {
			t.Errorf("it has the lock twice: %v", err)
		}
		other := must[*Lock](t)(all[0].Lock(ctx, "detect/f"))
		short, cancel := brief(ctx)
		if _, err := tx.Lock(short, "detect/f"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
		release(t, other)
		must[*Lock](t)(tx.RLock(ctx, "detect/f")) // it goes on after a request that was cancelled
		if tx.Context().Err() != nil || tx.Commit() != nil || tx.Context().Err() == nil {
			t.Error("it cannot be committed")
		}
		if !errors.Is(l.Err(), ErrReleased) || !errors.Is(tx.Commit(), ErrReleased) || tx.Abort() != nil {
			t.Error("it has not ended")
		}
		if _, err := tx.Lock(ctx, "detect/e"); !errors.Is(err, ErrReleased) {
			t.Errorf("a lock after the end: %v", err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := x.Begin(ended); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		all, err := x.LockAll(ctx, "detect/e", "detect/f")
		if err != nil {
			t.Fatal(err)
		}
		release(t, all)
	}
}

// A younger holder hears that an older transaction waits. It still has its lock, may commit,
// and then the other one has it.
func testWounded(t *testing.T, ctx context.Context, all []Locker) {
	for i, x := range all {
		older, tx := begun(t, ctx, x, all[(i+1)%3], "wound/w")
		l := tx.first
		got := make(chan error)
		go func() {
			_, err := older.RLock(ctx, l.Name())
			got <- err
		}()
		<-tx.Context().Done()
		if cause := context.Cause(l.Context()); !errors.Is(cause, ErrDeadlock) || !strings.Contains(cause.Error(), l.Name()) || l.Err() != nil {
			t.Errorf("%v, %v", cause, l.Err())
		}
		if _, err := tx.Lock(ctx, "wound/c"); !errors.Is(err, ErrDeadlock) {
			t.Errorf("it acquires another lock: %v", err)
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
		if err := <-got; err != nil || older.Commit() != nil {
			t.Error(err)
		}
	}
}

// With ordered acquisition, the wrong order is an error at once.
func testOrdered(t *testing.T, ctx context.Context, all []Locker) {
	for _, x := range all {
		tx := must[*Tx](t)(x.Begin(ctx))
		must[*Lock](t)(tx.Lock(ctx, "order/b"))
		if _, err := tx.Lock(ctx, "order/a"); err == nil || errors.Is(err, ErrDeadlock) {
			t.Error(err)
		}
		if _, err := tx.Lock(ctx, "detect/a"); err == nil {
			t.Error("a lock with another method")
		}
		must[*Lock](t)(tx.Lock(ctx, "order/c"))
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	}
}

// A request outside of transactions that must die is made again until the lock is free.
func testPlain(t *testing.T, ctx context.Context, all []Locker) {
	for _, x := range all {
		l := must[*Lock](t)(all[1].Lock(ctx, "die/p"))
		short, cancel := brief(ctx)
		if _, err := x.Lock(short, "die/p"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrDeadlock) {
			t.Errorf("while it is held: %v", err)
		}
		cancel()
		got := make(chan error)
		go func() {
			l, err := x.RLock(ctx, "die/p")
			if err == nil {
				err = l.Unlock()
			}
			got <- err
		}()
		release(t, l)
		if err := <-got; err != nil {
			t.Error(err)
		}
	}
}

// A node dies. What it held itself can be acquired again when its lease has expired. Its
// client takes its kept locks along to another node, in transactions and outside of them,
// and a transaction that waits goes on waiting there.
func TestKeptNodeDies(t *testing.T) {
	ctx, nodes, c := openNodes(t, 3)
	must[*Lock](t)(nodes[2].RLock(ctx, "detect/node"))
	shared := must[*Lock](t)(c.RLock(ctx, "detect/node"))
	units := must[*Lock](t)(c.Semaphore("detect/units", 3).Acquire(ctx, 2))
	plain := must[*Lock](t)(c.Lock(ctx, "detect/client"))
	tx := must[*Tx](t)(c.Begin(ctx))
	must[*Lock](t)(tx.Lock(ctx, "detect/tx"))
	tries := 0
	moved := make(chan error)
	ready := make(chan struct{}, 1)
	held := must[*Lock](t)(nodes[0].Lock(ctx, "detect/held"))
	go func() {
		moved <- c.Transact(ctx, func(ctx context.Context, tx *Tx) error {
			if tries++; tries == 1 {
				if _, err := tx.Lock(ctx, "detect/first"); err != nil {
					return err
				}
				ready <- struct{}{}
			}
			_, err := tx.Lock(ctx, "detect/held")
			return err
		})
	}()
	<-ready
	waits(t, ctx, nodes[0], "detect/held", 1)
	nodes[2].node.Kill()
	waits(t, ctx, nodes[1], "detect/held", 1) // at another node
	must[*Lock](t)(tx.Lock(ctx, "detect/more"))
	release(t, held)
	if err := <-moved; err != nil || tries != 1 {
		t.Errorf("after %d tries: %v", tries, err)
	}
	got := make(chan *Lock)
	go func() {
		l, err := nodes[0].Lock(ctx, "detect/node")
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	one := must[*Lock](t)(nodes[1].Semaphore("detect/units", 3).Acquire(ctx, 1)) // when the lease of the node has expired
	if _, err := nodes[1].TryLock(ctx, "detect/client"); !errors.Is(err, ErrBusy) {
		t.Errorf("what the client holds: %v", err)
	}
	select {
	case <-got:
		t.Error("a writer beside a reader")
	default:
	}
	release(t, one)
	for _, l := range []*Lock{shared, units, plain} {
		if err := l.Err(); err != nil {
			t.Errorf("%s: %v", l.Name(), err)
		}
		release(t, l)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	release(t, <-got)
	members := must[[]Member](t)(nodes[0].Members(ctx))
	if slices.ContainsFunc(members, func(m Member) bool { return m.Name == "c" }) {
		t.Error("the dead node is a member")
	}
}
