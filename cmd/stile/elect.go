package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/survey"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

// electFlags holds the flags and arguments of 'stile elect'.
type electFlags struct {
	execFlags
	observe bool
	json    bool
}

func newElect() *cobra.Command {
	x := &electFlags{execFlags: execFlags{grace: 2 * time.Second}}
	x.elects = true
	c := &cobra.Command{
		Use:   "elect ELECTION [flags] [[--] COMMAND [ARGUMENT...]]",
		Short: "Run a command as the elected leader, or show who leads",
		Long: `With a command, waits until this process is elected, runs the command, and
resigns when it exits. The election is the lock of the same name, and everything
said of 'stile exec' applies: if the leadership is lost, the command is killed
before another process can be elected. The command gets STILE_ELECTION and
STILE_TERM besides STILE_LOCK and STILE_TOKEN. The term is the fencing token: it
rises from leader to leader.

Without a command, prints the leader. With --observe, prints the leader and then
each change, one line each, until Ctrl-C: every leader in the order of terms,
and that there is none. A leader whose node crashed counts until its lease has
expired. Problems with single nodes are reported on standard error.

Exit codes: with a command, those of 'stile exec'. Otherwise 0 if there is a
leader or with --observe; 1 if there is none; 2 if stile was called wrongly or
no node answers.`,
		Example: `  stile elect scheduler --value 10.0.0.7:8080 -- ./scheduler
  stile elect scheduler
  stile elect scheduler --observe --json`,
		Args: x.parse,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(x.args) > 0 {
				return x.run(c)
			}
			return x.show(c)
		},
		ValidArgsFunction:     completeCommand,
		DisableFlagsInUseLine: true,
	}
	fs := c.Flags()
	fs.SetInterspersed(false)
	x.define(fs)
	fs.Lookup("value").Usage = "`TEXT` for observers, such as the leader's address, up to 256 bytes"
	fs.BoolVar(&x.observe, "observe", false, "print each change of the leader, until Ctrl-C")
	terminal.JSONFlag(fs, &x.json)
	return c
}

// parse parses the name of the election, the flags after it, and the command.
func (x *electFlags) parse(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs the name of an election, such as 'stile elect scheduler'", c.CommandPath())
	}
	if err := x.split(c, args); err != nil {
		return err
	}
	if len(x.names) > 1 {
		return fmt.Errorf("%s takes one election, but was also given %q: campaign in them one at a time, or put -- before the command", c.CommandPath(), x.names[1])
	}
	if len(x.args) > 0 && x.args[0] == "" {
		return fmt.Errorf("the command is empty: name one to run as the leader of %q", x.names[0])
	}
	leads := len(x.args) > 0
	var wrong error
	c.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "observe", "json":
			if leads {
				wrong = fmt.Errorf("--%s is not for a leader: leave it out, or the command", f.Name)
			}
		case "nonblock", "wait", "conflict-exit-code", "value", "verbose", "shell", "grace", "linger":
			if !leads {
				wrong = fmt.Errorf("--%s needs a command to run as the leader, such as 'stile elect scheduler -- ./scheduler'", f.Name)
			}
		}
	})
	if wrong != nil {
		return wrong
	}
	return x.check()
}

// A leaderReport is the JSON output: the leader of an election.
type leaderReport struct {
	Election string      `json:"election"`
	Leader   *leaderJSON `json:"leader"` // null if there is none
}

type leaderJSON struct {
	Who   string `json:"who"`
	Node  string `json:"node"`
	Value string `json:"value"`
	Term  string `json:"term"`
}

func (x *electFlags) report(l survey.Leader) terminal.Outcome {
	r := leaderReport{Election: x.names[0]}
	line := "no leader"
	if l != (survey.Leader{}) {
		r.Leader = &leaderJSON{l.Who, l.Node, l.Value, l.Term.String()}
		line = fmt.Sprintf("term %v: %s", l.Term, l.Who)
		if l.Value != "" {
			line += ", value " + words.Quoted(l.Value)
		}
	}
	return terminal.Outcome{JSON: r, Text: func(p *terminal.Printer) { p.Line("%s", line) }}
}

// show prints the leader, or all leaders from now on.
func (x *electFlags) show(c *cobra.Command) error {
	if err := x.target.resolve(c); err != nil {
		return err
	}
	e := &survey.Election{Name: x.names[0], Members: x.target.members, Ask: x.target.ask}
	if x.observe {
		return x.watch(c, e)
	}
	l, err := e.Leader(c.Context())
	if err != nil && !errors.Is(err, survey.ErrNoLeader) {
		return err
	}
	if err := x.report(l).Print(c.OutOrStdout(), x.json); err != nil {
		return err
	}
	if err != nil {
		return terminal.ExitError{Code: terminal.ExitFound}
	}
	return nil
}

// watch prints each change until the user quits.
func (x *electFlags) watch(c *cobra.Command, e *survey.Election) error {
	ctx, cancel := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	begun := false
	var failed error
	for l, err := range e.Observe(ctx) {
		if err != nil {
			if !begun && !errors.Is(err, survey.ErrUnanswered) {
				return err
			}
			if failed == nil || failed.Error() != err.Error() {
				notify(c.ErrOrStderr(), "%v", err)
			}
			failed = err
			continue
		}
		begun, failed = true, nil
		if err := x.printChange(c.OutOrStdout(), l); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return failed
}

// printChange prints a leader on one line.
func (x *electFlags) printChange(w io.Writer, l survey.Leader) error {
	o := x.report(l)
	var err error
	if x.json {
		err = json.NewEncoder(w).Encode(o.JSON)
	} else {
		err = o.Print(w, false)
	}
	return errors.Join(err, terminal.Flush(w))
}
