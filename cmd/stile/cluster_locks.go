package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// locks is what 'stile locks' can be told.
type locks struct {
	looking
	watch  bool
	prefix string
}

// NewLocks returns the command locks.
func NewLocks() *cobra.Command {
	l := &locks{}
	c := &cobra.Command{
		Use:   "locks [PREFIX] [flags]",
		Short: "Show who holds which lock, who waits for it, and why",
		Long: `Asks all nodes of the cluster about the locks in use, or those whose names begin
with PREFIX. Those who wait are listed in the order in which they asked; each node
says why they wait there.`,
		Example: `  stile locks orders/
  stile locks --watch
  stile locks --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			l.prefix = args[0]
			return One("", "prefix", "give what they have in common")(c, args)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if err := l.target.Settle(c); err != nil {
				return err
			}
			if l.watch {
				return l.again(c)
			}
			s, err := l.target.Survey(c.Context(), l.prefix)
			if err != nil {
				return err
			}
			return l.report(s).Print(c.OutOrStdout(), l.json)
		},
	}
	c.Flags().BoolVar(&l.watch, "watch", false, "show them again every second, until q or Ctrl-C")
	l.define(c.Flags())
	return c
}

func (l *locks) report(s *Survey) Report {
	return Report{JSON: s, Text: func(p *Page) { draw(p, s) }}
}

// draw shows people the locks.
func draw(p *Page, s *Survey) {
	if len(s.Locks) == 0 {
		p.Line("no lock is held or waited for")
	}
	for _, l := range s.Locks {
		drawLock(p, &l)
	}
	for _, u := range s.Unasked {
		p.Text(0, fmt.Sprintf("%s could not be asked: %s", u.Node, u.Why))
	}
}

func drawLock(p *Page, l *reachLock) {
	line := func(format string, args ...any) { p.Line("%s", Cut(fmt.Sprintf(format, args...), Width)) }
	line("%s", l.Name)
	if h := l.Holder; h != nil {
		line("  held by %s", h.Who)
		line("     token %s, for %.1f s, lease left %.1f s", h.Token, h.Held, h.Left)
	} else {
		line("  no node says who holds it")
	}
	for i, w := range l.Waiters {
		line("%3d. %s waits for %.1f s", i+1, w.Who, w.Waited)
		line("     %s", w.Why)
	}
}
