// Command stile-lab is the laboratory: it simulates, measures, checks and shows algorithms.
// 'stile-lab --help' lists its commands.
package main

import (
	"context"
	"os"

	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/lab/command"
)

func main() {
	os.Exit(command.Run(context.Background(), os.Args[1:], terminal.DefaultASCII(), os.Stdout, os.Stderr))
}
