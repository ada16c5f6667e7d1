package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/live/node"
	"github.com/stile-lock/stile/internal/tty"
)

// releaseFlags is what 'stile force-release' can be told.
type releaseFlags struct {
	queryFlags
	yes bool
}

// newForceRelease returns the command force-release.
func newForceRelease() *cobra.Command {
	l := &releaseFlags{}
	c := &cobra.Command{
		Use:   "force-release LOCK [flags]",
		Short: "Take a lock away from who holds it",
		Long: `Finds the node through which a lock is held, and takes the lock away there. Who
held it is told, and 'stile exec' ends its command; others get the lock when that
can no longer act by it. A program that does not listen may still act: only a
resource that checks tokens keeps it out.`,
		Example: `  stile force-release demo --yes`,
		Args: func(c *cobra.Command, args []string) error {
			if err := oneArg("the name of a lock: 'stile locks' lists them", "lock", "take them away one by one")(c, args); err != nil {
				return err
			}
			return checkLockName(args[0])
		},
		RunE: func(c *cobra.Command, args []string) error { return l.run(c, args[0]) },
	}
	c.Flags().BoolVar(&l.yes, "yes", false, "do not ask; needed where standard input is no terminal")
	l.define(c.Flags())
	return c
}

func (l *releaseFlags) run(c *cobra.Command, name string) error {
	if err := l.target.resolve(c); err != nil {
		return err
	}
	s, err := l.target.survey(c.Context(), name)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.Locks, func(x surveyedLock) bool { return x.Name == name && x.Holder != nil })
	if i < 0 {
		return fmt.Errorf("nobody holds %q%s: 'stile locks' lists what is held", name, missingNodes(s))
	}
	h := s.Locks[i].Holder
	if err := l.confirm(c, name, h); err != nil {
		return err
	}
	var done node.Released
	if _, err := l.target.at(h.Address()).query(c.Context(), node.AskRelease, name, &done); err != nil {
		return err
	}
	text := func(p *printer) {
		p.text(0, fmt.Sprintf("%s is taken from %s, token %s", done.Name, done.Who, done.Token))
	}
	return outcome{json: done, text: text}.print(c.OutOrStdout(), l.json)
}

// missingNodes says which nodes did not answer.
func missingNodes(s *lockSurvey) string {
	var names []string
	for _, u := range s.Unasked {
		names = append(names, u.Node)
	}
	if len(names) == 0 {
		return ""
	}
	return ", as far as is known without " + strings.Join(names, ", ")
}

// confirm asks the user, who may be nobody.
func (l *releaseFlags) confirm(c *cobra.Command, name string, h *lockHolder) error {
	if l.yes {
		return nil
	}
	if !tty.Is(int(os.Stdin.Fd())) {
		return fmt.Errorf("%s holds %q with token %s: give --yes to take it away, since nobody can be asked here", h.Who, name, h.Token)
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s holds %s with token %s. Take it away? [y/N] ", h.Who, name, h.Token)
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return fmt.Errorf("%q was not taken away", name)
	}
	return nil
}
