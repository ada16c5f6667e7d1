package transport

import (
	"net"
	"syscall"
	"testing"
	"time"
)

// The system ends connections whose bytes are not acknowledged.
func TestUserTimeout(t *testing.T) {
	n := newNode(t, "a")
	c := connect(t, n.addr).Conn.(*net.TCPConn)
	if err := Tune(c, 7*time.Second); err != nil {
		t.Fatal(err)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for option, want := range map[int]int{tcpUserTimeout: 7000, syscall.TCP_NODELAY: 1} {
		var got int
		var gotErr error
		if err := raw.Control(func(fd uintptr) {
			got, gotErr = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, option)
		}); err != nil || gotErr != nil || got != want {
			t.Errorf("option %d is %d, want %d: %v, %v", option, got, want, err, gotErr)
		}
	}
}
