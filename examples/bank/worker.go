package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile"
)

// A task is what a worker must know.
type task struct {
	Name  string
	Nodes []string
	Place place
	Lock  string
	Fence bool
}

// An order is what a worker must do next.
type order struct {
	Transfer transfer
	Pause    bool // report when it is between the read and the write, to be paused there
}

// An answer is what a worker reports: it has made a transfer, or waits to be paused.
type answer struct {
	Made  bool
	Tally tally
}

// A worker makes transfers, one at a time.
type worker struct {
	task
	store *store
	locks stile.Locker // nil without a lock
	in    *json.Decoder
	out   *json.Encoder
	pause bool // in the transfer at hand
	tally tally
}

// work is the main function of a worker.
func work(in *json.Decoder, out *json.Encoder) error {
	ctx, w := context.Background(), &worker{in: in, out: out}
	if err := in.Decode(&w.task); err != nil {
		return err
	}
	var err error
	if w.store, err = openStore(w.Place, w.Fence); err != nil {
		return err
	}
	if w.Lock != noLock {
		if w.locks, err = stile.Dial(ctx, stile.DialConfig{Nodes: w.Nodes, Name: w.Name}); err != nil {
			return err
		}
	}
	if err := out.Encode(true); err != nil {
		return err
	}
	for {
		var o order
		if err := in.Decode(&o); err != nil {
			return err
		}
		w.pause, w.tally = o.Pause, tally{}
		if err := w.transfer(ctx, o.Transfer); err != nil {
			return err
		}
		if err := out.Encode(answer{Made: true, Tally: w.tally}); err != nil {
			return err
		}
	}
}

// transfer makes a transfer, in as many attempts as it takes. If the answer to a commit was
// lost, the next attempt finds the transfer made.
func (w *worker) transfer(ctx context.Context, t transfer) error {
	for failures := 0; ; {
		err := w.attempt(ctx, t)
		switch {
		case err == nil, errors.Is(err, errMade):
			return nil
		case errors.Is(err, stile.ErrStale):
			w.tally.Refused++
		case errors.Is(err, stile.ErrLost):
		case failures == 60:
			return fmt.Errorf("transfer %d failed %d times: %w", t.ID, failures, err)
		default:
			failures++
			time.Sleep(time.Duration(min(failures, 10)) * 100 * time.Millisecond)
		}
	}
}

// attempt locks both accounts and moves the money. LockAll locks in the order of names, so it
// cannot deadlock. Transactions lock the source first, so that transfers in opposite
// directions can deadlock, unless the method demands an order.
func (w *worker) attempt(ctx context.Context, t transfer) error {
	names := []string{account(t.From), account(t.To)}
	switch {
	case w.locks == nil:
		return w.move(ctx, t, nil)
	case !strings.HasPrefix(w.Lock, "kept"):
		all, err := w.locks.LockAll(ctx, names...)
		if err != nil {
			return err
		}
		defer all.Unlock()
		return w.move(ctx, t, []grant{all.Get(names[0]), all.Get(names[1])})
	case w.Lock == "kept:ordered":
		slices.Sort(names)
	}
	return w.locks.Transact(ctx, func(ctx context.Context, tx *stile.Tx) error {
		var held []grant
		for _, name := range names {
			l, err := tx.Lock(ctx, name)
			if err != nil {
				if errors.Is(err, stile.ErrDeadlock) {
					w.tally.Deadlocks++
				}
				return err
			}
			held = append(held, l)
		}
		return w.move(ctx, t, held)
	})
}

// move reads both balances, thinks for a millisecond, and writes both. A pause begins at the
// worst moment: after the last look at the locks, before the write.
func (w *worker) move(ctx context.Context, t transfer, held []grant) error {
	from, to, err := w.store.read(ctx, t, held)
	if err != nil {
		return err
	}
	time.Sleep(time.Millisecond)
	for _, l := range held {
		if err := l.Err(); err != nil {
			return err
		}
	}
	if w.pause {
		w.pause = false
		var on order
		if err := errors.Join(w.out.Encode(answer{}), w.in.Decode(&on)); err != nil {
			return err
		}
	}
	return w.store.write(ctx, t, held, from-t.Amount, to+t.Amount)
}
