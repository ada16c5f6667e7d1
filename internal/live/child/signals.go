//go:build linux || darwin

package child

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// forwarded are the signals that exec passes on to the command.
func forwarded() []os.Signal {
	return []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGWINCH,
		syscall.SIGUSR1, syscall.SIGUSR2,
	}
}

// alone says whether a signal is for the command itself: those of the terminal and
// those that end it are for its whole group, as if it had been typed without exec.
// What USR1 and USR2 mean only the command knows; others would die of them.
func alone(sig os.Signal) bool { return sig == syscall.SIGUSR1 || sig == syscall.SIGUSR2 }

// enough is how long exec waits to be stopped after it has asked for it.
const enough = 200 * time.Millisecond

// suspend stops exec and its group, as the terminal would have done, and returns
// when it goes on. Where no shell could let it go on the kernel does not stop it,
// and it goes on at once. Exec stops itself by TTIN, the one signal of its kind
// that it neither handles nor ignores: Go can bring back the default of no signal
// that it has once had.
func suspend(signals chan<- os.Signal, again <-chan os.Signal) {
	signal.Ignore(syscall.SIGTSTP)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	_ = syscall.Kill(os.Getpid(), syscall.SIGTTIN)
	select {
	case <-again:
	case <-time.After(enough):
	}
	signal.Notify(signals, syscall.SIGTSTP)
}

// mirror passes the signal that ended the command on to the group of exec. The
// terminal sent it to the command alone, because that was in the foreground; a
// script around exec must hear of it too, or Ctrl-C ends only one of its commands.
func mirror(sig syscall.Signal) {
	signal.Ignore(sig)
	_ = syscall.Kill(0, sig)
}
