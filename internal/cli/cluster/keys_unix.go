//go:build linux || darwin

package cluster

import (
	"os"

	"golang.org/x/sys/unix"
)

// keys lets a terminal hand over each key at once, and not show it. What it returns
// undoes that.
func keys(f *os.File) func() {
	before, err := unix.IoctlGetTermios(int(f.Fd()), getModes)
	if err != nil {
		return func() {}
	}
	now := *before
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	_ = unix.IoctlSetTermios(int(f.Fd()), setModes, &now) // without it Enter is needed
	return func() { _ = unix.IoctlSetTermios(int(f.Fd()), setModes, before) }
}

// isTerminal reports whether a file is a terminal.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), getModes)
	return err == nil
}
