package client_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/session"
)

// only connects to one address, as if no other could be reached.
func only(t *testing.T, address string) func(ctx context.Context, to string) (transport.Conn, error) {
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	return func(ctx context.Context, to string) (transport.Conn, error) {
		if to != address {
			return nil, errors.New("cannot be reached")
		}
		l, err := transport.DialClient(ctx, to, transport.ClientConfig{}, &wg)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
}

// At the address of its node, a client finds a node of another cluster. It acquires nothing
// there, and says why it has no node. When a node of its own cluster is back, it goes on.
func TestOtherCluster(t *testing.T) {
	own, other := start(t, 1, 10*time.Second)[0], start(t, 1, 10*time.Second)[0]
	r := newRelay(t, own.Address())
	x := dial(t, client.Config{Nodes: []string{r.address()}, Connect: only(t, r.address())})
	release(t, acquire(t, x, "sched"))
	elsewhere := acquire(t, own, "sched")

	r.lead(other.Address())
	becomes(t, "refused", func() bool { return errors.As(x.Trouble(), new(*session.OtherCluster)) })
	if _, err := x.Lock(t.Context(), "x", lock.Options{Wait: time.Millisecond}); !errors.As(err, new(*session.OtherCluster)) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a request: %v", err)
	}
	got := make(chan lock.Handle)
	go func() { got <- acquire(t, x, "sched") }()
	made := r.count()
	becomes(t, "tried again", func() bool { return r.count() > made+2 })
	if s := other.Status(); s.Held+s.Waiting > 0 {
		t.Errorf("at the other cluster: %+v", s)
	}

	r.lead(own.Address())
	release(t, elsewhere)
	if h := <-got; !elsewhere.Token().Less(h.Token()) {
		t.Errorf("%v after %v", h.Token(), elsewhere.Token())
	} else {
		release(t, h)
	}
}

// A client that is told its cluster opens no session with another one.
func TestGivenCluster(t *testing.T) {
	n := start(t, 1, 10*time.Second)[0]
	r := newRelay(t, n.Address())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		becomes(t, "tried", func() bool { return r.count() > 2 })
		cancel()
	}()
	_, err := client.Dial(ctx, client.Config{Nodes: []string{r.address()}, Connect: only(t, r.address()), Cluster: 1})
	if !errors.As(err, new(*session.OtherCluster)) {
		t.Errorf("dialled: %v", err)
	}
}
