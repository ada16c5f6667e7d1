package script

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// A file may begin with a byte order mark, as some editors write it.
func TestByteOrderMark(t *testing.T) {
	if _, err := Parse("x.stile", "\ufeffalgorithm central\nprocesses 2\n"); err != nil {
		t.Error(err)
	}
}

// everything uses every kind of line that a timed schedule has.
const everything = `# a comment
title A scene   with C# and -> in it   # and a comment
algorithm raymond
topology 1-2, 1-3, 3-4, 3-5
sets 1:1,2; 2:2,3
inform 1:1
k 4
coordinator P3
experiment
patience 9
processes 5
holder 2 busy
network unordered
latency exp:1.5
latency 1->3 2.5
hold uniform:1,2
until 99.000001
seed 18446744073709551615
schedule timed
set P1 clock 41
set P2 queue 1   3

at 0 P5 asks
at 0.5 P4 asks for exp:3
at 4 P1 leaves
at 0 P1 starts
at 2 deliver 1 -> 3 REQUEST
at 2 deliver all
at 2 drop 1 -> 3
at 2 duplicate P1 -> P3 REQUEST 2nd
at 2 delay 1 -> 3 by 2
at 2 reorder 1 -> 3 PRIVILEGE 11th
at 5 crash P2
at 6 P2 restarts
at 7 pause P3
at 8 resume 3
at 9 partition 1, 2 | 3-5
at 9 heal
at 9 P1 suspects P3
at 9 P1 tells P2
at 9 P1 timer 2 expires

expect entries 5, P4 2
expect entries none
expect P5 enters at 7
expect messages 10
expect messages REQUEST 4
expect bypass 1
expect P2 is waiting now
expect P2 waits
expect P2 is inside
expect at 3 P2 idle
expect at 7 P3 queue 4 1
expect when P5 enters P3 queue 4 1
expect when P5 enters 2nd P3 queue none
expect violation order
expect no violation
expect no violation lost-request
expect deadlock
`

const steps = `algorithm lamport
processes 3
schedule steps
expect entries 1 2
expect P1 idle
P1 asks
expect P1 waits
deliver 1 -> 2 REQUEST
expect P2 clock 2
deliver all
P1 leaves
expect P1 idle
`

// transactions uses every kind of line that a scenario with sites has.
const transactions = `title Two sites
algorithm detect-central
at 0.2 P2 takes L3, L1
mode batch
processes 5
site 2 P4 L2 P3, P5 L3
site 1 P1 P2 L1
site 3
latency 2 -> 1 4
latency 1->2 uniform:1,2
hold 3
backoff exp:4
until 99
seed 3
at 0 P1 takes L1 L2 for 5
at 5.5 crash site 2
at 6 site 1 suspects site 2
at 6 site 3 timer 4 expires
expect commits P5 1
expect commits none
expect aborts P2, P2
expect aborts none
expect P2 commits at 19.2
expect P2 aborts at 7.2
expect stuck P1 P2
expect stuck none
expect deadlocks 1
expect cycle P1 P5 P2
expect false cycle P1 P2
expect no false cycle
expect violation mutual-exclusion
expect messages 12
expect messages PATH 2
expect P1 waits
expect P1 waits for P5
expect at 4 P1 idle
expect at 4.5 P1 waits for P5
`

// blank forgets where things were in the file.
func blank(s *Scenario) *Scenario {
	s.File, s.Said = "", nil
	for i := range s.Set {
		s.Set[i].Line = 0
	}
	for i := range s.Actions {
		s.Actions[i].Line = 0
	}
	for i := range s.Expect {
		s.Expect[i].Line = 0
	}
	return s
}

func mustParse(t testing.TB, text string) *Scenario {
	t.Helper()
	s, err := Parse("test.stile", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return s
}

func TestParse(t *testing.T) {
	s := mustParse(t, everything)
	hold := Dist{Exponential, 3 * T, 0}
	for _, c := range []struct{ got, want any }{
		{s.Title, "A scene   with C# and -> in it"},
		{s.Options, algorithm.Options{Topology: "1-2,1-3,3-4,3-5", Sets: "1:1,2;2:2,3", Inform: "1:1", K: 4, Coordinator: 3, Experiment: true, Patience: 9}},
		{s.Links, []Link{{0, 2, Always(2_500_000)}}},
		{s.Until, int64(99_000_001)},
		{s.Set[1], Setting{Proc: 1, Field: "queue", Value: "1 3", Line: 21}},
		{s.Actions[1], Action{At: T / 2, Kind: Ask, Proc: 3, Hold: &hold, Line: 24}},
		{s.Actions[7], Action{At: 2 * T, Kind: Duplicate, Peer: 2, Message: "REQUEST", Nth: 2, Line: 30}},
		{s.Actions[14].String(), "partition 1,2 | 3,4,5"},
		{s.Expect[12], Expectation{Kind: FieldIs, When: Moment{Kind: OnEntry, Proc: 4, Nth: 2}, Proc: 2, Name: "queue", Value: "none", Line: 55}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got %+v, want %+v", c.got, c.want)
		}
	}
}

// Where processes and locks are may be said after it is needed.
func TestParseSites(t *testing.T) {
	s := mustParse(t, transactions)
	hold := Always(5 * T)
	for _, c := range []struct{ got, want any }{
		{s.Sites, 3},
		{s.Homes, []algorithm.ID{0, 0, 1, 1, 1}},
		{s.Locks, []algorithm.ID{0, 1, 1}},
		{s.Links[0], Link{1, 0, Always(4 * T)}},
		{s.Actions[0], Action{At: T / 5, Kind: Take, Proc: 1, Locks: []int{2, 0}, Line: 3}},
		{s.Actions[1], Action{Kind: Take, Locks: []int{0, 1}, Hold: &hold, Line: 15}},
		{s.Actions[2], Action{At: 5*T + T/2, Kind: CrashSite, Proc: 1, Line: 16}},
		{s.Expect[10].Procs, []algorithm.ID{0, 1}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got %+v, want %+v", c.got, c.want)
		}
	}
}

// In steps an expectation about a process belongs to its place.
func TestParseSteps(t *testing.T) {
	s := mustParse(t, steps)
	var got []int
	for _, e := range s.Expect {
		if e.When.Kind == AfterActions {
			got = append(got, e.When.Count)
		}
	}
	if want := []int{0, 1, 2}; !reflect.DeepEqual(got, want) {
		t.Errorf("places %v, want %v", got, want)
	}
	if last := s.Expect[len(s.Expect)-1]; last.When.Kind != AtEnd || last.Kind != PhaseIs {
		t.Errorf("the last one is %+v, want it at the end", last)
	}
}

// modes uses every way to take a lock, and to give one up.
const modes = `algorithm wound-wait
processes 3
site 1 P1 P2 L1
units L3 4
site 2 P3 L2 L3
at 0 P1 takes L1 shared, L3 2 units, L2 for 5
at 1 P2 takes L2 exclusive L3 1 unit
at 2 P2 cancels
at 3 P3 aborts
`

// Locks are taken exclusively unless a mode is given.
func TestParseModes(t *testing.T) {
	s := mustParse(t, modes)
	hold := Always(5 * T)
	for _, c := range []struct{ got, want any }{
		{s.Units, []int{0, 0, 4}},
		{s.Actions[0], Action{Kind: Take, Locks: []int{0, 2, 1}, Modes: []int{-1, 2, 0}, Hold: &hold, Line: 6}},
		{s.Actions[1], Action{At: T, Kind: Take, Proc: 1, Locks: []int{1, 2}, Modes: []int{0, 1}, Line: 7}},
		{s.Actions[2], Action{At: 2 * T, Kind: Cancel, Proc: 1, Line: 8}},
		{s.Actions[3], Action{At: 3 * T, Kind: Abandon, Proc: 2, Line: 9}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got %+v, want %+v", c.got, c.want)
		}
	}
}

func TestFormatIsReadBack(t *testing.T) {
	for _, text := range []string{everything, steps, transactions, modes, "algorithm a\nprocesses 1", "algorithm a\nprocesses 2\nhold manual\nseed 0\nholder 2"} {
		s := blank(mustParse(t, text))
		if again := blank(mustParse(t, Format(s))); !reflect.DeepEqual(s, again) {
			t.Errorf("%s\nis read as\n%+v\nand its canonical form\n%s\nas\n%+v", text, s, Format(s), again)
		}
	}
}

// A new option cannot be forgotten by the parser: everything says all of them.
func TestEveryOptionIsRead(t *testing.T) {
	o := reflect.ValueOf(mustParse(t, everything).Options)
	for i := range o.NumField() {
		if o.Field(i).IsZero() {
			t.Errorf("%s is not among the settings that are tried", o.Type().Field(i).Name)
		}
	}
}

func TestErrors(t *testing.T) {
	const head = "algorithm raymond\nprocesses 3\n"
	const sites = "algorithm none\nprocesses 3\nsite 1 P1 P2 L1\nsite 2 P3 L2\n"
	for _, c := range []struct{ text, want string }{
		{"algorithm raymond", "1:1:"},
		{"processes 3", "1:1:"},
		{"processes 0", `1:11: found "0"`},
		{"algorithm\nprocesses 3", "1:10:"},
		{head + "nodes 4", `3:1: found "nodes"`},
		{head + "nodes 4", "did you mean processes?"},
		{head + "algoritm x", "did you mean algorithm?"},
		{head + "hold 1\nhold 2", "4:1:"},
		{head + "P2 asks", `3:1: found "P2"`},
		{head + "schedule steps\nat 3 P2 asks", `4:1: found "at"`},
		{head + "schedule steps\nP2 asks for 3", `4:9: found "for"`},
		{head + "schedule steps\nlatency 1", `4:1: found "latency"`},
		{head + "schedule steps\ndelay 1 -> 2 by 3", "4:14:"},
		{head + "schedule steps\nexpect at 3 P1 idle", "f.stile:4:"},
		{head + "at 3 2 asks", `3:6: found "2"`},
		{head + "at 3 2 asks", "did you mean P2?"},
		{head + "at 3 p2 asks", "capital"},
		{head + "at 3 P0 asks", "3:6:"},
		{head + "at 3 P4 asks", "3:6:"},
		{head + "at 3 P2 requests", `3:9: found "requests"`},
		{head + "at 3 P2 requests", "did you mean asks?"},
		{head + "at 3 P2 releases", "did you mean leaves?"},
		{head + "at 3s P2 asks", `3:4: found "3s"`},
		{head + "at 1,5 P2 asks", "decimal point"},
		{head + "at -1 P2 asks", "starts at 0"},
		{head + "at .5 P2 asks", "write 0.5"},
		{head + "at 3 P2 asks 5", `3:14: found "5"`},
		{head + "at 3 drop 1 to 3", `3:13: found "to"`},
		{head + "at 3 drop 1→3", "f.stile:3:"},
		{head + "at 3 drop 1 -> 1", "3:16:"},
		{head + "at 3 delay 1 -> 2 REQUEST", "f.stile:3:"},
		{head + "at 3 drop 1 -> 2 REQUEST 2th", `found "2th"`},
		{head + "at 3 partition 1,2 | 2", "P2 is named twice"},
		{head + "at 3 partition | 2", "f.stile:3:"},
		{head + "at 3 partition 3-1", "f.stile:3:"},
		{head + "at 3 P1 timer 2 rings", "f.stile:3:"},
		{head + "at 3 P1 tells P1", "3:15:"},
		{head + "at 3 heal all", `found "all"`},
		{head + "network tcp", "f.stile:3:"},
		{head + "latency 0", "3:9:"},
		{head + "latency 1 -> 2 0", "3:16:"},
		{head + "schedule step", "did you mean steps?"},
		{head + "seed x", "f.stile:3:"},
		{head + "set P1 clock", "f.stile:3:"},
		{head + "expect order 1 2", `3:8: found "order"`},
		{head + "expect order 1 2", "did you mean entries?"},
		{head + "expect P2 waiting", "did you mean waits?"},
		{head + "expect violation mutex", "did you mean mutual-exclusion?"},
		{head + "expect no deadlock", `found "deadlock"`},
		{head + "expect entries", "f.stile:3:"},
		{head + "expect messages", "f.stile:3:"},
		{head + "expect P2", "f.stile:3:"},
		{head + "until 0", "3:7:"},
		{"#" + strings.Repeat(" ", MaxSize), "1:1:"},
		{head + "until 5\nexpect at 7 P1 idle", "3:1:"},
		{head + "at 3 P2 takes L1", `3:9: found "takes"`},
		{head + "at 3 crash site 2", `3:12: found "site"`},
		{head + "expect commits P1", `3:8: found "commits"`},
		{head + "backoff 3", `3:1: found "backoff"`},
		{head + "sites 3", "did you mean site?"},
		{sites + "at 3 P2 asks", `5:9: found "asks"`},
		{sites + "at 3 P2 locks", "did you mean takes?"},
		{sites + "at 3 P2 takes", "5:14:"},
		{sites + "at 3 P2 takes 1", "did you mean L1?"},
		{sites + "at 3 P2 takes l1", "capital"},
		{sites + "at 3 P2 takes L3", "5:15:"},
		{sites + "at 3 P2 takes L1 L2 L1", "5:21:"},
		{sites + "at 3 P2 takes L1 share", "5:18:"},
		{sites + "at 3 P2 takes L1 2", "units"},
		{sites + "at 3 P2 takes L1 2 units", "5:18:"},
		{sites + "at 3 P2 takes shared L1", "5:15:"},
		{sites + "units L2 3\nat 3 P2 takes L2 shared", "6:18:"},
		{sites + "units L2 3\nat 3 P2 takes L2 0 units", "6:18:"},
		{sites + "units L2 3\nat 3 P2 takes L2 4 units", "6:18:"},
		{sites + "units L2 3\nunits L2 4", "6:7:"},
		{sites + "units L3 3", "5:7:"},
		{sites + "units L2 many", "5:10:"},
		{sites + "units L2 3 4", "5:12:"},
		{sites + "units", "5:6:"},
		{sites + "at 3 P2 cancels L1", "5:17:"},
		{head + "units L1 3", `3:1: found "units"`},
		{head + "at 3 P2 cancels", `3:9: found "cancels"`},
		{sites + "at 3 crash P2", `5:12: found "P2"`},
		{sites + "at 3 crash site 3", "5:17:"},
		{sites + "at 3 pause P2", `5:6: found "pause"`},
		{sites + "latency 1 -> 3 2", "5:14:"},
		{sites + "latency 2 -> 2 2", "5:14:"},
		{sites + "network lossy", `5:1: found "network"`},
		{sites + "hold manual", "5:1:"},
		{sites + "schedule steps\nbackoff 2", `6:1: found "backoff"`},
		{sites + "schedule steps\nP1 takes L1 for 3", `6:13: found "for"`},
		{sites + "schedule steps\nP1 goes", "6:8:"},
		{sites + "schedule steps\nP1 continues", "did you mean goes?"},
		{sites + "schedule steps\nsite 1 suspects P2", `6:17: found "P2"`},
		{sites + "schedule steps\nsite 1 suspects site 1", "6:22:"},
		{sites + "schedule steps\nsite 1 timer 2", "f.stile:6:"},
		{sites + "schedule steps\nsite 9 timer 2 expires", "6:6:"},
		{sites + "schedule steps\nheal", `6:1: found "heal"`},
		{sites + "schedule steps\nexpect at 3 P1 idle", "f.stile:6:"},
		{sites + "schedule steps\nexpect P1 commits at 3", "f.stile:6:"},
		{sites + "at 1 P1 goes on", "5:9:"},
		{sites + "at 1 delay 1 -> 2", "5:18:"},
		{head + "at 4 P1 leaves soon", `3:16: found "soon"`},
		{head + "schedule steps\nP1 leaves now", `4:11: found "now"`},
		{head + "at 4 drop 1 -> 2 overtaking", `found "overtaking"`},
		{sites + "at 1 site 1 suspects site 1", "5:27:"},
		{sites + "at 1 site 1 fears site 2", "f.stile:5:"},
		{head + "at 1 P1 goes on", `3:9: found "goes"`},
		{sites + "expect deadlock", "did you mean deadlocks?"},
		{sites + "expect entries 1", "did you mean commits?"},
		{sites + "expect P1 inside", `5:11: found "inside"`},
		{sites + "expect P1 waits for P1", "P1 waits for itself"},
		{sites + "expect P1 commits", "5:18:"},
		{sites + "expect at 3 P1 aborts at 4", "f.stile:5:"},
		{sites + "expect no deadlock", `5:11: found "deadlock"`},
		{sites + "expect violation order", `5:18: found "order"`},
		{sites + "expect cycle none", "f.stile:5:"},
		{sites + "site 1 P3", "5:6:"},
		{"processes 2\nsite 1 P1 L1", "2:1:"},
		{"processes 1\nsite 2 P1 L1", "2:6:"},
		{"processes 1\nsite 1 P1 P1 L1", "2:11:"},
		{"processes 1\nsite 1 P1 L2", "2:1:"},
		{"processes 1\nsite 1 P1", "2:1:"},
		{"processes 1\nsite 1: P1", `2:6: found "1:"`},
		{head + "title žluťoučký\nat x P1 asks", "4:4:"},
	} {
		s, err := Parse("f.stile", c.text)
		if err == nil {
			t.Errorf("%q is read as %+v, want an error", c.text, s)
			continue
		}
		if got := err.Error(); !strings.HasPrefix(got, "f.stile:") || !strings.Contains(got, c.want) {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestCheckRefusesWhatCannotBeWritten(t *testing.T) {
	hold := Always(1)
	for _, s := range []Scenario{
		{Algorithm: "a", Processes: 1, Title: "two\nlines", Steps: true},
		{Algorithm: "a", Processes: 1, Title: "a # comment", Steps: true},
		{Algorithm: "a", Processes: 1, Holder: 1, Steps: true},
		{Algorithm: "a", Processes: 1, Steps: true, Hold: hold},
		{Algorithm: "a", Processes: 1, Steps: true, Actions: []Action{{Kind: Ask, Hold: &hold}}},
		{Algorithm: "a", Processes: 1, Links: []Link{{0, 0, Dist{}}}, Latency: hold},
		{Algorithm: "a", Processes: MaxProcesses + 1, Steps: true},
		{Algorithm: "a", Processes: 1, Steps: true, Mode: "batch"},
		{Algorithm: "a", Processes: 1, Steps: true, Actions: []Action{{Kind: Take, Locks: []int{0}}}},
		{Algorithm: "a", Processes: 1, Steps: true, Expect: []Expectation{{Kind: Commits}}},
		{Algorithm: "a", Processes: 1, Sites: 1, Homes: []algorithm.ID{0}, Latency: hold},
		{Algorithm: "a", Processes: 2, Sites: 1, Homes: []algorithm.ID{0}, Locks: []algorithm.ID{0}, Latency: hold},
		{Algorithm: "a", Processes: 1, Sites: 1, Homes: []algorithm.ID{1}, Locks: []algorithm.ID{0}, Latency: hold},
		{Algorithm: "a", Processes: 1, Sites: 1, Homes: []algorithm.ID{0}, Locks: []algorithm.ID{0}, Latency: hold, Busy: true},
		{Algorithm: "a", Processes: 1, Sites: 1, Homes: []algorithm.ID{0}, Locks: []algorithm.ID{0}, Latency: hold, Actions: []Action{{Kind: Ask}}},
		{Algorithm: "a", Processes: 1, Sites: 1, Homes: []algorithm.ID{0}, Locks: []algorithm.ID{0}, Latency: hold, Actions: []Action{{Kind: Take, Locks: []int{1}}}},
		{Algorithm: "a", Processes: 1, Sites: 1, Homes: []algorithm.ID{0}, Locks: []algorithm.ID{0}, Latency: hold, Expect: []Expectation{{Kind: Entries}}},
		{Algorithm: "a", Processes: 1, Sites: 1, Homes: []algorithm.ID{0}, Locks: []algorithm.ID{0}, Latency: hold, Expect: []Expectation{{Kind: Cycle, Procs: []algorithm.ID{1}}}},
		{Algorithm: "a", Processes: 1, Sites: 1, Homes: []algorithm.ID{0}, Locks: []algorithm.ID{0}, Latency: hold, Actions: []Action{{Kind: Take, Proc: 1, Locks: []int{0}}}},
		{Algorithm: "a", Processes: 1, Sites: 1, Homes: []algorithm.ID{0}, Locks: []algorithm.ID{0}, Latency: hold, Links: []Link{{0, 1, hold}}},
	} {
		if s.Check() == nil {
			t.Errorf("%+v passes", s)
		}
	}
}

const siteSteps = `algorithm wait-die
processes 2
site 1 P1 L1
site 2 P2 L2
schedule steps

P1 takes L1 L2
P1 goes on
expect P1 waits
deliver 1 -> 2 REQUEST 2nd
deliver all
crash site 2
site 1 suspects site 2
site 1 timer 3 expires

expect commits none
`

const twoSections = `algorithm ricart-agrawala
processes 5
section seats among 1,2,4
section films among 2,3,5
set P2 seats clock 4

at 0 P2 asks seats
at 0 P2 asks films for 3
at 1 P1 asks seats
at 9 P1 leaves seats
at 9 P3 timer 2 expires films

expect entries seats 2 1
expect entries films none
expect P1 enters seats at 4
expect at 3 P2 inside seats
expect when P1 enters seats 2nd P2 idle films
expect P2 seats clock 7
expect messages seats REQUEST 4
expect messages films 4
expect messages 12
expect bypass seats 1
expect bypass 1
`

// Sections are written as they are read, wherever their lines are.
func TestSections(t *testing.T) {
	s, err := Parse("f", twoSections)
	if err != nil {
		t.Fatal(err)
	}
	if got := Format(s); got != twoSections {
		t.Errorf("got\n%s\nwant\n%s", got, twoSections)
	}
	if _, err := Parse("f", "algorithm a\nprocesses 2\nat 0 P1 asks seats\nsection seats among 1,2"); err != nil {
		t.Errorf("a section at the end: %v", err)
	}
	const head = "algorithm a\nprocesses 4\nsection seats among 1, 2\n"
	for _, c := range []struct{ text, want string }{
		{head + "section seats among 3", "4:9:"},
		{head + "section films", "4:14:"},
		{head + "section films among", "section films has no processes"},
		{head + "section films among 5", "4:21:"},
		{head + "section films among 3,3", "f:4:"},
		{head + "section Films among 3", "4:9:"},
		{head + "section none among 3", "f:4:"},
		{head + "at 0 P1 asks", "4:13:"},
		{head + "at 0 P1 asks seat", "did you mean seats?"},
		{head + "at 0 P3 asks seats", "4:14:"},
		{head + "at 0 P1 leaves", "f:4:"},
		{head + "expect entries 1 2", `4:16: found "1"`},
		{head + "expect P1 waits", "f:4:"},
		{head + "expect P1 clock 3", "f:4:"},
		{head + "expect P3 seats clock 3", "P3 does not use section seats"},
		{head + "holder 1 busy", "busy"},
		{"algorithm a\nprocesses 2\nat 0 P1 leaves seats", `3:16: found "seats"`},
		{"algorithm none\nprocesses 1\nsite 1 P1 L1\nsection seats among 1", `found "section"`},
	} {
		if _, err := Parse("f", c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// Transactions in steps are written as they are read.
func TestSiteSteps(t *testing.T) {
	s, err := Parse("f", siteSteps)
	if err != nil {
		t.Fatal(err)
	}
	if got := Format(s); got != siteSteps {
		t.Errorf("got\n%s\nwant\n%s", got, siteSteps)
	}
	s.Actions = append(s.Actions, Action{Kind: Crash, Proc: 0})
	if err := s.Check(); err == nil {
		t.Error("crash P1: want an error, since processes die with their site")
	}
}

// Whatever the bytes, Parse says where it stumbles, or reads something that
// Format writes and Parse reads again.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Add(steps)
	f.Add(transactions)
	f.Add(modes)
	f.Add(siteSteps)
	f.Add(twoSections)
	f.Add("algorithm a\nprocesses 2\nexpect P1 is a|b\nat 1 drop 1->2 -> 3rd")
	f.Add(graphHead + "P1 has R1 2\nP2 asks R2\nexpect no deadlock")
	f.Fuzz(func(t *testing.T, text string) {
		if IsGraph(text) {
			roundTrip(t, text, ParseGraph, FormatGraph, blankGraph)
		} else {
			roundTrip(t, text, Parse, Format, blank)
		}
	})
}

// roundTrip parses a text, which fails in one of its lines, or writes the same down again.
func roundTrip[T any](t *testing.T, text string, parse func(file, text string) (*T, error), format func(*T) string, blank func(*T) *T) {
	t.Helper()
	s, err := parse("f", text)
	if err != nil {
		e, ok := err.(*Error)
		if !ok || e.Line < 1 || e.Col < 1 || e.Line > strings.Count(text, "\n")+1 {
			t.Fatalf("%q: %v", text, err)
		}
		return
	}
	written := format(s)
	again, err := parse("f", written)
	if err != nil {
		t.Fatalf("%q\nis written as\n%s\n%v", text, written, err)
	}
	if !reflect.DeepEqual(blank(s), blank(again)) {
		t.Fatalf("%q\nis read as %+v\nand written as\n%s\nwhich is read as %+v", text, s, written, again)
	}
}
