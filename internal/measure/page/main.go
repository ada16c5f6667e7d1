// Command page prints docs/results/live.md: what live locks cost. Its argument says where
// this was measured.
package main

import (
	"fmt"
	"os"

	"github.com/stile-lock/stile/internal/measure"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views/raft"
)

// maxLog is the number of entries after which a voter shortens its log.
const maxLog = 1000

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "page: want one argument, a description of the measurement: run 'make live'")
		os.Exit(2)
	}
	logs := raft.Logs{Election: process.Election, Heartbeat: process.Heartbeat, MaxLog: maxLog}
	page, err := measure.Page(os.Args[1], logs, func(r measure.Row) ([]string, error) {
		fmt.Fprintf(os.Stderr, "%s: %s\n", r.Table, r.Name)
		return r.Measure()
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
	fmt.Print(page)
}
