// Package command is the laboratory's command, stile-lab: it simulates, measures, checks and
// shows algorithms, and storms what ships. There is one file for each of its commands. What
// it shares with the service's command is in package terminal.
package command

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/terminal"
)

// Run executes one command line and returns the exit code. It is interrupted when ctx
// ends. ascii is the default of --ascii.
func Run(ctx context.Context, args []string, ascii bool, stdout, stderr io.Writer) int {
	return terminal.Run(ctx, newRoot(), args, ascii, stdout, stderr)
}

// newRoot returns the root command with all its subcommands.
func newRoot() *cobra.Command {
	f := newLabFlags()
	root := &cobra.Command{
		Use:   "stile-lab",
		Short: "A laboratory for the algorithms of mutual exclusion",
		Long: `stile-lab runs, breaks and checks algorithms. Without a command it opens the
lab in the browser. Start with 'stile-lab bank': what goes wrong without a lock.

Usage:
  stile-lab [COMMAND] [ARGUMENT...] [flags]`,
		Example: `Also: completion and help. 'stile-lab COMMAND --help' explains a command. Flags
without a command are those of 'open'. Ctrl-C stops a long command, which then
prints the results so far and exits with code 3.`,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, "") },
	}
	f.define(root.Flags())
	terminal.AddGroup(root, "Watch", newOpen(), newBank())
	terminal.AddGroup(root, "Run", newSim(), newCompare(), newDeadlock(), newReplay())
	terminal.AddGroup(root, "Check", newCheck(), newStorm())
	terminal.AddGroup(root, "Read", newAlgorithms(), newGlossary())
	terminal.Finish(root, terminal.CurrentBuild().String(), otherUse)
	return root
}
