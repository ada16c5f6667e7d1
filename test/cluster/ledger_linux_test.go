package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
)

// A ledger judges users of locks in the test's own process while they run, so that it may
// be used for long: two are never inside, and tokens rise.
type ledger struct {
	mu      sync.Mutex
	inside  map[string]lock.Handle
	last    map[string]member.Token
	wrong   []error
	entries int
	lost    int           // holds that were lost
	waited  time.Duration // the longest wait for a lock
}

func newLedger() *ledger {
	return &ledger{inside: map[string]lock.Handle{}, last: map[string]member.Token{}}
}

// enter notes a hold. One that was inside before must have released its lock, or know that
// it is lost.
func (b *ledger) enter(h lock.Handle) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name, token := h.Name(), h.Token()
	if o := b.inside[name]; o != nil && h.Err() == nil && o.Err() == nil {
		b.wrong = append(b.wrong, fmt.Errorf("two are inside %s, with tokens %v and %v", name, o.Token(), token))
	}
	if last := b.last[name]; !last.Less(token) {
		b.wrong = append(b.wrong, fmt.Errorf("token %v of %s follows %v", token, name, last))
	}
	b.inside[name], b.last[name] = h, token
	b.entries++
}

// leave releases a hold.
func (b *ledger) leave(h lock.Handle) error {
	b.mu.Lock()
	if b.inside[h.Name()] == h {
		delete(b.inside, h.Name())
	}
	b.mu.Unlock()
	err := h.Unlock()
	if err != nil {
		b.mu.Lock()
		b.lost++
		b.mu.Unlock()
	}
	return err
}

// use acquires a lock, holds it for a time unless it is lost before, and releases it.
func (b *ledger) use(ctx context.Context, x backend, name string, length time.Duration) error {
	begun := time.Now()
	h, err := x.Lock(ctx, name, lock.Options{})
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.waited = max(b.waited, time.Since(begun))
	b.mu.Unlock()
	b.enter(h)
	if length > 0 {
		select {
		case <-time.After(length):
		case <-h.Context().Done():
		}
	}
	return b.leave(h)
}

// note notes what is wrong.
func (b *ledger) note(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = append(b.wrong, err)
}

// err returns all that was wrong.
func (b *ledger) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return errors.Join(b.wrong...)
}
