package command

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/internal/tla"
)

// A tlaReport is the JSON form of an export: what TLC should find.
type tlaReport struct {
	Algorithm   string      `json:"algorithm"`
	Nodes       int         `json:"nodes"`
	Requests    check.Bound `json:"requests"`
	Network     string      `json:"network"`
	Module      string      `json:"module"` // the file
	Rows        int         `json:"rows"`   // of its tables
	States      int64       `json:"states"`
	Transitions int64       `json:"transitions"`
	Generated   int64       `json:"generated"` // what TLC calls states generated
	Depth       int         `json:"depth"`
	Exclusion   int         `json:"mutual_exclusion"` // steps to the first violation, or -1
	Deadlock    int         `json:"deadlock"`         // the same
}

// exportTLA writes a lock as a TLA+ module.
func (f *checkFlags) exportTLA(c *cobra.Command, name string) error {
	const fit = "tla nodes requests network start requesters workers memory time json" + algorithmFlags
	if err := terminal.OnlyFlags(c, fit, "--FLAG does not apply to --tla, which writes a lock for another checker: leave it out"); err != nil {
		return err
	}
	config, err := f.resolve(c, name)
	if err != nil {
		return err
	}
	if filepath.Ext(f.tla) == "" {
		f.tla += ".tla"
	}
	module := strings.TrimSuffix(f.tla, filepath.Ext(f.tla))
	if err := tla.CheckName(filepath.Base(module)); err != nil {
		return err
	}
	var found *tla.Export
	files := []terminal.OutputFile{
		{Flag: "tla", Path: f.tla, Content: func() ([]byte, error) {
			if found.Unfinished != "" {
				return nil, nil
			}
			text, err := found.Module(filepath.Base(module))
			return []byte(text), err
		}},
		{Flag: "tla", Path: module + ".cfg", Content: func() ([]byte, error) {
			if found.Unfinished != "" {
				return nil, nil
			}
			return []byte(tla.Cfg), nil
		}},
	}
	return terminal.RunAndReport(c.OutOrStdout(), f.json, files, func() (terminal.Outcome, error) {
		v, limits, end := f.begin(c)
		defer end()
		config.Limits = limits
		if found, err = tla.Explore(config.Settled()); err != nil {
			return terminal.Outcome{}, err
		}
		if found.Unfinished != "" {
			return terminal.Outcome{}, terminal.Unfinished{Why: found.Unfinished + "; nothing was written: raise the limits, or give fewer --requests or --nodes"}
		}
		report := tlaReport{
			Algorithm: name, Nodes: config.Nodes, Requests: check.Bound(found.Config.Requests), Network: config.Network.String(), Module: f.tla,
			Rows: found.Rows(), States: found.States, Transitions: found.Transitions, Generated: found.Generated(), Depth: found.Depth,
			Exclusion: found.Exclusion, Deadlock: found.Deadlock,
		}
		v.head = f.head(found.Config)
		return terminal.Outcome{JSON: report, Text: func(p *terminal.Printer) { printExport(p, v.head, report) }}, nil
	})
}

// printExport prints what TLC should find.
func printExport(p *terminal.Printer, head []string, r tlaReport) {
	printHead(p, head)
	p.Line("TLC should find:")
	p.Line("%-18s%s distinct, %s generated, depth %d", "states", words.Grouped(r.States), words.Grouped(r.Generated), r.Depth)
	for _, property := range []struct {
		name  string
		steps int
	}{{"MutualExclusion", r.Exclusion}, {"NoDeadlock", r.Deadlock}} {
		verdict := "holds"
		if property.steps >= 0 {
			verdict = "violated, after " + words.Plural(property.steps, "step")
		}
		p.Line("%-18s%s", property.name, verdict)
	}
	p.Gap()
	p.Line("To see it:")
	p.Line("  java -cp tla2tools.jar tlc2.TLC %s", r.Module)
}
