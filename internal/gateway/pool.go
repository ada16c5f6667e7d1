package gateway

import (
	"context"
	"net/netip"
	"sync"

	"github.com/stile-lock/stile/internal/node"
	sharing "github.com/stile-lock/stile/internal/share"
)

// A pool is a number of places that callers share: see package internal/share.
type pool struct {
	most int

	mu  sync.Mutex
	all int            // places that are taken
	by  map[string]int // by caller
}

// take takes places for a caller. It reports false if that would be more than its share.
func (p *pool) take(key string, n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.most <= 0 || !sharing.Allows(p.most, p.all, p.by[key], n) {
		return false
	}
	if p.by == nil {
		p.by = map[string]int{}
	}
	p.by[key] += n
	p.all += n
	return true
}

// put gives places of a caller back.
func (p *pool) put(key string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all -= n
	if p.by[key] -= n; p.by[key] == 0 {
		delete(p.by, key)
	}
}

// taken returns how many places are taken.
func (p *pool) taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

// shareKey returns for whom places are counted: an identity, or an address without one. All
// addresses of a network of IPv6 count as one.
func shareKey(who *node.Caller) string {
	if path := who.Path(); path != "" {
		return path
	}
	at, err := netip.ParseAddrPort(who.From)
	if err != nil {
		return who.From
	}
	a := at.Addr().Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// turns let callers do something that only some may do at a time. A caller has half of the
// turns, and waits for another one behind its own.
type turns struct {
	all chan struct{}

	mu sync.Mutex
	by map[string]*turn
}

// A turn is the queue of a caller.
type turn struct {
	own   chan struct{}
	users int // that wait in it or have a turn
}

func newTurns(most int) *turns {
	return &turns{all: make(chan struct{}, most), by: map[string]*turn{}}
}

// take waits for a turn. The caller ends it with the function.
func (t *turns) take(ctx context.Context, key string) (end func(), err error) {
	t.mu.Lock()
	q := t.by[key]
	if q == nil {
		q = &turn{own: make(chan struct{}, cap(t.all)/2)}
		t.by[key] = q
	}
	q.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if q.users--; q.users == 0 {
			delete(t.by, key)
		}
	}
	select {
	case q.own <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
	select {
	case t.all <- struct{}{}:
	case <-ctx.Done():
		<-q.own
		leave()
		return nil, ctx.Err()
	}
	return func() { <-t.all; <-q.own; leave() }, nil
}
