package command

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/internal/document"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

var (
	clicks = flag.Int("walk", nightly.Pick(15, 200), "clicks of each random walk")
	seeds  = flag.Int("seeds", nightly.Pick(1, 3), "random walks of each algorithm")
)

// harmfulClicks is in how many of the last clicks transactions come to harm that they never get
// over.
const harmfulClicks = 20

// walkers are all algorithms, those that recover and the methods against deadlock too.
func walkers() []string {
	var names []string
	for _, s := range slices.Concat(catalog.All(), catalog.Elections()) {
		names = append(names, s.Name)
		if s.Family == algorithm.MutualExclusion && s.Sound() {
			names = append(names, s.Name+"+bully")
		}
	}
	names = append(names, "token-ring+ring-election", "central+chang-roberts", "token-ring+hasty")
	for _, m := range deadlock.Methods() {
		names = append(names, m.Name)
	}
	return names
}

// TestWalk clicks at random in the lab, with every algorithm: the command must run the
// resulting text exactly as the lab does, event by event. Walks go by time and by steps in
// turn. At night walks are longer.
func TestWalk(t *testing.T) {
	for i, name := range walkers() {
		for seed := range *seeds {
			t.Run(fmt.Sprintf("%s/%d", name, seed+1), func(t *testing.T) {
				t.Parallel()
				w := walk{t: t, r: rand.New(rand.NewPCG(uint64(seed), 7))}
				w.begin(name, (i+i/2+seed)%2 == 0)
				for w.left = *clicks; w.left > 0; w.left-- {
					w.click()
				}
				sameRun(t, w.text)
				t.Logf("%d events, %d refused", len(w.events), w.refused)
			})
		}
	}
}

// A walk is a user who clicks.
type walk struct {
	t       *testing.T
	r       *rand.Rand
	text    string
	cursor  int
	refused int
	left    int // clicks that are still to come

	sc     *scenario.Scenario
	spec   algorithm.Spec
	events []trace.Event // of the whole run
	ended  int           // how many of them come before its verdict
	under  []sim.Passage // at the cursor
	timers []sim.Alarm
	is     []string // what each lane does
	cut    bool     // the network is

	numbers map[int]int // how the lab calls messages
}

func (w *walk) begin(name string, steps bool) {
	w.text = "algorithm " + name + "\nprocesses 3\n"
	if _, err := deadlock.Find(name); err == nil {
		w.text += "site 1 P1 L1\nsite 2 P2 P3 L2\n"
	}
	w.text += map[bool]string{true: "schedule steps\n", false: "until 10\n"}[steps]
	w.look()
}

// look replays the text, and sees what there is at the cursor.
func (w *walk) look() {
	w.t.Helper()
	sc, err := scenario.Parse("", w.text)
	if err != nil {
		w.t.Fatalf("%v in\n%s", err, w.text)
	}
	if w.spec, err = document.SpecOf(sc, nil); err != nil {
		w.t.Fatal(err)
	}
	seen := false
	back, err := sim.Replay(w.spec, sc, sim.ReplayOptions{Brief: true, Watch: func(s *sim.Step) bool {
		if n := s.From + len(s.Events); n >= w.cursor && !seen {
			seen, w.under, w.timers = true, s.UnderWay(), s.Timers()
		}
		return true
	}})
	if err != nil {
		w.t.Fatalf("%v in\n%s", err, w.text)
	}
	if !seen {
		w.under, w.timers = back.UnderWay, back.Timers
	}
	w.sc, w.events, w.ended = sc, back.Events, back.Ended
	w.is, w.cut, w.numbers = make([]string, sc.Sites+sc.Processes), false, map[int]int{}
	for _, e := range back.Events[:min(w.cursor, len(back.Events))] {
		if e.Msg > 0 && w.numbers[e.Msg] == 0 {
			w.numbers[e.Msg] = len(w.numbers) + 1
		}
		switch e.Kind {
		case trace.Ask, trace.Enter, trace.Exit, trace.Deny, trace.Crash, trace.Restart, trace.Pause, trace.Resume:
			w.is[e.Proc] = e.Kind.String()
		case trace.Partition, trace.Heal:
			w.cut = e.Kind == trace.Partition
		}
	}
}

// click does something that is possible, further on in the run if nothing is here.
func (w *walk) click() {
	w.t.Helper()
	for tries := 1; ; tries++ {
		d := w.deed()
		e, err := document.Act(w.text, document.Options{}, w.cursor, d)
		if err == nil {
			past := w.events[:min(w.cursor, w.ended)]
			w.text, w.cursor = e.Text, e.Event
			w.look()
			if i := differ(past, w.events); i >= 0 {
				w.t.Fatalf("%+v changes event %d, which was before it, in\n%s", d, i, w.text)
			}
			return
		}
		w.refused++
		if tries%40 == 0 && !w.further(tries) {
			return
		}
		if tries%4 == 0 { // something else may be possible here, too
			w.cursor = min(w.cursor+1+w.r.IntN(4), w.ended)
			w.look()
		}
	}
}

// further extends a run at whose end nothing can be done. In the last clicks all processes
// may have crashed.
func (w *walk) further(tries int) bool {
	w.t.Helper()
	switch {
	case w.left <= harmfulClicks:
		w.left = 1
		return false
	case w.sc.Until > 0 && tries <= 200:
	case w.sc.Sites > 0: // a deadlock, which nothing breaks: afresh
		sameRun(w.t, w.text)
		w.cursor = 0
		w.begin(w.sc.Algorithm, w.sc.Steps)
		return true
	default:
		w.t.Fatalf("nothing can be done any more in\n%s", w.text)
	}
	until := "\nuntil " + scenario.FormatTime(w.sc.Until) + "\n"
	w.text = strings.Replace(w.text, until, "\nuntil "+scenario.FormatTime(w.sc.Until+10*scenario.T)+"\n", 1)
	return true
}

// differ returns which event of a run is another now; -1 if none is. Messages may have
// got other numbers.
func differ(past, now []trace.Event) int {
	for i, a := range past {
		if i >= len(now) {
			return i
		}
		b := now[i]
		if a.At != b.At || a.Kind != b.Kind || a.Proc != b.Proc || a.Peer != b.Peer || a.Name != b.Name || a.Section != b.Section || !slices.Equal(a.Fields, b.Fields) {
			return i
		}
	}
	return -1
}

// deed chooses: mostly what keeps a run going, and seldom what harms it.
func (w *walk) deed() document.UserAction {
	var often, seldom []document.UserAction
	for lane, is := range w.is {
		o, s := w.atLane(lane, is)
		often, seldom = append(often, o...), append(seldom, s...)
	}
	first := map[[2]algorithm.ID]bool{}
	for _, m := range w.under {
		msg, link := w.numbers[m.Msg], [2]algorithm.ID{m.From, m.To}
		overtakes := first[link]
		first[link] = true
		if w.sc.Sites > 0 && w.left > harmfulClicks { // transactions never get over some harm
			if !overtakes {
				often = append(often, document.UserAction{Verb: "deliver", Msg: msg})
			}
			continue
		}
		often = append(often, document.UserAction{Verb: "deliver", Msg: msg})
		for _, verb := range []string{"drop", "duplicate", "overtake", "reorder", "delay"} {
			seldom = append(seldom, document.UserAction{Verb: verb, Msg: msg, By: float64(1+w.r.IntN(6)) / 2})
		}
	}
	if w.cut && w.sc.Sites == 0 {
		often = append(often, document.UserAction{Verb: "heal"})
	}
	if len(often) == 0 || w.r.IntN(8) == 0 && len(seldom) > 0 {
		often = seldom
	}
	if len(often) == 0 {
		return document.UserAction{Verb: "nothing"} // which is refused
	}
	return often[w.r.IntN(len(often))]
}

// atLane is what can be done at a lane.
func (w *walk) atLane(lane int, is string) (often, seldom []document.UserAction) {
	do := func(verb string) document.UserAction { return document.UserAction{Verb: verb, Proc: lane} }
	other := do("")
	if other.To = (lane + 1 + w.r.IntN(2)) % len(w.is); w.sc.Sites > 0 {
		other.To = 1 - lane
	}
	telling := func(verb string) document.UserAction { other.Verb = verb; return other }
	site := lane < w.sc.Sites
	for i := range w.timers {
		if a := &w.timers[i]; int(a.Proc) == lane && (site || w.sc.Sites == 0) {
			seldom = append(seldom, document.UserAction{Verb: "expire", Proc: lane, Timer: &a.Timer, Section: a.Section})
		}
	}
	switch {
	case site && is == "crash":
		return nil, nil
	case site:
		if w.left <= harmfulClicks {
			seldom = append(seldom, do("crash"), telling("suspect"))
		}
		return nil, seldom
	case w.sc.Sites > 0 && (is == "ask" || is == "crash"):
		return nil, nil
	case w.sc.Sites > 0 && (is == "enter" || is == "deny") && !w.sc.Steps:
		return nil, nil // it continues, or tries again, by itself
	case w.sc.Sites > 0 && (is == "enter" || is == "deny"):
		return []document.UserAction{do("go")}, nil
	case w.sc.Sites > 0:
		d := do("take")
		d.Locks = [][]int{{0}, {1}, {0, 1}, {1, 0}}[w.r.IntN(4)]
		return []document.UserAction{d}, nil
	case is == "crash":
		return []document.UserAction{do("restart")}, nil
	case is == "pause":
		return []document.UserAction{do("resume")}, []document.UserAction{do("crash")}
	}
	parts := document.UserAction{Verb: "partition", Parts: [][]int{{lane}}}
	seldom = append(seldom, do("pause"), do("crash"), telling("suspect"), telling("trust"), telling("tell"), parts)
	switch {
	case w.spec.Family == algorithm.Election || is == "" || is == "exit" || is == "deny" || is == "restart":
		often = append(often, do("ask"))
	case is == "enter":
		often = append(often, do("leave"))
	case is == "resume": // it may wait, be inside or neither
		often = append(often, do("ask"), do("leave"))
	}
	return often, seldom
}

// sameRun compares what the command writes with what the lab shows.
func sameRun(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "walk.stile"), filepath.Join(dir, "walk.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, failed := execute(newReplay(), file, "--trace", out) // processes may be stuck
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatalf("%v, after %v, in\n%s", err, failed, text)
	}
	tr, err := trace.ReadJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	d := document.Run(text, document.Options{File: file})
	if d.Error != nil || len(d.Events) != len(tr.Events) {
		t.Fatalf("the lab has %d events and says %v, the command has %d in\n%s", len(d.Events), d.Error, len(tr.Events), text)
	}
	for i := range tr.Events {
		e, x := &tr.Events[i], &d.Events[i]
		if e.At != x.At || e.Kind.String() != x.Kind || int(e.Proc) != x.Proc || tr.Sentence(e) != x.Text {
			t.Fatalf("event %d is %+v in the lab, and %+v for the command, in\n%s", i, x, e, text)
		}
	}
	if want := replayJSON(t, file); string(d.End) != want {
		t.Errorf("the lab ends in %s\nthe command in %s", d.End, want)
	}
}
