package transport

import (
	"net"
	"testing"
	"time"
)

// A stranger is a connection that a test speaks over by hand.
type stranger struct {
	net.Conn
	r *reader
}

// connect connects to a node, and says nothing yet.
func connect(t testing.TB, addr string) *stranger {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(safety))
	return &stranger{c, newReader(c, 1<<20)}
}

// fake is a process that a test speaks for, linked to a node.
func fake(t testing.TB, n *node, h Hello) *stranger {
	t.Helper()
	s := connect(t, n.addr)
	h.Min, h.Max = MinVersion, MaxVersion
	g := &greeter{self: h, check: func(*Peer) error { return nil }}
	if _, err := g.dial(s, s.r); err != nil {
		t.Fatal(err)
	}
	s.write(t, appendFrame(nil, kindWelcome, nil))
	return s
}

func (s *stranger) write(t testing.TB, b []byte) {
	t.Helper()
	if _, err := s.Write(b); err != nil {
		t.Fatal(err)
	}
}

// answer is the next frame that comes after a node's Hello.
func (s *stranger) answer(t testing.TB) (kind, string) {
	t.Helper()
	if err := s.r.magic(peerMagic); err != nil {
		t.Fatal(err)
	}
	if k, _, err := s.r.next(); k != kindHello || err != nil {
		t.Fatal(k, err)
	}
	k, b, err := s.r.next()
	if err != nil {
		t.Fatal(err)
	}
	return k, string(b)
}

// over waits until the other side has ended the connection.
func (s *stranger) over(t testing.TB) {
	t.Helper()
	for {
		if _, _, err := s.r.next(); err != nil {
			if late, ok := err.(net.Error); ok && late.Timeout() {
				t.Error("the connection is not ended")
			}
			return
		}
	}
}
