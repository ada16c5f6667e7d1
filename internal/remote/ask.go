package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/member"
)

// A question is one that was asked, and is not answered yet.
type question struct {
	bytes []byte
	err   error
	done  chan struct{}
}

// Ask asks the node something that is no business of sessions.
func (x *Client) Ask(ctx context.Context, what uint64, b []byte) ([]byte, error) {
	q := &question{done: make(chan struct{})}
	var number uint64
	x.use(func(member.Instant) {
		x.asked++
		number = x.asked
		if !x.guest.Ask(number, what, b) {
			q.err = fmt.Errorf("there is no connection to a node at present: %w", errors.Join(x.lately))
			close(q.done)
			return
		}
		x.asks[number] = q
	})
	select {
	case <-q.done:
		return q.bytes, q.err
	case <-ctx.Done():
		x.use(func(member.Instant) { delete(x.asks, number) })
		return nil, context.Cause(ctx)
	}
}

// answered takes an answer, or a part of it, with the mutex.
func (x *Client) answered(f *client.Frame) {
	q := x.asks[f.Number]
	if q == nil {
		return
	}
	q.bytes = append(q.bytes, f.Bytes...)
	if !f.Last {
		return
	}
	delete(x.asks, f.Number)
	if !f.OK {
		q.err = errors.New(string(q.bytes))
	}
	close(q.done)
}

// failAsks ends all questions, with the mutex.
func (x *Client) failAsks(err error) {
	for number, q := range x.asks {
		delete(x.asks, number)
		q.err = fmt.Errorf("the node did not answer: %w", err)
		close(q.done)
	}
}
