package command

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// printSimRun prints the measurements of a run beside the predictions of theory, and the
// properties of the sets if they were given.
func printSimRun(p *terminal.Printer, c sim.Config, r *sim.Result, sets *quorum.Properties) {
	p.Line("%s: %s, %s, seed %d", c.Spec.Title, words.Plural(r.Nodes, "process"), words.Plural(r.Entries, "entry"), r.Seed)
	p.Text(0, simSettings(c))
	if sets != nil {
		p.Text(0, "sets: "+sets.String())
	}
	if enough := votesNeeded(c); enough > 0 {
		p.Line("votes: %d of %d let a process enter", enough, c.Nodes)
	}
	p.Gap()
	p.Line(tableRow, "", "mean", "p50", "p99", "max", "theory")
	t := c.Spec.Theory
	printCount(p, "messages per entry", r.PerEntry, r.Theory.Messages, t.Messages.Text)
	printCount(p, "  by multicast", r.Multicasts, r.Theory.Multicasts, t.Multicasts.Text)
	printCount(p, "bytes per entry", r.Bytes, nil, "")
	printDelay(p, "client delay", r.Client, r.Theory.Client, t.Client.Text)
	printDelay(p, "sync delay", r.Sync, r.Theory.Sync, t.Sync.Text)
	printDelay(p, "  one waiting", r.SyncOne, nil, "")
	printDelay(p, "response time", r.Response, nil, "")
	printWait(p, r, t.WaitText)
	printCount(p, "throughput", r.Throughput, nil, "(entries per T)")
	printRow(p, "longest bypass", [4]string{fmt.Sprint(r.MaxBypass)}, t.Order)
	p.Gap()
	printKinds(p, c.Spec.Kinds, r)
	printLoad(p, r)
	if r.Stalled {
		p.Row("ended", "%s", stalled)
	}
	verdict := "none: safe, and every request was served"
	switch {
	case r.Violations > 0:
		verdict = words.Grouped(r.Violations)
	case r.Stopped:
		verdict = "none so far"
	}
	p.Row("violations", "%s", verdict)
}

// votesNeeded returns how many votes let a process enter, or 0 if the algorithm does not
// count votes.
func votesNeeded(c sim.Config) int {
	if c.Spec.Shape.Enough == nil {
		return 0
	}
	return c.Spec.Shape.Enough(c.Nodes)
}

// stalled says that a run was cut short.
const stalled = "cut short: events continued without progress"

// The table has the columns measure, mean, p50, p99, max, theory.
const (
	tableRow  = "%-19s%8s%8s%8s%8s  %s"
	theoryCol = 53
)

// printRow prints a row; a long prediction continues on the next lines.
func printRow(p *terminal.Printer, name string, x [4]string, theory string) {
	for i, line := range words.Wrap(theory, terminal.ScreenWidth-theoryCol) {
		if i > 0 {
			name, x = "", [4]string{}
		}
		p.Line(tableRow, name, x[0], x[1], x[2], x[3], line)
	}
}

func printCount(p *terminal.Printer, name string, x float64, r *algorithm.Range, text string) {
	printRow(p, name, [4]string{words.Number(x)}, theoryCell(x, r, text))
}

func printDelay(p *terminal.Printer, name string, s *sim.Stats, r *algorithm.Range, text string) {
	if s == nil {
		printCount(p, name, math.NaN(), r, text)
		return
	}
	printRow(p, name, statCells(s), theoryCell(s.Mean, r, text))
}

func statCells(s *sim.Stats) [4]string {
	return [4]string{words.Number(s.Mean), words.Number(s.P50), words.Number(s.P99), words.Number(s.Max)}
}

// printWait prints waiting times, if theory predicts the longest.
func printWait(p *terminal.Printer, r *sim.Result, text string) {
	if r.Theory.Wait == nil || r.Wait == nil {
		return
	}
	most := &algorithm.Range{Hi: *r.Theory.Wait}
	printRow(p, "waiting time", statCells(r.Wait), theoryCell(r.Wait.Max, most, text))
}

// simSettings describes the run.
func simSettings(c sim.Config) string {
	think := "think " + c.Think.String()
	if c.Think.Max() == 0 {
		think += " (saturated)"
	}
	parts := []string{think, "hold " + c.Hold.String(), "latency " + c.Latency.String(), c.Network.String()}
	if n := len(c.Requesters); n > 0 {
		parts = append(parts, words.Plural(n, "requester"))
	}
	if c.Local > 1 {
		parts = append(parts, fmt.Sprintf("local %d", c.Local))
	}
	if c.Burst > 1 {
		parts = append(parts, fmt.Sprintf("burst %d", c.Burst))
	}
	return strings.Join(append(parts, "times in T"), ", ")
}

// theoryCell returns the prediction of theory, and marks a measurement outside it. NaN
// is never outside.
func theoryCell(x float64, r *algorithm.Range, text string) string {
	if r == nil {
		return text
	}
	s := words.Range(r.Lo, r.Hi)
	if text != "" && text != s {
		s += " · " + text
	}
	const rounding = 1e-9
	if x < r.Lo-rounding || x > r.Hi+rounding {
		s += " OUTSIDE"
	}
	return s
}

// printKinds prints the number of messages of each kind.
func printKinds(p *terminal.Printer, kinds []string, r *sim.Result) {
	var list []string
	for _, k := range kinds {
		list = append(list, k+" "+words.Grouped(r.ByKind[k]))
	}
	p.Row("messages", "%s", strings.Join(list, ", "))
}

// showLoads is the largest group for which the load of each process is printed.
const showLoads = 8

// printLoad prints the number of messages that each process handles.
func printLoad(p *terminal.Printer, r *sim.Result) {
	load := r.Load
	least, most := slices.Min(load), slices.Max(load)
	if len(load) > showLoads || most == 0 {
		p.Row("load", "%s to %s messages sent and received by each process", words.Grouped(least), words.Grouped(most))
		return
	}
	label := "load"
	for i, n := range load {
		bar := strings.Repeat("▇", (n*40+most/2)/most)
		who := algorithm.ID(i)
		if r.Members != nil {
			who = r.Members[i]
		}
		p.Line("%-11s%s %s %s", label, who, bar, words.Grouped(n))
		label = ""
	}
}

// violationFindings returns findings for the violations of a run, or nil.
func violationFindings(all []sim.Violation) error {
	return terminal.FindingsOf(all, "violation", "", violationText)
}

// violationText says which property was violated, when and how.
func violationText(v sim.Violation) string {
	return fmt.Sprintf("violation of %s at %s: %v", v.Property, scenario.FormatTime(v.At), v)
}

// processNames lists processes, and only the first of many.
func processNames(ids []algorithm.ID) string {
	if len(ids) == 0 {
		return "none"
	}
	const most = 12
	var list []string
	for _, id := range ids[:min(len(ids), most)] {
		list = append(list, id.String())
	}
	if more := len(ids) - most; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, " ")
}
