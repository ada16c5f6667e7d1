package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/lab/faults"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// maxFaultNodes is the largest group with --fault.
const maxFaultNodes = 9

// faultNames lists the kinds of faults.
func faultNames() []string {
	var all []string
	for _, k := range faults.Kinds() {
		all = append(all, k.String())
	}
	return all
}

// A faultReport is the JSON form of what a fault does.
type faultReport struct {
	Algorithm string         `json:"algorithm"`
	Nodes     int            `json:"nodes"`
	Fault     string         `json:"fault"`
	At        []int          `json:"at"` // the processes it may happen to
	Runs      int            `json:"runs"`
	Outcomes  map[string]int `json:"outcomes"` // number of runs that ended in each way
	Worst     string         `json:"worst"`    // the worst of these
	Waiting   []int          `json:"waiting"`  // the processes that wait forever in the worst run
	What      string         `json:"what"`     // what happens in the worst run
	Scenario  string         `json:"scenario"` // for 'stile-lab replay'
	Stopped   bool           `json:"stopped,omitempty"`
}

// tryFault tries a fault wherever it can happen.
func (f *checkFlags) tryFault(c *cobra.Command, name string) error {
	const fit = "fault at nodes topology sets inform experiment k coordinator workers json svg trace from to"
	if err := terminal.OnlyFlags(c, fit, "--FLAG does not apply to --fault, which tries one fault in separate runs: leave it out"); err != nil {
		return err
	}
	config, err := f.faultConfig(name)
	if err != nil {
		return err
	}
	var found *faults.Report
	files, err := f.faultFiles(config.Nodes, &found)
	if err != nil {
		return err
	}
	return terminal.RunAndReport(c.OutOrStdout(), f.json, files, func() (terminal.Outcome, error) {
		prog := terminal.StartProgress(c)
		defer prog.End()
		config.Watch = func(runs int) bool {
			if runs%100 == 0 {
				prog.Show("%s", words.Plural(runs, "run"))
			}
			return prog.On()
		}
		r, err := faults.Try(config)
		if errors.Is(err, faults.ErrAlone) {
			return terminal.Outcome{}, fmt.Errorf("--fault %s: %w; 'stile-lab check %s' shows how", f.fault, err, name)
		}
		if err != nil {
			return terminal.Outcome{}, err
		}
		found = r
		report := terminal.Outcome{JSON: f.faultReport(config, r), Text: func(p *terminal.Printer) { printFault(p, config, r) }}
		if r.Stopped {
			report.Stopped = words.Plural(r.Runs, "run")
		}
		return report, nil
	})
}

// faultConfig turns the flags into a configuration.
func (f *checkFlags) faultConfig(name string) (faults.Config, error) {
	c := faults.Config{Options: f.options, Nodes: f.config.Nodes, Workers: f.config.Workers}
	if err := checkKnown(name); err != nil {
		return c, err
	}
	var err error
	if c.Spec, err = findAlgorithm(name, f.options); err != nil {
		return c, err
	}
	if c.Spec.Family != algorithm.MutualExclusion {
		return c, fmt.Errorf("--fault does not apply to %s, which is %s: 'stile-lab check %s --crashes 1' lets processes crash", name, c.Spec.Family.One(), name)
	}
	if c.Nodes > maxFaultNodes {
		return c, fmt.Errorf("--nodes %d: must be at most %d with --fault", c.Nodes, maxFaultNodes)
	}
	c.Kind = faults.Kind(slices.Index(faultNames(), f.fault))
	c.At, err = parseProcesses("at", f.at, c.Nodes)
	return c, err
}

// faultFiles returns the files for --trace and --svg, which show the worst run.
func (f *checkFlags) faultFiles(nodes int, found **faults.Report) ([]terminal.OutputFile, error) {
	return f.worstFiles(nodes, func() (*scenario.Scenario, *trace.Trace) {
		if *found == nil || (*found).Scenario == nil {
			return nil, nil
		}
		return (*found).Scenario, (*found).Playback.Trace()
	})
}

func (f *checkFlags) faultReport(c faults.Config, r *faults.Report) faultReport {
	h := faultReport{
		Algorithm: c.Spec.Name, Nodes: c.Nodes, Fault: f.fault, At: processNumbers(c.At), Runs: r.Runs, Outcomes: map[string]int{},
		Worst: r.Worst.String(), Waiting: processNumbers(r.Waiting), What: r.What, Stopped: r.Stopped,
	}
	for p := 1; c.At == nil && p <= c.Nodes; p++ {
		h.At = append(h.At, p)
	}
	for o, n := range r.Count {
		h.Outcomes[faults.Outcome(o).String()] = n
	}
	if r.Scenario != nil {
		h.Scenario = scenario.Format(r.Scenario)
	}
	return h
}

// processNumbers returns the numbers of processes, counted from 1.
func processNumbers(ids []algorithm.ID) []int {
	all := []int{}
	for _, p := range ids {
		all = append(all, int(p)+1)
	}
	return all
}

// printFault prints what a fault does.
func printFault(p *terminal.Printer, c faults.Config, r *faults.Report) {
	at := ""
	if c.At != nil {
		at = fmt.Sprintf(", at %s", processNames(c.At))
	}
	p.Text(0, fmt.Sprintf("%s: %s, %s%s", c.Spec.Title, words.Plural(c.Nodes, "process"), c.Kind.Means(), at))
	p.Gap()
	for o, means := range [...]string{
		faults.GoesOn: "every live process enters again", faults.SomeWait: "some process waits forever",
		faults.AllWait: "every live process waits forever", faults.Unsafe: "two processes are inside at once",
	} {
		p.Line("%-12s%6s of %s  %s", faults.Outcome(o), words.Grouped(r.Count[o]), words.Plural(r.Runs, "run"), means)
	}
	if r.Scenario == nil {
		p.Gap()
		p.Text(0, "The fault cannot happen there.")
		return
	}
	p.Gap()
	p.Line("%s:", cmp.Or(map[bool]string{true: "One of them"}[r.Worst == faults.GoesOn], "The worst of them"))
	p.Gap()
	for line := range strings.Lines(scenario.Format(r.Scenario)) {
		p.Line("    %s", strings.TrimRight(line, "\n"))
	}
	p.Gap()
	p.Lines(r.Playback.Trace().Text(trace.TextOptions{Width: terminal.ScreenWidth, MaxRows: 40}))
}
