package kernel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// A diary writes down what it is told, and sends nothing: its processes are no
// machines.
type diary struct {
	k     *Kernel
	lines []string
}

func keep(c Config) *diary {
	d := &diary{}
	if c.Latency.A == 0 {
		c.Latency = scenario.Always(scenario.T)
	}
	d.k = New(c, d)
	d.k.Happen = func(e *Event) { d.write("%v does %d", e.Proc(), e.Arg()) }
	return d
}

func (d *diary) write(format string, args ...any) {
	d.lines = append(d.lines, scenario.FormatTime(d.k.Now())+" "+fmt.Sprintf(format, args...))
}

func (d *diary) Deliver(from, to algorithm.ID, slot int32) {
	d.write("%v to %v: %s", from, to, d.k.Slot(slot).Bytes)
}
func (d *diary) Expired(p algorithm.ID, t Timer, tag Tag) {
	d.write("timer %d/%d of %v, tag %d", t.Group, t.ID, p, tag)
}
func (d *diary) Believed(p, dead algorithm.ID) { d.write("%v mourns %v", p, dead) }
func (*diary) Called(m *Slot) string           { return string(m.Bytes[:1]) }
func (*diary) Describe(*trace.Event, *Slot)    {}

func (d *diary) send(from, to algorithm.ID, text string) {
	d.k.Send(from, to, d.k.Keep([]byte(text), 0, 0, 1))
}

// reads runs to the end and compares.
func (d *diary) reads(t *testing.T, want ...string) {
	t.Helper()
	for d.k.Pending() {
		d.k.Step()
	}
	if !slices.Equal(d.lines, want) {
		t.Errorf("got\n%q\nwant\n%q", d.lines, want)
	}
}

// Timers are in units of the longest latency of any link, as it was said last,
// and come after everything else of their time.
func TestTimersWaitForTheSlowestLink(t *testing.T) {
	slow := func(at int64) script.Link {
		return script.Link{From: 1, To: 0, Latency: scenario.Always(at * scenario.T)}
	}
	d := keep(Config{Processes: 2, Links: []script.Link{slow(9), slow(5)}})
	d.k.SetTimer(0, Timer{ID: 3}, 1, 7)
	d.k.SetTimer(0, Timer{Group: 1, ID: 3}, 2, 8)
	d.send(1, 0, "late")
	d.reads(t, "5 P2 to P1: late", "5 timer 0/3 of P1, tag 7", "10 timer 1/3 of P1, tag 8")
}

// A timer that is set to 0 never runs out; one set again starts anew.
func TestTimersStop(t *testing.T) {
	d := keep(Config{Processes: 1})
	d.k.SetTimer(0, Timer{ID: 1}, 2, 0)
	d.k.SetTimer(0, Timer{ID: 2}, 2, 0)
	d.k.SetTimer(0, Timer{ID: 2}, 3, 0)
	d.k.SetTimer(0, Timer{ID: 1}, 0, 0)
	if d.k.Running(0, Timer{ID: 1}) || !d.k.Running(0, Timer{ID: 2}) {
		t.Error("want timer 1 stopped and timer 2 running")
	}
	d.reads(t, "3 timer 0/2 of P1, tag 0")
}

// What a group has under way is retagged, messages and timers, and what is of
// another group, or has come, is not.
func TestRetag(t *testing.T) {
	d := keep(Config{Processes: 2})
	var slots []int32
	for group := range 2 {
		slots = append(slots, d.k.Keep([]byte("x"), group, 5, 1))
		d.k.SetTimer(0, Timer{Group: group}, 1, 5)
	}
	gone := d.k.Keep([]byte("x"), 1, 5, 1)
	d.k.drop(gone)
	d.k.Retag(1, func(t Tag) Tag { return t + 1 })
	if a, b, c := d.k.Slot(slots[0]).Tag, d.k.Slot(slots[1]).Tag, d.k.Slot(gone).Tag; a != 5 || b != 6 || c != 5 {
		t.Errorf("messages have the tags %d, %d and %d, want 5, 6 and 5", a, b, c)
	}
	d.reads(t, "1 timer 0/0 of P1, tag 5", "1 timer 1/0 of P1, tag 6")
}

// The dead are told of when all that they sent has come, whatever the link,
// and not if they are back by then.
func TestDetectorIsPerfect(t *testing.T) {
	c := Config{Processes: 3, Adversary: true, Detects: true, Links: []script.Link{{From: 0, To: 1, Latency: scenario.Always(4 * scenario.T)}}}
	d := keep(c)
	d.send(0, 1, "last words")
	d.k.Crash(0)
	d.send(2, 0, "too late")
	d.reads(t, "4 P1 to P2: last words", "4 P2 mourns P1", "4 P3 mourns P1")
	d = keep(c)
	d.k.Crash(0)
	d.k.Restart(0)
	d.reads(t)
}

// What comes to a process that stands still waits, its own events too; what is
// at no process happens.
func TestPauseHoldsBack(t *testing.T) {
	d := keep(Config{Processes: 2, Adversary: true})
	d.k.Pause(1)
	d.k.At(0, Own, 1, 4)
	d.k.At(0, Own, algorithm.None, 5)
	d.send(0, 1, "hello")
	d.reads(t, "0 none does 5")
	d.k.Resume(1)
	d.reads(t, "0 none does 5", "1 P2 does 4", "1 P1 to P2: hello")
}

// A host that has an adversary of its own delays messages and loses them; those
// behind a late one on a FIFO link wait for it.
func TestSendLateAndLose(t *testing.T) {
	d := keep(Config{Processes: 2, Adversary: true})
	d.k.SendLate(0, 1, d.k.Keep([]byte("late"), 0, 0, 1), 3*scenario.T)
	d.send(0, 1, "behind")
	d.k.Lose(0, 1, d.k.Keep([]byte("lost"), 0, 0, 1))
	d.k.SendLate(1, 0, d.k.Keep([]byte("back"), 0, 0, 1), 0)
	d.reads(t, "1 P2 to P1: back", "4 P1 to P2: late", "4 P1 to P2: behind")
}

// What is lost is seen to be: sent, and dropped, under one number.
func TestLoseIsSeen(t *testing.T) {
	var seen []trace.Event
	d := keep(Config{Processes: 2, Observe: func(e trace.Event) { seen = append(seen, e) }})
	d.k.Lose(0, 1, d.k.Keep([]byte("lost"), 0, 0, 1))
	if len(seen) != 2 || seen[0].Kind != trace.Send || seen[1].Kind != trace.Drop || seen[0].Msg != seen[1].Msg {
		t.Errorf("got %v", seen)
	}
}
