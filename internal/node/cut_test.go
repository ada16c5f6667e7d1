package node

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/process"
)

// lab starts nodes of a network that can be cut.
func lab(t *testing.T, count int, change func(i int, c *Config)) (*network, []*Node) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs 127.0.0.2 and so on, which only Linux has by itself")
	}
	w := newNetwork()
	return w, start(t, count, func(i int, c *Config) {
		c.Lease, c.Patience = lease, time.Hour
		w.use(i, c)
		if change != nil {
			change(i, c)
		}
	})
}

// asked is a Lock that is still waiting.
type asked struct {
	lock lock.Handle
	err  error
	old  error // what another lock says of itself at that moment
}

// waiting asks for a lock that is held, and waits until it waits. When it has the
// lock it looks at once what the one before says.
func waiting(t *testing.T, n *Node, old lock.Handle) <-chan asked {
	t.Helper()
	before := n.Status().Waiting
	done := make(chan asked, 1)
	go func() {
		ctx, cancel := soon(t)
		defer cancel()
		l, err := n.Lock(ctx, old.Name(), lock.Options{})
		done <- asked{l, err, old.Err()}
	}()
	becomes(t, n, "waiting", func(s Status) bool { return s.Waiting > before })
	return done
}

// A node that is cut off is notified of its loss before others acquire its lock; when the
// network heals it joins by itself, and its waiters are granted.
func TestCutOff(t *testing.T) {
	w, all := lab(t, 3, nil)
	b, c := all[1], all[2]
	h := acquire(t, c, "x")
	elsewhere := waiting(t, b, h)
	y := acquire(t, b, "y")
	here := waiting(t, c, y)
	inc := c.Status().Members[2].Incarnation
	w.cut(0, 2)
	w.cut(1, 2)
	got := <-elsewhere
	if got.err != nil || !errors.Is(got.old, lock.ErrLost) {
		t.Fatalf("%v: another one has it, and who lost it is told %v", got.err, got.old)
	}
	<-h.Context().Done()
	if cause := context.Cause(h.Context()); !errors.Is(cause, lock.ErrLost) || !strings.Contains(cause.Error(), "lease") {
		t.Error(cause)
	}
	if err := h.Unlock(); !errors.Is(err, lock.ErrLost) {
		t.Error(err)
	}
	if !h.Token().Less(got.lock.Token()) {
		t.Errorf("%v after %v", got.lock.Token(), h.Token())
	}
	becomes(t, b, "without it", func(s Status) bool { return len(s.Members) == 2 })
	w.heal()
	release(t, y)
	again := <-here
	if again.err != nil || !y.Token().Less(again.lock.Token()) {
		t.Fatal(again.err)
	}
	if s := c.Status(); s.State != "member" || len(s.Members) != 3 || s.Members[2].Incarnation == inc {
		t.Errorf("%+v", s)
	}
	release(t, again.lock)
	release(t, got.lock)
	for _, n := range all {
		stop(t, n)
	}
}

// A connection that breaks for a moment costs nothing.
func TestDropped(t *testing.T) {
	w, all := lab(t, 2, nil)
	h := acquire(t, all[1], "x")
	got := waiting(t, all[0], h)
	epoch := all[0].Status().Epoch
	all[0].pool.Drop(all[1].Address())
	w.cut(0, 1)
	w.heal()
	release(t, h)
	if x := <-got; x.err != nil {
		t.Error(x.err)
	}
	if s := all[0].Status(); s.Epoch != epoch || len(s.Members) != 2 {
		t.Errorf("epoch %d after %d, %+v", s.Epoch, epoch, s.Members)
	}
}

// A stop in any moment of an eviction ends: also while the node is about to join
// again.
func TestStopCutOff(t *testing.T) {
	w, all := lab(t, 2, nil)
	c := all[1]
	w.cut(0, 1)
	becomes(t, all[0], "alone", func(s Status) bool { return len(s.Members) == 1 })
	w.heal()
	becomes(t, c, "a member again", func(s Status) bool { return s.State == "member" && len(s.Members) == 2 })
	w.cut(0, 1)
	ctx, cancel := context.WithTimeout(t.Context(), lease)
	defer cancel()
	if err := c.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it has left without asking anybody: %v", err)
	}
}

// A process that reaches only some members is a client of one, reports so, and keeps trying
// to join; when it is a member it is no longer a client.
func TestClientMeanwhile(t *testing.T) {
	w, all := lab(t, 2, nil)
	w.cut(0, 2)
	var log journal
	x := Config{Name: "c", Lease: lease, Patience: time.Millisecond, Join: []string{all[1].Address()}, Log: log.logger()}
	w.use(2, &x)
	c := run(t, x)
	ready(t, c)
	log.says(t, "became a client")
	if s := c.Status(); !strings.HasPrefix(s.State, "client of 127.0.0.") {
		t.Errorf("%+v", s)
	}
	h := acquire(t, c, "x")
	if _, err := c.Lock(t.Context(), "x", lock.Options{Try: true}); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("a try: %v", err)
	}
	got := waiting(t, all[0], h)
	w.heal()
	becomes(t, c, "a member", func(s Status) bool { return s.State == "member" })
	if h.Err() != nil {
		t.Errorf("what it holds as a client: %v", h.Err())
	}
	y := acquire(t, c, "y")
	if _, ok := y.(*Hold); !ok {
		t.Errorf("a member has %T", y)
	}
	release(t, y)
	release(t, h)
	next := <-got
	if next.err != nil || !h.Token().Less(next.lock.Token()) {
		t.Error(next.err)
	}
	release(t, next.lock)
	becomes(t, c, "a client no more", func(Status) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.fallback.client == nil
	})
	stop(t, c)
}

// A node that is a client also stops as one: waiters are notified, and the stop waits for
// holders, or notifies them.
func TestClientMeanwhileEnds(t *testing.T) {
	w, all := lab(t, 2, nil)
	w.cut(0, 2)
	for _, orderly := range []bool{true, false} {
		x := Config{Name: "c", Lease: lease, Patience: time.Millisecond, Join: []string{all[1].Address()}}
		w.use(2, &x)
		c := run(t, x)
		ready(t, c)
		h := acquire(t, c, "x")
		refused := make(chan error)
		go func() {
			_, err := c.Lock(t.Context(), "x", lock.Options{})
			refused <- err
		}()
		becomes(t, c, "busy", func(Status) bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.fallback.busy() == 2
		})
		ended := make(chan struct{})
		go func() {
			if orderly {
				stop(t, c)
			} else {
				c.Kill()
			}
			close(ended)
		}()
		if err := <-refused; !errors.Is(err, ErrEnded) {
			t.Errorf("who waited hears %v", err)
		}
		if orderly {
			release(t, h)
			<-ended
			continue
		}
		<-ended
		if err := h.Unlock(); !errors.Is(err, lock.ErrLost) {
			t.Errorf("who held it hears %v", err)
		}
	}
	release(t, acquire(t, all[0], "x"))
}

// A node takes over the times of its cluster, whatever its own would be: a voter
// that looks around at another pace than the others is a bad one.
func TestTimesOfTheCluster(t *testing.T) {
	c := Config{Name: "a", Listen: "127.0.0.1:0", Lease: lease, Data: filepath.Join(t.TempDir(), "a")}
	n := run(t, c)
	ready(t, n)
	stop(t, n)
	c.Lease = 0 // 10 s
	n = run(t, c)
	ready(t, n)
	tick := process.Tick(settingsFor(lease))
	for range 100 {
		n.mu.Lock()
		due := until(n.clock(), n.p.Out.Wake)
		n.mu.Unlock()
		if due > time.Duration(tick) {
			t.Fatalf("it looks around in %v: want every %v", due, tick)
		}
		time.Sleep(time.Millisecond)
	}
}
