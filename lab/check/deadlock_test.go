package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// TestDeadlockMethods: every order of events, for every method. Each of some
// processes takes its own lock and then the next one's. Prevention and
// avoidance never let a cycle arise; every deadlock that arises under
// detection is found, with exactly one victim, the youngest; every
// transaction commits in every fair run; also if a site dies at any time.
// Only batches report what is not there. With 0 transactions each process runs
// any number of them: then plain priorities starve somebody, and so do new stamps
// after aborts, and nothing else does but timeouts, which may repeat forever even for one
// transaction each. The counts are pinned: a change of a number is a change of behaviour.
func TestDeadlockMethods(t *testing.T) {
	for _, c := range []struct {
		name, mode                     string
		sites, processes, transactions int
		crash                          bool
		states, transitions            int64
		violated                       string
	}{
		{"none", "", 2, 2, 2, false, 149, 232, "deadlock starvation"},
		{"none", "", 2, 3, 1, false, 385, 684, "deadlock starvation"},
		{"none", "", 3, 3, 1, false, 323, 594, "deadlock starvation"},
		{"none", "", 2, 2, 0, false, 51, 98, "deadlock starvation"},
		{"none", "", 2, 2, 1, true, 163, 306, "deadlock starvation"},
		{"none", "", 3, 3, 1, true, 3992, 10806, "deadlock starvation"},
		{"ordered", "", 2, 2, 2, false, 228, 341, ""},
		{"ordered", "", 2, 3, 1, false, 337, 575, ""},
		{"ordered", "", 3, 3, 1, false, 450, 863, ""},
		{"ordered", "", 2, 2, 0, false, 56, 105, ""},
		{"ordered", "", 2, 3, 0, false, 1832, 4562, ""},
		{"ordered", "", 3, 3, 0, false, 9703, 30046, ""},
		{"ordered", "", 2, 2, 1, true, 191, 362, ""},
		{"ordered", "", 2, 2, 0, true, 193, 447, ""},
		{"ordered", "", 3, 3, 1, true, 5022, 14292, ""},
		{"priority", "", 2, 2, 2, false, 812, 1321, ""},
		{"priority", "", 2, 3, 1, false, 921, 1821, ""},
		{"priority", "", 3, 3, 1, false, 3491, 10049, ""},
		{"priority", "", 2, 2, 0, false, 298, 563, "starvation"},
		{"priority", "", 2, 3, 0, false, 10977, 29641, "starvation"},
		{"priority", "", 2, 2, 1, true, 328, 675, ""},
		{"priority", "", 2, 2, 0, true, 842, 2170, "starvation"},
		{"priority", "", 3, 3, 1, true, 25287, 92307, ""},
		{"priority-requester", "", 2, 2, 2, false, 481, 827, ""},
		{"priority-requester", "", 2, 3, 1, false, 612, 1261, ""},
		{"priority-requester", "", 3, 3, 1, false, 774, 1672, ""},
		{"priority-requester", "", 2, 2, 0, false, 213, 418, "starvation"},
		{"priority-requester", "", 2, 3, 0, false, 5640, 17167, "starvation"},
		{"priority-requester", "", 2, 2, 1, true, 288, 598, ""},
		{"priority-requester", "", 2, 2, 0, true, 657, 1671, "starvation"},
		{"priority-requester", "", 3, 3, 1, true, 7591, 22930, ""},
		{"wait-die", "", 2, 2, 2, false, 595, 1037, ""},
		{"wait-die", "", 2, 3, 1, false, 883, 1893, ""},
		{"wait-die", "", 3, 3, 1, false, 1002, 2223, ""},
		{"wait-die", "", 2, 2, 0, false, 368, 740, ""},
		{"wait-die", "", 2, 3, 0, false, 22272, 67166, ""},
		{"wait-die", "", 2, 2, 1, true, 308, 643, ""},
		{"wait-die", "", 2, 2, 0, true, 1054, 2782, ""},
		{"wait-die", "", 3, 3, 1, true, 9452, 29271, ""},
		{"wound-wait", "", 2, 2, 2, false, 450, 712, ""},
		{"wound-wait", "", 2, 3, 1, false, 931, 1872, ""},
		{"wound-wait", "", 3, 3, 1, false, 1678, 4474, ""},
		{"wound-wait", "", 2, 2, 0, false, 425, 799, ""},
		{"wound-wait", "", 2, 2, 1, true, 209, 413, ""},
		{"wound-wait", "", 2, 2, 0, true, 1142, 2993, ""},
		{"wound-wait", "", 3, 3, 1, true, 13204, 45050, ""},
		{"banker", "", 2, 2, 2, false, 200, 277, ""},
		{"banker", "", 2, 3, 1, false, 343, 608, ""},
		{"banker", "", 3, 3, 1, false, 522, 1002, ""},
		{"banker", "", 2, 2, 0, false, 96, 169, ""},
		{"banker", "", 2, 3, 0, false, 1428, 3428, ""},
		{"banker", "", 3, 3, 0, false, 9849, 24868, ""},
		{"banker", "", 2, 2, 1, true, 128, 262, ""},
		{"banker", "", 2, 2, 0, true, 390, 948, ""},
		{"banker", "", 3, 3, 1, true, 6198, 18111, ""},
		{"detect-central", "demand", 2, 2, 2, false, 25099, 76667, ""},
		{"detect-central", "demand", 2, 3, 1, false, 17668, 58407, ""},
		{"detect-central", "demand", 2, 2, 0, false, 31648, 104873, ""},
		{"detect-central", "demand", 2, 2, 1, true, 3119, 9173, ""},
		{"detect-central", "demand", 3, 2, 1, true, 67884, 245101, ""},
		{"detect-central", "change", 2, 2, 2, false, 868, 1465, ""},
		{"detect-central", "change", 2, 3, 1, false, 705, 1313, ""},
		{"detect-central", "change", 3, 3, 1, false, 1549, 3677, ""},
		{"detect-central", "change", 2, 2, 0, false, 1154, 2264, ""},
		{"detect-central", "change", 2, 2, 1, true, 325, 649, ""},
		{"detect-central", "change", 3, 3, 1, true, 65055, 190855, ""},
		{"detect-central", "batch", 2, 2, 2, false, 21995, 57263, "false-report one-victim"},
		{"detect-central", "batch", 2, 3, 1, false, 4209, 10618, ""},
		{"detect-central", "batch", 3, 3, 1, false, 14056, 48145, ""},
		{"detect-central", "batch", 2, 2, 1, true, 901, 2388, ""},
		{"detect-central", "batch", 3, 2, 1, true, 7210, 18865, ""},
		{"detect-distributed", "", 2, 2, 2, false, 396, 595, ""},
		{"detect-distributed", "", 2, 3, 1, false, 442, 768, ""},
		{"detect-distributed", "", 3, 3, 1, false, 439, 852, ""},
		{"detect-distributed", "", 2, 2, 0, false, 357, 632, ""},
		{"detect-distributed", "", 2, 2, 1, true, 271, 472, ""},
		{"detect-distributed", "", 2, 2, 0, true, 1167, 2741, ""},
		{"detect-distributed", "", 3, 3, 1, true, 7443, 19210, ""},
		{"timeout", "", 2, 2, 2, false, 1469, 2982, "starvation"},
		{"timeout", "", 2, 3, 1, false, 3111, 8146, "starvation"},
		{"timeout", "", 2, 2, 0, false, 811, 1758, "starvation"},
		{"timeout", "", 2, 2, 1, true, 548, 1352, "starvation"},
		{"wait-die-restamped", "", 2, 2, 2, false, 909, 1760, ""},
		{"wait-die-restamped", "", 2, 3, 1, false, 3536, 9282, ""},
		{"wait-die-restamped", "", 3, 3, 1, false, 3843, 10052, ""},
		{"wait-die-restamped", "", 2, 2, 0, false, 338, 715, "starvation"},
		{"wait-die-restamped", "", 2, 3, 0, false, 33262, 100896, "starvation"},
		{"wait-die-restamped", "", 2, 2, 1, true, 438, 1081, ""},
		{"wait-die-restamped", "", 2, 2, 0, true, 952, 2583, "starvation"},
		{"wait-die-restamped", "", 3, 3, 1, true, 32470, 114757, ""},
		{"wound-wait-restamped", "", 2, 2, 2, false, 267, 431, ""},
		{"wound-wait-restamped", "", 2, 3, 1, false, 1169, 2323, ""},
		{"wound-wait-restamped", "", 3, 3, 1, false, 1511, 4088, ""},
		{"wound-wait-restamped", "", 2, 2, 0, false, 95, 184, "starvation"},
		{"wound-wait-restamped", "", 2, 2, 1, true, 166, 368, ""},
		{"wound-wait-restamped", "", 2, 2, 0, true, 269, 689, "starvation"},
		{"wound-wait-restamped", "", 3, 3, 1, true, 12224, 42632, ""},
	} {
		if !nightly.On() && c.states > 800 {
			continue
		}
		t.Run(fmt.Sprintf("%s %s %d %d %d %v", c.name, c.mode, c.sites, c.processes, c.transactions, c.crash), func(t *testing.T) {
			t.Parallel()
			m, err := deadlock.Find(c.name)
			if err != nil {
				t.Fatal(err)
			}
			config := transacts(t, transactions.Dinner(m, c.mode, c.sites, c.processes), c.transactions)
			if c.crash {
				config.Crashes = 1
			}
			r := mustRun(t, config)
			var violated []string
			for _, p := range r.Properties {
				switch p.Verdict {
				case Violated:
					violated = append(violated, p.Name)
					replays(t, &p)
				case Unfinished:
					t.Errorf("%s %s: %s is unfinished", c.name, c.mode, p.Name)
				}
			}
			if got := strings.Join(violated, " "); got != c.violated || r.States != c.states || r.Transitions != c.transitions {
				t.Errorf("%d states, %d transitions, violated %q, want %d, %d, %q", r.States, r.Transitions, got, c.states, c.transitions, c.violated)
			}
		})
	}
}

// replays makes sure that a counterexample, written down and read again, shows
// in the simulator what is violated, and nothing that is not expected.
func replays(t *testing.T, p *Property) {
	t.Helper()
	text := scenario.Format(p.Counterexample)
	sc, err := scenario.Parse("", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	spec, err := sim.SiteSpec(sc)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sim.Replay(spec, sc, sim.ReplayOptions{})
	if err != nil || len(b.Differences) > 0 {
		t.Fatalf("%v, differences %v, in\n%s", err, b.Differences, text)
	}
	s := b.Sites
	seen := map[string]bool{
		Deadlock:    len(s.Cycles) > 0 || len(s.Stuck) > 0,
		Starvation:  len(s.Stuck) > 0 || len(s.Aborts) > 0 && p.Loop < len(p.Trace),
		FalseReport: len(s.False) > 0,
		OneVictim:   len(s.Wrong) > 0,
	}
	if !seen[p.Name] {
		t.Errorf("%s is not seen in\n%s", p.Name, text)
	}
	for _, want := range []string{"site 1", "asks for L"} {
		if story := p.Story(trace.TextOptions{}); strings.Count(story, want) < 2 { // in words, and drawn
			t.Errorf("the story of %s does not say %q:\n%s", p.Name, want, story)
		}
	}
}

// TestUnconfirmed: what the simulator does not see is not violated, even if the
// checker says so.
func TestUnconfirmed(t *testing.T) {
	r := mustRun(t, transacts(t, transactions.Dinner(deadlock.None(), "", 2, 2), 1))
	whole := *r.Find(Deadlock).Counterexample
	for _, c := range []struct {
		expect script.Expectation
		cut    int // actions left out at the end
		says   string
	}{
		{script.Expectation{Kind: script.Cycle}, 0, ""},
		{script.Expectation{Kind: script.Cycle}, 1, "there is no cycle"},
		{script.Expectation{Kind: script.Stuck}, 0, ""},
		{script.Expectation{Kind: script.Stuck}, 1, "stuck"},
		{script.Expectation{Kind: script.FalseCycle}, 0, "false deadlock"},
		{script.Expectation{Kind: script.Aborts}, 0, "abort"},
		{script.Expectation{Kind: script.PhaseIs, Proc: 1}, 0, ""},
		{script.Expectation{Kind: script.PhaseIs, Proc: 1}, 4, "P2 has no transaction"},
		{script.Expectation{Kind: script.Violated, Name: script.MutualExclusion}, 0, "wanted violation mutual-exclusion, got none"},
	} {
		sc := whole
		sc.Actions, sc.Expect = sc.Actions[:len(sc.Actions)-c.cut], []script.Expectation{c.expect}
		p := Property{Verdict: Violated, Counterexample: &sc, spec: r.Find(Deadlock).spec}
		p.confirm()
		if (p.Verdict == Violated) != (c.says == "") || !strings.Contains(p.Note, c.says) {
			t.Errorf("%s without %d actions: %s, %s; want %q", c.expect.What(), c.cut, p.Verdict, p.Note, c.says)
		}
	}
}

// A lavish site grants every lock twice, and a nagging one tells everybody to
// abort who has committed.
type lavish struct {
	algorithm.Machine
	nags bool
}

func (l lavish) Step(in host.Input, out *host.Output) error {
	if err := l.Machine.Step(in, out); err != nil {
		return err
	}
	for _, n := range slices.Clone(out.Notices) {
		if n.Kind == host.Granted && !l.nags {
			out.Notices = append(out.Notices, n)
		}
	}
	if in.Kind == host.Release && l.nags {
		out.Notices = append(out.Notices, host.Notice{Kind: host.Victim, Who: in.From})
	}
	return nil
}

// TestUnasked: who is granted what it has not asked for, or told to abort what
// it has not begun, is seen, and confirmed.
func TestUnasked(t *testing.T) {
	for nags, name := range map[bool]string{false: MutualExclusion, true: OneVictim} {
		c := transacts(t, transactions.Dinner(deadlock.DetectDistributed(), "", 1, 2), 1)
		plan := c.Spec.Plan
		c.Spec.Plan = func(n int) (algorithm.Birth, error) {
			birth, err := plan(n)
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return lavish{birth(self, v), nags} }, err
		}
		r := mustRun(t, c)
		if p := r.Find(name); p.Verdict != Violated {
			t.Errorf("%s %s: %s, want it violated", name, p.Verdict, p.Note)
		}
	}
}

// TestFalseCycle: with three sites that send their graphs on every change, too,
// the coordinator can see a cycle that never was.
func TestFalseCycle(t *testing.T) {
	c := transacts(t, transactions.Dinner(deadlock.DetectCentral(), deadlock.OnChange, 3, 3), 2)
	c.First = true
	r := mustRun(t, c)
	p := r.Find(FalseReport)
	if p.Verdict != Violated || !strings.Contains(p.Trace[len(p.Trace)-1], "aborts: P1->P2->P3->P1") {
		t.Fatalf("false-report %s: %v, want a false cycle of three", p.Verdict, p.Trace)
	}
	replays(t, p)
}

// TestPriorityStarves: the story of a process of low rank that is preempted
// again and again, which can go on for ever.
func TestPriorityStarves(t *testing.T) {
	r := mustRun(t, transacts(t, transactions.Dinner(deadlock.Priority(), "", 2, 2), 0))
	p := r.Find(Starvation)
	want := []string{
		"site 1 receives GRANT from site 2", "P1 commits", "P1 asks for L1", "P1 asks for L2",
		"site 2 receives RELEASE from site 1", "site 2 receives REQUEST from site 1; P2 aborts", "P2 asks for L2",
	}
	if p.Verdict != Violated || !strings.HasPrefix(p.Note, "P2 never commits") || !slices.Equal(p.Trace[p.Loop:], want) {
		t.Errorf("starvation %s: %s\n%q for ever, want\n%q", p.Verdict, p.Note, p.Trace[p.Loop:], want)
	}
}

// TestCrowd: the same where two wait for one lock, so that it matters whose
// turn is next.
func TestCrowd(t *testing.T) {
	nightly.Only(t)
	for _, c := range []struct {
		name, mode          string
		sites, transactions int
		states              int64
	}{
		{"ordered", "", 1, 0, 68},
		{"wait-die", "", 1, 0, 929},
		{"wait-die", "", 2, 1, 920},
		{"wait-die", "", 2, 0, 11598},
		{"wound-wait", "", 1, 0, 914},
		{"wound-wait", "", 2, 1, 571},
		{"banker", "", 2, 0, 519},
		{"detect-central", "demand", 1, 0, 3357},
		{"detect-central", "change", 1, 0, 2743},
		{"detect-central", "change", 2, 1, 1098},
		{"detect-distributed", "", 1, 0, 1266},
		{"detect-distributed", "", 2, 1, 577},
	} {
		m, err := deadlock.Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		r := mustRun(t, transacts(t, transactions.Crowd(m, c.mode, c.sites), c.transactions))
		if err := r.Err(); err != nil {
			t.Errorf("%d sites, %d transactions: %v", c.sites, c.transactions, err)
		}
		if r.States != c.states {
			t.Errorf("%s %s, %d sites, %d transactions: %d states, want %d", c.name, c.mode, c.sites, c.transactions, r.States, c.states)
		}
	}
}

// TestDeadlockRefused: what cannot be checked is refused.
func TestDeadlockRefused(t *testing.T) {
	if _, err := Run(transacts(t, transactions.Dinner(deadlock.WaitDie(), "", 2, 2), -1)); err == nil {
		t.Error("less than no transactions: want an error")
	}
	if _, err := transactions.Dinner(deadlock.WaitDie(), "change", 2, 2).Spec(); err == nil {
		t.Error("a mode that there is not: want an error")
	}
}

// transacts returns the check of transactions, so many of each process; 0 means
// any number.
func transacts(t testing.TB, c transactions.Config, rounds int) Config {
	t.Helper()
	spec, err := c.Spec()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Spec: spec, Family: c.Family(), Nodes: len(c.Programs), Requests: rounds}
}
