package transport

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
)

// A Conn carries the messages between a client and a node: a Link, or an End of a pipe.
type Conn interface {
	Send(b []byte, lossy bool) error
	Flush()
	Run(message func(b []byte) error) error
	Close(err error)
	Fail(err error) error
}

var (
	_ Conn = (*Link)(nil)
	_ Conn = (*End)(nil)
)

// An End is one end of a pipe, which links a client in this process to its node. A message
// is handled by the goroutine that flushes it, so neither end needs one of its own.
type End struct {
	in, out *flow
	over    *ending // of both ends
}

// Pipe returns the two ends of a pipe.
func Pipe() (client, node *End) {
	a, b, over := &flow{}, &flow{}, &ending{done: make(chan struct{})}
	return &End{a, b, over}, &End{b, a, over}
}

// An ending says that a pipe has ended, and why.
type ending struct {
	mu   sync.Mutex
	err  error
	done chan struct{}
}

func (e *ending) end(err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
		close(e.done)
	}
	return e.err
}

func (e *ending) reason() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// maxPiped is how many bytes may wait in each direction.
const maxPiped = 8 << 20

// A flow is one direction of a pipe.
type flow struct {
	mu      sync.Mutex
	message func(b []byte) error // nil: the other end does not run yet
	busy    bool                 // a goroutine is handing messages over
	last    error                // ends the pipe when all messages are handed over; nil: nothing does
	bytes   []byte               // of the messages that wait
	ends    []int                // where each of them ends
	spare   []byte
	places  []int
}

var errPipeFull = errors.New("too much waits to be handled")

// Send queues a message. Flush hands it over.
func (e *End) Send(b []byte, _ bool) error {
	if err := e.over.reason(); err != nil {
		return err
	}
	f := e.out
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != nil {
		return f.last
	}
	if len(f.bytes)+len(b) > maxPiped {
		return fmt.Errorf("%w: %d bytes", errPipeFull, len(f.bytes))
	}
	f.bytes = append(f.bytes, b...)
	f.ends = append(f.ends, len(f.bytes))
	return nil
}

// Flush hands over what is queued. If another goroutine is doing that already, it takes
// these messages too.
func (e *End) Flush() { e.out.handOver(e.over) }

func (f *flow) handOver(over *ending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy || f.message == nil {
		return
	}
	f.busy = true
	for len(f.ends) > 0 && over.reason() == nil {
		b, ends := f.bytes, f.ends
		f.bytes, f.ends = f.spare[:0], f.places[:0]
		f.mu.Unlock()
		from := 0
		for _, to := range ends {
			if err := f.message(b[from:to]); err != nil {
				over.end(err)
				break
			}
			from = to
		}
		f.mu.Lock()
		f.spare, f.places = b, ends
	}
	f.busy = false
	if f.last != nil {
		over.end(f.last)
	}
}

// Run handles messages until the pipe ends, and returns why it ended.
func (e *End) Run(message func(b []byte) error) error {
	e.in.mu.Lock()
	e.in.message = message
	e.in.mu.Unlock()
	e.in.handOver(e.over)
	<-e.over.done
	return e.over.reason()
}

// Close ends the pipe when what is queued has been handed over, which another goroutine may
// be doing, or the caller itself. Nothing more can be sent.
func (e *End) Close(err error) {
	f := e.out
	f.mu.Lock()
	f.last = cmp.Or(f.last, err)
	f.mu.Unlock()
	e.Flush()
}

// Fail ends the pipe at once, and returns why it ended.
func (e *End) Fail(err error) error { return e.over.end(err) }
