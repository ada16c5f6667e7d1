package transport

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/stile-lock/stile/internal/codec"
)

const (
	chunk     = 64 << 10 // bytes per write; this many are written even before a flush
	recordMax = 16 << 10 // plain text in a TLS record
)

// Errors of Send, and of links that ended.
var (
	ErrDropped = errors.New("message dropped because the queue is half full")
	ErrFull    = errors.New("the other side does not read fast enough")
	ErrTooLong = errors.New("the message exceeds the maximum length of a frame")
	errLeft    = errors.New("the link was replaced by another one")
)

// Limits bounds what one link may cost.
type Limits struct {
	Frame int // bytes of a message
	Queue int // bytes that wait to be sent
}

// A Link moves frames over one connection.
type Link struct {
	conn   net.Conn // connection for reading and writing
	sock   *socket  // socket below it
	in     *reader
	limits Limits

	mu      sync.Mutex
	queue   []byte // frames that wait
	work    []byte // the rest of those being written
	batch   []byte // buffer of work
	writing bool   // a goroutine is writing
	spoke   bool   // something was sent since the last beat
	leaving error  // why to close when everything is written; nil: do not close
	ended   error

	heard  atomic.Bool // something arrived since the last beat
	silent int         // consecutive beats without; only for the goroutine that beats
	slow   int         // beats since it should have closed
}

// newLink makes a link from a connection, which r reads. Its goroutines are counted in wg.
func newLink(conn net.Conn, sock *socket, r *reader, limits Limits, wg *sync.WaitGroup) *Link {
	r.most = limits.Frame
	l := &Link{conn: conn, sock: sock, in: r, limits: limits}
	sock.let(wg, func(err error) {
		if err != nil {
			l.Fail(err)
		}
		l.Flush()
	})
	return l
}

// Send queues a message. If there is no room and the message may be lost, it is dropped; if
// it may not, the link ends, because what comes after a gap is useless. Messages that may
// be lost get only half of the queue.
func (l *Link) Send(b []byte, lossy bool) error {
	full, err := l.send(b, lossy)
	if full {
		l.Flush()
	}
	return err
}

// send is Send, and reports whether there is enough for a write.
func (l *Link) send(b []byte, lossy bool) (full bool, err error) {
	if len(b) > l.limits.Frame {
		return false, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrTooLong, len(b), l.limits.Frame)
	}
	l.mu.Lock()
	if err := cmp.Or(l.ended, l.leaving); err != nil {
		l.mu.Unlock()
		return false, err
	}
	waits := l.waits()
	room := l.limits.Queue - waits - headerSize - len(b)
	switch {
	case lossy && room < l.limits.Queue/2:
		l.mu.Unlock()
		return false, ErrDropped
	case room < 0:
		l.mu.Unlock()
		err := fmt.Errorf("%w: %d bytes are queued, at most %d are allowed", ErrFull, waits, l.limits.Queue)
		l.Fail(err)
		return false, err
	}
	l.queue = appendFrame(l.queue, kindData, b)
	l.spoke = true
	full = len(l.queue) >= chunk
	l.mu.Unlock()
	return full, nil
}

// waits returns the number of bytes that wait to be sent.
func (l *Link) waits() int { return len(l.queue) + len(l.work) + int(l.sock.kept.Load()) }

// Waits returns the number of bytes that wait to be sent.
func (l *Link) Waits() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waits()
}

// put queues a frame of this package, which is never refused.
func (l *Link) put(k kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = appendFrame(l.queue, k, nil)
	l.spoke = true
}

// Flush writes what is queued, as far as the socket accepts it. If another goroutine is
// writing, or the socket is busy, these bytes go with theirs.
func (l *Link) Flush() {
	l.mu.Lock()
	if l.writing {
		l.mu.Unlock()
		return
	}
	l.writing = true
	var failed error
	for failed == nil && l.ended == nil && l.take() && !l.sock.busy() {
		b := l.work[:min(len(l.work), chunk)]
		l.mu.Unlock()
		failed = l.write(b)
		l.mu.Lock()
		l.work = l.work[len(b):]
	}
	l.writing = false
	leaving := l.leaving
	if l.ended != nil || l.waits() > 0 {
		leaving = nil
	}
	l.mu.Unlock()
	switch {
	case failed != nil:
		l.Fail(failed)
	case leaving != nil:
		l.end(leaving, l.conn.Close)
	}
}

// take makes the queue the next work to write, unless there is work left, and reports
// whether there is anything to write.
func (l *Link) take() bool {
	if len(l.work) == 0 {
		next := l.batch[:0]
		if cap(next) > 4*chunk {
			next = nil // a large buffer was needed once, perhaps long ago
		}
		l.work, l.batch, l.queue = l.queue, l.queue, next
	}
	return len(l.work) > 0
}

// write hands bytes to the socket, several TLS records together.
func (l *Link) write(b []byte) error {
	if len(b) <= recordMax || net.Conn(l.sock) == l.conn {
		_, err := l.conn.Write(b)
		return err
	}
	l.sock.cork()
	_, err := l.conn.Write(b)
	return errors.Join(err, l.sock.uncork())
}

// Run reads until the link ends, and returns why. message gets each message, which is valid
// until it returns; its error ends the link.
func (l *Link) Run(message func(b []byte) error) error {
	for {
		k, b, err := l.in.next()
		if err == nil {
			if !l.heard.Load() {
				l.heard.Store(true)
			}
			switch k {
			case kindData:
				err = message(b)
			case kindBeat:
			case kindBye:
				l.Close(errLeft)
			case kindRefuse:
				err = &Refused{remote(l.conn), reason(b)}
			default:
				if codec.Optional(byte(k)) {
					break // of a later version
				}
				err = malformed("unexpected frame of kind %d after the greeting", k)
			}
		}
		if err != nil {
			return l.Fail(worded(err))
		}
	}
}

// worded explains why nothing more can be read.
func worded(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the other side closed the connection")
	}
	return err
}

// Close ends the link when everything queued is written, and lets the other side know that
// this is intended. It does not wait.
func (l *Link) Close(err error) {
	l.mu.Lock()
	l.leaving = cmp.Or(l.leaving, err)
	l.mu.Unlock()
	l.Flush()
}

// Fail ends the link at once, and returns why it ended, which may be an earlier reason.
func (l *Link) Fail(err error) error { return l.end(err, l.sock.Conn.Close) }

func (l *Link) end(err error, closing func() error) error {
	l.mu.Lock()
	first := l.ended == nil
	if first {
		l.ended = err
	}
	err = l.ended
	l.mu.Unlock()
	if first {
		closing()
	}
	return err
}

// beat is called regularly. It sends a frame if nothing was sent since the last time. It
// ends a link that was silent for this many beats, or that cannot close.
func (l *Link) beat(often int) {
	l.silent++
	if l.heard.Swap(false) {
		l.silent = 0
	}
	if l.silent >= often {
		l.Fail(fmt.Errorf("no frame received for %d heartbeats", l.silent))
		return
	}
	l.mu.Lock()
	if leaving := l.leaving; leaving != nil {
		if l.slow++; l.slow >= often {
			l.mu.Unlock()
			l.Fail(leaving)
			return
		}
	}
	spoke := l.spoke
	l.spoke = false
	if !spoke && l.waits() == 0 {
		l.queue = appendFrame(l.queue, kindBeat, nil)
	}
	l.mu.Unlock()
	l.Flush()
}
