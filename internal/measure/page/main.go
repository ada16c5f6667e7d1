// Command page prints docs/live.md: what live locks cost. Its argument says where
// that was measured.
package main

import (
	"fmt"
	"os"

	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/engine/raft"
	"github.com/stile-lock/stile/internal/measure"
	"github.com/stile-lock/stile/internal/peer"
)

// disk returns an empty one for a voter, whose log is cut off after a thousand
// entries.
func disk() engine.Store { return raft.NewDrive(peer.Election, peer.Heartbeat, 1000) }

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "page: want one argument, which says where this is measured: run 'make live'")
		os.Exit(2)
	}
	page, err := measure.Page(os.Args[1], disk, func(r measure.Row) ([]string, error) {
		fmt.Fprintf(os.Stderr, "%s: %s\n", r.Table, r.Name)
		return r.Measure()
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
	fmt.Print(page)
}
