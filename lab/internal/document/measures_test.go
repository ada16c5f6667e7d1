package document

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
)

// row returns a measure of a run; its name is empty if there is none.
func row(t *testing.T, text, name string) Measure {
	t.Helper()
	d := run(text, Options{}, undrawn)
	if d.Error != nil {
		t.Fatalf("%s in\n%s", d.Error.Text, text)
	}
	if i := slices.IndexFunc(d.Measures, func(m Measure) bool { return m.Name == name }); i >= 0 {
		return d.Measures[i]
	}
	return Measure{}
}

// TestMeasuresBesideTheory: what is counted is counted of everybody, and theory is
// told only of runs that are as it wants them.
func TestMeasuresBesideTheory(t *testing.T) {
	const (
		asks    = "algorithm ricart-agrawala\nprocesses 3\n"
		central = "algorithm central\nprocesses 3\n"
		star    = "algorithm raymond\nprocesses 3\ntopology 1-2,1-3\nholder 1 busy\nschedule steps\n"
		mortal  = "algorithm central+bully\nprocesses 3\n"
		doubts  = "algorithm suzuki-kasami+bully\nprocesses 3\npatience 10\n"
	)
	for _, c := range []struct {
		text, name   string
		here, theory string
	}{
		// Entries that are not over have cost messages, too.
		{asks + "schedule steps\nP1 asks\nP2 asks\ndeliver all\nP1 leaves\ndeliver all\n", "messages per entry", "8", "when all requests are done:"},
		{asks + "schedule steps\nP1 asks\ndeliver all\nP1 leaves\nP2 asks\n", "messages per entry", "6", "when all requests are done:"},
		{asks + "schedule steps\nP1 asks\ndeliver all\nP1 leaves\n", "messages per entry", "4", "4"},
		// Who still waits is overtaken, and waits.
		{central + "until 30\nat 0 P3 asks\nat 0.1 delay 3 -> 1 REQUEST by 100\nat 0.2 P2 asks\nat 8 P2 asks\nat 16 P2 asks\n", "longest bypass", "3", "at most 2 entries of other processes after the request has arrived"},
		{central + "until 30\nat 0 P3 asks\nat 0.1 delay 3 -> 1 REQUEST by 100\nat 0.2 P2 asks\n", "longest wait", "30 T", ""},
		{central + "schedule steps\nP3 asks\nP2 asks\ndeliver 2 -> 1\ndeliver 1 -> 2\nP2 leaves\nP2 asks\ndeliver 2 -> 1\ndeliver 2 -> 1\ndeliver 1 -> 2\n", "longest bypass", "2", "at most 2 entries of other processes after the request has arrived"},
		// Delays are counted in messages that take T.
		{asks + "at 0 P1 asks\n", "client delay", "2 T", "2 T"},
		{asks + "latency 2\nat 0 P1 asks\n", "client delay", "4 T", "if all messages take T:"},
		{asks + "latency 1 -> 2 5\nat 0 P1 asks\n", "client delay", "6 T", "if all messages take T:"},
		{asks + "at 0 pause P2\nat 0 P1 asks\nat 8 resume P2\n", "client delay", "9 T", "if all messages take T:"},
		{asks + "at 0 delay 1 -> 2 by 1\nat 0 P1 asks\n", "client delay", "3 T", "if all messages take T:"},
		{asks + "latency 2\nat 0 P1 asks\n", "messages per entry", "4", "4"},
		// A new view costs more than the lock.
		{mortal + "at 0 P1 asks\nat 5 crash P3\nat 20 P1 asks\n", "messages per entry", "6.5", "undisturbed:"},
		{doubts + "at 0 P1 asks for 30\nat 1 P2 asks\n", "messages per entry", "6.5", "in one view:"},
		{mortal + "at 0 P1 asks\n", "messages per entry", "3", "0..3"},
		// Who is inside at the start is one of those who enter, and leave.
		{star + "P2 asks\ndeliver all\n", "entries", "1, 0 ended", ""},
		{star + "P2 asks\ndeliver all\nP1 leaves\ndeliver all\nP2 leaves\n", "entries", "2", ""},
		{star + "P2 asks\ndeliver all\nP1 leaves\ndeliver all\nP2 leaves\n", "messages per entry", "1", "if all processes had asked:"},
	} {
		if got := row(t, c.text, c.name); got.Here != c.here || got.Theory != c.theory || !got.Fits {
			t.Errorf("%s%s: %q beside %q, fits %v; want %q beside %q", c.text, c.name, got.Here, got.Theory, got.Fits, c.here, c.theory)
		}
	}
}

// TestCopiesAreNotSent: the network makes a copy, and nobody sends it.
func TestCopiesAreNotSent(t *testing.T) {
	for _, text := range []string{
		"algorithm suzuki-kasami\nprocesses 2\nnetwork duplicating\nuntil 40\nat 0 P2 asks\nat 0.1 P1 asks\n",
		"algorithm ricart-agrawala\nprocesses 3\nat 0 duplicate 1 -> 2\nat 0 P1 asks\n",
		"algorithm ricart-agrawala\nprocesses 3\nschedule steps\nP1 asks\nduplicate 1 -> 2\ndeliver all\n",
	} {
		d := run(text, Options{}, undrawn)
		sent, copied := 0, 0
		for _, e := range d.Events {
			switch e.Kind {
			case "send":
				sent++
			case "duplicate":
				copied++
			}
		}
		if want := d.Measures[0].Here; itoa(sent) != want || copied == 0 {
			t.Errorf("%s%d sent and %d copied, and %s messages are counted", text, sent, copied, want)
		}
	}
}

// TestPatienceBearsLosses: what patience makes good is no reproach.
func TestPatienceBearsLosses(t *testing.T) {
	const lost = "processes 3\nat 0 P2 asks\nat 0 drop 2 -> 1 REQUEST\n"
	for group, want := range map[string]bool{
		"suzuki-kasami+bully": true, "suzuki-kasami+bully\npatience 10": false, "lamport+bully\npatience 10": true,
		"queue+bully\npatience 10": true, // whatever it is called
	} {
		d := run("algorithm "+group+"\n"+lost, Options{Specs: func(name string, o algorithm.Options) (algorithm.Spec, error) {
			spec, err := catalog.Make(strings.Replace(name, "queue", "lamport", 1), o)
			spec.Name = name
			return spec, err
		}}, undrawn)
		if d.Error != nil {
			t.Fatal(d.Error.Text)
		}
		if got := slices.ContainsFunc(d.Badges, func(s string) bool { return strings.Contains(s, "is lost") }); got != want {
			t.Errorf("%s: badges %q", group, d.Badges)
		}
	}
}

// A tally is what a run comes to, counted from its document's events alone.
type tally struct {
	sent, asked, entered, left int
	odd                        bool    // somebody died, or a message was lost or copied
	slow                       bool    // a message took another time than T, or somebody stood still
	bypass                     int     // how often one overtook one that waited, or still does
	wait                       float64 // the longest, of who still waits too
}

func recount(d *Document) tally {
	c := tally{}
	sentAt, since, order := map[int]int64{}, map[int]int64{}, map[int]int{}
	entries := []struct{ proc, ask int }{}
	passed := func(ask int) {
		by := map[int]int{}
		for _, e := range entries {
			if e.ask > ask {
				by[e.proc]++
				c.bypass = max(c.bypass, by[e.proc])
			}
		}
	}
	waited := func(p int, now int64) { c.wait = max(c.wait, float64(now-since[p])/float64(d.Unit)) }
	now := int64(0)
	for _, e := range d.Events[:d.Ended] {
		now = e.At
		switch e.Kind {
		case "ask":
			c.asked++
			since[e.Proc], order[e.Proc] = e.At, c.asked
		case "enter":
			c.entered++
			passed(order[e.Proc])
			waited(e.Proc, e.At)
			entries = append(entries, struct{ proc, ask int }{e.Proc, order[e.Proc]})
			delete(order, e.Proc)
		case "exit":
			c.left++
		case "deny":
			delete(order, e.Proc)
		case "send":
			c.sent++
			sentAt[e.Msg] = e.At
		case "receive":
			c.slow = c.slow || e.At-sentAt[e.Msg] != d.Unit
		case "crash", "restart":
			c.odd = true
			delete(order, e.Proc)
		case "drop", "duplicate", "suspect", "trust":
			c.odd = true
		case "pause", "partition":
			c.slow = true
		}
	}
	for p, ask := range order {
		passed(ask)
		waited(p, now)
	}
	return c
}

// wrong says which measure of a run is not so, or which verdict is not deserved.
func (c tally) wrong(d *Document) string {
	for _, m := range d.Measures {
		want := m.Here
		switch m.Name {
		case "messages":
			want = itoa(c.sent)
		case "entries":
			if want = itoa(c.entered); c.entered > c.left {
				want += ", " + itoa(c.left) + " ended"
			}
		case "messages per entry":
			want = words.Plain(float64(c.sent) / float64(c.left))
			if !m.Fits && (c.odd || c.asked > c.left) {
				return "messages are outside in a run that is not over, or disturbed"
			}
		case "client delay", "synchronisation delay":
			if !m.Fits && (c.odd || c.slow) {
				return m.Name + " is outside though messages took any time"
			}
		case "longest wait":
			if got, err := strconv.ParseFloat(strings.TrimSuffix(m.Here, " T"), 64); err != nil || got < c.wait-0.01*math.Max(1, c.wait) {
				want = words.Plain(c.wait) + " T"
			}
			if !m.Fits && (c.odd || c.slow) {
				return "a wait is outside though messages took any time"
			}
		case "longest bypass":
			want = itoa(c.bypass)
		}
		if m.Here != want {
			return fmt.Sprintf("%s: %s, and the events come to %s", m.Name, m.Here, want)
		}
	}
	return ""
}

// asking returns a random timed run among three: who asks when, for how long. In a
// dense one the same process may ask again and again while a message is under way.
func asking(r *kernel.Rand, name string, dense bool) string {
	s := "algorithm " + name + "\nprocesses 3\nuntil " + itoa(20+int(r.Below(130))) + "\n"
	for round := range 1 + r.Below(4) {
		for p := range 3 {
			at, most := round*40*scenario.T, int64(6*scenario.T)
			if dense {
				at = round * scenario.T / 2
				most = scenario.T
			}
			if r.Below(3) > 0 {
				s += fmt.Sprintf("at %s P%d asks for %s\n", scenario.FormatTime(at+r.Below(most)/1000*1000), p+1, scenario.FormatTime(r.Below(4)*scenario.T/2))
			}
		}
	}
	return s
}

// stepping returns a random run in steps: who asks, what arrives, who leaves. Lines
// that cannot be done are left out.
func stepping(r *kernel.Rand, name string) string {
	s := "algorithm " + name + "\nprocesses 3\nschedule steps\n"
	for range 10 + r.Below(40) {
		p, q := 1+r.Below(3), r.Below(2)
		line := []string{
			fmt.Sprintf("P%d asks\n", p), fmt.Sprintf("P%d leaves\n", p), "deliver all\n",
			fmt.Sprintf("deliver %d -> %d\n", p, (p+q)%3+1), fmt.Sprintf("deliver %d -> %d\n", (p+q)%3+1, p),
		}[r.Below(5)]
		if d := run(s+line, Options{}, undrawn); d.Error == nil {
			s += line
		}
	}
	return s
}

// trouble returns lines that make a run otherwise than theory wants it.
func trouble(r *kernel.Rand) string {
	from := r.Below(3)
	to := (from + 1 + r.Below(2)) % 3
	at, link := itoa(int(r.Below(20))), fmt.Sprintf("%d -> %d", from+1, to+1)
	all := []string{
		"latency 2\n", "latency exp:1\n", "latency uniform:0.5,2\n", "latency " + link + " 6\n", "network duplicating\n", "network lossy\n",
		"at " + at + " delay " + link + " by 70\n", "at " + at + " pause P2\nat 30 resume P2\n", "at " + at + " pause P3\n",
		"at " + at + " drop " + link + "\n", "at " + at + " duplicate " + link + "\n", "at " + at + " crash P" + itoa(int(from)+1) + "\n",
		"at " + at + " partition 1 | 2,3\nat 25 heal\n", "hold manual\n",
	}
	return all[r.Below(int64(len(all)))]
}

// tried runs every sound lock at random, bends what is told of it, and returns
// what is false first, and how many runs were looked at.
func tried(seeds uint64, bend func(d *Document, spec algorithm.Spec)) (found string, runs int) {
	every(func(name string, spec algorithm.Spec) {
		if spec.Family != algorithm.MutualExclusion || spec.Wrong != "" || spec.Accepts(3) != nil {
			return
		}
		for seed := range seeds {
			if found != "" {
				return
			}
			r := kernel.NewRand(seed, uint64(len(name)))
			clean := seed%2 == 0
			text := asking(&r, name, seed%3 == 0)
			switch {
			case !clean:
				text += trouble(&r)
			case seed%15 == 0:
				text = stepping(&r, name)
			}
			d := run(text, Options{}, undrawn)
			if d.Error != nil || d.Kind != "lock" {
				continue // somebody asks who waits
			}
			runs++
			bend(d, spec)
			found = recount(d).wrong(d)
			for _, m := range d.Measures {
				if clean && !m.Fits {
					found = fmt.Sprintf("%s, %s, is outside %s", m.Name, m.Here, m.Theory)
				}
			}
			if found != "" {
				found += " in\n" + text
			}
		}
	})
	return found, runs
}

// TestMeasuresAreTrue: what is counted is what the events come to, no clean run of a
// sound lock is outside theory, and no other run is said to be without cause.
func TestMeasuresAreTrue(t *testing.T) {
	seeds := uint64(60)
	if !nightly.On() {
		seeds = 12
	}
	found, runs := tried(seeds, func(*Document, algorithm.Spec) {})
	if found != "" {
		t.Error(found)
	}
	t.Logf("%d runs", runs)
	if runs < 20*int(seeds) {
		t.Errorf("only %d runs", runs)
	}
}

// TestFalseMeasuresAreSeen: what was told falsely before would be found.
func TestFalseMeasuresAreSeen(t *testing.T) {
	anyway := func(name string, cost func(t algorithm.Theory) algorithm.Cost) func(d *Document, spec algorithm.Spec) {
		return func(d *Document, spec algorithm.Spec) {
			for i := range d.Measures {
				m := &d.Measures[i]
				r, ok := cost(spec.Theory).At(3, algorithm.AnyLoad)
				if x, err := strconv.ParseFloat(strings.TrimSuffix(m.Here, " T"), 64); m.Name == name && ok && err == nil {
					m.Fits = x > r.Lo-0.01 && x < r.Hi+0.01
				}
			}
		}
	}
	for name, bend := range map[string]func(d *Document, spec algorithm.Spec){
		"messages of a run that is not over": anyway("messages per entry", func(t algorithm.Theory) algorithm.Cost { return t.Messages }),
		"delays of slow messages":            anyway("client delay", func(t algorithm.Theory) algorithm.Cost { return t.Client }),
		"hand-overs of slow messages":        anyway("synchronisation delay", func(t algorithm.Theory) algorithm.Cost { return t.Sync }),
		"who still waits is not overtaken": func(d *Document, _ algorithm.Spec) {
			served := *d
			served.Events = slices.DeleteFunc(slices.Clone(d.Events), func(e Event) bool {
				return e.Kind == "ask" && !slices.ContainsFunc(d.Events, func(x Event) bool { return x.Kind == "enter" && x.Proc == e.Proc && x.At >= e.At })
			})
			served.Ended -= len(d.Events) - len(served.Events)
			for i := range d.Measures {
				if d.Measures[i].Name == "longest bypass" {
					d.Measures[i].Here = itoa(recount(&served).bypass)
				}
			}
		},
		"the network sends": func(d *Document, _ algorithm.Spec) {
			if i := slices.IndexFunc(d.Events, func(e Event) bool { return e.Kind == "duplicate" }); i >= 0 {
				d.Events[i].Kind = "send"
			}
		},
	} {
		found, _ := tried(60, bend)
		if found == "" {
			t.Errorf("%s: not found", name)
		}
		t.Log(name+":", found)
	}
}

// TestOutside: a lock that costs more than it says is outside.
func TestOutside(t *testing.T) {
	one := func(int) algorithm.Range { return algorithm.Exact(1) }
	modest := Options{Specs: func(string, algorithm.Options) (algorithm.Spec, error) {
		s := mutex.Central(0)
		s.Theory.Messages.Any, s.Theory.Client.Any, s.Theory.Sync.Any = one, one, one
		s.Theory.Bypass = func(int) int { return 0 }
		s.Theory.Wait = func(int, float64, float64) float64 { return 1 }
		return s, nil
	}}
	d := run("algorithm modest\nprocesses 3\nhold 5\nat 0 P2 asks\nat 20 P2 asks\nat 20 P3 asks\n", modest, undrawn)
	if d.Error != nil {
		t.Fatal(d.Error.Text)
	}
	var out []string
	for _, m := range d.Measures {
		if !m.Fits {
			out = append(out, m.Name)
		}
	}
	if want := []string{"messages per entry", "client delay", "synchronisation delay", "longest wait", "longest bypass"}; !slices.Equal(out, want) {
		t.Errorf("outside are %q, want %q", out, want)
	}
}
