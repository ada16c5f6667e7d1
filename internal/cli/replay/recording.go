package replay

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/cli/ask"
	"github.com/stile-lock/stile/internal/cli/tell"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/engine/raft"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/record"
	"github.com/stile-lock/stile/internal/station"
	"github.com/stile-lock/stile/internal/words"
)

// What is said to programs of a recording of a node.
type (
	recordingReport struct {
		File       string         `json:"file"`
		Node       string         `json:"node"`
		Address    string         `json:"address"`
		By         string         `json:"by"` // the version of stile
		Foreign    []string       `json:"foreign"`
		Begun      time.Time      `json:"begun"`
		Seconds    float64        `json:"seconds"` // from its begin to the last input
		Inputs     int            `json:"inputs"`
		ByKind     map[string]int `json:"inputs_by_kind"`
		Views      int            `json:"views"`
		Epoch      uint64         `json:"epoch"`
		Entries    int            `json:"entries"`
		Lost       int            `json:"lost"`
		Ends       string         `json:"ends"`
		Torn       bool           `json:"torn"`    // it ends in the middle of an entry
		Crashed    bool           `json:"crashed"` // the node did not survive the last input
		Panic      string         `json:"panic"`   // of the replay; empty if there was none
		Stopped    bool           `json:"stopped"` // by --until
		Difference *differs       `json:"difference"`
		Members    []string       `json:"members"` // at the end
		Locks      []lockState    `json:"locks"`   // in use there, through this node
	}
	differs struct {
		Input int      `json:"input"` // from 1
		At    float64  `json:"at_s"`  // since its begin
		What  string   `json:"what"`
		How   []string `json:"how"`
		Did   []string `json:"did"` // the replay
	}
	lockState struct {
		Name    string `json:"name"`
		Token   string `json:"token"` // of who holds it; empty if nobody does
		Waiting int    `json:"waiting"`
	}
)

// runRecording replays a recording of a node.
func (f *flags) runRecording(c *cobra.Command, path string, file io.Reader) error {
	if err := ask.Only(c, "until json", "--FLAG does not fit "+path+", which is a recording of a node and no scenario: leave it out"); err != nil {
		return err
	}
	return tell.Run(c.OutOrStdout(), f.json, nil, func() (tell.Report, error) {
		r, err := record.Replay(file, record.Options{Store: recall, Spec: catalog.MakeLive, Until: f.until})
		if err != nil {
			return tell.Report{}, fmt.Errorf("cannot replay %q: %w", path, err)
		}
		report := newRecordingReport(path, r)
		return tell.Report{JSON: report, Text: func(p *tell.Page) { showRecording(p, report) }, Wrong: report.wrong()}, nil
	})
}

// recall is the store of a node, as it was.
func recall(h *record.Header) (engine.Store, error) {
	m, err := raft.Recall(h.Store)
	if err != nil {
		return nil, err
	}
	return &raft.Keeper{Storage: m, Election: h.Election, Heartbeat: h.Heartbeat, MaxLog: h.MaxLog}, nil
}

func newRecordingReport(path string, r *record.Result) *recordingReport {
	h := r.Header
	report := &recordingReport{
		File: path, Node: record.Plain(h.Begin.Name), Address: record.Plain(h.Begin.Address), By: record.Plain(h.By), Foreign: foreign(h),
		Begun: time.UnixMilli(h.Wall).UTC(), Seconds: seconds(r, r.Last), Inputs: r.Inputs, ByKind: map[string]int{},
		Views: r.Views, Epoch: r.Epoch, Entries: r.Granted, Lost: r.Lost, Ends: lastWords(r), Torn: r.Torn, Crashed: r.Crashed, Panic: record.Plain(r.Panicked),
		Stopped: r.Stopped, Members: []string{}, Locks: []lockState{},
	}
	for k, n := range r.ByKind {
		if n > 0 {
			report.ByKind[station.Kind(k).String()] = n
		}
	}
	if d := r.Differs; d != nil {
		report.Difference = &differs{d.Input, seconds(r, d.At), d.What, d.How, append([]string{}, d.Did...)}
	}
	if r.Station != nil {
		report.state(r.Station)
	}
	return report
}

// state notes how things are at the end.
func (r *recordingReport) state(s *station.Station) {
	for _, m := range s.Record().Members {
		r.Members = append(r.Members, record.Plain(m.Name))
	}
	m := s.Member()
	if m == nil {
		return
	}
	for w := range m.Each {
		l := lockState{Name: w.Name, Waiting: len(w.Waiters)}
		if w.Holder != nil {
			l.Token = w.Holder.Token.String()
		}
		r.Locks = append(r.Locks, l)
	}
	slices.SortFunc(r.Locks, func(a, b lockState) int { return strings.Compare(a.Name, b.Name) })
}

// seconds is how long after its begin something was.
func seconds(r *record.Result, at member.Instant) float64 {
	return time.Duration(at - r.Header.Begin.At).Seconds()
}

// lastWords says how a recording ends.
func lastWords(r *record.Result) string {
	switch {
	case r.Stopped, r.Differs != nil:
		return "" // it was not looked at
	case r.Crashed:
		return "the node panicked at the last input"
	case r.Fault != "":
		return "the node had to end: " + record.Plain(r.Fault)
	case r.Torn:
		return "in the middle of an entry: whoever wrote it was killed, or this is a part of it"
	case r.End == "":
		return "without saying why: whoever wrote it was killed, or this is a part of it"
	}
	return record.Plain(r.End)
}

// foreign says why this build may do something else, and be right.
func foreign(h *record.Header) []string {
	all := []string{}
	if us := tell.Build().String(); h.By != us {
		all = append(all, "this is "+us)
	}
	for _, s := range h.Specs {
		spec, err := catalog.Make(s.Name, core.Options{})
		switch {
		case err != nil:
			all = append(all, "there is no "+record.Plain(s.Name)+" here")
		case spec.Version != s.Version:
			all = append(all, fmt.Sprintf("%s is version %d here, and was %d", s.Name, spec.Version, s.Version))
		}
	}
	return all
}

// wrong is what was found: that the core differs, or panics.
func (r *recordingReport) wrong() error {
	switch d := r.Difference; {
	case d != nil:
		return tell.Found{Lines: []string{fmt.Sprintf("it differs at input %d, at %.6f s, when %s: %s", d.Input, d.At, d.What, strings.Join(d.How, "; "))}}
	case r.Panic != "":
		return tell.Found{Lines: []string{fmt.Sprintf("it panics at input %d, as the node did: %s", r.Inputs, r.Panic)}}
	}
	return nil
}

// showRecording says what was recorded, and what came of it.
func showRecording(p *tell.Page, r *recordingReport) {
	p.Row("recording", "of node %s at %s, by %s", r.Node, r.Address, r.By)
	for _, why := range r.Foreign {
		p.Row("", "%s", why)
	}
	p.Row("begun", "%s, for %.3f s", r.Begun.Format("2006-01-02 15:04:05.000 MST"), r.Seconds)
	var kinds []string
	for k := range station.Kinds {
		if n := r.ByKind[k.String()]; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%s %s", words.Grouped(n), k))
		}
	}
	p.Row("inputs", "%s", strings.TrimSuffix(words.Grouped(r.Inputs)+": "+strings.Join(kinds, ", "), ": "))
	p.Row("views", "%d, the last of epoch %d", r.Views, r.Epoch)
	p.Row("entries", "%s granted, %s lost", words.Grouped(r.Entries), words.Grouped(r.Lost))
	if r.Ends != "" {
		p.Row("ends", "%s", r.Ends)
	}
	switch d := r.Difference; {
	case d != nil:
		p.Row("differs", "at input %d, at %.6f s: %s", d.Input, d.At, d.What)
		rows(p, "how", d.How)
		rows(p, "now it", d.Did)
	case r.Panic != "":
		p.Row("panic", "%s", r.Panic)
	case r.Stopped:
		r.show(p)
		p.Row("replay", "the same so far: stopped after %s", words.Plural(r.Inputs, "input"))
	default:
		p.Row("replay", "the core does the same again")
	}
}

// show shows how things are.
func (r *recordingReport) show(p *tell.Page) {
	p.Row("members", "%s", listed(r.Members, func(s string) string { return s }))
	rows(p, "locks", each(r.Locks, func(l lockState) string {
		if l.Token == "" {
			return fmt.Sprintf("%q: %d wait here", l.Name, l.Waiting)
		}
		return fmt.Sprintf("%q: held here with token %s, %d wait here", l.Name, l.Token, l.Waiting)
	}))
}

// rows shows a list, one below the other.
func rows(p *tell.Page, label string, all []string) {
	if len(all) == 0 {
		p.Row(label, "nothing")
	}
	for _, s := range all {
		p.Row(label, "%s", s)
		label = ""
	}
}
