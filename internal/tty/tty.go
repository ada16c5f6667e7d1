// Package tty asks and tells terminals their modes.
package tty

import "golang.org/x/sys/unix"

// Is reports whether a descriptor is a terminal.
func Is(fd int) bool {
	_, err := Modes(fd)
	return err == nil
}

// Modes returns the modes of a terminal.
func Modes(fd int) (*unix.Termios, error) { return unix.IoctlGetTermios(fd, get) }

// Rows returns the number of lines of a terminal; 0 if it is unknown.
func Rows(fd int) int {
	w, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(w.Row)
}

// SetModes sets them, when all that was written before is out.
func SetModes(fd int, m *unix.Termios) error { return unix.IoctlSetTermios(fd, set, m) }
