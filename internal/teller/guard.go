package teller

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// guard is the main function of the guard, which is the leader of the process group of a
// run. When its input ends, which is when the parent process does, it removes the folder of
// the run and kills the group, and with it itself.
func guard(args []string) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	_, _ = io.Copy(io.Discard, os.Stdin) // until it ends
	for _, dir := range args {
		if os.RemoveAll(dir) != nil { // a process has created a file meanwhile
			_ = os.RemoveAll(dir)
		}
	}
	if pid := os.Getpid(); syscall.Getpgrp() == pid {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}
