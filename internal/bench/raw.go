package bench

import (
	"crypto/tls"
	"io"
	"net"
	"time"

	"github.com/stile-lock/stile/internal/node/cert"
)

// size is the size of a raw message: that of a frame between nodes, or a little more.
const size = 64

func (s *site) keys() (*cert.Keys, error) {
	return cert.Load(cert.Config(s.files), func(error) {})
}

// echo sends back what it receives over Go's TLS.
func (s *site) echo() (answer, error) {
	keys, err := s.keys()
	if err != nil {
		return answer{}, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return answer{}, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go echo(tls.Server(c, keys.Server()))
		}
	}()
	return answer{Address: l.Addr().String()}, nil
}

func echo(c net.Conn) {
	defer c.Close()
	b := make([]byte, size)
	for {
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}

// exchange sends a message there and waits until it is back, again and again.
func (s *site) exchange(o *order) (a answer, err error) {
	if s.raw == nil {
		keys, err := s.keys()
		if err != nil {
			return a, err
		}
		if s.raw, err = tls.Dial("tcp", o.Address, keys.Client("127.0.0.1")); err != nil {
			return a, err
		}
	}
	b := make([]byte, size)
	since := time.Now()
	for a.Took < o.For {
		if _, err := s.raw.Write(b); err != nil {
			return a, err
		}
		if _, err := io.ReadFull(s.raw, b); err != nil {
			return a, err
		}
		a.Count++
		a.Took = time.Since(since)
	}
	return a, nil
}
