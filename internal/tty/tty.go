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

// SetModes sets them, when all that was written before is out.
func SetModes(fd int, m *unix.Termios) error { return unix.IoctlSetTermios(fd, set, m) }
