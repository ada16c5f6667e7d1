// Command stile runs nodes that give processes mutual exclusion, holds locks, and
// shows, measures and checks the algorithms for that. 'stile --help' lists what it
// can do.
package main

import (
	"os"

	"github.com/stile-lock/stile/internal/live/bench"
	"github.com/stile-lock/stile/internal/live/child"
)

func main() {
	child.Watchdog()
	bench.Worker()
	os.Exit(Main(os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}
