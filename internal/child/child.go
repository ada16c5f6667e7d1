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
	Shell bool     // the only argument is a command line for the shell
	Env   []string // see Environ
	Dir   string   // folder to run it in; empty: the current one

	// The command gets these files themselves, not copies of their data; nil is the null
	// device.
	Stdin, Stdout, Stderr *os.File

	// Grace is how long the command and everything it started may take to end after TERM.
	// At the end of a lease it may be shorter.
	Grace time.Duration
	// Lease is the deadline by which everything must be gone; nil is never.
	Lease *Lease
	// Linger waits for what the command has left behind, and holds the lock for it, as
	// flock does. Without it, these processes are ended when the command exits.
	Linger bool
}

// A Result is how a command ended.
type Result struct {
	Code   int            // exit code for this process
	Signal syscall.Signal // signal that ended the command, or 0
	Lost   bool           // the command was ended because of the lock
	Gone   bool           // nothing that was run is left: the lock may be released
}

// Errors of Run.
var (
	// ErrExpired is the cause of a loss that only the clock revealed.
	ErrExpired = errors.New("the lock was lost: its lease was not renewed in time")
	// ErrWatchdog means that the process that guards the command died.
	ErrWatchdog = errors.New("the watchdog died")
	// ErrLeft means that a process could not be ended before the lease expired.
	ErrLeft = errors.New("a process of the command could not be killed")
)
