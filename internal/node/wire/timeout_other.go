//go:build !linux

package wire

import (
	"net"
	"time"
)

// userTimeout is left to keepalive and heartbeats where the system has none.
func userTimeout(*net.TCPConn, time.Duration) error { return nil }
