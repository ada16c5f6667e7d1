package teller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/lock"
)

// A teller makes transfers, one at a time.
type teller struct {
	lock  locking
	store accounts
	// think is called between the read and the write, while the locks are held.
	think func(ctx context.Context)
	// pause is called right before the write, when nothing checks the locks any longer.
	pause func(ctx context.Context)
}

// accounts are the methods of a Store that a transfer needs.
type accounts interface {
	Read(ctx context.Context, t Transfer, grants []Grant) (from, to int64, err error)
	Write(ctx context.Context, t Transfer, grants []Grant, from, to int64) error
}

// A locking calls f while the accounts of a transfer are locked, perhaps several times, and
// counts the attempts. The context is for the requests of locks.
type locking func(ctx context.Context, t Transfer, n *Tally, f func(held []hold) error) error

// A hold is a lock that is held, until Err says otherwise.
type hold interface {
	Name() string
	Token() stile.Token
	Err() error
}

// maxFailures is how often an attempt may fail for other reasons than lost locks. With the
// pauses in between that is about a minute.
const maxFailures = 60

// transfer makes a transfer, in as many attempts as it takes. What it did is counted even if
// there is an error.
func (w *teller) transfer(ctx context.Context, t Transfer) (n Tally, err error) {
	defer func() { n.Retried = max(n.Attempts-1, 0) }()
	for failures := 0; ; {
		made, err := w.attempt(ctx, t, &n)
		switch {
		case made:
			return n, nil
		case ctx.Err() != nil:
			return n, context.Cause(ctx)
		case errors.Is(err, stile.ErrStale), errors.Is(err, stile.ErrLost):
			continue
		case failures == maxFailures:
			return n, fmt.Errorf("transfer %d: failed %d times: %w", t.ID, failures, err)
		}
		lock.Pause(ctx, failures)
		failures++
	}
}

// attempt makes a transfer once: it locks both accounts, reads both balances, and writes
// both.
func (w *teller) attempt(ctx context.Context, t Transfer, n *Tally) (made bool, err error) {
	err = w.lock(ctx, t, n, func(held []hold) error {
		if made {
			return nil
		}
		var grants []Grant
		for _, l := range held {
			grants = append(grants, Grant{l.Name(), l.Token()})
		}
		from, to, err := w.store.Read(ctx, t, grants)
		if err == nil {
			w.think(ctx)
			err = lost(held)
		}
		if err == nil {
			w.pause(ctx)
			err = w.store.Write(ctx, t, grants, from-t.Amount, to+t.Amount)
		}
		if errors.Is(err, stile.ErrStale) {
			n.Refused++
		}
		made = err == nil || errors.Is(err, ErrMade)
		return err
	})
	if errors.Is(err, stile.ErrLost) {
		n.Lost++
	}
	return made, err
}

// lost returns an error if one of the locks is lost.
func lost(held []hold) error {
	for _, l := range held {
		if err := l.Err(); err != nil {
			return err
		}
	}
	return nil
}

// unlocked locks nothing.
func unlocked(_ context.Context, _ Transfer, n *Tally, f func(held []hold) error) error {
	n.Attempts++
	return f(nil)
}

// together acquires both locks with LockAll, which cannot deadlock.
func together(at stile.Locker) locking {
	return func(ctx context.Context, t Transfer, n *Tally, f func(held []hold) error) error {
		n.Attempts++
		names := t.accounts()
		all, err := at.LockAll(ctx, names...)
		if err != nil {
			return err
		}
		return errors.Join(f([]hold{all.Get(names[0]), all.Get(names[1])}), all.Unlock())
	}
}

// transacted acquires the locks in a transaction, in the transfer's own order, so that
// transfers in opposite directions can deadlock; or in the order of their names, if the
// method against deadlock demands that.
func transacted(at stile.Locker, sorted bool) locking {
	return func(ctx context.Context, t Transfer, n *Tally, f func(held []hold) error) error {
		names := t.accounts()
		if sorted {
			slices.Sort(names)
		}
		return at.Transact(ctx, func(ctx context.Context, tx *stile.Tx) error {
			n.Attempts++
			var held []hold
			for _, name := range names {
				l, err := tx.Lock(ctx, name)
				if errors.Is(err, stile.ErrDeadlock) {
					n.Deadlocks++
				}
				if err != nil {
					return err
				}
				held = append(held, l)
			}
			return f(held)
		})
	}
}

// thinking is the time between the read and the write of a transfer.
const thinking = time.Millisecond

// think waits as long as a customer would, if customers were fast.
func think(ctx context.Context) { sleep(ctx, thinking) }
