package console

import (
	"context"
	"encoding/json"
	"time"
)

// An event is what a stream sends. Without a kind it only says that the stream lives.
type event struct {
	kind string // full, delta or error
	data []byte
	last bool // the stream ends
}

// A stream sends what a poller publishes. One that falls behind gets the whole document.
type stream struct {
	poller  *poller
	edition int // of the poller, as last sent
	version int // of the document, as last sent
}

// close ends a stream.
func (s *stream) close() {
	p := s.poller
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	p.streams--
	p.left = time.Now()
}

// next returns the next event, or after some time without one an event without a kind. Its
// error is that of the context.
func (s *stream) next(ctx context.Context, quiet time.Duration) (event, error) {
	alive := time.NewTimer(quiet)
	defer alive.Stop()
	for {
		e, news := s.event()
		if news == nil {
			return e, nil
		}
		select {
		case <-news:
		case <-alive.C:
			return event{}, nil
		case <-ctx.Done():
			return event{}, ctx.Err()
		case <-s.poller.hub.ctx.Done():
			return errorEvent(failureOf(errStopping)), nil
		}
	}
}

// event returns the event that makes the reader know all that the poller has published. If
// the reader knows that already, it returns a channel that is closed when there is more.
func (s *stream) event() (e event, news <-chan struct{}) {
	p := s.poller
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.edition == p.edition {
		return event{}, p.news
	}
	s.edition = p.edition
	if p.failure != nil {
		return errorEvent(p.failure), nil
	}
	switch s.version {
	case p.version: // after a failure
		e = event{"delta", []byte("{}"), p.ended}
	case p.version - 1:
		e = event{"delta", p.delta, p.ended}
	}
	if e.data == nil || s.version == 0 {
		e = event{"full", p.whole(), p.ended}
	}
	s.version = p.version
	return e, nil
}

func errorEvent(f *failure) event {
	b, _ := json.Marshal(f) // texts and a boolean
	return event{"error", b, f.Final}
}
