package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
)

// A ledger is what is known of locks that many use, and what was wrong.
type ledger struct {
	mu     sync.Mutex
	inside map[string]bool
	last   map[string]member.Token
	wrong  []error
}

func newLedger() *ledger {
	return &ledger{inside: map[string]bool{}, last: map[string]member.Token{}}
}

// note notes what is wrong, if it is.
func (b *ledger) note(who string, err error) {
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.wrong = append(b.wrong, fmt.Errorf("%s: %w", who, err))
	}
}

// enter records an entry.
func (b *ledger) enter(name string, token member.Token) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	was, last := b.inside[name], b.last[name]
	b.inside[name], b.last[name] = true, token
	switch {
	case was:
		return fmt.Errorf("two are inside %s", name)
	case !last.Less(token):
		return fmt.Errorf("%v comes after %v in %s", token, last, name)
	}
	return nil
}

// leave records that a holder is about to release.
func (b *ledger) leave(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inside[name] = false
}

// use enters once. An error of the request itself is returned, and not noted.
func (b *ledger) use(ctx context.Context, who string, x locker, name string) error {
	l, err := x.Lock(ctx, name, lock.Options{})
	if err != nil {
		return err
	}
	b.note(who, b.enter(name, l.Token()))
	b.note(who, l.Err())
	b.leave(name)
	b.note(who, l.Unlock())
	return nil
}

// A street is three nodes that are restarted in turn, with all users of their locks.
type street struct {
	t        *testing.T
	ledger   *ledger
	settings member.Settings
	dir      string
	address  []string
	nodes    []atomic.Pointer[node.Node]
	entries  []atomic.Uint64 // of each client's users
	over     chan struct{}
	users    sync.WaitGroup
}

// open starts a node, again if it was there.
func (s *street) open(i int) *node.Node {
	s.t.Helper()
	name := string(rune('a' + i))
	c := node.Config{Name: name, Listen: "127.0.0.1:0", Settings: &s.settings, Data: filepath.Join(s.dir, name)}
	if s.address[i] != "" {
		c.Listen, c.Join = s.address[i], s.address
	} else if i > 0 {
		c.Join = s.address[:1]
	}
	n, err := node.Start(c)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(n.Kill)
	if err := n.Ready(soon(s.t)); err != nil {
		s.t.Fatal(err)
	}
	s.address[i] = n.Address()
	s.nodes[i].Store(n)
	return n
}

// roads are the locks that all use.
var roads = []string{"w", "x", "y", "z"}

// newStreet makes one, in which all are busy.
func newStreet(t *testing.T, lease member.Span) *street {
	const count = 3
	s := &street{t: t, ledger: newLedger(), dir: t.TempDir(), address: make([]string, count), nodes: make([]atomic.Pointer[node.Node], count), over: make(chan struct{})}
	s.settings = member.Usual()
	s.settings.Lease, s.settings.Renew, s.settings.ViewLife = lease, 400*member.Millisecond, 50*member.Millisecond
	s.settings.Replace = max(s.settings.Replace, lease)
	for i := range count {
		s.open(i)
	}
	s.entries = make([]atomic.Uint64, count*len(roads))
	for i := range count {
		x := dial(t, client.Config{Nodes: slices.Concat(s.address[i:], s.address[:i])})
		for k, name := range roads {
			s.users.Go(func() { s.client(i*len(roads)+k, x, name) })
			s.users.Go(func() { s.embedded(i, name) })
		}
	}
	return s
}

// client uses a lock through whichever node. It gets all that it asks for.
func (s *street) client(i int, x *client.Client, name string) {
	for s.going() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		s.ledger.note("a client", s.ledger.use(ctx, "a client", x, name))
		cancel()
		s.entries[i].Add(1)
	}
}

// embedded uses a lock through a node in its own process. It gets errors only when that
// node is stopping.
func (s *street) embedded(i int, name string) {
	who := "an application of node " + string(rune('a'+i))
	for s.going() {
		n := s.nodes[i].Load()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		err := s.ledger.use(ctx, who, n, name)
		cancel()
		if errors.Is(err, node.ErrEnded) && n.Status().State != "member" {
			select { // until there is another one
			case <-s.over:
			case <-n.Done():
				becomes(s.t, "another node", func() bool { return s.nodes[i].Load() != n || !s.going() })
			}
			continue
		}
		s.ledger.note(who, err)
	}
}

func (s *street) going() bool {
	select {
	case <-s.over:
		return false
	default:
		return true
	}
}

// pass waits until all users of clients have had their locks once more.
func (s *street) pass() {
	s.t.Helper()
	for i := range s.entries {
		was := s.entries[i].Load()
		becomes(s.t, "entered by all", func() bool { return s.entries[i].Load() > was+1 })
	}
}

// end ends all use, and returns what was wrong.
func (s *street) end() error {
	close(s.over)
	s.users.Wait()
	return errors.Join(s.ledger.wrong...)
}

// Three nodes are restarted in turn while all use locks, with leases of an hour: if
// anything were lost, or waited for, it would never come back. No request fails, except new
// ones at a node that is stopping. Holders keep their locks until they release them, and
// waiters at that node are granted elsewhere.
func TestRollingRestart(t *testing.T) {
	s := newStreet(t, 3600*member.Second)
	for range 3 {
		for i := range s.nodes {
			n := s.nodes[i].Load()
			x := dial(t, client.Config{Nodes: slices.Concat(s.address[i:], s.address[:i])})
			if x.Node() != n.Address() {
				t.Fatalf("the client is at %s, and not at %s", x.Node(), n.Address())
			}
			own, hers := acquire(t, n, "own"), acquire(t, x, "hers")
			waits := make(chan error, 1)
			go func() { waits <- s.ledger.use(soon(t), "who waits", x, "own") }()
			becomes(t, "waiting", func() bool { return waiting(t, n, "own") })
			stopped := make(chan error, 1)
			go func() { stopped <- n.Stop(context.Background()) }()
			becomes(t, "draining", func() bool { return n.Status().State == "draining" })
			s.pass()
			if err := errors.Join(own.Err(), hers.Err()); err != nil || n.Status().State != "draining" {
				t.Errorf("%s: %v", n.Status().State, err)
			}
			release(t, own)
			release(t, hers)
			if err := errors.Join(<-stopped, <-waits); err != nil {
				t.Error(err)
			}
			s.open(i)
			s.pass()
		}
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

// waiting reports whether a request waits for a lock at a node.
func waiting(t *testing.T, n *node.Node, name string) bool {
	t.Helper()
	b, _, err := client.Query(soon(t), client.Config{Nodes: []string{n.Address()}}, node.AskLocks, lockQuery(t, name))
	if err != nil {
		t.Fatal(err)
	}
	var page node.LockPage[node.LockInfo]
	if err := json.Unmarshal(b, &page); err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(page.Locks, func(l node.LockInfo) bool { return len(l.Waiters) > 0 })
}

// lockQuery asks for the locks with a prefix.
func lockQuery(t *testing.T, prefix string) []byte {
	t.Helper()
	b, err := json.Marshal(node.LockQuery{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The check itself: nodes that are killed instead lose something.
func TestRollingKillIsFound(t *testing.T) {
	s := newStreet(t, 2*member.Second)
	for i := range s.nodes {
		n := s.nodes[i].Load()
		own := acquire(t, n, "own")
		n.Kill()
		s.ledger.note("a holder", own.Unlock())
		s.open(i)
		s.pass()
	}
	if err := s.end(); !errors.Is(err, lock.ErrLost) {
		t.Errorf("nodes were killed, and nothing was lost: %v", err)
	}
}

// Two holders at once are detected, and so is a token that does not rise.
func TestLedger(t *testing.T) {
	b := newLedger()
	one, two := member.Token{Epoch: 1, Count: 1}, member.Token{Epoch: 1, Count: 2}
	if err := b.enter("x", one); err != nil {
		t.Error(err)
	}
	if b.enter("x", two) == nil {
		t.Error("two are inside")
	}
	b.leave("x")
	if b.enter("x", two) == nil {
		t.Error("a token comes twice")
	}
}
