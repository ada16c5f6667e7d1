package check

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// The search after a dive has the time that is left, and if it comes to less
// than the one before the dive, that one is reported. A dive says what it is.
func TestTimeAfterADive(t *testing.T) {
	var passes []string
	c := Config{Spec: mutex.Central(0), Nodes: 2, Properties: []string{MutualExclusion}}.Settled()
	c.Limits = Limits{Time: 2 * time.Hour, Progress: func(p Progress) {
		if !slices.Contains(passes, p.Pass) {
			passes = append(passes, p.Pass)
		}
	}}
	r := newRun(c)
	m, err := r.model("", false)
	if err != nil {
		t.Fatal(err)
	}
	var times []time.Duration
	e, err := r.deeply(m, MutualExclusion, func(l Limits) (*explore.Exploration, error) {
		times = append(times, l.Time)
		if len(times) > 1 {
			return &explore.Exploration{States: 5, Whole: 1, Unfinished: explore.OutOfTime}, nil
		}
		r.started = r.started.Add(-time.Hour) // so long it took
		l.Progress(Progress{Pass: l.Pass, States: manyStates + 1})
		if l.Context.Err() == nil {
			t.Error("the search goes on though there are very many states")
		}
		return &explore.Exploration{States: manyStates + 1, Whole: 7, Unfinished: explore.Interrupted}, nil
	})(r.remaining(MutualExclusion))
	if err != nil {
		t.Fatal(err)
	}
	if len(times) != 2 || times[1] > time.Hour {
		t.Errorf("the searches had %v, want two, and the second one the hour that was left", times)
	}
	if e.States != manyStates+1 || e.Whole != 7 || e.Unfinished != explore.OutOfTime {
		t.Errorf("it reports %+v, want the first search, out of time", e)
	}
	if want := []string{MutualExclusion, MutualExclusion + " by random runs"}; !slices.Equal(passes, want) {
		t.Errorf("progress tells of %q, want %q", passes, want)
	}
}

// Who interrupts the first search is told how far it was: there is no other.
func TestInterruptedBeforeADive(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	limits := Limits{Context: ctx, Workers: 1, Progress: func(p Progress) {
		if p.States > 1000 {
			cancel()
		}
	}}
	r := mustRun(t, Config{Spec: mutex.RicartAgrawala(), Nodes: smallGroup + 1, Properties: []string{MutualExclusion}, Limits: limits})
	if r.States <= 1000 || r.Verdict != Unfinished {
		t.Errorf("%s after %d states, want unfinished after more than 1000", r.Verdict, r.States)
	}
}
