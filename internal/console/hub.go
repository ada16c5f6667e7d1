package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
)

// Bounds of what streams may cost. One caller may use half of the pollers. The door of the node
// bounds streams.
const (
	maxPollers = 64

	linger = 5 * time.Second // how long a poller is kept after its last stream has ended
)

// A look asks the cluster what a view shows at present. Done means that it will not change.
type look func(ctx context.Context) (doc any, done bool, err error)

// A topic is what a poller is for: a view with its parameters, as a caller may see it.
type topic struct {
	who   node.Caller // without From
	query string
}

// A hub runs the pollers, each for all streams with the same topic.
type hub struct {
	ctx     context.Context // done when the hub is closed
	cancel  func()
	running sync.WaitGroup

	mu      sync.Mutex
	pollers map[topic]*poller
}

func newHub() *hub {
	h := &hub{pollers: map[topic]*poller{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// close ends all streams and pollers.
func (h *hub) close() {
	h.mu.Lock()
	h.cancel()
	h.mu.Unlock()
	h.running.Wait()
}

var (
	errStopping = errors.New("the node is stopping: use another node")
	errCrowded  = errors.New("too many views")
)

// crowded is the error for a stream that would be one too many.
func crowded(what string, most int) error {
	return fmt.Errorf("%w: the node serves %d %s, the maximum: close other pages, or use another node", errCrowded, most, what)
}

// open starts a stream, and a poller if there is none for its topic.
func (h *hub) open(who node.Caller, query string, every time.Duration, begin func() look) (*stream, error) {
	who.From = ""
	t := topic{who, query}
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pollers[t]
	if p == nil && (len(h.pollers) >= maxPollers || h.pollersOf(who) >= maxPollers/2) {
		h.retire(who)
	}
	switch {
	case h.ctx.Err() != nil:
		return nil, errStopping
	case p == nil && len(h.pollers) >= maxPollers:
		return nil, crowded("different views", maxPollers)
	case p == nil && h.pollersOf(who) >= maxPollers/2:
		return nil, crowded("different views of "+who.String(), maxPollers/2)
	case p == nil:
		p = &poller{hub: h, topic: t, every: every, look: begin(), news: make(chan struct{}), wake: make(chan struct{}, 1)}
		p.ctx, p.cancel = context.WithCancel(h.ctx)
		h.pollers[t] = p
		h.running.Go(p.run)
	case p.streams == 0:
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	p.streams++
	return &stream{poller: p}, nil
}

// retire ends the poller that has been without a stream for longest: of a caller, if that has
// as many as it may have.
func (h *hub) retire(who node.Caller) {
	full := h.pollersOf(who) >= maxPollers/2
	var first *poller
	for t, p := range h.pollers {
		if p.streams == 0 && (t.who == who || !full) && (first == nil || p.left.Before(first.left)) {
			first = p
		}
	}
	if first != nil {
		delete(h.pollers, first.topic)
		first.cancel()
	}
}

func (h *hub) pollersOf(who node.Caller) (n int) {
	for t := range h.pollers {
		if t.who == who {
			n++
		}
	}
	return n
}

// A poller looks again and again while it has streams, and publishes what has changed. It
// remembers what it has seen for a while without: a reader who turns pages leaves one behind with
// each, and a look is work for all nodes.
type poller struct {
	hub   *hub
	topic topic
	every time.Duration
	look  look

	ctx    context.Context // done when the poller, or the hub, has ended
	cancel func()
	wake   chan struct{} // has a stream again

	streams int       // guarded by hub.mu
	left    time.Time // when the last stream ended; guarded by hub.mu

	mu      sync.Mutex
	doc     document
	version int           // of the document; 0 if there is none yet
	delta   []byte        // from the version before to this one
	full    []byte        // the document; nil if it was not needed yet
	failure *failure      // of the last look; nil if it succeeded
	edition int           // changes with the version and with the failure
	ended   bool          // nothing will change
	news    chan struct{} // closed when the edition changes
}

// A failure is why a document may be out of date.
type failure struct {
	Error  string `json:"error"`
	Reason string `json:"reason"` // denied, stopping or unavailable
	Final  bool   `json:"final"`  // the stream ends
}

func failureOf(err error) *failure {
	switch {
	case errors.Is(err, lock.ErrDenied):
		return &failure{err.Error(), "denied", true}
	case errors.Is(err, errStopping):
		return &failure{err.Error(), "stopping", true}
	}
	return &failure{err.Error(), "unavailable", false}
}

// run polls until nothing changes any more, or no stream needs it.
func (p *poller) run() {
	defer p.cancel()
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-p.wake:
		case <-p.ctx.Done():
			return
		}
		tick.Reset(p.every)
		watched, ended := p.use()
		if ended {
			return
		}
		if !watched {
			continue
		}
		doc, done, err := p.look(p.ctx)
		if p.ctx.Err() != nil {
			return
		}
		if p.publish(doc, done, err) {
			return
		}
	}
}

// use reports whether the poller has streams. If it has had none for a while, it is removed
// from the hub and ends.
func (p *poller) use() (watched, ended bool) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	if p.streams > 0 || time.Since(p.left) < linger {
		return p.streams > 0, false
	}
	if p.hub.pollers[p.topic] == p {
		delete(p.hub.pollers, p.topic)
	}
	return false, true
}

// publish makes the outcome of a look known to the streams. It reports whether that was the
// last one.
func (p *poller) publish(v any, done bool, err error) (last bool) {
	var doc document
	if err == nil {
		doc, err = documentOf(v)
	}
	var f *failure
	if err != nil {
		f = failureOf(err)
		last = f.Final
	}
	if last = last || done && err == nil; last { // before streams see it: the next one starts anew
		p.hub.mu.Lock()
		if p.hub.pollers[p.topic] == p {
			delete(p.hub.pollers, p.topic)
		}
		p.hub.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case f != nil && p.failure != nil && *p.failure == *f && !last:
		return false
	case f == nil && !p.replace(doc) && p.failure == nil && !last:
		return false
	}
	p.failure, p.ended = f, last
	p.edition++
	close(p.news)
	p.news = make(chan struct{})
	return last
}

// replace replaces the document. It reports false if that would change nothing but the time.
func (p *poller) replace(doc document) bool {
	if p.version == 0 {
		p.doc, p.version = doc, 1
		return true
	}
	patch := diff(p.doc, doc)
	if _, timed := patch["at_ms"]; len(patch) == 0 || timed && len(patch) == 1 {
		return false
	}
	delta, err := json.Marshal(patch)
	if err != nil { // it was made from JSON
		delta = nil
	}
	p.doc, p.delta, p.full = doc, delta, nil
	p.version++
	return true
}

// whole returns the document as JSON.
func (p *poller) whole() []byte {
	if p.full == nil {
		p.full, _ = json.Marshal(p.doc) // it was made from JSON
	}
	return p.full
}
