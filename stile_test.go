package stile_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stile-lock/stile"
)

// Two members and a client have one lock, one after the other.
func TestLockers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	a, err := stile.Open(ctx, stile.Config{Name: "a", Lease: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := stile.Open(ctx, stile.Config{Name: "b", Join: []string{a.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	c, err := stile.Dial(ctx, stile.DialConfig{Nodes: []string{b.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var last stile.Token
	for i := range 30 {
		x := []stile.Locker{a, b, c}[i%3]
		l, err := x.Lock(ctx, "orders/42")
		if err != nil {
			t.Fatal(err)
		}
		if !last.Less(l.Token()) || l.Err() != nil || time.Until(l.Deadline()) <= 0 {
			t.Errorf("%v after %v, %v, until %v", l.Token(), last, l.Err(), l.Deadline())
		}
		last = l.Token()
		other := []stile.Locker{b, c, a}[i%3]
		if _, err := other.TryLock(ctx, "orders/42"); !errors.Is(err, stile.ErrBusy) && !errors.Is(err, stile.ErrRecovering) {
			t.Errorf("a try while it is held: %v", err)
		}
		if err := l.Unlock(); err != nil {
			t.Fatal(err)
		}
		if err := l.Unlock(); !errors.Is(err, stile.ErrReleased) {
			t.Errorf("unlocked twice: %v", err)
		}
	}
	all, err := c.LockAll(ctx, "b", "a", "c", "a")
	if err != nil || all.Get("a") == nil || all.Err() != nil {
		t.Fatal(all, err)
	}
	if err := all.Unlock(); err != nil {
		t.Error(err)
	}
	if err := a.Do(ctx, "orders/42", func(ctx context.Context, t stile.Token) error { return ctx.Err() }); err != nil {
		t.Error(err)
	}
}
