package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/ring"
)

// movers names who moves at once in a ring whose flags are read.
var movers = [...]string{ring.OneMoves: "one", ring.SeveralMove: "several", ring.AllMove: "all"}

// ring checks Dijkstra's ring with flags that neighbours read.
func (f *checkFlags) ring(c *cobra.Command, name string) error {
	if name != "dijkstra" {
		return fmt.Errorf("--shared does not fit %s, only dijkstra: leave it out", name)
	}
	if err := Only(c, "nodes k shared memory time json", "dijkstra with --shared has no --FLAG to choose: leave it out"); err != nil {
		return err
	}
	mover := slices.Index(movers[:], f.shared)
	return tellRun(c.OutOrStdout(), f.json, nil, func() (Report, error) {
		v, limits, end := f.begin(c)
		defer end()
		r, err := check.RunRing(check.RingConfig{Nodes: f.config.Nodes, Values: f.options.K, Mover: ring.Mover(mover), Limits: limits})
		if err != nil {
			return Report{}, err
		}
		part := struct {
			*check.RingReport
			Stopped bool `json:"stopped"`
		}{r, true}
		return v.answer(&r.Report, r, part, func(p *Page) { printRing(p, r) }), nil
	})
}

func printRing(p *Page, r *check.RingReport) {
	head := fmt.Sprintf("Dijkstra's K-state ring, flags are read: %s, %d values of a flag, %s, from every state", words.Plural(r.Nodes, "process"), r.Values, r.Mover)
	printHead(p, []string{head})
	printTable(p, &r.Report, "")
	lines, loop := r.Longest, -1
	if first := r.First(); first != nil {
		lines, loop = first.Trace, first.Loop
		p.Line("\nHow it never comes right:")
	} else if len(lines) > 0 {
		p.Line("\nA longest run until it is right:")
	}
	for i, line := range lines {
		p.Line("  %3d  %s", i, line)
	}
	if loop >= 0 {
		p.Line("All from step %d on can be repeated for ever.", loop)
	}
}
