package child

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// polls reports whether only polling shows that a group is gone: on macOS no process adopts
// what the command leaves behind.
const polls = true

func adopt() error { return nil }

func release() {}

// attributes are those of the command: its own group, and the terminal if it gets it.
func attributes(foreground bool, tty int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Foreground: foreground, Ctty: tty}
}

func self() (string, error) { return os.Executable() }

// strike sends a signal to the group. Processes that have left it are out of reach.
func strike(sig syscall.Signal, group int) {
	if group != 0 {
		_ = unix.Kill(-group, sig)
	}
}

// forward sends a signal to a group.
func forward(sig syscall.Signal, group int, _ bool) { strike(sig, group) }

// survivors reports whether a group without its leader has members.
func survivors(group int) bool { return unix.Kill(-group, 0) != unix.ESRCH }
