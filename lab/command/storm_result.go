package command

import (
	"fmt"
	"math"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/storm"
	"github.com/stile-lock/stile/internal/storm/sweep"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/trace"
)

// stormResult is the result of storms.
type stormResult struct {
	sweep.Config
	*sweep.Sum
	alone bool                // there is only one seed
	story *storm.Story        // of the first failure; nil if there is none or the user interrupted
	again string              // the command that repeats the first failure
	blows []storm.StruckFault // the faults of the storm that is shown
	lost  []storm.Entry       // with --bank: how money was lost in it
	trace *trace.Trace        // of that storm
}

// maxShrinkRuns is the maximum number of runs to shrink a failure.
const maxShrinkRuns = 400

// shrink looks for a short counterexample of the first failure.
func (f *stormResult) shrink(prog *terminal.Progress) error {
	if !prog.On() {
		return nil
	}
	prog.Show("seed %d violated %s: looking for a short counterexample", f.Sum.First[0].Seed, f.Sum.First[0].Violation.Invariant)
	var err error
	f.story, err = storm.Shrink(f.Pick(f.Sum.First[0].Seed), maxShrinkRuns)
	return err
}

// stopped says how far the storms were when the user interrupted, if that happened.
func (f *stormResult) stopped() string {
	if f.Sum.Seeds == f.Config.Seeds {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(f.Sum.Seeds), words.Plural(f.Config.Seeds, "seed"))
}

// wrong returns findings for storms that violated an invariant, or nil.
func (f *stormResult) wrong() error {
	if f.Failures == 0 {
		return nil
	}
	var wrong terminal.Findings
	for _, x := range f.Sum.First {
		wrong.Lines = append(wrong.Lines, fmt.Sprintf("seed %d: %v", x.Seed, &x.Violation))
	}
	if more := f.Failures - len(f.Sum.First); more > 0 {
		wrong.Lines = append(wrong.Lines, "and "+words.Plural(more, "more seed"))
	}
	if f.unfenced() {
		wrong.Lines = append(wrong.Lines, "without the fence this is expected: see docs/storm.md")
	}
	return wrong
}

// unfenced reports whether money was lost as expected without a fence.
func (f *stormResult) unfenced() bool {
	return f.Unfenced && f.Failures > 0 && f.Sum.First[0].Violation.Invariant == storm.Bank
}

// shown returns the storm to draw: the short counterexample of a failure, or that of a
// single seed. It returns false if there is none.
func (f *stormResult) shown() (storm.Config, bool) {
	switch {
	case f.Sum == nil || f.Sum.Seeds == 0:
		return storm.Config{}, false
	case f.story != nil:
		return f.story.Config, true
	case f.alone:
		return f.Pick(f.Config.First), true
	}
	return storm.Config{}, false
}

// files returns the files for --svg and --trace. They are made when all storms are
// over.
func (f *stormResult) files(s *traceOutput) ([]terminal.OutputFile, error) {
	story := func(t *trace.Trace) string { return t.Story(trace.TextOptions{}) }
	return s.files(0, story, func(algorithm.ID) (*trace.Trace, error) {
		if f.trace != nil && f.Failures == 0 {
			s.setDefaultWindow(f.interesting())
		}
		if f.unfenced() {
			s.closeup = storm.Closeup
		}
		return f.trace, nil
	})
}

// record repeats the storm that is shown and records its events.
func (f *stormResult) record() error {
	c, there := f.shown()
	if !there {
		return nil
	}
	t, _, err := storm.Record(c, math.MaxInt64, maxEvents)
	if err != nil {
		return err
	}
	f.trace, f.blows = t, storm.StruckFaults(t)
	if f.unfenced() {
		f.lost = storm.Lost(t)
	}
	return nil
}

// interesting returns a part of the storm that shows more than its start, in units of
// time: the first view after a fault, with the fault if it is near, and as much as can
// be read. It returns 0, 0 if there is none.
func (f *stormResult) interesting() (from, to float64) {
	const near, before, moments = int64(40 * member.Millisecond), int64(2 * member.Millisecond), 200
	if len(f.blows) == 0 {
		return 0, 0
	}
	view := f.viewAfter(int64(f.blows[0].At))
	begin := view
	for _, b := range f.blows {
		if d := view - int64(b.At); d >= 0 && d < near {
			begin = min(begin, int64(b.At))
		}
	}
	begin = max(0, begin-before)
	end, seen := begin, 0
	for i := range f.trace.Events {
		if at := f.trace.Events[i].At; at > end && seen < moments {
			end = at
			seen++
		}
	}
	unit := float64(f.trace.Unit)
	return float64(begin) / unit, float64(end) / unit
}

// viewAfter returns when the first view is announced after a time, or that time.
func (f *stormResult) viewAfter(at int64) int64 {
	for i := range f.trace.Events {
		if e := &f.trace.Events[i]; e.Kind == trace.Send && e.Name == views.View.String() && e.At > at {
			return e.At
		}
	}
	return at
}

// A stormReport is the JSON form of a stormResult.
type stormReport struct {
	Seeds      int              `json:"seeds"` // that were run
	Algorithms []string         `json:"algorithms"`
	Faults     []string         `json:"faults"`
	Entries    int              `json:"entries"`
	Views      int              `json:"views"`
	Hours      float64          `json:"simulated_hours"`
	Violations int              `json:"violations"` // seeds that violated an invariant
	First      *violationReport `json:"first_violation"`
	FirstSeed  uint64           `json:"first_seed"`
	Nodes      []int            `json:"nodes"`
	Voters     []int            `json:"voters"`
	Terms      int              `json:"terms"`   // of leaders
	Revotes    int              `json:"revotes"` // changes of voters
	Strikes    int              `json:"strikes"` // faults that happened
	Lost       int              `json:"lost"`    // locks that were lost and reported
	Claims     int              `json:"claims"`  // locks that clients claimed through another node
	Commits    int              `json:"commits"` // transactions over kept locks that ended well
	Victims    int              `json:"victims"` // transactions that had to abort
	Restores   int              `json:"restores"`
	Rollbacks  int              `json:"rollbacks"` // disks replaced by older copies
	Noticed    int              `json:"noticed"`   // processes that ended because of that
	Returns    int              `json:"returns"`   // processes refused because of disks of lost clusters
	Busy       int              `json:"busy"`      // tries that were refused
	Deposits   int              `json:"deposits"`
	Refused    int              `json:"refused_writes"`
	Longest    float64          `json:"longest_wait_ms"` // once healed
	Bank       *bankReport      `json:"bank,omitempty"`
	Frames     []frameReport    `json:"frames"` // that members sent each other
	Commit     string           `json:"commit"`
	Digest     string           `json:"digest"` // of all events, independent of the order of seeds
	Stopped    bool             `json:"stopped,omitempty"`
	Struck     []strikeReport   `json:"struck,omitempty"` // the faults of one seed
}

// A violationReport is the first violation, in the order of seeds.
type violationReport struct {
	Seed      uint64       `json:"seed"`
	Algorithm string       `json:"algorithm"`
	Nodes     int          `json:"nodes"`
	Invariant string       `json:"invariant"`
	At        float64      `json:"at_ms"`
	Text      string       `json:"text"`
	Commit    string       `json:"commit"`
	Command   string       `json:"command"` // repeats it
	Story     *storyReport `json:"story,omitempty"`
}

// A storyReport is the smallest run found that violates the same invariant.
type storyReport struct {
	Algorithm string         `json:"algorithm"`
	Nodes     int            `json:"nodes"`
	Locks     int            `json:"locks"`
	Apps      int            `json:"applications"`
	Clients   int            `json:"clients"`
	Struck    []strikeReport `json:"struck"`
	At        float64        `json:"at_ms"`
	Text      string         `json:"text"`
	Runs      int            `json:"runs"`           // to find it
	Lost      []lossReport   `json:"lost,omitempty"` // with --no-fence: how money was lost
}

// A bankReport sums up the bank over all storms.
type bankReport struct {
	Fenced    bool  `json:"fenced"`
	Transfers int   `json:"transfers"`
	Moved     int64 `json:"moved"`
	Stale     int   `json:"stale_writes"` // refused if fenced
	Expected  int64 `json:"expected"`
	Total     int64 `json:"total"`
	Missing   int64 `json:"missing"`
	Surplus   int64 `json:"surplus"`
	Exact     bool  `json:"exact"`
}

// A lossReport is an event at a branch of the bank.
type lossReport struct {
	At   float64 `json:"at_ms"`
	Text string  `json:"text"`
}

// A strikeReport is a fault.
type strikeReport struct {
	At   float64 `json:"at_ms"`
	Kind string  `json:"fault"`
	Text string  `json:"text"`
}

// A frameReport counts the frames of a kind.
type frameReport struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

func (f *stormResult) json(strikes bool) stormReport {
	sum := &f.Runs
	r := stormReport{
		Seeds: f.Sum.Seeds, Faults: []string{}, Entries: sum.Entries, Views: sum.Views, Hours: hours(sum.Simulated),
		Violations: f.Failures, FirstSeed: f.Config.First, Nodes: f.Nodes, Voters: f.Voters, Terms: sum.Terms, Revotes: sum.Revotes, Strikes: sum.Strikes, Lost: sum.Lost, Claims: sum.Claims, Busy: sum.Tries,
		Commits: sum.Commits, Victims: sum.Victims,
		Restores: sum.Restores, Rollbacks: sum.Rollbacks, Noticed: sum.Noticed, Returns: sum.Returns,
		Deposits: sum.Deposits, Refused: sum.Refused, Longest: millis(sum.Longest), Frames: []frameReport{},
		Commit: terminal.CurrentBuild().Commit(), Digest: fmt.Sprintf("%016x", sum.Digest), Stopped: f.stopped() != "",
	}
	for _, a := range f.Algorithms {
		r.Algorithms = append(r.Algorithms, a.Algorithm)
	}
	r.Faults = append(r.Faults, f.kinds()...)
	for i, kind := range storm.FrameNames() {
		if sum.Frames[i] > 0 {
			r.Frames = append(r.Frames, frameReport{kind, sum.Frames[i]})
		}
	}
	if b := &sum.Books; f.Bank {
		r.Bank = &bankReport{!f.Unfenced, b.Transfers, b.Moved, b.Stale, b.Expected, b.Total, b.Missing, b.Surplus, b.Exact()}
	}
	if strikes {
		r.Struck = strikeReports(f.blows)
	}
	if f.Failures > 0 {
		r.First = f.first()
	}
	return r
}

// first is the first violation.
func (f *stormResult) first() *violationReport {
	x := f.Sum.First[0]
	c := f.Pick(x.Seed)
	v := &violationReport{
		Seed: x.Seed, Algorithm: c.Algorithms[0].Algorithm, Nodes: c.Nodes, Invariant: string(x.Violation.Invariant),
		At: millis(x.Violation.At), Text: x.Violation.Text, Commit: terminal.CurrentBuild().Commit(), Command: f.again,
	}
	if s := f.story; s != nil {
		c := &s.Config
		v.Story = &storyReport{
			Algorithm: c.Algorithms[0].Algorithm, Nodes: c.Nodes, Locks: c.Locks, Apps: c.Apps, Clients: c.Clients,
			Struck: strikeReports(f.blows), At: millis(s.Violation.At), Text: s.Violation.Text, Runs: s.Tries,
		}
		for _, x := range f.lost {
			v.Story.Lost = append(v.Story.Lost, lossReport{millis(x.At), x.Text})
		}
	}
	return v
}

func strikeReports(blows []storm.StruckFault) []strikeReport {
	list := []strikeReport{}
	for _, b := range blows {
		list = append(list, strikeReport{millis(b.At), b.Kind, b.Text})
	}
	return list
}

func millis(d member.Span) float64 { return float64(d) / float64(member.Millisecond) }

func hours(d member.Span) float64 { return float64(d) / float64(3600*member.Second) }
