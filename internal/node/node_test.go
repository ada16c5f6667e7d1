package node

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/cert"
)

func TestThree(t *testing.T) {
	all := start(t, 3, nil)
	var last lock.Handle
	for i := range 30 {
		h := acquire(t, all[i%3], "x")
		if h.Err() != nil || last != nil && !last.Token().Less(h.Token()) {
			t.Fatal(h.Err(), h.Token())
		}
		release(t, h)
		last = h
	}
	for _, n := range all {
		stop(t, n)
	}
}

func TestBadConfig(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, x := range []struct {
		why string
		c   Config
	}{
		{"want 1, 3 or 5", Config{Voters: 2}},
		{"lease", Config{Lease: time.Millisecond}},
		{"lease", Config{Lease: -time.Second}},
		{"want host:port", Config{Listen: "nowhere"}},
		{"--advertise", Config{Listen: ":0", Insecure: true}},
		{"--advertise", Config{Listen: "0.0.0.0:0", Insecure: true}},
		{"--insecure", Config{Listen: "0.0.0.0:0", Advertise: "10.0.0.1:7420"}},
		{"want host:port", Config{Advertise: "host"}},
		{"\":7420\"", Config{Advertise: ":7420"}},
		{"0.0.0.0:7420", Config{Advertise: "0.0.0.0:7420"}},
		{"host:0", Config{Advertise: "host:0"}},
		{"host:http", Config{Advertise: "host:http"}},
		{"cannot listen", Config{Listen: taken.Addr().String()}},
		{"node name", Config{Name: "a\nb"}},
		{"node name", Config{Name: strings.Repeat("x", 300)}},
		{"three files", Config{TLS: cert.Config{CA: "x"}}},
		{"three files", Config{TLS: cert.Config{Cert: "x", Key: "y"}}},
		{"cannot read", Config{TLS: cert.Config{CA: "none", Cert: "none", Key: "none"}}},
		{"no-such", Config{Algorithm: "no-such"}},
		{"does not run live", Config{Algorithm: "token-ring"}},
		{"127.0.0.1:17421", Config{Listen: "127.0.0.1:17421", Join: []string{"127.0.0.1:17421"}}},
	} {
		if x.c.Listen == "" {
			x.c.Listen = "127.0.0.1:0"
		}
		n, err := Start(x.c)
		if err == nil {
			n.Kill()
		}
		if err == nil || !strings.Contains(err.Error(), x.why) {
			t.Errorf("%+v: %v: want %q", x.c, err, x.why)
		}
	}
}

// The proportions of the usual settings stay for every lease.
func TestSettings(t *testing.T) {
	for _, d := range []time.Duration{50 * time.Millisecond, time.Second, 10 * time.Second, time.Minute, time.Hour} {
		c, err := Config{Name: "a", Lease: d}.withDefaults()
		if err != nil {
			t.Errorf("%v: %v", d, err)
			continue
		}
		if s := c.Settings; time.Duration(s.Lease) != d || time.Duration(s.Renew) != d/5 || time.Duration(s.ViewLife) != d/10 {
			t.Errorf("%v: %+v", d, s)
		}
	}
}

// Nodes that join do not know the lease, and are admitted all the same if it is short, and
// they ask each other first.
func TestJoinShortLease(t *testing.T) {
	a := run(t, Config{Name: "a", Listen: "127.0.0.1:0", Lease: lease})
	ready(t, a)
	at := []string{nobody(t), nobody(t)}
	b := run(t, Config{Name: "b", Listen: at[0], Join: []string{at[1], a.Address()}})
	c := run(t, Config{Name: "c", Listen: at[1], Join: []string{a.Address(), at[0]}})
	for _, n := range []*Node{a, b, c} {
		becomes(t, n, "with all members", func(s Status) bool { return s.State == Member.String() && len(s.Members) == 3 })
	}
}

// However a node stops, and in whichever state: it stops, and waiters are notified.
func TestEnds(t *testing.T) {
	ways := map[string]func(t *testing.T, n *Node){
		"kill": func(t *testing.T, n *Node) { n.Kill() },
		"kill twice": func(t *testing.T, n *Node) {
			var wg sync.WaitGroup
			wg.Go(n.Kill)
			n.Kill()
			wg.Wait()
		},
		"stop": func(t *testing.T, n *Node) { stop(t, n) },
		"stop twice": func(t *testing.T, n *Node) {
			var wg sync.WaitGroup
			wg.Go(func() { stop(t, n) })
			stop(t, n)
			wg.Wait()
			stop(t, n)
		},
		"kill in a stop": func(t *testing.T, n *Node) {
			var wg sync.WaitGroup
			wg.Go(func() { stop(t, n) })
			n.Kill()
			wg.Wait()
		},
	}
	for name, end := range ways {
		t.Run("member "+name, func(t *testing.T) {
			end(t, start(t, 1, nil)[0])
		})
		t.Run("joining "+name, func(t *testing.T) {
			n := run(t, Config{Name: "b", Listen: "127.0.0.1:0", Join: []string{nobody(t)}})
			failed := make(chan error)
			go func() {
				_, err := n.Lock(t.Context(), "x", lock.Options{})
				failed <- err
			}()
			end(t, n)
			if err := <-failed; !errors.Is(err, ErrEnded) {
				t.Errorf("who waited hears %v", err)
			}
			if err := n.Ready(t.Context()); !errors.Is(err, ErrEnded) {
				t.Errorf("ready: %v", err)
			}
		})
	}
}

// nobody returns an address at which no process listens.
func nobody(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// The error of Ready says why the node has not joined.
func TestNeverReady(t *testing.T) {
	a := nobody(t)
	n := run(t, Config{Name: "b", Listen: "127.0.0.1:0", Join: []string{a}})
	becomes(t, n, "told why", func(s Status) bool { return s.Why != "" })
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	err := n.Ready(ctx)
	if !errors.Is(err, why) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), a) {
		t.Error(err)
	}
}

// A node that stops waits for holders, refuses waiters, and leaves without making the
// others wait for a lease.
func TestDrain(t *testing.T) {
	long := member.Usual()
	long.Lease, long.ViewLife, long.Replace = 3600*member.Second, 0, 3600*member.Second
	all := start(t, 2, func(i int, c *Config) { c.Settings = &long })
	a, b := all[0], all[1]
	h := acquire(t, b, "x")
	refused := make(chan error)
	go func() {
		_, err := b.Lock(t.Context(), "x", lock.Options{})
		refused <- err
	}()
	becomes(t, b, "waiting", func(s Status) bool { return s.Waiting == 1 })
	stopped := make(chan struct{})
	go func() {
		stop(t, b)
		close(stopped)
	}()
	if err := <-refused; !errors.Is(err, ErrEnded) {
		t.Errorf("who waited hears %v", err)
	}
	if _, err := b.Lock(t.Context(), "y", lock.Options{}); !errors.Is(err, ErrEnded) {
		t.Errorf("something new: %v", err)
	}
	if s := b.Status(); s.State != "draining" || h.Err() != nil {
		t.Errorf("%s with a holder, whose error is %v", s.State, h.Err())
	}
	release(t, h)
	<-stopped
	release(t, acquire(t, a, "x")) // which would take an hour after a crash
	if !errors.Is(b.Err(), ErrEnded) {
		t.Error(b.Err())
	}
}

// A stop that takes too long ends like a crash, and the holder is notified.
func TestDrainTooLong(t *testing.T) {
	n := start(t, 1, nil)[0]
	h := acquire(t, n, "x")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		becomes(t, n, "draining", func(s Status) bool { return s.State == "draining" })
		cancel(errors.New("hurry"))
	}()
	if err := n.Stop(ctx); err == nil || !strings.Contains(err.Error(), "hurry") {
		t.Error(err)
	}
	if err := h.Unlock(); !errors.Is(err, lock.ErrLost) {
		t.Error(err)
	}
	if cause := context.Cause(h.Context()); !errors.Is(cause, lock.ErrLost) {
		t.Error(cause)
	}
}
