package tty

import "golang.org/x/sys/unix"

const get, set = unix.TIOCGETA, unix.TIOCSETAW
