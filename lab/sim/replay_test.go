package sim

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

func specOf(tb testing.TB, name string) algorithm.Spec {
	tb.Helper()
	for _, s := range []algorithm.Spec{mutex.RicartAgrawala(), mutex.SuzukiKasami(), mutex.Raymond(mutex.Kary(1))} {
		if s.Name == name {
			return s
		}
	}
	tb.Fatalf("no algorithm %s in this test", name)
	return algorithm.Spec{}
}

func replay(tb testing.TB, text string) (*Playback, error) {
	tb.Helper()
	sc, err := scenario.Parse("test.stile", text)
	if err != nil {
		tb.Fatalf("%v in\n%s", err, text)
	}
	return Replay(specOf(tb, sc.Algorithm), sc, ReplayOptions{})
}

func mustReplay(tb testing.TB, text string) *Playback {
	tb.Helper()
	back, err := replay(tb, text)
	if err != nil {
		tb.Fatalf("%v in\n%s", err, text)
	}
	return back
}

const ra3 = "algorithm ricart-agrawala\nprocesses 3\n"

// Every kind of expectation is met by a right line and told by a wrong one.
func TestWrongExpectationsAreTold(t *testing.T) {
	const timed = ra3 + "at 0 P1 asks\nat 0 P2 asks\n"
	const steps = ra3 + "schedule steps\nP1 asks\ndeliver all\n"
	const twice = "algorithm ricart-agrawala\nprocesses 2\nschedule steps\nnetwork duplicating\nP2 asks\ndeliver 2 -> 1\n" +
		"duplicate 1 -> 2\ndeliver 1 -> 2\nP2 leaves\nP1 asks\ndeliver 1 -> 2 REQUEST\ndeliver 2 -> 1\nP2 asks\ndeliver 1 -> 2\n"
	const dead = "algorithm ricart-agrawala\nprocesses 3\nat 0 crash P3\nat 0 P1 asks\nat 0 P2 asks\n"
	for _, c := range []struct{ base, right, wrong, told string }{
		{timed, "expect entries 1 2", "expect entries 2 1", "wanted entries 2 1, got entries 1 2"},
		{timed, "expect entries 1 2", "expect entries none", "wanted entries none, got entries 1 2"},
		{timed, "expect P1 enters at 2", "expect P1 enters at 3", "wanted P1 enters at 3, got entries at 2"},
		{timed, "expect P2 enters at 4", "expect P3 enters at 3", "got entries at no time"},
		{timed, "expect messages 8", "expect messages 7", "wanted messages 7, got 8"},
		{timed, "expect messages OK 4", "expect messages OK 5", "wanted messages OK 5, got 4"},
		{timed, "expect bypass 0", "expect bypass 1", "wanted bypass 1, got 0"},
		{timed, "expect P1 idle", "expect P1 waits", "wanted P1 waits, got P1 idle"},
		{timed, "expect at 2 P1 inside", "expect at 1 P1 inside", "wanted at 1 P1 inside, got at 1 P1 waits"},
		{timed, "expect P3 state RELEASED", "expect P3 state HELD", "wanted P3 state HELD, got P3 state RELEASED"},
		{timed, "expect at 2 P1 deferred 2", "expect at 2 P1 deferred none", "got at 2 P1 deferred 2"},
		{timed, "expect when P2 enters P2 given none", "expect when P2 enters P2 given 2", "wanted when P2 enters P2 given 2, got when P2 enters P2 given"},
		{timed, "expect when P1 enters P2 missing 1 3", "expect when P1 enters 2nd P2 missing 1", "got P1 entering 1 times"},
		{timed, "expect when P1 enters P2 missing 1 3", "expect when P3 enters P2 missing 1 3", "got P3 entering never"},
		{timed, "expect P3 clock 2", "expect P3 clocks 3", "got P3 has no field clocks then: it has state, clock, given"},
		{timed, "expect no violation", "expect violation order", "wanted violation order, got none"},
		{timed, "expect no violation order", "expect violation mutual-exclusion", "wanted violation mutual-exclusion, got none"},
		{timed, "expect no violation", "expect deadlock", "wanted deadlock, got none: no process waits at the end"},
		{steps, "expect P1 inside", "expect P1 idle\nP1 leaves", "line 6: wanted P1 idle, got P1 inside"},
		{twice, "expect violation mutual-exclusion", "expect no violation order",
			"wanted no violation, got mutual-exclusion: P2 entered while P1 was inside"},
		{dead, "expect deadlock", "expect no violation", "wanted no violation, got lost-request: P1 asked and was never granted"},
		{dead, "expect violation lost-request", "", "wanted no violation, got lost-request"},
	} {
		if right := mustReplay(t, c.base+c.right); len(right.Differences) > 0 {
			t.Errorf("%s: told %v, want nothing", c.right, right.Differences)
		}
		back := mustReplay(t, c.base+c.wrong)
		if len(back.Differences) != 1 || !strings.Contains(back.Differences[0].String(), c.told) {
			t.Errorf("%s: told %v, want %s", c.wrong, back.Differences, c.told)
		}
	}
}

// An action that cannot be done names its line and says why.
func TestImpossibleActions(t *testing.T) {
	const steps = ra3 + "schedule steps\n"
	for _, c := range []struct{ text, want string }{
		{steps + "deliver 1 -> 2", "line 4: deliver 1 -> 2: no message is in flight from P1 to P2"},
		{steps + "P1 asks\ndeliver 1 -> 2 OK", "line 5: deliver 1 -> 2 OK: no such OK is in flight from P1 to P2: there is REQUEST"},
		{steps + "P1 asks\ndrop 1 -> 2 2nd", "no such message is in flight"},
		{steps + "P1 asks\nreorder 1 -> 2", "no message is behind REQUEST"},
		{steps + "P1 leaves", "line 4: P1 leaves: P1 cannot leave: it is idle"},
		{steps + "P1 asks\nP1 asks", "P1 cannot ask: it waits"},
		{steps + "P1 asks\ndeliver all\nP1 asks", "P1 cannot ask: it is inside"},
		{steps + "crash P1\nP1 asks", "P1 has crashed"},
		{steps + "pause P1\nP1 asks", "P1 is paused"},
		{steps + "P2 asks\npause P1\ndeliver 2 -> 1", "P1 is paused"},
		{steps + "P2 asks\npartition 1 | 2,3\ndeliver 2 -> 1", "P2 and P1 are in different parts"},
		{steps + "pause P2\nP1 tells P2", "P2 cannot receive it"},
		{steps + "restart P1", "P1 has not crashed"},
		{steps + "resume P1", "P1 is not paused"},
		{steps + "P1 timer 3 expires", "P1 has no timer 3 running"},
		{steps + "drop 1 -> 2 request", `line 4: ricart-agrawala has no message "request": its messages are [REQUEST OK]`},
		{steps + "expect messages TOKEN 2", `line 4: ricart-agrawala has no message "TOKEN"`},
		{steps + "set P1 clok 3", `line 4: set P1 clok 3: no field "clok"`},
		{ra3 + "at 0 P1 leaves", "line 3: P1 leaves: P1 cannot leave: it is idle"},
		{ra3 + "at 0 deliver 1 -> 2", "no message is in flight"},
	} {
		if _, err := replay(t, c.text); err == nil || !strings.Contains(err.Error(), "test.stile: line ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// On a FIFO link messages are delivered in order, or reordered on purpose.
func TestStepsKeepTheOrderOfALink(t *testing.T) {
	const two = "algorithm suzuki-kasami\nprocesses 2\nschedule steps\n" +
		"P2 asks\ndeliver 2 -> 1\ndeliver 1 -> 2\nP2 leaves\nP1 asks\ndeliver 1 -> 2\nP2 asks\n" // 2 -> 1: TOKEN REQUEST
	if _, err := replay(t, two+"deliver 2 -> 1 REQUEST"); err == nil || !strings.Contains(err.Error(), "TOKEN arrives first") {
		t.Errorf("got %v", err)
	}
	for _, way := range []string{"reorder 2 -> 1\ndeliver 2 -> 1 REQUEST", "network unordered\ndeliver 2 -> 1 REQUEST"} {
		back := mustReplay(t, two+way)
		if last := back.Events[len(back.Events)-1]; last.Kind != trace.Receive || last.Name != "REQUEST" {
			t.Errorf("%s: the last event is %+v, want a REQUEST received", way, last)
		}
	}
}

// What is done to messages in a timed run, under way or not sent yet.
func TestTimedHarm(t *testing.T) {
	const sk = "algorithm suzuki-kasami\nprocesses 2\nat 0 P2 asks\n"
	for _, c := range []struct{ text, want string }{
		{sk + "at 0.5 drop 2 -> 1", "P2 waits"},
		{sk + "at 0.5 drop 1 -> 2 TOKEN", "P2 waits"},
		{sk + "at 0.5 drop 1 -> 2 REQUEST", "P2 enters at 2"},
		{sk + "at 0.5 delay 2 -> 1 by 3", "P2 enters at 5"},
		{sk + "at 0.5 delay 1 -> 2 by 3", "P2 enters at 5"},
		{sk + "at 0.5 deliver 2 -> 1", "P2 enters at 1.5"},
		{sk + "at 0.5 duplicate 2 -> 1", "messages 2"},
		{sk + "at 0.5 reorder 2 -> 1", "P2 waits"}, // nothing overtakes it
		{sk + "at 0 pause P1\nat 4 resume P1", "P2 enters at 5"},
		{sk + "at 0 partition 1\nat 4 heal", "P2 enters at 5"},
		{sk + "at 0 pause P1\nat 4 deliver all\nat 5 resume P1", "P2 enters at 6"},
		{sk + "at 0.5 crash P1\nat 0.9 restart P1", "P2 enters at 2"}, // the token is born again
		{sk + "at 1.5 P2 crashes", "entries none"},
		{sk + "at 2.5 pause P2\nat 9 resume P2\nat 5 P1 asks", "P1 enters at 10"}, // its stay ends when it goes on
		{sk + "at 7 P2 leaves\nat 3 P1 asks", "P1 enters at 8"},
		{"hold manual\n" + sk, "P2 inside"},
		{"algorithm suzuki-kasami\nprocesses 2\nat 0 P2 asks for 5\nat 3 P1 asks", "P1 enters at 8"},
		{"latency 2 -> 1 4\n" + sk, "P2 enters at 5"},
	} {
		back := mustReplay(t, c.text+"\nexpect "+c.want)
		for _, d := range back.Differences {
			if d.Want != "no violation" {
				t.Errorf("%s\n%v", c.text, d)
			}
		}
	}
}

// A message that is delayed on a FIFO link holds up those behind it, and one
// that is reordered does not.
func TestOrderOfTimedLinks(t *testing.T) {
	const two = "algorithm suzuki-kasami\nprocesses 2\nholder 2 busy\nat 0 P1 asks\nat 3 P2 leaves\nat 3.5 P2 asks\n" // TOKEN at 3, REQUEST at 3.5
	for _, c := range []struct{ text, first string }{
		{two, "TOKEN"},
		{two + "at 3.2 delay 2 -> 1 by 2", "TOKEN"},
		{"network unordered\n" + two + "at 3.2 delay 2 -> 1 by 2", "REQUEST"},
		{two + "at 3.2 reorder 2 -> 1", "REQUEST"},
		{two + "at 3 reorder 2 -> 1 TOKEN", "REQUEST"},
		{two + "at 3.7 reorder 2 -> 1", "REQUEST"},
	} {
		var got []string
		for _, e := range mustReplay(t, c.text).Events {
			if e.Kind == trace.Receive && e.Proc == 0 {
				got = append(got, e.Name)
			}
		}
		if len(got) != 2 || got[0] != c.first {
			t.Errorf("%s: received %v, want %s first of two", c.text, got, c.first)
		}
	}
}

func TestUntilStops(t *testing.T) {
	sc, err := scenario.Parse("test.stile", ra3+"at 0 P1 asks\nexpect entries none")
	if err != nil {
		t.Fatal(err)
	}
	back, err := Replay(mutex.RicartAgrawala(), sc, ReplayOptions{Until: 4})
	if err != nil || !back.Stopped || len(back.Differences) > 0 || len(back.Events) < 4 || len(back.Events) > 6 {
		t.Errorf("%v, %+v", err, back)
	}
	if back.States[0][0] != (host.Field{Name: "state", Value: "WANTED"}) {
		t.Errorf("P1 is %v", back.States[0])
	}
}

// A line that delivers all messages, and never comes to an end, stops there too.
func TestUntilStopsWithinALine(t *testing.T) {
	sc, err := scenario.Parse("test.stile", "algorithm token-ring\nprocesses 3\nschedule steps\ndeliver all\n")
	if err != nil {
		t.Fatal(err)
	}
	back, err := Replay(mutex.TokenRing(), sc, ReplayOptions{Until: 100})
	if err != nil || !back.Stopped || len(back.Events) < 100 || len(back.Events) > 110 {
		t.Errorf("%v, %+v", err, back)
	}
}

// What a scenario does is a valid trace.
func TestEventsAreATrace(t *testing.T) {
	back := mustReplay(t, "algorithm suzuki-kasami\nprocesses 3\nholder 2 busy\nnetwork duplicating\nhold exp:2\nlatency exp:1\n"+
		"at 0 P1 asks\nat 1 P3 asks\nat 1 duplicate 1 -> 2\nat 2 drop 1 -> 3\nat 3 crash P3\nat 4 restart P3\nat 5 P1 suspects P2\nat 6 partition 1\nat 7 heal\nat 8 pause P1\nat 9 resume P1")
	if err := back.Trace().Check(); err != nil {
		t.Error(err)
	}
}

// Whatever a scenario says, a run ends without a panic, and a second one is
// the same.
func FuzzReplay(f *testing.F) {
	f.Add(ra3 + "schedule steps\nP1 asks\ndeliver 1 -> 2\nduplicate 2 -> 1\ncrash P3\nrestart P3\ndeliver all")
	f.Add("algorithm raymond\nprocesses 3\nnetwork lossy\nlatency exp:1\nat 0 P3 asks\nat 0 reorder 3 -> 2\nat 1 pause P2\nat 2 resume P2\nat 2 P1 asks for 3\nat 3 partition 1 | 2\nat 4 heal")
	f.Add("algorithm suzuki-kasami\nprocesses 2\nset P1 RN 5 5\nat 0 delay 2 -> 1 by 3\nat 0 duplicate 1 -> 2\nat 0 P2 asks\nat 9 deliver all")
	const rooms = "algorithm ricart-agrawala\nprocesses 4\nsection seats among 1,2,4\nsection films among 2,3\n"
	f.Add(rooms + "at 0 P2 asks seats\nat 0 P2 asks films for 3\nat 1 P1 asks seats\nat 2 crash P2\nat 3 restart P2\nat 4 P1 tells P3\nexpect entries films 2\nexpect P2 idle seats")
	f.Add(rooms + "schedule steps\nset P2 films clock 4\nP2 asks films\nP3 asks films\nP1 suspects P3\ndeliver all\ndrop 2 -> 3 REQUEST\nP2 leaves films")
	f.Fuzz(func(t *testing.T, text string) {
		sc, err := scenario.Parse("f", text)
		if err != nil || sc.Processes > 6 || len(sc.Actions) > 60 {
			return
		}
		specs := map[string]algorithm.Spec{}
		for _, s := range []algorithm.Spec{mutex.RicartAgrawala(), mutex.SuzukiKasami(), mutex.Raymond(mutex.Kary(1))} {
			specs[s.Name] = s
		}
		spec, ok := specs[sc.Algorithm]
		if !ok {
			return
		}
		first, err := Replay(spec, sc, ReplayOptions{})
		second, err2 := Replay(spec, sc, ReplayOptions{Paged: true})
		if (err == nil) != (err2 == nil) || !reflect.DeepEqual(first, second) {
			t.Fatalf("%q: %v and %v, %+v and %+v", text, err, err2, first, second)
		}
	})
}

// TestLinesComeFirst: before anything else of their time, and be it the leaving of
// who is inside from the start.
func TestLinesComeFirst(t *testing.T) {
	sc, err := scenario.Parse("", "algorithm suzuki-kasami\nprocesses 2\nholder P1 busy\nhold 3\nat 3 P2 asks\n")
	if err != nil {
		t.Fatal(err)
	}
	back, err := Replay(mutex.SuzukiKasami(), sc, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	when := func(k trace.Kind) int {
		return slices.IndexFunc(back.Events, func(e trace.Event) bool { return e.Kind == k })
	}
	if ask, exit := when(trace.Ask), when(trace.Exit); ask < 0 || exit < ask {
		t.Errorf("the line is event %d, and P1 leaves at %d", ask, exit)
	}
}
