package command

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/replay"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
	"github.com/stile-lock/stile/internal/words"
)

// The JSON form of a replayed recording.
type (
	recordingReport struct {
		File       string            `json:"file"`
		Node       string            `json:"node"`
		Address    string            `json:"address"`
		By         string            `json:"by"` // the version of stile
		Foreign    []string          `json:"foreign"`
		Begun      time.Time         `json:"begun"`
		Seconds    float64           `json:"seconds"` // from the first input to the last
		Inputs     int               `json:"inputs"`
		ByKind     map[string]int    `json:"inputs_by_kind"`
		Views      int               `json:"views"`
		Epoch      uint64            `json:"epoch"`
		Entries    int               `json:"entries"`
		Lost       int               `json:"lost"`
		Ends       string            `json:"ends"`
		Torn       bool              `json:"torn"`    // it ends within an entry
		Crashed    bool              `json:"crashed"` // the node panicked in the last input
		Failed     string            `json:"failed"`  // why the node could not continue; empty if it could
		Panic      string            `json:"panic"`   // of the replay; empty if there was none
		Stopped    bool              `json:"stopped"` // by --until
		Difference *differenceReport `json:"difference"`
		Members    []string          `json:"members"` // at the end
		Locks      []lockState       `json:"locks"`   // in use then, through this node
	}
	differenceReport struct {
		Input int      `json:"input"` // from 1
		At    float64  `json:"at_s"`  // since the first input
		What  string   `json:"what"`
		How   []string `json:"how"`
		Did   []string `json:"did"` // by the replay
	}
	lockState struct {
		Name    string `json:"name"`
		Token   string `json:"token"` // of the holder; empty if it is not held
		Waiting int    `json:"waiting"`
	}
)

// runRecording replays a recording of a node.
func (f *replayFlags) runRecording(c *cobra.Command, path string, file io.Reader) error {
	if err := terminal.OnlyFlags(c, "until json", "--FLAG does not apply to "+path+", which is a recording of a node and not a scenario: leave it out"); err != nil {
		return err
	}
	return terminal.RunAndReport(c.OutOrStdout(), f.json, nil, func() (terminal.Outcome, error) {
		r, err := replay.Replay(file, replay.Options{Logs: replayLogs, Spec: catalog.MakeLive, Until: f.until})
		if err != nil {
			return terminal.Outcome{}, fmt.Errorf("cannot replay %q: %w", path, err)
		}
		report := newRecordingReport(path, r)
		return terminal.Outcome{JSON: report, Text: func(p *terminal.Printer) { printRecording(p, report) }, Wrong: report.wrong()}, nil
	})
}

// replayLogs returns the voter settings of the node.
func replayLogs(h *replay.Header) views.Logs {
	return raft.Logs{Election: h.Election, Heartbeat: h.Heartbeat, MaxLog: h.MaxLog}
}

func newRecordingReport(path string, r *replay.Result) *recordingReport {
	h := r.Header
	report := &recordingReport{
		File: path, Node: words.Quoted(h.Begin.Name), Address: words.Quoted(h.Begin.Address), By: words.Quoted(h.By), Foreign: buildDifferences(h),
		Begun: time.UnixMilli(h.Wall).UTC(), Seconds: secondsSinceStart(r, r.Last), Inputs: r.Inputs, ByKind: map[string]int{},
		Views: r.Views, Epoch: r.Epoch, Entries: r.Granted, Lost: r.Lost, Ends: endReason(r), Torn: r.Torn, Crashed: r.Crashed, Failed: words.Quoted(r.Failed), Panic: words.Quoted(r.Panicked),
		Stopped: r.Stopped, Members: []string{}, Locks: []lockState{},
	}
	for k, n := range r.ByKind {
		if n > 0 {
			report.ByKind[process.Kind(k).String()] = n
		}
	}
	report.Difference = newDifferenceReport(r)
	if r.Process != nil {
		report.state(r.Process)
	}
	return report
}

// newDifferenceReport returns where a replay differs, or nil.
func newDifferenceReport(r *replay.Result) *differenceReport {
	d := r.Differs
	if d == nil {
		return nil
	}
	return &differenceReport{d.Input, secondsSinceStart(r, d.At), d.What, d.How, append([]string{}, d.Did...)}
}

func (d *differenceReport) String() string {
	return fmt.Sprintf("the replay differs at input %d, at %.6f s, when %s: %s", d.Input, d.At, d.What, strings.Join(d.How, "; "))
}

// state adds the members and the locks in use.
func (r *recordingReport) state(p *process.Process) {
	for _, m := range p.Record().Members {
		r.Members = append(r.Members, words.Quoted(m.Name))
	}
	m := p.Member()
	if m == nil {
		return
	}
	for q := range m.Queues {
		l := lockState{Name: string(q.Name), Waiting: q.Waiting}
		if w, _ := m.Inspect(l.Name); w.Holder != nil {
			l.Token = w.Holder.Token.String()
		}
		r.Locks = append(r.Locks, l)
	}
	slices.SortFunc(r.Locks, func(a, b lockState) int { return strings.Compare(a.Name, b.Name) })
}

// secondsSinceStart returns the time between the first input and at.
func secondsSinceStart(r *replay.Result, at member.Instant) float64 {
	return time.Duration(at - r.First).Seconds()
}

// endReason says why a recording ends.
func endReason(r *replay.Result) string {
	switch {
	case r.Stopped, r.Differs != nil:
		return "" // the replay did not get there
	case r.Crashed:
		return "the node panicked in the last input"
	case r.Failed != "":
		return "the node failed: " + words.Quoted(r.Failed)
	case r.Torn:
		return "within an entry: the node was killed, or the file is incomplete"
	case r.End == "":
		return "without a reason: the node was killed, or the file is incomplete"
	}
	return words.Quoted(r.End)
}

// buildDifferences says why this build may legitimately behave differently.
func buildDifferences(h *replay.Header) []string {
	all := []string{}
	if us := terminal.CurrentBuild().String(); h.By != us {
		all = append(all, "replayed by "+us)
	}
	for _, s := range h.Specs {
		spec, err := catalog.Make(s.Name, algorithm.Options{})
		switch {
		case err != nil:
			all = append(all, "this version lacks the algorithm "+words.Quoted(s.Name))
		case spec.Version != s.Version:
			all = append(all, fmt.Sprintf("%s has version %d in this build, and %d in the recording", s.Name, spec.Version, s.Version))
		}
	}
	return all
}

// wrong returns findings if the replay differs or panics, or nil.
func (r *recordingReport) wrong() error {
	switch d := r.Difference; {
	case d != nil:
		return terminal.Findings{Lines: []string{d.String()}}
	case r.Panic != "":
		return terminal.Findings{Lines: []string{fmt.Sprintf("the replay panics at input %d, as the node did: %s", r.Inputs, r.Panic)}}
	}
	return nil
}

// printRecording prints what was recorded and the result of the replay.
func printRecording(p *terminal.Printer, r *recordingReport) {
	p.Row("recording", "of node %s at %s, by %s", r.Node, r.Address, r.By)
	for _, why := range r.Foreign {
		p.Row("", "%s", why)
	}
	p.Row("begun", "%s, for %.3f s", r.Begun.Format("2006-01-02 15:04:05.000 MST"), r.Seconds)
	var kinds []string
	for k := range process.Kinds {
		if n := r.ByKind[k.String()]; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%s %s", words.Grouped(n), k))
		}
	}
	p.Row("inputs", "%s", strings.TrimSuffix(words.Grouped(r.Inputs)+": "+strings.Join(kinds, ", "), ": "))
	p.Row("views", "%d, the last with epoch %d", r.Views, r.Epoch)
	p.Row("entries", "%s granted, %s lost", words.Grouped(r.Entries), words.Grouped(r.Lost))
	if r.Ends != "" {
		p.Row("ends", "%s", r.Ends)
	}
	switch d := r.Difference; {
	case d != nil:
		p.Row("differs", "at input %d, at %.6f s: %s", d.Input, d.At, d.What)
		printRows(p, "how", d.How)
		printRows(p, "replay", d.Did)
	case r.Panic != "":
		p.Row("panic", "%s", r.Panic)
	case r.Stopped:
		r.show(p)
		p.Row("replay", "no difference up to --until: stopped after %s", words.Plural(r.Inputs, "input"))
	default:
		p.Row("replay", "no difference")
	}
}

// show prints the members and the locks in use.
func (r *recordingReport) show(p *terminal.Printer) {
	p.Row("members", "%s", listOrNone(r.Members, func(s string) string { return s }))
	printRows(p, "locks", mapEach(r.Locks, func(l lockState) string {
		if l.Token == "" {
			return fmt.Sprintf("%q: %d waiting here", l.Name, l.Waiting)
		}
		return fmt.Sprintf("%q: held here with token %s, %d waiting here", l.Name, l.Token, l.Waiting)
	}))
}

// printRows prints a list, one item on each line.
func printRows(p *terminal.Printer, label string, all []string) {
	if len(all) == 0 {
		p.Row(label, "nothing")
	}
	for _, s := range all {
		p.Row(label, "%s", s)
		label = ""
	}
}
