//go:build linux || darwin

package child

import (
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/stile-lock/stile/internal/tty"
)

// A terminal is the controlling terminal. A nil terminal means that there is none, and does
// nothing.
type terminal struct {
	fd    int
	own   int           // exec's own group
	modes *unix.Termios // as they were before the command
	given bool          // the command has had it
}

// controlling opens the controlling terminal, if there is one.
func controlling() *terminal {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	t := &terminal{fd: fd, own: unix.Getpgrp()}
	t.modes, _ = tty.Modes(fd)
	return t
}

func (t *terminal) close() {
	if t != nil {
		unix.Close(t.fd)
	}
}

// descriptor returns the terminal's descriptor, or -1.
func (t *terminal) descriptor() int {
	if t == nil {
		return -1
	}
	return t.fd
}

// ours reports whether exec's group is in the foreground.
func (t *terminal) ours() bool {
	if t == nil {
		return false
	}
	front, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	return err == nil && front == t.own
}

// give puts a group in the foreground, if exec is there.
func (t *terminal) give(group int) {
	if t.ours() && group != 0 {
		t.given = true
		t.front(group)
	}
}

// take brings exec's group back to the foreground, if the command's group is there, or one
// that no longer exists. Otherwise a shell may have taken the terminal since.
func (t *terminal) take(group int) {
	if t == nil || !t.given {
		return
	}
	front, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err == nil && front != t.own && (front == group || unix.Kill(-front, 0) == unix.ESRCH) {
		t.front(t.own)
	}
}

// restore restores the modes that a killed command had no time to restore.
func (t *terminal) restore() {
	if t != nil && t.given && t.modes != nil && t.ours() {
		_ = tty.SetModes(t.fd, t.modes)
	}
}

// front needs SIGTTOU to be ignored, because it stops a process that does this from the
// background. It stays ignored; nothing that could inherit this is started afterwards.
func (t *terminal) front(group int) {
	signal.Ignore(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group)
}
