package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/clock"
	"github.com/stile-lock/stile/internal/share"
)

const (
	// shortest is the minimum length of a session.
	shortest = 100 * time.Millisecond
	// openTimeout is the time for a session to open.
	openTimeout = 5 * time.Second
	// maxRequests is the maximum number of locks that a session holds or waits for, and of its
	// transactions.
	maxRequests = 10_000
)

// A table holds the sessions, by their secret names.
type table struct {
	mu   sync.Mutex
	all  map[string]*session
	of   map[string]int // how many each identity has
	room int            // for further ones
}

// A session is one over HTTP. It lives while calls are in progress, and for its length
// after each.
type session struct {
	id     string
	who    node.Caller
	length time.Duration
	lease  time.Duration // of the cluster
	client *client.Client
	in     *table

	mu       sync.Mutex
	calls    int            // in progress
	until    member.Instant // its end, unless calls are in progress or another one comes
	timer    *time.Timer
	requests map[requestKey]*request
	outcomes recent[releasedKey, *outcome]
	txs      map[string]*transaction // that have not ended
	ended    recent[string, *transaction]
	begun    int // number of transactions
	over     bool
}

// open opens a session for a caller.
func (t *table) open(ctx context.Context, n *node.Node, who node.Caller, label string, length time.Duration) (*session, error) {
	lease := n.Lease()
	if length <= 0 {
		length = lease
	}
	if len(label) > maxLabel {
		return nil, badRequest.errorf("label of %d bytes: want up to %d", len(label), maxLabel)
	}
	select {
	case <-n.Draining():
		return nil, noNode.error(errStopping)
	default:
	}
	t.mu.Lock()
	if t.room == 0 {
		t.mu.Unlock()
		return nil, manySessions.errorf("the node has too many sessions over HTTP: close some, or use another node")
	}
	if path := who.Path(); path != "" && !share.Allows(maxSessions, maxSessions-t.room, t.of[path]) {
		t.mu.Unlock()
		return nil, manySessions.errorf("%v has %d sessions over HTTP at the node, its share while more than half of %d are open: close some, or use another node", who.Identity, t.of[path], maxSessions)
	}
	t.take(who)
	t.mu.Unlock()
	s := &session{id: rand.Text(), who: who, length: min(max(length, shortest), lease), lease: lease, in: t, calls: 1, requests: map[requestKey]*request{}, txs: map[string]*transaction{}}
	dial, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	var err error
	// Patience ends requests that wait while this node is not a member.
	s.client, err = n.Connect(dial, who, client.Config{Name: label, Patience: lease, Once: true})
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.give(who)
		p := problemOf(err)
		if p == tooLate {
			p = noNode
		}
		return nil, p.error(err)
	}
	t.all[s.id] = s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(s.length, s.tick)
	return s, nil
}

// find returns a session of a caller, and begins a call in it. The caller ends it with
// leave.
func (t *table) find(id string, who node.Caller) (*session, error) {
	t.mu.Lock()
	s := t.all[id]
	t.mu.Unlock()
	if s == nil || s.who.Identity != who.Identity || !s.enter() {
		return nil, noSession.errorf("no such session at this node: it was closed, or no call came for its length; or another node has it: open one")
	}
	return s, nil
}

func (s *session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	s.calls++
	return true
}

// leave ends a call. The session lives at least until its length has passed since.
func (s *session) leave() { s.leaveUntil(clock.Now() + member.Instant(s.length)) }

func (s *session) leaveUntil(until member.Instant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls--
	s.until = max(s.until, until)
}

// tick ends the session if its time has come, and otherwise waits for that.
func (s *session) tick() {
	if s.expire() {
		s.finish((*client.Client).Close)
	}
}

// expire reports whether the time of the session has come. From then on no call can begin:
// one that was answered would count on locks that are about to be released.
func (s *session) expire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	left := s.length
	if s.calls == 0 {
		left = time.Duration(s.until - clock.Now())
	}
	if left > 0 {
		s.timer.Reset(left) // after the machine was suspended that is later than need be
		return false
	}
	s.over = true
	return true
}

// end ends the session and releases its locks, because the caller no longer counts on them.
func (s *session) end() {
	if s.close() {
		s.finish((*client.Client).Close)
	}
}

// kill ends the session. Its locks are free when the session of the client expires.
func (s *session) kill() {
	if s.close() {
		s.finish(func(c *client.Client) error {
			c.Kill()
			return nil
		})
	}
}

// close lets no call begin any more, and reports whether one could.
func (s *session) close() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.over
	s.over = true
	return first
}

// finish ends the client of a session that is over.
func (s *session) finish(end func(c *client.Client) error) {
	s.mu.Lock()
	all := s.requests
	s.requests, s.txs = nil, nil
	s.mu.Unlock()
	s.timer.Stop()
	for _, r := range all {
		r.idle.Stop()
	}
	_ = end(s.client) // never fails
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	delete(s.in.all, s.id)
	s.in.give(s.who)
}

// take takes a place for a session of a caller, and give gives it back. The mutex must be held.
func (t *table) take(who node.Caller) {
	t.room--
	t.of[who.Path()]++
}

func (t *table) give(who node.Caller) {
	t.room++
	if t.of[who.Path()]--; t.of[who.Path()] == 0 {
		delete(t.of, who.Path())
	}
}

// kill ends all sessions.
func (t *table) kill() {
	t.mu.Lock()
	t.room = 0
	var all []*session
	for _, s := range t.all {
		all = append(all, s)
	}
	t.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(s.kill)
	}
	wg.Wait()
}

// A requestKey identifies a request within a session.
type requestKey struct {
	tx  string // the transaction; empty if it is none
	key string
}

// id identifies the request that a call is about, once the call has a key.
func (a *ask) id() requestKey { return requestKey{a.tx, a.key} }

// A request is a request for a lock. It ends when it is released, or refused, or when no
// call has waited for it for some time.
type request struct {
	ask
	of       *transaction // nil if it is none
	withdraw context.CancelFunc
	idle     *time.Timer

	done chan struct{} // closed when it is decided
	hold *client.Hold  // then: the lock, or
	err  error         // why it is not held

	// With the session's mutex held.
	calls     int  // that wait for it
	told      bool // a call has reported that the lock is held, or is about to
	withdrawn bool
}

// decided reports whether the request is decided.
func (r *request) decided() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// attach returns the request with this key, or makes it, for a call that waits for it. The
// call ends with detach.
func (s *session) attach(a ask) (*request, error) {
	if len(a.key) > maxLabel {
		return nil, badRequest.errorf("key of %d bytes: want up to %d", len(a.key), maxLabel)
	}
	a.key = cmp.Or(a.key, a.name)
	key := a.id()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, noSession.errorf("the session was closed")
	}
	of, err := s.live(a.tx)
	if err != nil {
		return nil, err
	}
	_, released := s.outcomes.find(releasedKey{key, ""})
	switch r := s.requests[key]; {
	case r != nil && r.name != a.name:
		return nil, badRequest.errorf("key %q is that of a request for lock %q: use another key", key.key, r.name)
	case r != nil && r.terms != a.terms:
		return nil, badRequest.errorf("key %q is that of a request for lock %q in another mode: release it first, or use another key", key.key, r.name)
	case r != nil:
		r.calls++
		r.idle.Stop()
		return r, nil
	case key.key != a.name && released:
		return nil, isReleased.errorf("the request with key %q was released before: use another key for each request", key.key)
	case len(s.requests) >= maxRequests:
		return nil, manyRequests.errorf("the session holds or waits for %d locks, the maximum: release some", maxRequests)
	}
	s.outcomes.forget(releasedKey{key, ""})
	ctx, withdraw := context.WithCancel(context.Background())
	r := &request{ask: a, of: of, withdraw: withdraw, done: make(chan struct{}), calls: 1}
	r.idle = time.AfterFunc(time.Hour, func() { s.abandon(r) })
	r.idle.Stop()
	s.requests[key] = r
	go s.run(ctx, r)
	return r, nil
}

// run waits until a request is decided.
func (s *session) run(ctx context.Context, r *request) {
	defer r.withdraw()
	var h lock.Handle
	var err error
	if r.of != nil {
		h, err = r.of.tx.Acquire(ctx, r.name, r.terms)
	} else {
		h, err = s.client.Lock(ctx, r.name, lock.Options{Try: r.try, Terms: r.terms})
	}
	if err == nil && r.value != nil {
		_ = h.SetValue(*r.value) // if the lock is lost already, the caller finds out
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(r.done)
	if err != nil {
		r.err = err
		if s.requests[r.id()] == r {
			delete(s.requests, r.id())
		}
		return
	}
	r.hold = h.(*client.Hold)
	switch {
	case r.withdrawn && r.of == nil:
		go r.hold.Unlock()
	case r.withdrawn && s.txs[r.of.id] == r.of && s.requests[r.id()] == nil:
		s.requests[r.id()] = r // granted in this very moment: it is held as long as its transaction
	}
}

// tell notes that a call is about to report that a lock is held. It reports false if the
// request was released meanwhile. From then on the lock is released only by its token.
func (s *session) tell(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests[r.id()] != r {
		return false
	}
	r.told = true
	return true
}

// detach ends a call that waited for a request. A request that no call waits for, and of whose
// grant none has heard, ends after a lease.
func (s *session) detach(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.calls--; r.calls == 0 && !r.told && s.requests[r.id()] == r {
		r.idle.Reset(s.lease)
	}
}

// abandon withdraws a request that no call waits for. The lock of a transaction is released
// with the others.
func (s *session) abandon(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.calls == 0 && !r.told && s.requests[r.id()] == r && (r.of == nil || r.hold == nil) {
		s.drop(r)
	}
}

// drop forgets a request, and withdraws it or releases its lock, unless that belongs to a
// transaction. The mutex must be held.
func (s *session) drop(r *request) {
	delete(s.requests, r.id())
	r.idle.Stop()
	r.withdrawn = true
	r.withdraw()
	if r.hold != nil && r.of == nil {
		go r.hold.Unlock()
	}
}

// where names the transaction of a request, if it has one.
func (k requestKey) where() string {
	if k.tx == "" {
		return ""
	}
	return fmt.Sprintf(" and its transaction %q", k.tx)
}

// holds returns the hold of the request with this key.
func (s *session) holds(key requestKey) (*client.Hold, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r := s.requests[key]; {
	case r == nil:
		return nil, noRequest.errorf("no request with key %q in this session%s: acquire the lock first", key.key, key.where())
	case r.hold == nil:
		return nil, noRequest.errorf("the request with key %q waits: its lock is not held yet", key.key)
	default:
		return r.hold, nil
	}
}

// A state is that of a session's locks.
type state struct {
	until   member.Instant // until when they are held; 0 if there are none
	end     member.Instant // when the session ends if no call comes
	lost    []*request
	wanted  []*request     // held outside of transactions, but an older transaction waits
	aborted []*transaction // that must abort
}

// state returns the state of the session's locks.
func (s *session) state() (x state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.hold == nil {
			continue
		}
		until := r.hold.Until() // before Err, which reports a loss until then
		switch {
		case r.hold.Err() != nil:
			x.lost = append(x.lost, r)
			continue
		case x.until == 0:
			x.until = until
		default:
			x.until = min(x.until, until)
		}
		if r.of == nil && r.hold.Doom() != nil {
			x.wanted = append(x.wanted, r)
		}
	}
	for _, t := range s.txs {
		if t.tx.Doomed() != nil {
			x.aborted = append(x.aborted, t)
		}
	}
	x.end = clock.Now() + member.Instant(s.length)
	return x
}
