package stile_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stile-lock/stile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair opens a node and a client of it.
func pair(t *testing.T) (*stile.Node, *stile.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, err := stile.Open(ctx, stile.Config{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := stile.Dial(ctx, stile.DialConfig{Nodes: []string{n.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		n.Close()
	})
	return n, c
}

// Errors can be distinguished, whichever way a lock is acquired.
func TestErrors(t *testing.T) {
	n, c := pair(t)
	why := errors.New("the reason")
	for name, x := range map[string]stile.Locker{"node": n, "client": c} {
		held, err := n.Lock(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		expired, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		caused, cancel2 := context.WithCancelCause(t.Context())
		cancel2(why)
		is := func(what string, err error, all ...error) {
			t.Helper()
			for _, want := range all {
				if !errors.Is(err, want) {
					t.Errorf("%s: %s: %v: want %v", name, what, err, want)
				}
			}
		}
		_, err = x.TryLock(t.Context(), "x")
		is("busy", err, stile.ErrBusy)
		_, err = x.Lock(expired, "x")
		is("a deadline", err, context.DeadlineExceeded)
		_, err = x.Lock(caused, "x")
		is("a cause", err, context.Canceled, why)
		_, err = x.LockAll(caused, "a", "x")
		is("all of them", err, context.Canceled, why)
		is("do", x.Do(caused, "x", nil), context.Canceled, why)
		cancel()
		if err := held.Unlock(); err != nil {
			t.Fatal(err)
		}
		is("again", held.Unlock(), stile.ErrReleased)
		is("after", held.Err(), stile.ErrReleased)
		is("its context", context.Cause(held.Context()), stile.ErrReleased)
		is("of f", x.Do(t.Context(), "x", func(context.Context, stile.Token) error { return why }), why)
	}
	kept, err := c.Lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	err = c.Do(t.Context(), "y", func(ctx context.Context, _ stile.Token) error {
		c.Close()
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, stile.ErrLost) || !errors.Is(kept.Unlock(), stile.ErrLost) || !errors.Is(kept.Err(), stile.ErrLost) {
		t.Error(err, kept.Err())
	}
	n.Close()
	for _, x := range []stile.Locker{n, c} {
		if _, err := x.Lock(t.Context(), "x"); !errors.Is(err, stile.ErrClosed) {
			t.Error(err)
		}
	}
	if <-n.Done(); !errors.Is(n.Err(), stile.ErrClosed) {
		t.Error(n.Err())
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := stile.Open(ctx, stile.Config{Join: []string{n.Address()}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := stile.Dial(ctx, stile.DialConfig{Nodes: []string{n.Address()}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// Two processes that acquire several locks in different orders never wait for each other in
// a cycle, and one that does not get all of them keeps none.
func TestLockAll(t *testing.T) {
	n, c := pair(t)
	names := []string{"a", "b", "c", "d"}
	var wg sync.WaitGroup
	var mu sync.Mutex
	inside := map[string]bool{}
	for _, x := range []stile.Locker{n, c} {
		kept, err := n.Lock(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if l, err := x.LockAll(ctx, "d", "c", "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %v: c is held", l, err)
		}
		cancel()
		kept.Unlock()
	}
	for i := range 6 {
		x := []stile.Locker{n, c}[i%2]
		wg.Go(func() {
			chance := rand.New(rand.NewPCG(uint64(i), 3))
			for range 60 {
				some := []string{names[chance.IntN(4)], names[chance.IntN(4)], names[chance.IntN(4)]}
				ctx, cancel := t.Context(), func() {}
				if chance.IntN(2) == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(100+chance.IntN(5000))*time.Microsecond)
				}
				l, err := x.LockAll(ctx, some...)
				late := ctx.Err()
				cancel()
				if err != nil {
					if late == nil {
						t.Error(err)
					}
					continue
				}
				for _, name := range some {
					if l.Get(name) == nil || l.Get(name).Err() != nil {
						t.Error(name, "is not among them")
					}
				}
				held := map[string]bool{some[0]: true, some[1]: true, some[2]: true}
				mark(t, &mu, inside, held, true)
				mark(t, &mu, inside, held, false)
				if err := l.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, name := range names { // withdrawn requests release their locks soon
		l, err := n.Lock(ctx, name)
		if err != nil {
			t.Errorf("%s is left: %v", name, err)
			continue
		}
		l.Unlock()
	}
}

// mark notes who is inside.
func mark(t *testing.T, mu *sync.Mutex, inside, held map[string]bool, in bool) {
	mu.Lock()
	defer mu.Unlock()
	for name := range held {
		if inside[name] == in {
			t.Errorf("two are inside of %s", name)
		}
		inside[name] = in
	}
}

func TestToken(t *testing.T) {
	x := stile.Token{Epoch: 7, Count: 42}
	if y, err := stile.ParseToken(x.String()); err != nil || y != x {
		t.Error(y, err)
	}
	for _, bad := range []string{"", "7", "7.", ".42", "7.42.1", "-1.2", "a.b", "7.18446744073709551616"} {
		if _, err := stile.ParseToken(bad); err == nil {
			t.Errorf("%q is a token", bad)
		}
	}
}

// Dial does not wait forever, and names every address with a reason.
func TestDialGivesUp(t *testing.T) {
	listen := func() (net.Listener, string) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l, l.Addr().String()
	}
	closed, refuses := listen()
	closed.Close()
	open, silent := listen()
	defer open.Close()
	_, err := stile.Dial(context.Background(), stile.DialConfig{Nodes: []string{refuses, silent}, Timeout: 500 * time.Millisecond})
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), refuses) || !strings.Contains(err.Error(), silent) {
		t.Error(err)
	}
}

// A node that is closed while locks are held through it names them, and their holders
// learn that this is why they have lost them.
func TestCloseNamesLocks(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, err := stile.Open(ctx, stile.Config{Name: "a", Drain: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	c, err := stile.Dial(ctx, stile.DialConfig{Nodes: []string{n.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	own, err := n.Lock(ctx, "own")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Lock(ctx, "a client's\n"); err != nil {
		t.Fatal(err)
	}
	err = n.Close()
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "own") || !strings.Contains(err.Error(), `"a client's\n"`) {
		t.Error(err)
	}
	if err := own.Err(); !errors.Is(err, stile.ErrLost) || !strings.Contains(err.Error(), "stop") {
		t.Error(err)
	}
}

// The error of a bad name says what is wrong with it.
func TestBadNames(t *testing.T) {
	n, c := pair(t)
	for name, says := range map[string]string{"": "empty", "a\xff": "UTF-8", strings.Repeat("n", 513): "513"} {
		for _, x := range []stile.Locker{n, c} {
			if _, err := x.Lock(t.Context(), name); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%.9q: %v", name, err)
			}
		}
	}
}
