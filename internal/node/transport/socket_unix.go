//go:build unix

package transport

import (
	"errors"
	"net"
	"syscall"
)

// tryWrite returns a function that writes to a connection without blocking; nil if that is
// not possible.
func tryWrite(c net.Conn) func(b []byte) (int, error) {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return nil
	}
	var w struct {
		b   []byte
		n   int
		err error
	}
	once := func(fd uintptr) bool {
		for {
			w.n, w.err = syscall.Write(int(fd), w.b)
			if w.err != syscall.EINTR {
				return true // also when it would block: the rest is written later
			}
		}
	}
	return func(b []byte) (int, error) {
		w.b, w.n, w.err = b, 0, nil
		err := raw.Write(once)
		w.b = nil
		switch {
		case err != nil:
			return 0, err
		case errors.Is(w.err, syscall.EAGAIN):
			return 0, nil
		}
		return max(w.n, 0), w.err
	}
}
