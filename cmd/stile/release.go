package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/tty"
	"github.com/stile-lock/stile/internal/words"
)

// releaseFlags holds the flags of 'stile force-release'.
type releaseFlags struct{ consentFlags }

// consentFlags holds the flags of commands that ask a node to do something, and the user
// whether it should.
type consentFlags struct {
	queryFlags
	yes bool
}

func (l *consentFlags) define(fs *pflag.FlagSet) {
	fs.BoolVar(&l.yes, "yes", false, "do not ask for confirmation; required if standard input is not a terminal")
	l.queryFlags.define(fs)
}

// consent says what will happen and asks the user, if there is a terminal.
func (l *consentFlags) consent(c *cobra.Command, what, question string) error {
	if l.yes {
		return nil
	}
	if !tty.Is(int(os.Stdin.Fd())) {
		return fmt.Errorf("%s: give --yes to do it, because standard input is not a terminal", what)
	}
	fmt.Fprint(c.ErrOrStderr(), words.Printable(what+". "+question+" [y/N] "))
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
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
			if err := terminal.OneArg("the name of a lock: 'stile locks' lists them", "lock", "release them one at a time")(c, args); err != nil {
				return err
			}
			return checkLockName(args[0])
		},
		RunE: func(c *cobra.Command, args []string) error { return l.run(c, args[0]) },
	}
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
	h := s.Locks[i].Holder
	if err := l.consent(c, fmt.Sprintf("%s holds %s with token %s", h.Who, words.Quoted(name), h.Token), "Take it?"); err != nil {
		return err
	}
	var done node.Released
	for _, at := range s.Locks[i].Through {
		if _, err := l.target.at(at).query(c.Context(), node.AskRelease, name, &done); err != nil {
			return err
		}
	}
	text := func(p *terminal.Printer) {
		p.Text(0, fmt.Sprintf("released %s, held by %s with token %s", words.Quoted(done.Name), done.Who, done.Token))
	}
	return terminal.Outcome{JSON: done, Text: text}.Print(c.OutOrStdout(), l.json)
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
