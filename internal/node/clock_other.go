//go:build !linux

package node

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/stile-lock/stile/internal/member"
)

// clock reads a clock that goes on while the machine is suspended: on macOS that
// is CLOCK_MONOTONIC, which Go's own is not.
func clock() member.Instant {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return member.Instant(time.Since(start)) + 1
	}
	return member.Instant(ts.Nano()) + 1
}

var start = time.Now()
