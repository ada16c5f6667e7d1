package transport

import (
	"net"
	"time"
)

// userTimeout does nothing: macOS has no such option, so keepalive and heartbeats must do.
func userTimeout(*net.TCPConn, time.Duration) error { return nil }
