package calls

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/family/families"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/check"
	"github.com/stile-lock/stile/lab/internal/document"
	"github.com/stile-lock/stile/lab/scenario"
)

// usualMemory is the default memory limit of a check.
const usualMemory = 1 << 30

// far is the progress of a check.
type far struct {
	Pass        string  `json:"pass"`
	States      int64   `json:"states"`
	Transitions int64   `json:"transitions"`
	Depth       int     `json:"depth"`
	Seconds     float64 `json:"seconds"`
}

type checkCall struct {
	Text   string `json:"text"`
	Limits limits `json:"limits"`
}

// limits are the limits of a check.
type limits struct {
	Requests int     `json:"requests"` // requests of each process; 0 means 1, -1 means unbounded
	Seconds  float64 `json:"seconds"`  // maximum duration; 0 means the maximum for any check
	Crashes  int     `json:"crashes"`  // for elections, and for locks that survive crashes
}

// The maximum limits of a check: more than any check can complete with.
const (
	mostRequests = 255
	mostCrashes  = 15
)

// refuse says which limit is invalid, if checks may take at most this long.
func (l *limits) refuse(most time.Duration) error {
	switch {
	case l.Requests < -1 || l.Requests > mostRequests:
		return fmt.Errorf("%d requests per process: want 1 to %d, or -1 for any number", l.Requests, mostRequests)
	case l.Crashes < 0 || l.Crashes > mostCrashes:
		return fmt.Errorf("%d crashes: want 0 to %d", l.Crashes, mostCrashes)
	case !(l.Seconds >= 0 && l.Seconds <= most.Seconds()):
		return fmt.Errorf("a check of %g seconds: want 0 to %g; 0 means the maximum", l.Seconds, most.Seconds())
	}
	return nil
}

// check tries every interleaving of the group that a text describes: number of processes,
// network and options. It ignores the lines of the text: processes may do anything.
func (c *Calls) check(ctx context.Context, body []byte, say func(v any) error) error {
	var in checkCall
	if err := read(body, &in); err != nil {
		return err
	}
	if err := in.Limits.refuse(c.limit("check")); err != nil {
		return err
	}
	sc, err := document.Parse(in.Text, c.Options)
	if err != nil {
		return err
	}
	conf, err := c.config(sc)
	if err != nil {
		return err
	}
	if conf.Requests = in.Limits.Requests; conf.Requests == 0 {
		conf.Requests = 1
	}
	conf.Requests, conf.Crashes = max(conf.Requests, 0), in.Limits.Crashes
	switch f := conf.Family; {
	case f.Bounded == nil:
		conf.Requests = 0
	case f.Vast:
		conf.Pace = check.Quick // as the command does
	case conf.Crashes > 0 && !f.Detects:
		return fmt.Errorf("%d crashes: %s does not survive crashes; want 0, or a lock such as %s+bully", conf.Crashes, sc.Algorithm, sc.Algorithm)
	}
	conf.Limits = check.Limits{Workers: c.Workers, Memory: c.Memory, Time: time.Duration(in.Limits.Seconds * float64(time.Second))}
	if conf.Memory == 0 {
		conf.Memory = usualMemory
	}
	stop, cancel := stoppable(ctx)
	defer cancel()
	conf.Context = stop
	conf.Progress = func(p check.Progress) {
		if say(map[string]far{"progress": {p.Pass, p.States, p.Transitions, p.Depth, p.Elapsed.Seconds()}}) != nil {
			cancel() // the listener is gone
		}
	}
	report, err := check.Run(conf)
	if err != nil {
		return err
	}
	text := ""
	if p := report.First(); p != nil && p.Counterexample != nil {
		text = scenario.Format(p.Counterexample)
	}
	means := make([]string, len(report.Properties))
	for i, p := range report.Properties {
		means[i] = p.Means
	}
	return say(struct {
		Verdict        *verdict `json:"verdict"`
		Means          []string `json:"means"` // what it means that each property holds
		Counterexample string   `json:"counterexample"`
		Checked        string   `json:"checked"` // what exactly was checked, in a sentence
	}{(*verdict)(report), means, text, checked(sc, conf.Settled())})
}

// A verdict is a report without methods. Whatever is passed to encoding/json keeps all
// methods that some interface might call, so a report would bring Err, and with it the
// diagrams for terminals, into the lab's WebAssembly.
type verdict check.Report

// config returns the check of a scenario's group.
func (c *Calls) config(sc *scenario.Scenario) (check.Config, error) {
	conf := check.Config{Nodes: sc.Processes, Network: sc.Network, Options: sc.Options, First: true}
	switch {
	case len(sc.Sections) > 0:
		return conf, &document.Error{Text: "several sections cannot be checked together, because each is a separate lock: remove the section lines"}
	case len(sc.Begin) > 0:
		return conf, &document.Error{Text: "this run begins in the middle of a longer one, but a check explores all runs from the beginning of the group: remove the begin lines and those that set fields"}
	case sc.Transacts():
		m, err := deadlock.Find(sc.Algorithm)
		if err != nil {
			return conf, err
		}
		t := transactions.Config{Method: m, Mode: sc.Mode, Layout: deadlock.Layout{Sites: sc.Sites, Home: sc.Homes, At: sc.Locks}}
		put(programs(sc, m), &t)
		conf.Family = t.Family()
		conf.Spec, err = t.Spec()
		return conf, err
	}
	var err error
	conf.Spec, err = document.SpecOf(sc, c.Specs)
	conf.Family = families.Of(conf.Spec)
	if sc.Busy || sc.Holder != 0 {
		conf.Starts = []algorithm.View{{N: sc.Processes, Holder: sc.Holder, Busy: sc.Busy}}
	}
	return conf, err
}

// programs returns the locks that each process takes, transaction by transaction: one for
// each line that says so, in order of time. If no line says so, each process takes two
// neighbouring locks, as the dining philosophers do.
func programs(sc *scenario.Scenario, m deadlock.Method) [][][]int {
	all := make([][][]int, sc.Processes)
	said := false
	byTime := slices.Clone(sc.Actions)
	sort.SliceStable(byTime, func(i, j int) bool { return byTime[i].At < byTime[j].At })
	for _, a := range byTime {
		if a.Kind == script.Take {
			all[a.Proc], said = append(all[a.Proc], slices.Clone(a.Locks)), true
		}
	}
	k := len(sc.Locks)
	for p := range all {
		if !said {
			two := []int{p % k, (p + 1) % k}
			all[p] = [][]int{two[:min(k, 2)]}
		}
		for _, locks := range all[p] {
			if m.Sorted {
				slices.Sort(locks)
			}
		}
	}
	return all
}

// put writes programs into the configuration of a check.
func put(all [][][]int, c *transactions.Config) {
	for _, turns := range all {
		if len(turns) == 0 {
			turns = [][]int{nil}
		}
		c.Programs, c.Later = append(c.Programs, turns[0]), append(c.Later, turns[1:])
	}
}

// takes describes what a process does in its transactions.
func takes(turns [][]int) string {
	if len(turns) == 0 {
		return "takes nothing"
	}
	var said []string
	for _, locks := range turns {
		var names []string
		for _, k := range locks {
			names = append(names, deadlock.LockName(k))
		}
		said = append(said, "takes "+strings.Join(names, " "))
	}
	return strings.Join(said, ", releases, then ")
}

// checked says what was tried.
func checked(sc *scenario.Scenario, conf check.Config) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Every order in which messages can arrive on a network that is %v, for %s", conf.Network, words.Plural(sc.Processes, "process"))
	often := "any number of times"
	if conf.Requests > 0 {
		often = words.Plural(conf.Requests, "time")
	}
	if may := conf.Family.May; may != "" {
		b.WriteString("; " + strings.Replace(may, "%s", often, 1))
	} else {
		m, _ := deadlock.Find(sc.Algorithm)
		fmt.Fprintf(&b, " at %s. Each process runs its transactions %s, at any time", words.Plural(sc.Sites, "site"), often)
		for p, turns := range programs(sc, m) {
			sep := "; "
			if p == 0 {
				sep = ": "
			}
			fmt.Fprintf(&b, "%s%v %s", sep, algorithm.ID(p), takes(turns))
		}
		if m.Sorted {
			b.WriteString("; locks are acquired in ascending order")
		}
	}
	if conf.Crashes > 0 {
		fmt.Fprintf(&b, ", and %d may crash, at any step", conf.Crashes)
	}
	if conf.Pace == check.Quick {
		b.WriteString("; messages take no time compared with timeouts")
	}
	if sc.Transacts() {
		b.WriteString(". The times and the other lines of the schedule are ignored.")
	} else {
		b.WriteString(". The lines of the schedule are ignored.")
	}
	return b.String()
}
