package calls

import (
	"context"
	"time"
)

// A clocked context ends when the clock says so. Only Err reports that: Done would need a
// timer, and in a page no timer can expire during a computation, because there is one
// thread, without preemption.
type clocked struct {
	context.Context
	end time.Time
	now func() time.Time
}

// Err implements context.Context.
func (c *clocked) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	if c.now().After(c.end) {
		return context.DeadlineExceeded
	}
	return nil
}

// clocked returns a context that ends after limit, at the latest.
func (c *Calls) clocked(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	now := c.now
	if now == nil {
		now = time.Now
	}
	end := now().Add(limit)
	if outer, ok := ctx.(*clocked); ok && outer.end.Before(end) {
		end = outer.end
	}
	inner, cancel := context.WithCancel(ctx)
	return &clocked{inner, end, now}, cancel
}

// stoppable returns a context that ends when ctx does, or when it is cancelled.
func stoppable(ctx context.Context) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancel(ctx)
	if outer, ok := ctx.(*clocked); ok {
		return &clocked{inner, outer.end, outer.now}, cancel
	}
	return inner, cancel
}
