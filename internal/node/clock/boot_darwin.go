package clock

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/stile-lock/stile/internal/member"
)

// Now reads a clock that keeps running while the machine is suspended: on macOS that is
// CLOCK_MONOTONIC, which Go's own clock is not. On other systems the clock may stand still,
// so there is no such file for them.
func Now() member.Instant {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return member.Instant(time.Since(start)) + 1
	}
	return member.Instant(ts.Nano()) + 1
}

var start = time.Now()
