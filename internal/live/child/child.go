package child

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// A Config says what to run, and how.
type Config struct {
	Args  []string // the command and its arguments
	Shell bool     // the only argument is a line for the shell
	Env   []string // see Environ
	Dir   string   // where to run it; empty is here

	// The command gets these files themselves, not copies of what goes through
	// them; nil is the null device.
	Stdin, Stdout, Stderr *os.File

	// Grace is how long the command and all it started may take to end after
	// they were told to. At the end of a lease it may be shorter.
	Grace time.Duration
	// Lease says by when all must be gone; nil is never.
	Lease *Lease
	// Linger waits for what the command has left behind, and holds the lock for
	// it, as flock does. Without it all that is ended when the command is over.
	Linger bool
}

// A Result says how a command ended.
type Result struct {
	Code   int            // what to exit with
	Signal syscall.Signal // what ended the command, or 0
	Lost   bool           // the command was ended because of the lock
	Gone   bool           // nothing is left of what was run: the lock may be given back
}

// Errors of Run.
var (
	// ErrExpired is the cause of a loss of which only the clock knew.
	ErrExpired = errors.New("its lease was not extended in time")
	// ErrWatchdog says that the process which guards the command was lost.
	ErrWatchdog = errors.New("its watchdog died")
	// ErrLeft says that something could not be ended before the lease was over.
	ErrLeft = errors.New("something that it started could not be ended")
)
