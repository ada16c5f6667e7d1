package storm

import (
	"fmt"
	"math"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/cli/tell"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/storm"
	"github.com/stile-lock/stile/internal/storm/sweep"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/trace"
)

// found is what came of the storms.
type found struct {
	sweep.Config
	*sweep.Sum
	alone bool         // there is one seed only
	story *storm.Story // of the first failure; nil if there is none, or the user interrupted
	again string       // the command that makes the first failure again
}

// patience is how many runs it may take to shrink a failure.
const patience = 400

// shrink looks for a short story of the first failure.
func (f *found) shrink(live *tell.Live) error {
	if !live.On() {
		return nil
	}
	live.Show("seed %d broke %s: looking for a short story", f.First[0].Seed, f.First[0].Violation.Invariant)
	var err error
	f.story, err = storm.Shrink(f.Pick(f.First[0].Seed), patience)
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
	all := f.First
	err := tell.Wrong(all, "seed", "", func(x sweep.Failure) string { return fmt.Sprintf("seed %d: %v", x.Seed, &x.Violation) })
	wrong, more := err.(tell.Found), f.Failures-len(all)
	if more > 0 { // not even kept
		wrong.Lines[len(wrong.Lines)-1] = fmt.Sprintf("and %s", words.Plural(f.Failures-len(wrong.Lines)+1, "more seed"))
	}
	return wrong
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
func (f *found) files(s *tell.Scene) ([]tell.File, error) {
	story := func(t *trace.Trace) string { return t.Story(trace.TextOptions{}) }
	var made *trace.Trace
	return s.Files(0, story, func(core.ID) (*trace.Trace, error) {
		c, there := f.shown()
		if !there || made != nil {
			return made, nil
		}
		t, r, err := storm.Record(c, math.MaxInt64, tell.MaxEvents)
		if err != nil {
			return nil, err
		}
		if made = t; r.Violation == nil {
			s.Usually(interesting(t, c))
		}
		return t, nil
	})
}

// interesting returns when the first view begins after the first fault, in units
// of time: there is more to see there than at the start.
func interesting(t *trace.Trace, c storm.Config) float64 {
	const before = 5 * member.Millisecond
	strikes := storm.Draw(c)
	if len(strikes) == 0 {
		return 0
	}
	at := int64(strikes[0].At)
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind == trace.Send && e.Name == storm.ViewName && e.At > int64(strikes[0].At) {
			at = e.At
			break
		}
	}
	return float64(max(0, at-int64(before))) / float64(t.Unit)
}
