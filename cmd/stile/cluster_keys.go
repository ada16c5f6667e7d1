package main

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/stile-lock/stile/internal/tty"
)

// clusterKeys lets a terminal hand over each key at once, and not show it. What it returns
// undoes that.
func clusterKeys(f *os.File) func() {
	before, err := tty.Modes(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	now := *before
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	_ = tty.SetModes(int(f.Fd()), &now) // without it Enter is needed
	return func() { _ = tty.SetModes(int(f.Fd()), before) }
}
