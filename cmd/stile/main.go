// Command stile runs nodes of a lock service and uses them: it acquires locks, shows who
// holds them, and manages a cluster. 'stile --help' lists its commands. The laboratory for
// the algorithms is another command, stile-lab.
//
// There is one file for each command. Files such as nodes.go and settings.go hold what
// several commands share, and package terminal what they share with stile-lab.
package main

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/child"
	"github.com/stile-lock/stile/internal/terminal"
)

func main() {
	child.Watchdog()
	os.Exit(run(context.Background(), os.Args[1:], terminal.DefaultASCII(), os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit code. It is interrupted when
// ctx ends. ascii is the default of --ascii.
func run(ctx context.Context, args []string, ascii bool, stdout, stderr io.Writer) int {
	return terminal.Run(ctx, newRoot(), args, ascii, stdout, stderr)
}

// notify prints a message on standard error.
func notify(stderr io.Writer, format string, args ...any) {
	terminal.Notify(stderr, "stile", format, args...)
}

// newRoot returns the root command with all its subcommands.
func newRoot() *cobra.Command {
	var version strings.Builder
	_ = printVersion(&version, false) // writing to memory does not fail
	root := &cobra.Command{
		Use:   "stile",
		Short: "Distributed locks, without a server that owns them",
		Long: `stile passes locks from process to process; no server owns them.
Usage:
  stile COMMAND [ARGUMENT...] [flags]      (--help explains a command)`,
		Example: "Also: version, completion, help. The laboratory of algorithms is stile-lab.",
	}
	terminal.AddGroup(root, "Run", newServe())
	terminal.AddGroup(root, "Use", newExec(), newLock(), newElect())
	terminal.AddGroup(root, "Look", newStatus(), newMembers(), newLocks(), newTop())
	terminal.AddGroup(root, "Manage", newForceRelease(), newEvict(), newChoose(), newLeave(), newMoveSession(), newBackup(), newRecover(), newCert(), newToken())
	root.AddCommand(newVersion())
	terminal.Finish(root, strings.TrimSpace(version.String()), nil)
	return root
}
