package check

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/scenario"
)

// The properties that can be checked; package internal/family says what they mean.
const (
	MutualExclusion = family.MutualExclusion
	Deadlock        = family.Deadlock
	Starvation      = family.Starvation
	Order           = family.Order
	OrderOpen       = family.OrderOpen
	Bypass          = family.Bypass
	Token           = family.Token
	Fence           = family.Fence
	Channels        = family.Channels
	Start           = family.Start
	Alibi           = family.Alibi
	Convergence     = family.Convergence
	FalseReport     = family.FalseReport
	OneVictim       = family.OneVictim
)

// A Verdict is the result of a check.
type Verdict string

// The verdicts, from best to worst.
const (
	Holds        Verdict = "holds"         // proved for this number of processes, without a bound
	HoldsBounded Verdict = "holds-bounded" // proved up to the bound given in the note
	NotChecked   Verdict = "not-checked"   // the note says why
	Unfinished   Verdict = "unfinished"    // ended early, or no real run confirms what was found
	Violated     Verdict = "violated"      // the trace shows how
)

func (v Verdict) rank() int {
	return slices.Index([]Verdict{Holds, HoldsBounded, NotChecked, Unfinished, Violated}, v)
}

// A Property is one line of a report.
type Property struct {
	Name    string   `json:"name"`
	Verdict Verdict  `json:"verdict"`
	Note    string   `json:"note"`
	Trace   []string `json:"trace"` // steps of the counterexample

	// Counterexample is the same as a scenario, if there is one. A lasso is shown with
	// its loop once; Loop is how many of its steps come before it.
	Counterexample *scenario.Scenario `json:"-"`
	Loop           int                `json:"-"`
	Means          string             `json:"-"` // what it means that the property holds
	where          string             // with several sections: which of them it is about, for the Note
	spec           algorithm.Spec
	family         *family.Family
}

// A Bound is how many requests each process may make; 0 means no bound, and is
// "unbounded" in JSON. Where no process makes requests it is "none".
type Bound int

// NoRequests is the Bound where no process makes requests.
const NoRequests Bound = -1

// MarshalJSON implements json.Marshaler.
func (b Bound) MarshalJSON() ([]byte, error) {
	switch b {
	case 0:
		return []byte(`"unbounded"`), nil
	case NoRequests:
		return []byte(`"none"`), nil
	}
	return strconv.AppendInt(nil, int64(b), 10), nil
}

// A Report is the result of a check. States, transitions and depth are those of the first
// pass: the one without monitors, if it was needed, and without spent messages, if Reduced.
type Report struct {
	Algorithm   string     `json:"algorithm"`
	Nodes       int        `json:"nodes"`
	Requests    Bound      `json:"requests"`
	Network     string     `json:"network"`
	Losses      int        `json:"losses,omitempty"` // maximum number of lost messages
	Verdict     Verdict    `json:"verdict"`
	States      int64      `json:"states"`
	Transitions int64      `json:"transitions"`
	Depth       int        `json:"depth"`
	Reduced     bool       `json:"reduced,omitempty"`
	Seconds     float64    `json:"seconds"`
	Rate        float64    `json:"states_per_second"`
	Memory      int64      `json:"memory"` // bytes of the largest pass, for all that Limits.Memory limits
	Collision   float64    `json:"collision_probability"`
	Properties  []Property `json:"properties"`

	// Assumes lists what the verdicts holds and holds-bounded rest on that was tried, but
	// cannot be proved by trying.
	Assumes []string `json:"assumes,omitempty"`

	// Hint is what a reader must know about an algorithm that is wrong or weaker and
	// passes all the same, and Shown is a command that demonstrates it; or that no
	// process ever enters.
	Hint  string `json:"hint,omitempty"`
	Shown string `json:"shown,omitempty"`
}

// Find returns the line of a property, or nil.
func (r *Report) Find(name string) *Property {
	for i := range r.Properties {
		if r.Properties[i].Name == name {
			return &r.Properties[i]
		}
	}
	return nil
}

// First returns the first violated property, or nil.
func (r *Report) First() *Property {
	for i := range r.Properties {
		if r.Properties[i].Verdict == Violated {
			return &r.Properties[i]
		}
	}
	return nil
}

// hint says why a report without violations is not the whole truth, or "".
func hint(s algorithm.Spec) string {
	switch {
	case s.Wrong != "":
		return fmt.Sprintf("%s is wrong, though not in this check: %s", s.Name, s.Wrong)
	case s.Weaker != "":
		return fmt.Sprintf("%s is not wrong, but weaker than %s: %s", s.Name, s.Fixed, s.Weaker)
	}
	return ""
}

// count records that a pass has distinguished the given number of states.
func (r *Report) count(states int64) { r.Collision += explore.Collision(states) }

// counted puts the size of a pass into the report, if it is the first, and its memory, if
// it is the largest.
func (r *Report) counted(e *explore.Exploration) {
	r.Memory = max(r.Memory, e.Memory)
	if r.States == 0 {
		r.States, r.Transitions, r.Depth = e.States, e.Transitions, e.Depth
	}
}

// sum completes the report: properties in the order of the family, and the worst of their
// verdicts.
func (r *Report) sum(f *family.Family, started time.Time) {
	place := func(p Property) int {
		return slices.IndexFunc(f.Properties, func(q family.Property) bool { return q.Name == p.Name })
	}
	sort.SliceStable(r.Properties, func(i, j int) bool { return place(r.Properties[i]) < place(r.Properties[j]) })
	r.Verdict = NotChecked
	for i := range r.Properties {
		p := &r.Properties[i]
		p.Means = f.Properties[place(*p)].Means
		if p.Verdict != NotChecked && (r.Verdict == NotChecked || p.Verdict.rank() > r.Verdict.rank()) {
			r.Verdict = p.Verdict
		}
	}
	r.Seconds = time.Since(started).Seconds()
	r.Rate = float64(r.States) / r.Seconds
	r.Collision = min(1, r.Collision)
}
