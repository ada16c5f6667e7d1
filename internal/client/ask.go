package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
)

// A question is a question that is not answered yet.
type question struct {
	conn  uint64 // number of the connection that it was asked on
	bytes []byte
	err   error
	done  chan struct{}
}

// Ask asks the node a question that does not concern the session.
func (x *Client) Ask(ctx context.Context, what uint64, b []byte) ([]byte, error) {
	if len(b) > session.MaxBytes {
		return nil, fmt.Errorf("query too long: %d bytes, at most %d are allowed", len(b), session.MaxBytes)
	}
	q := &question{done: make(chan struct{})}
	var number uint64
	var err error
	x.use(func(member.Instant) {
		x.asked++
		number = x.asked
		if x.closed {
			err = ErrClosed
		} else if q.conn = x.session.Ask(number, what, b); q.conn == 0 {
			_, node, _ := x.session.Session()
			err = fmt.Errorf("no session with a node at present: %w: try again soon", cmp.Or(x.lately[node], errAnother))
		}
		if err == nil {
			x.asks[number] = q
		}
	})
	if err != nil {
		return nil, err
	}
	select {
	case <-q.done:
		return q.bytes, q.err
	case <-ctx.Done():
		x.use(func(member.Instant) { delete(x.asks, number) })
		return nil, fmt.Errorf("the node did not answer: %w", lock.Done(ctx))
	}
}

// answered handles an answer, or a part of one. The mutex must be held.
func (x *Client) answered(f *session.Frame) {
	q := x.asks[f.Number]
	if q == nil {
		return
	}
	if q.take(f) {
		delete(x.asks, f.Number)
		close(q.done)
	}
}

// take adds a part of an answer, and reports whether it was the last one.
func (q *question) take(f *session.Frame) bool {
	q.bytes = append(q.bytes, f.Bytes...)
	switch {
	case !f.Last || f.OK:
	case f.Denied:
		q.err = fmt.Errorf("%w: %s", lock.ErrDenied, q.bytes)
	default:
		q.err = Declined(q.bytes)
	}
	return f.Last
}

// Declined is the error of a question that the node understood, and why it does not do what
// was asked.
type Declined string

func (d Declined) Error() string { return string(d) }

// failAsks ends all questions on a connection with an error. The mutex must be held.
func (x *Client) failAsks(conn uint64, err error) {
	for number, q := range x.asks {
		if q.conn == conn {
			delete(x.asks, number)
			q.err = fmt.Errorf("the node did not answer: %w", err)
			close(q.done)
		}
	}
}

// Query asks a node a question without a session, so that a node that is not a member at
// present answers too. The nodes are tried in turn, each for its share of the remaining
// time, until one answers. Its name is returned; an error without a name means that none
// has answered.
func Query(ctx context.Context, c Config, what uint64, b []byte) (answer []byte, node string, err error) {
	how, err := c.wire()
	if err != nil {
		return nil, "", err
	}
	f := session.Frame{Kind: session.Ask, Number: 1, What: what, Bytes: b}
	err = errors.New("no node given: give the address of at least one")
	x := &Client{c: c, dial: how}
	defer x.wg.Wait()
	for i, node := range c.Nodes {
		var q question
		if err = x.put(ctx, &q, len(c.Nodes)-i, node, f.AppendTo(nil)); err == nil {
			return q.bytes, node, q.err
		}
	}
	return nil, "", err
}

// AskAt asks a node, which need not be the one of its session, and decodes the answer.
func (x *Client) AskAt(ctx context.Context, address string, what uint64, about []byte, to any) error {
	if x.ctx.Err() != nil {
		return ErrClosed
	}
	c := x.c
	c.Nodes = []string{address}
	b, _, err := Query(ctx, c, what, about)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// put asks one node, when left nodes may still have to be asked.
func (x *Client) put(ctx context.Context, q *question, left int, node string, ask []byte) error {
	if end, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
	}
	link, err := x.reach(ctx, node)
	if err != nil {
		return err
	}
	defer link.Fail(ErrClosed)
	defer context.AfterFunc(ctx, func() { link.Fail(lock.Done(ctx)) })()
	if err := link.Send(ask, false); err != nil {
		return err
	}
	link.Flush()
	err = link.Run(func(b []byte) error {
		f, err := session.Parse(b)
		if err == nil && f.Kind == session.Answer && q.take(&f) {
			err = errAnswered
		}
		return err
	})
	if errors.Is(err, errAnswered) {
		return nil
	}
	return fmt.Errorf("%s did not answer: %w", node, err)
}

var errAnswered = errors.New("query answered")
