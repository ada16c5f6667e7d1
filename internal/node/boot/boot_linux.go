package boot

import (
	"syscall"
	"unsafe"

	"github.com/stile-lock/stile/internal/member"
)

// boottime is the clock that goes on while the machine is suspended.
const boottime = 7

// Now reads it. The call cannot fail: every Linux that Go runs on has the clock.
func Now() member.Instant {
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, boottime, uintptr(unsafe.Pointer(&ts)), 0)
	return member.Instant(ts.Nano()) + 1
}
