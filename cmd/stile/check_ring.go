package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/check/ring"
)

// parseMover reads who moves at once in a ring whose flags are read.
func parseMover(s string) (ring.Mover, error) {
	switch s {
	case "one":
		return ring.OneMoves, nil
	case "several":
		return ring.SeveralMove, nil
	case "all":
		return ring.AllMove, nil
	}
	return 0, fmt.Errorf("--shared %q: want one, several or all: who of the privileged moves at once", s)
}

// checkRing checks Dijkstra's ring with flags that neighbours read.
func (f *checkFlags) checkRing(c *cobra.Command, name string, stdout, stderr io.Writer) error {
	if name != "dijkstra" {
		return fmt.Errorf("--shared does not fit %s, only dijkstra: leave it out", name)
	}
	const none = "requests network topology sets inform experiment coordinator start requesters property workers trace svg crashes comebacks pace wrong mode sites"
	if err := refuse(c, none, "dijkstra with --shared has"); err != nil {
		return err
	}
	mover, err := parseMover(f.shared)
	if err != nil {
		return err
	}
	_, limits, end := f.begin(stdout, stderr)
	r, err := check.RunRing(check.RingConfig{Nodes: f.config.Nodes, Values: f.options.K, Mover: mover, Limits: limits})
	end()
	if err != nil {
		return err
	}
	if f.json {
		err = writeJSON(stdout, r)
	} else {
		err = printRing(stdout, r)
	}
	if err != nil {
		return err
	}
	return checked(&r.Report)
}

func printRing(w io.Writer, r *check.RingReport) error {
	head := fmt.Sprintf("Dijkstra's K-state ring, flags are read: %s, %d values of a flag, %s, from every state", plural(r.Nodes, "process"), r.Values, r.Mover)
	p := &page{w: w}
	printHead(p, []string{head})
	printTable(p, &r.Report, "")
	lines, loop := r.Longest, -1
	if first := r.First(); first != nil {
		lines, loop = first.Trace, first.Loop
		p.line("\nHow it never comes right:")
	} else if len(lines) > 0 {
		p.line("\nA longest run until it is right:")
	}
	for i, line := range lines {
		p.line("  %3d  %s", i, line)
	}
	if loop >= 0 {
		p.line("All from step %d on can be repeated for ever.", loop)
	}
	return p.err
}
