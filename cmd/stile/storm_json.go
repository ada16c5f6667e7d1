package main

import (
	"fmt"

	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/storm"
)

// A stormReport is what came of the storms, for programs.
type stormReport struct {
	Seeds      int             `json:"seeds"` // that were stormed
	Algorithms []string        `json:"algorithms"`
	Faults     []string        `json:"faults"`
	Entries    int             `json:"entries"`
	Views      int             `json:"views"`
	Hours      float64         `json:"simulated_hours"`
	Violations int             `json:"violations"` // seeds that broke an invariant
	First      *stormViolation `json:"first_violation"`
	FirstSeed  uint64          `json:"first_seed"`
	Nodes      []int           `json:"nodes"`
	Voters     []int           `json:"voters"`
	Terms      int             `json:"terms"`   // in which a voter led
	Revotes    int             `json:"revotes"` // how often other voters kept the log
	Strikes    int             `json:"strikes"` // faults that happened
	Lost       int             `json:"lost"`    // holds that were lost, and told
	Busy       int             `json:"busy"`    // tries that were refused
	Deposits   int             `json:"deposits"`
	Refused    int             `json:"refused_writes"`
	Longest    float64         `json:"longest_wait_ms"` // once healed
	Bank       *books          `json:"bank,omitempty"`
	Frames     []frames        `json:"frames"` // that members sent each other
	Commit     string          `json:"commit"`
	Digest     string          `json:"digest"` // of all that happened, whatever the order of the seeds
	Stopped    bool            `json:"stopped,omitempty"`
	Struck     []strike        `json:"struck,omitempty"` // the faults of one seed
}

// A stormViolation is the first one, by the order of the seeds.
type stormViolation struct {
	Seed      uint64  `json:"seed"`
	Algorithm string  `json:"algorithm"`
	Nodes     int     `json:"nodes"`
	Invariant string  `json:"invariant"`
	At        float64 `json:"at_ms"`
	Text      string  `json:"text"`
	Commit    string  `json:"commit"`
	Command   string  `json:"command"` // makes it again
	Story     *shrunk `json:"story,omitempty"`
}

// A shrunk is the smallest run that was found that breaks the same.
type shrunk struct {
	Algorithm string       `json:"algorithm"`
	Nodes     int          `json:"nodes"`
	Locks     int          `json:"locks"`
	Apps      int          `json:"applications"`
	Clients   int          `json:"clients"`
	Struck    []strike     `json:"struck"`
	At        float64      `json:"at_ms"`
	Text      string       `json:"text"`
	Runs      int          `json:"runs"`           // that were made to find it
	Lost      []stormEntry `json:"lost,omitempty"` // of a bank without a fence: how money was
}

// books are what the bank has done, and what it has, in all storms.
type books struct {
	Fenced    bool  `json:"fenced"`
	Transfers int   `json:"transfers"`
	Moved     int64 `json:"moved"`
	Stale     int   `json:"stale_writes"` // refused, if it is fenced
	Expected  int64 `json:"expected"`
	Total     int64 `json:"total"`
	Missing   int64 `json:"missing"`
	Surplus   int64 `json:"surplus"`
	Exact     bool  `json:"exact"`
}

// An stormEntry is something that happened to a branch of the bank.
type stormEntry struct {
	At   float64 `json:"at_ms"`
	Text string  `json:"text"`
}

// A strike is one fault.
type strike struct {
	At   float64 `json:"at_ms"`
	Kind string  `json:"fault"`
	Text string  `json:"text"`
}

// frames counts those of a kind.
type frames struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

func (f *found) json(strikes bool) stormReport {
	sum := &f.Runs
	r := stormReport{
		Seeds: f.Sum.Seeds, Faults: []string{}, Entries: sum.Entries, Views: sum.Views, Hours: hours(sum.Simulated),
		Violations: f.Failures, FirstSeed: f.Config.First, Nodes: f.Nodes, Voters: f.Voters, Terms: sum.Terms, Revotes: sum.Revotes, Strikes: sum.Strikes, Lost: sum.Lost, Busy: sum.Tries,
		Deposits: sum.Deposits, Refused: sum.Refused, Longest: millis(sum.Longest), Frames: []frames{},
		Commit: Build().Commit(), Digest: fmt.Sprintf("%016x", sum.Digest), Stopped: f.stopped() != "",
	}
	for _, a := range f.Algorithms {
		r.Algorithms = append(r.Algorithms, a.Algorithm)
	}
	r.Faults = append(r.Faults, f.kinds()...)
	for i, kind := range storm.FrameNames() {
		if sum.Frames[i] > 0 {
			r.Frames = append(r.Frames, frames{kind, sum.Frames[i]})
		}
	}
	if b := &sum.Books; f.Bank {
		r.Bank = &books{!f.Unfenced, b.Transfers, b.Moved, b.Stale, b.Expected, b.Total, b.Missing, b.Surplus, b.Exact()}
	}
	if strikes {
		r.Struck = struck(f.blows)
	}
	if f.Failures > 0 {
		r.First = f.first()
	}
	return r
}

// first is the first violation.
func (f *found) first() *stormViolation {
	x := f.Sum.First[0]
	c := f.Pick(x.Seed)
	v := &stormViolation{
		Seed: x.Seed, Algorithm: c.Algorithms[0].Algorithm, Nodes: c.Nodes, Invariant: string(x.Violation.Invariant),
		At: millis(x.Violation.At), Text: x.Violation.Text, Commit: Build().Commit(), Command: f.again,
	}
	if s := f.story; s != nil {
		c := &s.Config
		v.Story = &shrunk{
			Algorithm: c.Algorithms[0].Algorithm, Nodes: c.Nodes, Locks: c.Locks, Apps: c.Apps, Clients: c.Clients,
			Struck: struck(f.blows), At: millis(s.Violation.At), Text: s.Violation.Text, Runs: s.Tries,
		}
		for _, x := range f.lost {
			v.Story.Lost = append(v.Story.Lost, stormEntry{millis(x.At), x.Text})
		}
	}
	return v
}

func struck(blows []storm.StruckFault) []strike {
	list := []strike{}
	for _, b := range blows {
		list = append(list, strike{millis(b.At), b.Kind, b.Text})
	}
	return list
}

func millis(d member.Span) float64 { return float64(d) / float64(member.Millisecond) }

func hours(d member.Span) float64 { return float64(d) / float64(3600*member.Second) }
