//go:build !linux && !darwin

package child

import (
	"context"
	"errors"
	"time"
)

// start is where this process counts from.
var start = time.Now()

// Now returns the present moment.
func Now() Moment { return Moment(time.Since(start)) + 1 }

// Watchdog does nothing here.
func Watchdog() {}

// Run refuses: there are no process groups here.
func Run(context.Context, Config) (Result, error) {
	return Result{Code: Failed}, errors.New("cannot run a command under a lock on this system: only Linux and macOS can end all that a command started")
}
