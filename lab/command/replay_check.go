package command

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/replay"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/internal/conform"
)

// The JSON form of recordings that were checked against the model.
type (
	conformReport struct {
		Recordings []checkedFile   `json:"recordings"`
		Views      checkedCount    `json:"views"`      // those in which some lock's algorithm took a step
		Locks      checkedCount    `json:"locks"`      // those in these views, each counted once in each view
		Algorithms map[string]int  `json:"algorithms"` // number of checked steps by algorithm
		Steps      int             `json:"steps"`      // number of steps that the model has
		Unchecked  []uncheckedLock `json:"unchecked"`
		Refused    []refusedStep   `json:"refused"`
	}
	checkedCount struct {
		All   int `json:"all"`
		Whole int `json:"whole"` // number of those of which all steps are steps of the model
	}
	checkedFile struct {
		File       string            `json:"file"`
		Node       string            `json:"node"`
		Inputs     int               `json:"inputs"`
		Foreign    []string          `json:"foreign"`
		Whole      bool              `json:"whole"` // it has everything that the node did
		Difference *differenceReport `json:"difference"`
	}
	uncheckedLock struct {
		Epoch uint64 `json:"epoch"`
		Lock  string `json:"lock"`
		Steps int    `json:"steps"` // number of steps that were not checked
		Why   string `json:"why"`
	}
	refusedStep struct {
		Epoch     uint64 `json:"epoch"`
		Lock      string `json:"lock"`
		Algorithm string `json:"algorithm"`
		Step      int    `json:"step"` // of the lock in this view, from 1
		Node      string `json:"node"`
		Input     int    `json:"input"` // of its recording, from 1; 0 for the end of the view
		What      string `json:"what"`
		Why       string `json:"why"`
	}
)

// specFinder returns an algorithm by its name and version.
type specFinder func(name string, version int) (algorithm.Spec, error)

// runCheck checks recordings of the nodes of a cluster against the model.
func (f *replayFlags) runCheck(c *cobra.Command, paths []string) error {
	if err := terminal.OnlyFlags(c, "check json", "--FLAG does not apply with --check: leave it out"); err != nil {
		return err
	}
	return terminal.RunAndReport(c.OutOrStdout(), f.json, nil, func() (terminal.Outcome, error) {
		var all []*recording
		for _, path := range paths {
			r, err := readRecording(path, catalog.MakeLive)
			if err != nil {
				return terminal.Outcome{}, err
			}
			all = append(all, r)
		}
		report, err := conformance(all, catalog.MakeLive)
		if err != nil {
			return terminal.Outcome{}, err
		}
		return terminal.Outcome{JSON: report, Text: func(p *terminal.Printer) { printConformance(p, report) }, Wrong: report.wrong()}, nil
	})
}

// A recording is a recording that was replayed.
type recording struct {
	path   string
	result *replay.Result
}

// readRecording replays a recording, with these algorithms.
func readRecording(path string, spec specFinder) (*recording, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read recording %q: %w: give recordings of nodes", path, terminal.FileReason(err))
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 1<<16)
	if head, _ := r.Peek(len(replay.Magic)); string(head) != replay.Magic {
		return nil, fmt.Errorf("%q is not a recording of a node: --check takes files that 'stile serve --record' made", path)
	}
	return replayRecording(path, r, spec)
}

func replayRecording(path string, r io.Reader, spec specFinder) (*recording, error) {
	result, err := replay.Replay(r, replay.Options{Logs: replayLogs, Spec: spec, Steps: true})
	if err != nil {
		return nil, fmt.Errorf("cannot replay %q: %w", path, err)
	}
	return &recording{path, result}, nil
}

// An epochKey identifies a view.
type epochKey struct{ cluster, epoch uint64 }

// A viewRun is what recordings have of one view.
type viewRun struct {
	*replay.Span // of one of the members
	spans        map[uint64]*memberSpan
}

// A memberSpan is what the recording of one member has of a view.
type memberSpan struct {
	*replay.Span
	path  string
	whole bool // everything that the member did in the view
}

// conformance checks recordings against the model of these algorithms.
func conformance(all []*recording, spec specFinder) (*conformReport, error) {
	report := &conformReport{Recordings: []checkedFile{}, Algorithms: map[string]int{}, Unchecked: []uncheckedLock{}, Refused: []refusedStep{}}
	views := map[epochKey]*viewRun{}
	for _, r := range all {
		report.Recordings = append(report.Recordings, newCheckedFile(r))
		spans := r.result.Spans
		for i, s := range spans {
			k := epochKey{s.Record.Cluster, s.Record.Epoch}
			if views[k] == nil {
				views[k] = &viewRun{s, map[uint64]*memberSpan{}}
			}
			if other := views[k].spans[s.Inc]; other != nil {
				return nil, fmt.Errorf("%q and %q record the same node: give one of them", other.path, r.path)
			}
			views[k].spans[s.Inc] = &memberSpan{s, r.path, i < len(spans)-1 || r.result.Whole()}
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(views), func(a, b epochKey) int {
		return cmp.Or(cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.epoch, b.epoch))
	}) {
		if err := report.view(views[k], spec); err != nil {
			return nil, err
		}
	}
	return report, nil
}

func newCheckedFile(r *recording) checkedFile {
	h := r.result.Header
	f := checkedFile{File: r.path, Node: words.Quoted(h.Begin.Name), Inputs: r.result.Inputs, Foreign: buildDifferences(h), Whole: r.result.Whole()}
	f.Difference = newDifferenceReport(r.result)
	return f
}

// A lockRun is what recordings have of one lock in one view.
type lockRun struct {
	name      string
	home      int // rank of its home
	spec      algorithm.Spec
	instances map[uint64]*replay.Instance // by incarnation
}

// view checks all locks of a view.
func (r *conformReport) view(v *viewRun, spec specFinder) error {
	runs, err := v.locks()
	if err != nil {
		return err
	}
	before := r.Locks
	for _, l := range runs {
		open := len(r.Unchecked) + len(r.Refused)
		if err := r.lock(v, l, spec); err != nil {
			return fmt.Errorf("epoch %d, %s: %w", v.Record.Epoch, lockText(l.name), err)
		}
		r.Locks.add(len(r.Unchecked)+len(r.Refused) == open)
	}
	if len(runs) > 0 {
		r.Views.add(r.Locks.Whole-before.Whole == len(runs))
	}
	return nil
}

// add counts one more.
func (c *checkedCount) add(whole bool) {
	c.All++
	if whole {
		c.Whole++
	}
}

// locks returns the locks of a view. An instance without a name exchanged no message, so it
// is a run of its own: whatever others did with the lock does not depend on it.
func (v *viewRun) locks() ([]*lockRun, error) {
	var runs []*lockRun
	byName := map[string]*lockRun{}
	for _, m := range v.Record.Members {
		s := v.spans[m.Inc]
		if s == nil {
			continue
		}
		n := len(v.Record.Members)
		for _, i := range s.Instances {
			home := (v.Record.Rank(m.Inc) - int(i.Seat) + n) % n
			l := byName[i.Lock]
			if l == nil || i.Lock == "" {
				l = &lockRun{i.Lock, home, i.Spec, map[uint64]*replay.Instance{}}
				runs = append(runs, l)
				byName[i.Lock] = l
			}
			if l.home != home || l.spec.Name != i.Spec.Name {
				return nil, fmt.Errorf("epoch %d, lock %q: its nodes disagree about its home or its algorithm", v.Record.Epoch, i.Lock)
			}
			l.instances[m.Inc] = i
		}
	}
	return runs, nil
}

// lock checks one lock.
func (r *conformReport) lock(v *viewRun, l *lockRun, spec specFinder) error {
	is, err := spec(l.spec.Name, l.spec.Version)
	if err != nil {
		return err
	}
	members := v.Record.Members
	run := &conform.Run{Spec: is, View: algorithm.View{N: len(members), Busy: true}}
	var incs []uint64
	for seat := range members {
		m := members[(seat+l.home)%len(members)]
		s := conform.Seat{Name: fmt.Sprintf("%s (%v)", words.Quoted(m.Name), algorithm.ID(seat))} // messages refer to seats
		if of := v.spans[m.Inc]; of != nil {
			s.Whole = of.whole
			for from := range members {
				s.Arrived = append(s.Arrived, of.Arrived[members[(from+l.home)%len(members)].Inc])
			}
		}
		if i := l.instances[m.Inc]; i != nil {
			for _, x := range i.Steps {
				s.Steps = append(s.Steps, conform.Step{In: x.In, Before: x.Before, After: x.After, Out: x.Out, Err: x.Err, Came: x.Came, Went: x.Went})
			}
		}
		run.Seats, incs = append(run.Seats, s), append(incs, m.Inc)
	}
	nodeOf := func(seat algorithm.ID) string { return words.Quoted(members[v.Record.Rank(incs[seat])].Name) }
	result, err := conform.Check(run)
	var refusal conform.Refusal
	why := "a step before them was refused"
	switch {
	case errors.As(err, &refusal):
		input := 0
		if refusal.Step > 0 {
			input = l.instances[incs[refusal.Seat]].Steps[refusal.Step-1].Input
		}
		r.Refused = append(r.Refused, refusedStep{
			v.Record.Epoch, l.name, is.Name, refusal.Nth, nodeOf(refusal.Seat), input, refusal.What, refusal.Err.Error(),
		})
	case err != nil:
		why = "the model cannot follow: " + err.Error()
	case result.Rest > 0 && v.spans[incs[result.Lacks]] == nil:
		why = fmt.Sprintf("they depend on messages from node %s, of which there is no recording", nodeOf(result.Lacks))
	case result.Rest > 0:
		why = fmt.Sprintf("they depend on messages from node %s, whose recording ends before", nodeOf(result.Lacks))
	}
	r.Steps += result.Steps
	r.Algorithms[is.Name] += result.Steps
	if result.Rest > 0 {
		r.Unchecked = append(r.Unchecked, uncheckedLock{v.Record.Epoch, l.name, result.Rest, why})
	}
	return nil
}

func (s refusedStep) String() string {
	at := fmt.Sprintf("input %d", s.Input)
	if s.Input == 0 {
		at = "the end"
	}
	return fmt.Sprintf("epoch %d, %s (%s), step %d, at %s of node %s: it %s: %s", s.Epoch, lockText(s.Lock), s.Algorithm, s.Step, at, s.Node, s.What, s.Why)
}

// lockText names a lock.
func lockText(name string) string {
	if name == "" {
		return "a lock whose nodes exchanged no message"
	}
	return fmt.Sprintf("lock %q", name)
}

// wrong returns findings if a replay differs or the model refuses a step, or nil.
func (r *conformReport) wrong() error {
	var all []string
	for _, f := range r.Recordings {
		if d := f.Difference; d != nil {
			all = append(all, fmt.Sprintf("%s: %s", f.File, d))
		}
	}
	all = append(all, mapEach(r.Refused, refusedStep.String)...)
	return terminal.FindingsOf(all, "refused step", "", func(s string) string { return s })
}

// printConformance prints what was checked and what was not.
func printConformance(p *terminal.Printer, r *conformReport) {
	for i, f := range r.Recordings {
		label := "recordings"
		if i > 0 {
			label = ""
		}
		p.Row(label, "%s: node %s, %s", f.File, f.Node, words.Plural(f.Inputs, "input"))
		for _, why := range f.Foreign {
			p.Row("", "%s", why)
		}
		if d := f.Difference; d != nil {
			p.Row("", "%s", d)
		}
	}
	p.Row("views", "%s with steps of locks, %s checked as a whole", words.Grouped(r.Views.All), words.Grouped(r.Views.Whole))
	p.Row("locks", "%s, each counted once in each view, %s checked as a whole", words.Grouped(r.Locks.All), words.Grouped(r.Locks.Whole))
	var by []string
	for _, name := range slices.Sorted(maps.Keys(r.Algorithms)) {
		by = append(by, fmt.Sprintf("%s %s", words.Grouped(r.Algorithms[name]), name))
	}
	p.Row("steps", "%s", strings.TrimSuffix(words.Grouped(r.Steps)+" are steps of the model: "+strings.Join(by, ", "), ": "))
	rest := 0
	for _, u := range r.Unchecked {
		rest += u.Steps
	}
	p.Row("unchecked", "%s", words.Plural(rest, "step"))
	for _, u := range r.Unchecked {
		p.Row("", "epoch %d, %s, %s: %s", u.Epoch, lockText(u.Lock), words.Plural(u.Steps, "step"), u.Why)
	}
	p.Row("refused", "%s", words.Plural(len(r.Refused), "step"))
	for _, s := range r.Refused {
		p.Row("", "%s", s)
	}
}
