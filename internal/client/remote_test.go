package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/session"
)

// A connection that breaks costs nothing if there is another one in time.
func TestReconnect(t *testing.T) {
	n := start(t, 1, 10*time.Second)[0]
	r := newRelay(t, n.Address())
	x := dial(t, client.Config{Nodes: []string{r.address()}})
	h := acquire(t, x, "x")
	got := make(chan lock.Handle)
	go func() { got <- acquire(t, x, "x") }()
	becomes(t, "waiting", func() bool { return n.Status().Waiting == 1 })
	for i := range 3 {
		r.set(false)
		becomes(t, "connected again", func() bool { return r.count() > i+1 })
	}
	if h.Err() != nil || h.Context().Err() != nil {
		t.Error(h.Err())
	}
	release(t, h)
	next := <-got
	if !h.Token().Less(next.Token()) {
		t.Errorf("%v after %v", next.Token(), h.Token())
	}
	release(t, next)
}

// If its node dies, a client claims its locks at another node, if there is time. Waiting
// requests move to another node, and are granted there.
func TestNodeDies(t *testing.T) {
	all := start(t, 3, time.Second)
	x := dial(t, client.Config{Nodes: []string{all[2].Address()}})
	i := slices.IndexFunc(all, func(n *node.Node) bool { return n.Address() == x.Node() }) // another one, if that had no lease yet
	dies, stays := all[i], all[(i+1)%3]
	y := acquire(t, stays, "y")
	h := acquire(t, x, "x")
	got := make(chan lock.Handle)
	go func() { got <- acquire(t, x, "y") }()
	becomes(t, "waiting", func() bool { return dies.Status().Waiting == 1 })
	dies.Kill()
	release(t, y)
	release(t, <-got)
	// The client claims what it holds at another node. That may come too late.
	if err := h.Unlock(); err != nil && !errors.Is(err, lock.ErrLost) {
		t.Error(err)
	}
	if after := acquire(t, stays, "x"); !h.Token().Less(after.Token()) {
		t.Errorf("%v after %v", after.Token(), h.Token())
	}
	if x.Node() == dies.Address() {
		t.Error("it stays with a dead node")
	}
}

// No two locks are valid at once: when another client acquires the lock, the previous
// holder has been notified by its clock, even if its connection hangs.
func TestCutClient(t *testing.T) {
	n := start(t, 1, time.Second)[0]
	r := newRelay(t, n.Address())
	x := dial(t, client.Config{Nodes: []string{r.address()}})
	h := acquire(t, x, "x")
	r.set(true)
	other := acquire(t, n, "x")
	if err := h.Err(); !errors.Is(err, lock.ErrLost) {
		t.Errorf("two hold it: %v", err)
	}
	release(t, other)
	if !h.Deadline().IsZero() {
		t.Error(h.Deadline())
	}
}

// How a request ends, and what its error says.
func TestErrors(t *testing.T) {
	n := start(t, 1, 10*time.Second)[0]
	x := dial(t, client.Config{Nodes: []string{n.Address()}})
	h := acquire(t, n, "x")
	if _, err := x.Lock(soon(t), "x", lock.Options{Try: true}); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("a try: %v", err)
	}
	if _, err := x.Lock(soon(t), "x", lock.Options{Wait: time.Millisecond}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait: %v", err)
	}
	if _, err := x.Lock(soon(t), "", lock.Options{}); !errors.Is(err, member.ErrName) {
		t.Errorf("no name: %v", err)
	}
	why := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		becomes(t, "waiting", func() bool { return n.Status().Waiting == 1 })
		cancel(why)
	}()
	for range 2 {
		if _, err := x.Lock(ctx, "x", lock.Options{}); !errors.Is(err, why) || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	becomes(t, "taken back", func() bool { return n.Status().Waiting == 0 })
	release(t, h)
	h = acquire(t, x, "x")
	first := h.Deadline()
	becomes(t, "a later deadline", func() bool { return h.Deadline().After(first) })
	release(t, h)
	if err := h.Unlock(); !errors.Is(err, lock.ErrReleased) || !errors.Is(h.Err(), lock.ErrReleased) || !errors.Is(context.Cause(h.Context()), lock.ErrReleased) {
		t.Error(err, h.Err())
	}
}

// A closed client holds nothing, and notifies all waiters.
func TestClose(t *testing.T) {
	n := start(t, 1, time.Hour)[0]
	x := dial(t, client.Config{Nodes: []string{n.Address()}})
	h := acquire(t, x, "x")
	failed := make(chan error)
	go func() {
		_, err := x.Lock(soon(t), "x", lock.Options{})
		failed <- err
	}()
	becomes(t, "waiting", func() bool { return x.Busy() == 2 })
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { x.Close() })
	}
	wg.Wait()
	if err := <-failed; !errors.Is(err, client.ErrClosed) {
		t.Errorf("who waited hears %v", err)
	}
	if err := h.Unlock(); !errors.Is(err, lock.ErrLost) {
		t.Errorf("who held hears %v", err)
	}
	if _, err := x.Lock(soon(t), "x", lock.Options{}); !errors.Is(err, client.ErrClosed) {
		t.Errorf("a request: %v", err)
	}
	if _, err := x.Ask(soon(t), node.AskStatus, nil); !errors.Is(err, client.ErrClosed) {
		t.Errorf("a question: %v", err)
	}
	release(t, acquire(t, n, "x")) // at once, not after an hour
}

// A client that is killed is not believed to have stopped.
func TestKill(t *testing.T) {
	n := start(t, 1, time.Second)[0]
	x := dial(t, client.Config{Nodes: []string{n.Address()}})
	h := acquire(t, x, "x")
	x.Kill()
	if !errors.Is(h.Err(), lock.ErrLost) {
		t.Error(h.Err())
	}
	if _, err := n.Lock(soon(t), "x", lock.Options{Try: true}); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("others have it at once: %v", err)
	}
	release(t, acquire(t, n, "x"))
}

// The error of a failed Dial gives the reason, and that of its context.
func TestDialFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	joining, err := node.Start(node.Config{Name: "b", Listen: "127.0.0.1:0", Join: []string{l.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	defer joining.Kill()
	for _, address := range []string{l.Addr().String(), joining.Address()} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := client.Dial(ctx, client.Config{Nodes: []string{address}})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), address) {
			t.Errorf("no reason from %s: %v", address, err)
		}
		cancel()
	}
	for _, bad := range []client.Config{{}, {Nodes: []string{"x"}, TLS: cert.Config{Cert: "x"}}, {Nodes: []string{"x"}, TLS: cert.Config{CA: "x", Cert: "x", Key: "x"}}} {
		if _, err := client.Dial(t.Context(), bad); err == nil {
			t.Errorf("%+v is dialled", bad)
		}
	}
	// It still answers questions.
	b, at, err := client.Query(soon(t), client.Config{Nodes: []string{l.Addr().String(), joining.Address()}}, node.AskStatus, nil)
	var s node.Status
	if err != nil || at != joining.Address() || json.Unmarshal(b, &s) != nil || s.State != "joining" {
		t.Errorf("%s, %s, %v", b, at, err)
	}
	if _, at, err := client.Query(soon(t), client.Config{Nodes: []string{joining.Address()}}, 99, nil); at != joining.Address() || err == nil || !strings.Contains(err.Error(), "does not know") {
		t.Error(at, err)
	}
}

// A node that listens and says nothing takes no more than its share of the time.
func TestQuerySilence(t *testing.T) {
	n := start(t, 1, time.Hour)[0]
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	_, at, err := client.Query(ctx, client.Config{Nodes: []string{silent.Addr().String(), n.Address()}}, node.AskStatus, nil)
	if err != nil || at != n.Address() {
		t.Errorf("%q: %v", at, err)
	}
	over, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, at, err := client.Query(over, client.Config{Nodes: []string{silent.Addr().String()}}, node.AskStatus, nil); err == nil || at != "" {
		t.Errorf("nobody has answered, but %q: %v", at, err)
	}
}

// Questions are answered, in several parts if the answer is long. No caller waits forever if
// the connection breaks.
func TestAsk(t *testing.T) {
	n := start(t, 1, 10*time.Second)[0]
	r := newRelay(t, n.Address())
	x := dial(t, client.Config{Nodes: []string{r.address()}})
	long := strings.Repeat("n", 400)
	for i := range 1000 {
		acquire(t, n, fmt.Sprint(long, i))
	}
	b, err := x.Ask(soon(t), node.AskLocks, lockQuery(t, "n"))
	var page node.LockPage[node.LockInfo]
	if err != nil || len(b) <= session.MaxBytes || json.Unmarshal(b, &page) != nil || len(page.Locks) != 1000 {
		t.Errorf("%d bytes, %d locks, %v", len(b), len(page.Locks), err)
	}
	if _, err := x.Ask(soon(t), node.AskLocks, []byte("n")); err == nil {
		t.Error("a malformed question")
	}
	if _, err := x.Ask(soon(t), node.AskStatus, make([]byte, session.MaxBytes+1)); err == nil {
		t.Error("a question that is too long")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Ask(ctx, node.AskStatus, nil); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	r.set(true)
	becomes(t, "told that there is nobody", func() bool {
		_, err := x.Ask(soon(t), node.AskStatus, nil)
		return err != nil && !errors.Is(err, context.DeadlineExceeded)
	})
}

// Many goroutines, a connection that breaks now and then, and contexts that end: at most
// one is inside, and none is left.
func TestMany(t *testing.T) {
	n := start(t, 1, 10*time.Second)[0]
	r := newRelay(t, n.Address())
	x := dial(t, client.Config{Nodes: []string{r.address()}})
	var wg sync.WaitGroup
	var mu sync.Mutex
	inside, entries, cancelled := 0, 0, 0
	for i := range 16 {
		wg.Go(func() {
			chance := rand.New(rand.NewPCG(uint64(i), 2))
			for try := range 50 {
				after := time.Duration(100+chance.IntN(20000)) * time.Microsecond
				switch try % 25 {
				case 0: // some are granted, however slow this is
					after = time.Hour
				case 1: // and some are not
					after = 0
				}
				ctx, cancel := context.WithTimeout(t.Context(), after)
				h, err := x.Lock(ctx, "x", lock.Options{})
				cancel()
				mu.Lock()
				switch {
				case err != nil && !errors.Is(err, context.DeadlineExceeded):
					t.Error(err)
				case err != nil:
					cancelled++
				case inside > 0:
					t.Error("two are inside")
				default:
					entries++
					inside++
				}
				mu.Unlock()
				if err == nil {
					mu.Lock()
					inside--
					mu.Unlock()
					// If the answer was lost with its connection, it is unknown whether the
					// lock was held until then.
					if err := h.Unlock(); err != nil && !errors.Is(err, lock.ErrLost) {
						t.Error(err)
					}
				}
				if chance.IntN(20) == 0 {
					r.set(false)
				}
			}
		})
	}
	wg.Wait()
	if entries == 0 || cancelled == 0 {
		t.Errorf("%d entries and %d cancelled: this tests nothing", entries, cancelled)
	}
	becomes(t, "empty", func() bool { s := n.Status(); return x.Busy() == 0 && s.Held == 0 && s.Waiting == 0 })
}
