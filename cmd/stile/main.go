// Command stile runs nodes that give processes mutual exclusion, holds locks, and
// shows, measures and checks the algorithms for that. 'stile --help' lists what it
// can do.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/live/bench"
	"github.com/stile-lock/stile/internal/live/child"
)

func main() {
	child.Watchdog()
	bench.Worker()
	os.Exit(runMain(os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// What the command ends with.
const (
	exitFound      = 1 // a run broke a property, or did not end as expected
	exitUsage      = 2 // the command could not do what it was asked to do
	exitUnfinished = 3 // it ended early: for lack of time or memory, or since the user interrupted
)

// runMain is the whole command in this environment: it returns the exit code.
func runMain(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	return run(context.Background(), args, !localeIsUnicode(getenv), stdout, stderr)
}

// cliRun is Main in an environment that says nothing.
func cliRun(args []string, stdout, stderr io.Writer) int {
	return runContext(context.Background(), args, stdout, stderr)
}

// runContext is Run, interrupted when ctx is done.
func runContext(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return run(ctx, args, false, stdout, stderr)
}

func run(ctx context.Context, args []string, ascii bool, stdout, stderr io.Writer) int {
	screen := newScreenWriter(stdout)
	out := bufio.NewWriter(screen)
	root := newRoot()
	root.PersistentFlags().BoolVar(&screen.ascii, "ascii", ascii, "print ASCII alone; usual where the locale has no UTF-8")
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if flushed := out.Flush(); err == nil && flushed != nil {
		err = fmt.Errorf("cannot write the output: %w", flushed)
	}
	return reportError(err, stderr)
}

// reportError tells an error, and returns the exit code for it.
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
	case found && unfinished: // what was found stays found
		lines, code = append(f.lines, u.why), exitFound
	case found:
		lines, code = f.lines, exitFound
	case unfinished:
		code = exitUnfinished
	case errors.As(err, &e):
		lines, code = optionalLine(e.why), e.code
	}
	for _, line := range lines {
		line = oneLine(line)
		if code == exitUsage {
			line = shorten(line)
		}
		fmt.Fprintf(stderr, "stile: %s\n", line)
	}
	return code
}

// optionalLine is a line, or none.
func optionalLine(line string) []string {
	if line == "" {
		return nil
	}
	return []string{line}
}

// oneLine makes one line of what may repeat any words of the user.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.Join(strings.Fields(s), " "))
}

// shorten leaves out the middle of a line that repeats something very long: how
// it begins says what was tried, and how it ends what to do.
func shorten(line string) string {
	const longest, half = 290, 140
	if r := []rune(line); len(r) > longest {
		return string(r[:half]) + " ... " + string(r[len(r)-half:])
	}
	return line
}

// newRoot returns the command with all that are below it.
func newRoot() *cobra.Command {
	var which bool
	root := &cobra.Command{
		Use:   "stile",
		Short: "Locks between machines by messages alone, and the algorithms behind them",
		Long: `stile gives a group of processes mutual exclusion by messages alone, without a
lock server, and shows, measures, compares and checks the algorithms for that.

For locks, start with 'stile serve' in one terminal and 'stile exec demo -- ls'
in another; lock holds one for a script, status, members, locks, force-release,
leave and cert look after a cluster, and bench measures one. For the algorithms,
start with 'stile bank', which shows what goes wrong without them; 'stile storm'
shows whole processes under every fault.

Ctrl-C ends a simulation, check, storm or measurement that runs long: what there
is by then is printed, and the exit code is 3.`,
		Args: noSubcommand("command", "lists the commands"),
		RunE: func(c *cobra.Command, _ []string) error {
			if which {
				return printVersion(c.OutOrStdout(), false)
			}
			return c.Help()
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Flags().BoolVar(&which, "version", false, "show which stile this is")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", screenWidth)))
	root.SetHelpCommand(newHelp(root))
	root.AddCommand(
		newAlgorithms(), newSim(), newCompare(), newCheck(), newReplay(), newLab(), newBank(), newScene(), newDeadlock(), newStorm(), newBench(), newServe(), newExec(), newLock(),
		newStatus(), newMembers(), newLocks(), newForceRelease(), newLeave(), newCert(), newGlossary(), newVersion(),
	)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		finishCommand(c)
	}
	return root
}

// finishCommand gives a command, and those below it, what all have: help for who names
// none of those below, and what shells are offered.
func finishCommand(c *cobra.Command) {
	what, lists := "command", "lists the commands"
	if c.Name() == "completion" {
		what, lists = "shell", "lists the shells"
	}
	if c.HasSubCommands() {
		c.Args = noSubcommand(what, lists)
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
