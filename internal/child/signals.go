//go:build linux || darwin

package child

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// forwarded are the signals that exec forwards to the command.
func forwarded() []os.Signal {
	return []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGWINCH,
		syscall.SIGUSR1, syscall.SIGUSR2,
	}
}

// alone reports whether a signal is only for the command itself. Signals of the terminal
// and those that end it are for its whole group, as if it had been typed without exec. Only
// the command knows what USR1 and USR2 mean; other processes would die of them.
func alone(sig os.Signal) bool { return sig == syscall.SIGUSR1 || sig == syscall.SIGUSR2 }

// enough is how long exec waits to be stopped after it has asked for that.
const enough = 200 * time.Millisecond

// suspend stops exec and its group, as the terminal would have done, and returns when it
// resumes. Where no shell could resume it, the kernel does not stop it, and it continues at
// once. Exec stops itself with TTIN, the one signal of its kind that it neither handles nor
// ignores, because Go cannot restore the default action of a signal that it has once
// handled.
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

// mirror forwards the signal that ended the command to exec's group. The terminal sent it
// only to the command, which was in the foreground; a script around exec must get it too,
// or Ctrl-C ends only one of its commands.
func mirror(sig syscall.Signal) {
	signal.Ignore(sig)
	_ = syscall.Kill(0, sig)
}
