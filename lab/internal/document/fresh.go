package document

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/words"
)

// A Wish describes a new scenario. Anything left out takes the default of the language.
type Wish struct {
	Algorithm   string `json:"algorithm"`
	Processes   int    `json:"processes"`
	Topology    string `json:"topology,omitempty"`
	Sets        string `json:"sets,omitempty"`
	Inform      string `json:"inform,omitempty"`
	Experiment  bool   `json:"experiment,omitempty"`
	K           int    `json:"k,omitempty"`
	Coordinator int    `json:"coordinator,omitempty"` // from 1
	Patience    int    `json:"patience,omitempty"`
	Mode        string `json:"mode,omitempty"` // of a method against deadlock
	Network     string `json:"network,omitempty"`
	Latency     string `json:"latency,omitempty"`
	Hold        string `json:"hold,omitempty"`
	Seed        uint64 `json:"seed,omitempty"`
	Workload    string `json:"workload,omitempty"` // WorkNone, WorkOne or WorkAll
	Steps       bool   `json:"steps,omitempty"`
}

// What happens in a new scenario.
const (
	WorkNone = "none" // nothing yet
	WorkOne  = "one"  // one process asks
	WorkAll  = "all"  // all processes ask, each shortly after the previous one
)

// Fresh returns the text of a new scenario.
func Fresh(w Wish, o Options) (string, error) {
	var b strings.Builder
	say := func(set bool, format string, args ...any) {
		if set {
			fmt.Fprintf(&b, format+"\n", args...)
		}
	}
	for _, s := range []string{w.Algorithm, w.Topology, w.Sets, w.Inform, w.Mode, w.Network, w.Latency, w.Hold} {
		if strings.ContainsAny(s, "\n\r#") {
			return "", fmt.Errorf("%q: want one word, without # and on one line", s)
		}
	}
	if strings.ContainsAny(w.Algorithm, " \t") {
		return "", fmt.Errorf("algorithm %q: want a name of one word", w.Algorithm)
	}
	if w.Algorithm == "" {
		return "", errors.New("no algorithm: name one, such as ricart-agrawala; your own needs a Name in its Spec")
	}
	w.Processes = cmp.Or(w.Processes, 3)
	_, noMethod := deadlock.Find(w.Algorithm)
	say(true, "algorithm %s", w.Algorithm)
	say(w.Topology != "", "topology %s", w.Topology)
	say(w.Sets != "", "sets %s", w.Sets)
	say(w.Inform != "", "inform %s", w.Inform)
	say(w.Experiment, "experiment")
	say(w.K != 0, "k %d", w.K)
	say(w.Coordinator != 0, "coordinator %d", w.Coordinator)
	say(w.Patience != 0, "patience %d", w.Patience)
	say(w.Mode != "", "mode %s", w.Mode)
	say(true, "processes %d", w.Processes)
	for p := range min(w.Processes, MaxLanes) {
		say(noMethod == nil, "site %d %v %s", p+1, algorithm.ID(p), deadlock.LockName(p))
	}
	say(w.Network != "" && noMethod != nil, "network %s", w.Network)
	say(w.Latency != "" && !w.Steps, "latency %s", w.Latency)
	say(w.Hold != "" && !w.Steps, "hold %s", w.Hold)
	say(w.Seed != 0, "seed %d", w.Seed)
	say(w.Steps, "schedule steps")
	asks := map[string]int{WorkNone: 0, "": 0, WorkOne: 1, WorkAll: min(w.Processes, MaxLanes)}
	n, known := asks[w.Workload]
	if !known {
		return "", fmt.Errorf("unknown workload %q: want %s, %s or %s", w.Workload, WorkNone, WorkOne, WorkAll)
	}
	say(n > 0, "")
	for p := range n {
		verb := "asks"
		if noMethod == nil {
			verb = "takes " + deadlock.LockName(p) + " " + deadlock.LockName((p+1)%w.Processes)
			if w.Processes == 1 {
				verb = "takes " + deadlock.LockName(0)
			}
		}
		at := "at " + words.Plain(float64(p)/10) + " "
		if w.Steps {
			at = ""
		}
		say(true, "%s%v %s", at, algorithm.ID(p), verb)
	}
	text := b.String()
	if d := run(text, o, undrawn); d.Error != nil {
		return "", errors.New(d.Error.Text)
	}
	return text, nil
}
