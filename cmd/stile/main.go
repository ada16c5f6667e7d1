// Command stile runs nodes of a lock service, acquires locks, and simulates,
// measures and checks the algorithms behind them. 'stile --help' lists its
// commands.
//
// There is one file for each command. Files such as flags.go, nodes.go and
// output.go hold what several commands share.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/child"
	"github.com/stile-lock/stile/internal/words"
)

func main() {
	child.Watchdog()
	os.Exit(run(context.Background(), os.Args[1:], !localeIsUnicode(os.Getenv), os.Stdout, os.Stderr))
}

// Exit codes, as docs/exit-codes.md lists them. Commands that hold a lock have more.
const (
	exitFound      = 1 // a run broke a property, or did not end as expected
	exitUsage      = 2 // the command line or its input is wrong
	exitUnfinished = 3 // stopped early by a time or memory limit, or by an interrupt
)

// run executes one command line and returns the exit code. It is interrupted when
// ctx ends. ascii is the default of --ascii.
func run(ctx context.Context, args []string, ascii bool, stdout, stderr io.Writer) int {
	screen := newScreenWriter(stdout)
	out := bufio.NewWriter(screen)
	root := newRoot()
	root.PersistentFlags().BoolVar(&screen.ascii, "ascii", ascii, "ASCII output only; the default if the locale is not UTF-8")
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if flushed := out.Flush(); err == nil && flushed != nil {
		err = fmt.Errorf("cannot write output: %w", flushed)
	}
	return reportError(err, stderr)
}

// reportError prints an error and returns its exit code.
func reportError(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	var f findings
	var u unfinished
	var e exitError
	found, unfinished := errors.As(err, &f), errors.As(err, &u)
	lines, code := []string{err.Error()}, exitUsage
	switch {
	case found && unfinished: // an interrupt does not undo a finding
		lines, code = append(f.lines, u.why), exitFound
	case found:
		lines, code = f.lines, exitFound
	case unfinished:
		code = exitUnfinished
	case errors.As(err, &e):
		if lines, code = []string{e.why}, e.code; e.why == "" {
			lines = nil
		}
	}
	for _, line := range lines {
		if code == exitUsage {
			line = shorten(oneLine(line))
		}
		notify(stderr, "%s", line)
	}
	return code
}

// oneLine puts a message, which may contain text from anywhere, on one printable line.
func oneLine(s string) string { return words.Printable(strings.Join(strings.Fields(s), " ")) }

// notify prints a message on standard error.
func notify(stderr io.Writer, format string, args ...any) {
	fmt.Fprintf(stderr, "stile: %s\n", oneLine(fmt.Sprintf(format, args...)))
}

// shorten cuts the middle out of a very long message: its beginning says what
// failed, its end what to do.
func shorten(line string) string {
	const longest, half = 290, 140
	if r := []rune(line); len(r) > longest {
		return string(r[:half]) + " ... " + string(r[len(r)-half:])
	}
	return line
}

// newRoot returns the root command with all its subcommands.
func newRoot() *cobra.Command {
	var which bool
	root := &cobra.Command{
		Use:   "stile",
		Short: "Distributed locks, and the algorithms of mutual exclusion behind them",
		Long: `stile passes locks from process to process with the classical algorithms of
mutual exclusion; no server owns them. It also simulates, measures, compares
and checks these algorithms.

For locks, start with 'stile serve' in one terminal and 'stile exec demo -- ls'
in another. 'stile lock' holds a lock for a script, and 'stile elect' elects a
leader. The commands status, members, locks, top, force-release, evict, choose,
leave, backup, recover, cert and token manage a cluster.

For the algorithms, start with 'stile bank', which shows what goes wrong without
a lock. 'stile storm' runs whole processes under every fault.

Ctrl-C stops a long simulation, check, storm or measurement: stile prints the
results so far and exits with code 3.`,
		Args: noSubcommand("command"),
		RunE: func(c *cobra.Command, _ []string) error {
			if which {
				return printVersion(c.OutOrStdout(), false)
			}
			return c.Help()
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Flags().BoolVar(&which, "version", false, "print the version")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", screenWidth)))
	root.SetHelpCommand(newHelp(root))
	root.AddCommand(
		newAlgorithms(), newSim(), newCompare(), newCheck(), newReplay(), newLab(), newBank(), newDeadlock(), newStorm(), newServe(), newExec(), newLock(), newElect(),
		newStatus(), newMembers(), newLocks(), newTop(), newForceRelease(), newEvict(), newChoose(), newLeave(), newMoveSession(), newBackup(), newRecover(), newCert(), newToken(), newGlossary(), newVersion(),
	)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		finishCommand(c)
	}
	return root
}

// finishCommand sets what all commands have in common, on c and its subcommands:
// help if no subcommand is named, and shell completion.
func finishCommand(c *cobra.Command) {
	if c.HasSubCommands() {
		what := "command"
		if c.Name() == "completion" {
			what = "shell"
		}
		c.Args = noSubcommand(what)
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	if c.ValidArgsFunction == nil && !c.HasSubCommands() {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	completeFlags(c)
	for _, sub := range c.Commands() {
		finishCommand(sub)
	}
}
