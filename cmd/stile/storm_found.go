package main

import (
	"fmt"
	"math"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/storm"
	"github.com/stile-lock/stile/internal/live/storm/sweep"
	"github.com/stile-lock/stile/internal/live/views"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/trace"
)

// found is what came of the storms.
type found struct {
	sweep.Config
	*sweep.Sum
	alone bool                // there is one seed only
	story *storm.Story        // of the first failure; nil if there is none, or the user interrupted
	again string              // the command that makes the first failure again
	blows []storm.StruckFault // what struck in the storm that is shown
	lost  []storm.Entry       // of a bank: how money was lost in it
	trace *trace.Trace        // of it
}

// stormPatience is how many runs it may take to shrink a failure.
const stormPatience = 400

// shrink looks for a short story of the first failure.
func (f *found) shrink(live *Live) error {
	if !live.On() {
		return nil
	}
	live.Show("seed %d broke %s: looking for a short story", f.Sum.First[0].Seed, f.Sum.First[0].Violation.Invariant)
	var err error
	f.story, err = storm.Shrink(f.Pick(f.Sum.First[0].Seed), stormPatience)
	return err
}

// stopped says how far the storms were when the user interrupted, if so.
func (f *found) stopped() string {
	if f.Sum.Seeds == f.Config.Seeds {
		return ""
	}
	return fmt.Sprintf("%s of %s", words.Grouped(f.Sum.Seeds), words.Plural(f.Config.Seeds, "seed"))
}

// wrong is the error of storms that broke something.
func (f *found) wrong() error {
	if f.Failures == 0 {
		return nil
	}
	var wrong Found
	for _, x := range f.Sum.First {
		wrong.Lines = append(wrong.Lines, fmt.Sprintf("seed %d: %v", x.Seed, &x.Violation))
	}
	if more := f.Failures - len(f.Sum.First); more > 0 {
		wrong.Lines = append(wrong.Lines, "and "+words.Plural(more, "more seed"))
	}
	if f.unfenced() {
		wrong.Lines = append(wrong.Lines, "without the fence this is to be expected: see docs/storm.md")
	}
	return wrong
}

// unfenced reports whether money was lost as it must be without a fence.
func (f *found) unfenced() bool {
	return f.Unfenced && f.Failures > 0 && f.Sum.First[0].Violation.Invariant == storm.Bank
}

// shown is the storm that is drawn: the story of a failure, or else the seed that
// is alone; false if there is none.
func (f *found) shown() (storm.Config, bool) {
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

// files returns what --svg and --trace ask for. They are made when all storms
// are over.
func (f *found) files(s *Scene) ([]tellFile, error) {
	story := func(t *trace.Trace) string { return t.Story(trace.TextOptions{}) }
	return s.Files(0, story, func(algorithm.ID) (*trace.Trace, error) {
		if f.trace != nil && f.Failures == 0 {
			s.Usually(f.interesting())
		}
		if f.unfenced() {
			s.Closeup = storm.Closeup
		}
		return f.trace, nil
	})
}

// record makes the storm that is shown again, and notes what happens in it.
func (f *found) record() error {
	c, there := f.shown()
	if !there {
		return nil
	}
	t, _, err := storm.Record(c, math.MaxInt64, MaxEvents)
	if err != nil {
		return err
	}
	f.trace, f.blows = t, storm.StruckFaults(t)
	if f.unfenced() {
		f.lost = storm.Lost(t)
	}
	return nil
}

// interesting returns a part of the storm in which there is more to see than at
// its start, in units of time: the first view that comes after a fault, with the
// fault if it is near, and as much as can be read. All is 0 if there is none.
func (f *found) interesting() (from, to float64) {
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

// viewAfter returns when the first view is told after a time, or that time.
func (f *found) viewAfter(at int64) int64 {
	for i := range f.trace.Events {
		if e := &f.trace.Events[i]; e.Kind == trace.Send && e.Name == views.View.String() && e.At > at {
			return e.At
		}
	}
	return at
}
