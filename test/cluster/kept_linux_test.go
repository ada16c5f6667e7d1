package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/stile-lock/stile"
)

// keeps has clients hold kept locks: shared ones, units of a semaphore, and those of
// transactions, one of which waits for another. The function that it returns reports
// whether no hold was lost meanwhile, and the transactions commit.
func (c *trial) keeps() (end func() error) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c.t.Cleanup(cancel)
	var txs []*stile.Tx
	var holds []*stile.Lock
	have := func(l *stile.Lock, err error) {
		c.t.Helper()
		if err != nil {
			c.t.Fatal(err)
		}
		holds = append(holds, l)
	}
	for i := range c.nodes {
		x, err := stile.Dial(ctx, stile.DialConfig{Name: fmt.Sprint("keeper ", i), Nodes: c.addresses(i)})
		if err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(func() { x.Close() })
		tx, err := x.Begin(ctx)
		if err != nil {
			c.t.Fatal(err)
		}
		txs = append(txs, tx)
		have(x.RLock(ctx, "kept/read"))
		have(x.Semaphore("kept/units", 6).Acquire(ctx, 2))
		have(tx.Lock(ctx, fmt.Sprint("kept/mine ", i)))
		have(tx.RLock(ctx, "kept/rates"))
	}
	waited := make(chan error, 1)
	go func() {
		_, err := txs[1].Lock(ctx, "kept/mine 0")
		waited <- err
	}()
	return func() error {
		var all []error
		for _, h := range holds {
			all = append(all, h.Err())
		}
		select {
		case err := <-waited:
			return errors.Join(append(all, fmt.Errorf("the waiting transaction waits no longer: %v", err))...)
		default:
		}
		for _, tx := range txs {
			if tx == txs[1] {
				all = append(all, <-waited)
			}
			all = append(all, tx.Commit())
		}
		for _, h := range holds {
			if h.Err() == nil {
				all = append(all, h.Unlock())
			}
		}
		return errors.Join(all...)
	}
}
