package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/live/node"
	"github.com/stile-lock/stile/internal/live/survey"
	"github.com/stile-lock/stile/internal/tty"
	"github.com/stile-lock/stile/internal/words"
)

// releaseFlags holds the flags of 'stile force-release'.
type releaseFlags struct {
	queryFlags
	yes bool
}

func newForceRelease() *cobra.Command {
	l := &releaseFlags{}
	c := &cobra.Command{
		Use:   "force-release LOCK [flags]",
		Short: "Take a lock from its holder",
		Long: `Finds the nodes through which a lock is held, and takes it from its holder.
The holder is notified, and 'stile exec' kills its command. The lock can be
acquired again when the holder can no longer act on it. A program that ignores
the notice may still act; only a resource that checks tokens keeps it out.`,
		Example: `  stile force-release demo --yes`,
		Args: func(c *cobra.Command, args []string) error {
			if err := oneArg("the name of a lock: 'stile locks' lists them", "lock", "release them one at a time")(c, args); err != nil {
				return err
			}
			return checkLockName(args[0])
		},
		RunE: func(c *cobra.Command, args []string) error { return l.run(c, args[0]) },
	}
	c.Flags().BoolVar(&l.yes, "yes", false, "do not ask for confirmation; required if standard input is not a terminal")
	l.define(c.Flags())
	return c
}

func (l *releaseFlags) run(c *cobra.Command, name string) error {
	if err := l.target.resolve(c); err != nil {
		return err
	}
	s, err := l.target.survey(c.Context(), node.LockQuery{Prefix: name})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.Locks, func(x survey.Lock) bool { return x.Name == name && x.Holder != nil })
	if i < 0 {
		return fmt.Errorf("lock %q is not held%s: 'stile locks' lists the locks in use", name, missingNodes(s))
	}
	if err := l.confirm(c, name, s.Locks[i].Holder); err != nil {
		return err
	}
	var done node.Released
	for _, at := range s.Locks[i].Through {
		if _, err := l.target.at(at).query(c.Context(), node.AskRelease, name, &done); err != nil {
			return err
		}
	}
	text := func(p *printer) {
		p.text(0, fmt.Sprintf("released %s, held by %s with token %s", words.Quoted(done.Name), done.Who, done.Token))
	}
	return outcome{json: done, text: text}.print(c.OutOrStdout(), l.json)
}

// missingNodes lists the nodes that did not answer.
func missingNodes(s *survey.Locks) string {
	var names []string
	for _, u := range s.Unasked {
		names = append(names, u.Node)
	}
	if len(names) == 0 {
		return ""
	}
	return " (no answer from " + strings.Join(names, ", ") + ")"
}

// confirm asks the user, if there is a terminal.
func (l *releaseFlags) confirm(c *cobra.Command, name string, h *survey.Holder) error {
	if l.yes {
		return nil
	}
	if !tty.Is(int(os.Stdin.Fd())) {
		return fmt.Errorf("%s holds %q with token %s: give --yes to take it, because standard input is not a terminal", h.Who, name, h.Token)
	}
	fmt.Fprint(c.ErrOrStderr(), words.Printable(fmt.Sprintf("%s holds %s with token %s. Take it? [y/N] ", h.Who, words.Quoted(name), h.Token)))
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return fmt.Errorf("lock %q was not released", name)
	}
	return nil
}
