package transport

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A socket is a connection. Once it is loose its writes never block: what the connection
// does not accept at once is kept and written by a goroutine that runs as long as something
// is left.
type socket struct {
	net.Conn
	first []byte                      // bytes already read, to be read again
	try   func(b []byte) (int, error) // writes what can be written now; nil if only blocking writes are possible
	heard atomic.Bool                 // something arrived since it became pending

	mu      sync.Mutex
	loose   bool
	corked  bool // more is coming: keep it
	working bool // the goroutine is running
	rest    []byte
	spare   []byte // replaces rest while the goroutine writes it
	err     error

	kept  atomic.Int64 // bytes that wait
	wg    *sync.WaitGroup
	freed func(err error) // called when nothing waits any longer, or with err
}

// newSocket makes a socket from a connection.
func newSocket(c net.Conn) *socket {
	if s, ok := c.(*socket); ok {
		return s
	}
	return &socket{Conn: c, try: tryWrite(c)}
}

// socketOf returns the socket below c, and the connection to read and write: c, or the new
// socket if there is none below.
func socketOf(c net.Conn) (*socket, net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		if s, ok := t.NetConn().(*socket); ok {
			return s, c
		}
	}
	s := newSocket(c)
	return s, s
}

// Read implements net.Conn.
func (s *socket) Read(b []byte) (int, error) {
	if len(s.first) > 0 {
		n := copy(b, s.first)
		s.first = s.first[n:]
		return n, nil
	}
	n, err := s.Conn.Read(b)
	if n > 0 && !s.heard.Load() {
		s.heard.Store(true)
	}
	return n, err
}

// CloseWrite closes only the writing side.
func (s *socket) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// let makes the socket loose. freed is called, from a goroutine of its own, when everything
// kept has been written, or when that failed.
func (s *socket) let(wg *sync.WaitGroup, freed func(err error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loose, s.wg, s.freed = true, wg, freed
}

// Write implements net.Conn.
func (s *socket) Write(b []byte) (int, error) {
	s.mu.Lock()
	if !s.loose {
		s.mu.Unlock()
		return s.Conn.Write(b)
	}
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	if s.corked || s.working {
		s.keep(b)
		return len(b), nil
	}
	return len(b), s.put(b)
}

// put writes what can be written now, and leaves the rest to the goroutine.
func (s *socket) put(b []byte) error {
	n := 0
	if s.try != nil {
		if n, s.err = s.try(b); s.err != nil {
			return s.err
		}
	}
	if n < len(b) {
		s.keep(b[n:])
		s.working = true
		s.wg.Go(s.work)
	}
	return nil
}

func (s *socket) keep(b []byte) {
	s.rest = append(s.rest, b...)
	s.kept.Add(int64(len(b)))
}

// cork makes the socket keep what is written until uncork writes everything at once.
func (s *socket) cork() {
	s.mu.Lock()
	s.corked = true
	s.mu.Unlock()
}

func (s *socket) uncork() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.corked = false
	if s.working || len(s.rest) == 0 || s.err != nil {
		return s.err
	}
	b := s.rest
	s.rest = s.spare[:0]
	s.kept.Add(-int64(len(b)))
	err := s.put(b)
	s.spare = b[:0]
	return err
}

// work writes what was kept.
func (s *socket) work() {
	for {
		s.mu.Lock()
		if len(s.rest) == 0 || s.err != nil {
			s.working = false
			err := s.err
			s.mu.Unlock()
			s.freed(err)
			return
		}
		b := s.rest
		s.rest = s.spare[:0]
		s.spare = nil
		s.mu.Unlock()
		_, err := s.Conn.Write(b)
		s.mu.Lock()
		s.err = err
		if cap(b) <= 2*chunk {
			s.spare = b[:0]
		}
		s.kept.Add(-int64(len(b)))
		s.mu.Unlock()
	}
}

// busy reports whether bytes wait for the network.
func (s *socket) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.working
}

// Tune makes a connection fast, and lets the system detect that it is dead.
func Tune(c net.Conn, timeout time.Duration) error {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	every := max(timeout/4, time.Second)
	return errors.Join(
		t.SetNoDelay(true),
		t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: every, Interval: every, Count: 4}),
		userTimeout(t, timeout),
	)
}

// Local reports whether an address is on this machine.
func Local(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return !ok || t.IP.IsLoopback()
}
