package sim

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// replaySites replays a scenario with sites.
func replaySites(sc *scenario.Scenario, until int) (*Playback, error) {
	spec, err := SiteSpec(sc)
	if err != nil {
		return nil, err
	}
	return Replay(spec, sc, ReplayOptions{Until: until})
}

func mustReplaySites(t testing.TB, text string) *Playback {
	t.Helper()
	sc, err := scenario.Parse("test.stile", text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := replaySites(sc, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Two take their own lock and then the other's.
const (
	opposed = "processes 3\nsite 1 P1 L1\nsite 2 P2 L2\nsite 3 P3\nhold 3\nat 0 P1 takes L1 L2\nat 0.5 P2 takes L2 L1\n"
	stuck   = "algorithm none\n" + opposed + "expect stuck P1 P2\n"
	dies    = "algorithm wait-die\n" + opposed + "backoff 6\n"
)

// TestTransactionsDiffer: what comes out otherwise than expected is told, and what
// comes out as expected is not.
func TestTransactionsDiffer(t *testing.T) {
	for _, c := range []struct{ base, right, wrong, told string }{
		{stuck, "", "expect stuck P1", "wanted stuck P1, got stuck P1 P2"},
		{"algorithm none\n" + opposed, "expect stuck P2 P1", "", "wanted stuck none, got stuck P1 P2"},
		{dies, "expect stuck none", "expect stuck P1", "wanted stuck P1, got stuck none"},
		{dies, "expect commits P1 P2", "expect commits P2 P1", "line 10: wanted commits P2 P1, got commits P1 P2"},
		{stuck, "expect commits none", "expect commits P1", "wanted commits P1, got commits none"},
		{dies, "expect aborts P2", "expect aborts none", "wanted aborts none, got aborts P2"},
		{dies, "expect P1 commits at 9.5", "expect P1 commits at 9", "wanted P1 commits at 9, got at 9.5"},
		{dies, "expect P2 aborts at 5.5", "expect P1 aborts at 5.5", "got at no time"},
		{stuck, "expect deadlocks 1", "expect deadlocks 0", "wanted deadlocks 0, got 1"},
		{stuck, "expect cycle P2 P1", "expect cycle P1 P3", "wanted cycle P1 P3, got P1->P2->P1"},
		{dies, "expect deadlocks 0", "expect cycle P1 P2", "wanted cycle P1 P2, got none"},
		{dies, "expect no false cycle", "expect false cycle P1 P2", "wanted false cycle P1 P2, got none"},
		{stuck, "expect P1 waits for P2", "expect P1 waits for P3", "wanted P1 waits for P3, got P1 waits for P2"},
		{dies, "expect at 4 P1 waits for P2", "expect P1 waits for P2", "got P1 idle, but for no process"},
		{dies, "expect at 3.9 P1 waits", "expect at 3.9 P1 waits for P2", "at 3.9 P1 waits, but for no process"},
		{dies, "expect P1 idle", "expect at 2.9 P1 idle", "wanted at 2.9 P1 idle, got at 2.9 P1 works"},
		{dies, "expect at 3 P1 waits", "expect at 5.5 P2 waits", "got at 5.5 P2 is about to retry"},
		{dies, "expect messages DIE 1", "expect messages DIE 2", "wanted messages DIE 2, got 1"},
		{stuck, "expect messages 2", "expect messages 3", "wanted messages 3, got 2"},
		{dies + "at 1 crash site 3\n", "", "expect P3 idle", "wanted P3 idle, got P3 is dead"},
	} {
		if right := mustReplaySites(t, c.base+c.right); len(right.Differences) > 0 {
			t.Errorf("%s: told %v, want nothing", c.right, right.Differences)
		}
		text := c.base + c.wrong
		if strings.HasPrefix(c.wrong, "expect stuck") {
			text = strings.Replace(c.base, "expect stuck P1 P2\n", "", 1) + c.wrong
		}
		back := mustReplaySites(t, text)
		if len(back.Differences) != 1 || !strings.Contains(back.Differences[0].String(), c.told) {
			t.Errorf("%s: told %v, want %s", c.wrong, back.Differences, c.told)
		}
	}
}

// TestFalseCycleIsTold: a false cycle that nobody foresaw is a difference.
func TestFalseCycleIsTold(t *testing.T) {
	const scene = "algorithm detect-central\nmode change\nprocesses 3\nsite 1 P1 L1\nsite 2 P2 L2\nsite 3 P3 L3\nlatency 2 -> 1 4\nhold 4\nbackoff 6\n" +
		"at 0 P2 takes L2 for 14\nat 0 P1 takes L1 L2\nat 0 P3 takes L3 L1\nat 14.5 P2 takes L3\n"
	b := mustReplaySites(t, scene)
	if len(b.Differences) != 1 || b.Differences[0].String() != "wanted no false cycle, got false cycle P1 P2 P3" {
		t.Errorf("told %v", b.Differences)
	}
	if b := mustReplaySites(t, scene+"expect false cycle P3 P1 P2"); len(b.Differences) > 0 {
		t.Errorf("told %v, want nothing", b.Differences)
	}
	if b := mustReplaySites(t, scene+"expect false cycle P3 P2 P1"); len(b.Differences) != 2 {
		t.Errorf("told %v, want that this ring was not, and that another was", b.Differences)
	}
}

// TestJobs: transactions of one process run one after the other, each not
// before its time, and stay for as long as they say.
func TestJobs(t *testing.T) {
	b := mustReplaySites(t, "algorithm none\nprocesses 1\nsite 1 P1 L1 L2\nat 2 P1 takes L2\nat 0 P1 takes L1 for 5\nat 9 P1 takes L1 L2 for 2")
	var at []int64
	for _, e := range b.Sites.Commits {
		at = append(at, e.At/scenario.T)
	}
	if want := []int64{5, 6, 13}; !reflect.DeepEqual(at, want) {
		t.Errorf("commits at %v, want %v", at, want)
	}
}

// TestReplayEnds: a run ends at until, after so many events, and when nothing
// comes of it any more.
func TestReplayEnds(t *testing.T) {
	b := mustReplaySites(t, dies+"until 5")
	if len(b.Sites.Commits)+len(b.Sites.Stuck) > 0 || b.Sites.Ledger.Time != 5*scenario.T {
		t.Errorf("%d commits, %v stuck at %d: want the run cut at 5", len(b.Sites.Commits), b.Sites.Stuck, b.Sites.Ledger.Time)
	}
	sc, err := scenario.Parse("f", dies+"expect commits none")
	if err != nil {
		t.Fatal(err)
	}
	b, err = replaySites(sc, 6)
	if err != nil || !b.Stopped || len(b.Differences) > 0 || len(b.Events) < 6 || len(b.Events) > 9 {
		t.Errorf("%v, %d events, differences %v: want it stopped and nothing checked", err, len(b.Events), b.Differences)
	}
	if b.States[0][0] != (host.Field{Name: "clock", Value: "1"}) {
		t.Errorf("site 1 is %v", b.States[0])
	}
	// P2 comes back without a rest, again and again, and P1 stays for long.
	b = mustReplaySites(t, "algorithm wait-die\nprocesses 2\nsite 1 P1 P2 L1\nbackoff 0\nat 0 P1 takes L1 for 1000\nat 1 P2 takes L1")
	if b.Sites.Ledger.Time > scenario.T*500 {
		t.Errorf("the run went on to %d", b.Sites.Ledger.Time)
	}
}

// TestReplayRefuses: what cannot be run is an error, with the file.
func TestReplayRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"algorithm raymond\n" + opposed, `f.stile: unknown method "raymond": want none`},
		{"algorithm wait-die\nmode batch\n" + opposed, "f.stile: wait-die has no modes"},
		{"algorithm detect-central\nmode often\n" + opposed, `detect-central has no mode "often"`},
		{dies + "expect messages TOKEN 3", `line 10: wait-die has no message "TOKEN"`},
		{"algorithm raymond\nprocesses 3", "there are no sites"},
	} {
		sc, err := scenario.Parse("f.stile", c.text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replaySites(sc, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// FuzzReplaySites: whatever a scenario says, a run ends without a panic, its events
// are a trace, and a second run is the same.
func FuzzReplaySites(f *testing.F) {
	f.Add(stuck)
	f.Add("algorithm wait-die\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\nschedule steps\nP1 takes L1 L2\nP2 takes L2 L1\nP1 goes on\nP2 goes on\ndeliver all\ncrash site 2\nsite 1 suspects site 2")
	f.Add(dies + "at 4 crash site 1\nuntil 30\nat 3 P3 takes L2 for exp:3")
	f.Add("algorithm detect-distributed\nlatency uniform:0.5,2\n" + opposed)
	f.Add("algorithm banker\n" + opposed + "at 3.5 crash site 1")
	f.Add("algorithm detect-central\nmode batch\nlatency 2 -> 1 9\n" + opposed + "at 30 P1 takes L2 L1")
	f.Fuzz(func(t *testing.T, text string) {
		sc, err := scenario.Parse("f", text)
		if err != nil || !sc.Transacts() || sc.Processes > 8 || sc.Sites > 8 || len(sc.Actions) > 20 {
			return
		}
		if slices.ContainsFunc(sc.Actions, func(a script.Action) bool { return a.Kind.OnLink() && a.Kind != script.Deliver || a.Overtakes }) {
			return // no method bears that
		}
		one, err := replaySites(sc, 20000)
		if err != nil {
			return
		}
		if err := one.Trace().Check(); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if len(one.Violations) > 0 {
			t.Fatalf("%v in\n%s", one.Violations, text)
		}
		if two, _ := replaySites(sc, 20000); !reflect.DeepEqual(one.Events, two.Events) {
			t.Fatalf("two runs of one scenario differ:\n%s", text)
		}
	})
}

// TestSiteStepsRefuse: a line that is impossible is an error that says why.
func TestSiteStepsRefuse(t *testing.T) {
	const head = "algorithm detect-central\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\nschedule steps\n"
	for _, c := range []struct{ text, want string }{
		{"P1 goes on", "line 6: P1 goes on: P1 cannot go on"},
		{"P1 takes L1\nP1 takes L2", "line 7: P1 takes L2: P1 cannot begin"},
		{"P1 takes L2\nP1 goes on", "P1 waits for L2"},
		{"P1 takes L2\ndeliver 2 -> 1", "no message is in flight from site 2 to site 1"},
		{"P1 takes L2\ndeliver 1 -> 2 GRANT", "no such GRANT is in flight from site 1 to site 2: there is REQUEST"},
		{"P1 takes L2\ndeliver 1 -> 2 TOKEN", `detect-central has no message "TOKEN"`},
		{"crash site 1\nP1 takes L2", "line 7: P1 takes L2: site 1 has crashed"},
		{"crash site 1\ncrash site 1", "site 1 has crashed"},
		{"site 2 timer 3 expires", "site 2 has no timer 3 running"},
	} {
		sc, err := scenario.Parse("f.stile", head+c.text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replaySites(sc, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// TestSiteSteps: a timer runs out by a line, a site hears of a death by a line,
// and who would need a dead site gives up.
func TestSiteSteps(t *testing.T) {
	b := mustReplaySites(t, "algorithm detect-central\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\nschedule steps\n"+
		"P1 takes L1 L2\nP2 takes L2 L1\nP1 goes on\nP2 goes on\ndeliver all\nsite 2 timer 1 expires\ndeliver all\nexpect cycle P1 P2\nexpect aborts P2\nexpect stuck none")
	if len(b.Differences) > 0 {
		t.Errorf("told %v in\n%s", b.Differences, Story(b.Sites.Run.Layout, b.Trace()))
	}
	b = mustReplaySites(t, "algorithm none\nprocesses 1\nsite 1 P1 L1\nsite 2 L2\nschedule steps\nP1 takes L1 L2\ncrash site 2\nsite 1 suspects site 2\nP1 goes on\nexpect P1 idle\nexpect commits none")
	if len(b.Differences) > 0 || b.Sites.Ledger.Lost != 1 {
		t.Errorf("told %v, %d lost", b.Differences, b.Sites.Ledger.Lost)
	}
	b = mustReplaySites(t, "algorithm none\nprocesses 1\nsite 1 P1 L1\nsite 2 L2\nschedule steps\ncrash site 2\nP1 takes L2 L1\nexpect P1 idle\nexpect commits none\nexpect messages 0")
	if len(b.Differences) > 0 || b.Sites.Ledger.Lost != 1 {
		t.Errorf("told %v, %d lost", b.Differences, b.Sites.Ledger.Lost)
	}
}
