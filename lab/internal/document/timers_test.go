package document

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// timersAt returns the timers of a lane as a page finds them: those of the key
// frame, or of the last delta since.
func (d *Document) timersAt(lane, cursor int) []Timer {
	var key *Key
	for i := range d.Keys {
		if d.Keys[i].Event <= cursor {
			key = &d.Keys[i]
		}
	}
	timers := []Timer{}
	if key.Timers != nil {
		timers = key.Timers[lane]
	}
	for _, x := range d.Deltas {
		if x.Proc == lane && x.Timers != nil && x.Event > key.Event && x.Event <= cursor {
			timers = *x.Timers
		}
	}
	return timers
}

// mistimed counts the cursors at which a document has other timers than a replay,
// and those that the replay has.
func mistimed(t *testing.T, name, text string, d *Document) (wrong, running int) {
	t.Helper()
	if scenario.IsGraph(text) {
		return 0, 0
	}
	sc, err := scenario.Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := SpecOf(sc, nil)
	if err != nil {
		t.Fatal(err)
	}
	after := map[int][]sim.Alarm{} // of each cursor: as all that happened by then have left it
	if _, err = sim.Replay(spec, sc, sim.ReplayOptions{Watch: func(s *sim.Step) bool {
		after[s.From+len(s.Events)] = s.Timers()
		return true
	}}); err != nil {
		t.Fatal(err)
	}
	for cursor, alarms := range after {
		running += len(alarms)
		for lane := range d.Names {
			want := []Timer{}
			for _, a := range alarms {
				if int(a.Proc) == lane {
					want = append(want, Timer{a.Timer, a.Section})
				}
			}
			if got := d.timersAt(lane, cursor); !slices.Equal(got, want) && spec.Upset == nil {
				wrong++
			}
		}
	}
	return wrong, running
}

// TestTimers: a document says which timers run, always those that a replay has, and
// hardly grows by it; one that forgets to say that one has stopped is found out.
func TestTimers(t *testing.T) {
	running, found := 0, 0
	files(t, func(t *testing.T, name, text string) {
		d := Run(text, Options{File: name})
		wrong, run := mistimed(t, name, text, d)
		if running += run; wrong > 0 {
			t.Errorf("wrong at %d cursors", wrong)
		}
		with, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.Deltas {
			if x := &d.Deltas[i]; x.Timers != nil && len(*x.Timers) == 0 {
				x.Timers = nil
			}
		}
		if wrong, _ := mistimed(t, name, text, d); wrong > 0 {
			found++
		}
		for i := range d.Keys {
			d.Keys[i].Timers = nil
		}
		for i := range d.Deltas {
			d.Deltas[i].Timers = nil
		}
		without, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if grown := len(with) - len(without); grown > len(without)/25 {
			t.Errorf("timers take %d of %d bytes", grown, len(with))
		}
	})
	if running < 100 || found < 10 {
		t.Errorf("only %d timers ran, and only %d documents that forget are found out", running, found)
	}
}

// TestTimerOfItsOwnAccord: where an algorithm comes right by itself, timer 0 of
// everybody who is alive can run out, and a deed lets it.
func TestTimerOfItsOwnAccord(t *testing.T) {
	text := "algorithm dijkstra\nprocesses 3\nat 1 crash P2\nat 2 P1 asks\nuntil 4\n"
	d := Run(text, Options{})
	if d.Error != nil {
		t.Fatal(d.Error.Text)
	}
	end := d.Ended
	if got := d.timersAt(0, end); !slices.Equal(got, []Timer{{}}) {
		t.Errorf("P1 has %v, want timer 0", got)
	}
	if got := d.timersAt(1, end); len(got) > 0 {
		t.Errorf("P2, which is dead, has %v", got)
	}
	if _, err := Act(text, Options{}, end, UserAction{Verb: "expire", Proc: 0, Timer: new(int)}); err != nil {
		t.Error(err)
	}
}

// TestTimersCanExpire: a deed can let every timer run out that a document names.
func TestTimersCanExpire(t *testing.T) {
	for _, text := range []string{
		"algorithm bully\nprocesses 4\nat 0 crash P4\nat 1 P1 asks\n",
		"algorithm central+bully\nprocesses 3\nat 0 P2 asks\nat 1 crash P1\nat 2 P2 suspects P1\n",
	} {
		d := Run(text, Options{})
		if d.Error != nil {
			t.Fatal(d.Error.Text)
		}
		done := 0
		for cursor := range d.Ended {
			if cursor > 0 && d.Events[cursor].Part || cursor > 0 && d.Events[cursor].At == d.Events[cursor-1].At {
				continue
			}
			for lane := range d.Names {
				for _, x := range d.timersAt(lane, cursor) {
					if _, err := Act(text, Options{}, cursor, UserAction{Verb: "expire", Proc: lane, Timer: &x.Timer, Section: x.Section}); err != nil {
						t.Errorf("%sat %d: timer %d of %s: %v", text, cursor, x.Timer, d.Names[lane], err)
					}
					done++
				}
			}
		}
		if done == 0 {
			t.Errorf("%sno timer ever runs", text)
		}
	}
}

// TestSitesInTime: a timer of a site runs out before its time, and a site is told of
// a death, in a timed schedule as in steps.
func TestSitesInTime(t *testing.T) {
	const sites = "algorithm %s\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\n\nat 0 P1 takes L1 L2\n%s\n"
	first := 0
	for _, c := range []struct {
		algorithm, then string
		event           string // the one before the cursor
		deed            UserAction
		line            string
	}{
		{"detect-central", "at 0 P2 takes L2 L1", "enter", UserAction{Verb: "expire", Timer: &first}, "site 1 timer 0 expires"},
		{"none", "at 1.5 crash site 2", "crash", UserAction{Verb: "suspect", To: 1}, "site 1 suspects site 2"},
	} {
		text := fmt.Sprintf(sites, c.algorithm, c.then)
		d := Run(text, Options{})
		at := slices.IndexFunc(d.Events, func(e Event) bool { return e.Kind == c.event }) + 1
		e, err := Act(text, Options{}, at, c.deed)
		if err != nil {
			t.Errorf("%s: %v", c.algorithm, err)
			continue
		}
		if got := strings.Split(e.Text, "\n")[e.Line-1]; !strings.HasSuffix(got, c.line) {
			t.Errorf("got %q, want %q", got, c.line)
		}
		if wrong := misdone(d, at, c.deed, e); wrong != "" {
			t.Errorf("%s: %s", c.line, wrong)
		}
	}
}
