package command

import (
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/internal/ring"
	"github.com/stile-lock/stile/lab/trace"
)

// A checkProgress shows how far a check is, and reports the first violation as soon as
// it is found.
type checkProgress struct {
	*terminal.Progress
	out      io.Writer // nil with --json, when nothing is reported early
	wanted   []string  // the properties to report; nil means all
	head     []string  // describes the check
	reported string    // the property that was reported

	look trace.TextOptions // of a printed counterexample
}

// begin returns the progress and the limits of a check, which end it when the user
// interrupts. The returned function must be called at the end.
func (f *checkFlags) begin(c *cobra.Command) (*checkProgress, check.Limits, func()) {
	v := &checkProgress{Progress: terminal.StartProgress(c), out: c.OutOrStdout(), look: f.output.textOptions()}
	if f.json {
		v.out = nil
	}
	if f.properties != "" {
		v.wanted = strings.Split(f.properties, ",")
	}
	l := f.config.Limits
	l.Context, l.Progress = v, func(p check.Progress) { v.Show("%s", progressLine(p)) }
	// Garbage must not double the memory in use. A little room keeps the collector
	// from running all the time.
	before := debug.SetMemoryLimit(l.Memory + l.Memory/8)
	return v, l, func() {
		debug.SetMemoryLimit(before)
		v.End()
	}
}

// answer returns the outcome of a check: all, or part if the user interrupted and
// something is undecided because of that.
func (v *checkProgress) answer(r *check.Report, all, part any, text func(p *terminal.Printer)) terminal.Outcome {
	open := slices.ContainsFunc(r.Properties, func(p check.Property) bool { return p.Verdict == check.Unfinished })
	if v.On() || !open {
		return terminal.Outcome{JSON: all, Text: text, Wrong: checkFindings(r)}
	}
	a := terminal.Outcome{JSON: part, Text: text, Stopped: words.Grouped(r.States) + " states"}
	if r.Verdict == check.Violated {
		a.Wrong = checkFindings(r) // otherwise it is only undecided
	}
	return a
}

// reportViolation prints the first violation.
func (v *checkProgress) reportViolation(p check.Property) {
	if v.out == nil || v.reported != "" || v.wanted != nil && !slices.Contains(v.wanted, p.Name) {
		return
	}
	v.reported = p.Name
	v.Clear()
	page := terminal.NewPrinter(v.out)
	printHead(page, v.head)
	printViolation(page, &p, v.look)
	page.Gap()
	_ = terminal.Flush(v.out) // a writer that fails does so again at the end
}

// printViolation prints a counterexample.
func printViolation(p *terminal.Printer, q *check.Property, look trace.TextOptions) {
	p.Line("How %s is violated, in %s:", q.Name, words.Plural(len(q.Trace), "step"))
	p.Gap()
	p.Lines(q.Story(look))
}

// progressLine says on one line how far a pass is.
func progressLine(p check.Progress) string {
	rate := float64(p.States) / max(p.Elapsed, time.Microsecond).Seconds()
	return fmt.Sprintf("%s: %s states, %s/s, queue %s blocks, depth %d, %s", p.Pass, words.Grouped(p.States), words.Grouped(int64(rate)),
		words.Grouped(p.Queue), p.Depth, terminal.FormatBytes(p.Memory))
}

// printCheck prints what was checked, a verdict for each property, and the first
// counterexample unless it was reported already.
func printCheck(p *terminal.Printer, v *checkProgress, r *check.Report, written string) {
	if v.reported == "" {
		printHead(p, v.head)
	}
	printTable(p, r, written)
	if first := r.First(); first != nil && len(first.Trace) > 0 && first.Name != v.reported {
		p.Gap()
		printViolation(p, first, v.look)
	}
}

// printHead describes the check.
func printHead(p *terminal.Printer, head []string) {
	for _, text := range head {
		p.Text(0, text)
	}
	p.Gap()
}

// printTable prints the verdicts and the size of the check.
func printTable(p *terminal.Printer, r *check.Report, written string) {
	for _, q := range r.Properties {
		printProperty(p, q)
	}
	p.Gap()
	p.Line("%-18s%s", "verdict", r.Verdict)
	p.Line("%-18s%s, %s transitions, depth %d", "states", words.Grouped(r.States), words.Grouped(r.Transitions), r.Depth)
	if r.Reduced {
		p.Line("%-18s%s", "reduced", "states are counted without messages that no longer change anything")
	}
	p.Line("%-18s%.2f s, %s states per second", "time", r.Seconds, words.Grouped(int64(r.Rate)))
	p.Line("%-18s%s", "memory", terminal.FormatBytes(r.Memory))
	p.Line("%-18s%.1g that two states were taken for one", "probability", r.Collision)
	for _, text := range r.Assumes {
		name := "assumed"
		for _, line := range words.Wrap(text, terminal.ScreenWidth-18) {
			p.Line("%-18s%s", name, line)
			name = ""
		}
	}
	p.Line("%-18s%s", "words", "see 'stile-lab glossary'")
	if written != "" {
		p.Line("%-18s%s", "written", written)
	}
	if r.Hint == "" {
		return
	}
	p.Gap()
	if r.Shown == "" {
		p.Text(0, r.Hint+".")
		return
	}
	p.Text(0, r.Hint+". To see it:")
	p.Line("  %s", r.Shown)
}

func printProperty(p *terminal.Printer, q check.Property) {
	verdict := string(q.Verdict)
	if q.Verdict == check.Violated {
		verdict = "VIOLATED"
	}
	name, note := q.Name, q.Note
	if strings.HasPrefix(note, "up to ") { // the first line of the output says it
		_, note, _ = strings.Cut(note, " per process")
		note = strings.TrimLeft(note, ",; ")
	}
	if note == "" && q.Verdict != check.Violated {
		note = q.Means
	}
	for _, line := range words.Wrap(note, terminal.ScreenWidth-33) {
		p.Line("%-18s%-15s%s", name, verdict, line)
		name, verdict = "", ""
	}
}

// moverNames lists the values of --shared.
var moverNames = [...]string{ring.OneMoves: "one", ring.SeveralMove: "several", ring.AllMove: "all"}

// checkRing checks Dijkstra's ring with shared flags.
func (f *checkFlags) checkRing(c *cobra.Command, name string) error {
	if name != "dijkstra" {
		return fmt.Errorf("--shared applies only to dijkstra, not to %s: leave it out", name)
	}
	if err := terminal.OnlyFlags(c, "nodes k shared memory time json", "--FLAG does not apply to dijkstra with --shared: leave it out"); err != nil {
		return err
	}
	mover := slices.Index(moverNames[:], f.shared)
	return terminal.RunAndReport(c.OutOrStdout(), f.json, nil, func() (terminal.Outcome, error) {
		v, limits, end := f.begin(c)
		defer end()
		r, err := ring.Ring{N: f.config.Nodes, K: f.options.K, Mover: ring.Mover(mover)}.Check(limits)
		if err != nil {
			return terminal.Outcome{}, err
		}
		part := struct {
			*ring.Report
			Stopped bool `json:"stopped"`
		}{r, true}
		return v.answer(&r.Report, r, part, func(p *terminal.Printer) { printRing(p, r) }), nil
	})
}

func printRing(p *terminal.Printer, r *ring.Report) {
	head := fmt.Sprintf("Dijkstra's K-state ring with shared flags: %s, %d values of a flag, %s, from every state", words.Plural(r.Nodes, "process"), r.Values, r.Mover)
	printHead(p, []string{head})
	printTable(p, &r.Report, "")
	lines, loop := r.Longest, -1
	if first := r.First(); first != nil {
		lines, loop = first.Trace, first.Loop
		p.Gap()
		p.Line("How it never converges:")
	} else if len(lines) > 0 {
		p.Gap()
		p.Line("A longest run until it converges:")
	}
	for i, line := range lines {
		p.Line("  %3d  %s", i, line)
	}
	if loop >= 0 {
		p.Line("The steps from %d on can repeat forever.", loop)
	}
}
