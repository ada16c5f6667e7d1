package node

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/clock"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/process"
)

// An onlooker is the connection of a client to which the node sends something: it looks at the
// node in the middle of a step.
type onlooker struct {
	transport.Conn
	look func()
}

func (o onlooker) Send([]byte, bool) error {
	o.look()
	return nil
}

func (o onlooker) Flush() {}

// A suspended is a node whose process has been suspended for longer than its lease. In its next
// step a lock is lost, the lease is renewed, and the next process enters.
type suspended struct {
	*Node
	t    *testing.T
	hold lock.Handle
	next chan lock.Handle
	in   atomic.Pointer[func()] // what happens when the clock is read next; nil: nothing
}

func suspend(t *testing.T) *suspended {
	s := &suspended{t: t, next: make(chan lock.Handle)}
	var asleep atomic.Int64
	s.Node = start(t, 1, func(_ int, c *Config) {
		c.Lease = 10 * time.Second
		c.clock = func() member.Instant {
			if f := s.in.Swap(nil); f != nil {
				(*f)()
			}
			return clock.Now() + member.Instant(asleep.Load())
		}
	})[0]
	s.hold = acquire(t, s.Node, "x")
	go func() { s.next <- acquire(t, s.Node, "x") }()
	becomes(t, s.Node, "waiting", func(st Status) bool { return st.Waiting == 1 })
	s.enter()
	asleep.Add(int64(s.c.Settings.Renew)) // a renewal is sent, and not answered before the process is suspended
	s.step(process.Input{Kind: process.Wake})
	s.carryOut()
	asleep.Add(int64(until(s.clock(), s.p.Member().Deadline())) + 1)
	return s
}

// wakes takes the step, with an effect in front at which the test looks.
func (s *suspended) wakes(look func()) {
	s.step(process.Input{Kind: process.Wake})
	lost := false
	for _, e := range s.p.Out.Effects {
		lost = lost || e.Kind == process.Notify && e.Event.Kind == member.Lost
	}
	if renewed := s.p.Member().Usable(s.Node.in.At); !lost || !renewed {
		s.t.Errorf("lost %t, renewed %t: want both in one step", lost, renewed)
	}
	const conn = 1 << 60
	s.conns[conn] = &clientConn{silent: time.NewTimer(time.Hour), Conn: onlooker{look: look}}
	first := process.Effect{Kind: process.Reply, Conn: conn, Bytes: []byte{0}}
	s.p.Out.Effects = append([]process.Effect{first}, s.p.Out.Effects...)
	s.carryOut()
	delete(s.conns, conn)
}

// ends lets the next process enter.
func (s *suspended) ends() {
	s.leave()
	if h := <-s.next; h.Err() != nil || h.Deadline().IsZero() {
		s.t.Errorf("the next one: %v, deadline %v", h.Err(), h.Deadline())
	}
}

// A later deadline is that of locks that are acquired after it was published: until a holder is
// notified of its loss, it reads the former one.
func TestLostBeforeRenewed(t *testing.T) {
	s := suspend(t)
	looks := 0
	s.wakes(func() {
		looks++
		if err, until := s.hold.Err(), s.hold.Deadline(); err == nil || !until.IsZero() {
			t.Errorf("after its lease: error %v, deadline %v", err, until)
		}
	})
	if looks != 1 {
		t.Errorf("looked %d times", looks)
	}
	s.ends()
}

// The same if the step comes while the holder asks.
func TestLostWhileAsking(t *testing.T) {
	for what, held := range map[string]func(h lock.Handle) bool{
		"Err":      func(h lock.Handle) bool { return h.Err() == nil },
		"Deadline": func(h lock.Handle) bool { return !h.Deadline().IsZero() },
	} {
		s := suspend(t)
		wakes := func() { s.wakes(func() {}) }
		s.in.Store(&wakes)
		if held(s.hold) {
			t.Errorf("%s: held, after its lease", what)
		}
		s.ends()
	}
}
