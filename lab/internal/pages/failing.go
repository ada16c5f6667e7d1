package pages

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// beyond lists what happens to sound algorithms where their assumptions do not hold, with a
// command that shows it.
var beyond = [][3]string{
	{"lamport", "on links that reorder messages, two processes are inside", "check lamport --nodes 2 --requests 1 --network unordered"},
	{"lamport", "a lost message lets two processes in", "check lamport --nodes 2 --requests 1 --network lossy"},
	{"ricart-agrawala", "an OK that arrives twice lets two processes in", "replay lab/scenarios/ricart-agrawala-duplicate.stile"},
	{"raymond", "a privilege that arrives twice is two privileges", "replay lab/scenarios/raymond-duplicate.stile"},
	{"suzuki-kasami", "once the token is lost, all processes wait forever", "replay lab/scenarios/suzuki-kasami-lost-token.stile"},
	{"central", "a client crashes while idle: no other is affected", "replay lab/scenarios/central-client-dies-idle.stile"},
	{"central", "a client crashes while it waits: all others wait forever", "replay lab/scenarios/central-client-dies-waiting.stile"},
	{"central", "a client crashes inside: all others wait forever", "replay lab/scenarios/central-client-dies-inside.stile"},
	{"central", "the coordinator crashes: all processes wait forever", "replay lab/scenarios/central-crash.stile"},
	{"ricart-agrawala", "any process crashes: all others wait forever", "replay lab/scenarios/ricart-agrawala-crash.stile"},
	{"ricart-agrawala", "a process that restarts with a lower clock lets two in", "replay lab/scenarios/ricart-agrawala-restart.stile"},
	{"token-ring", "a process that restarts in its first state makes a second token", "replay lab/scenarios/token-ring-restart.stile"},
	{"token-ring+hasty", "a process that has waited for long makes a second token", "replay lab/scenarios/token-ring+hasty-two-tokens.stile"},
	{"dijkstra", "with too few values for a flag, the ring never stabilises", "check dijkstra --shared all --nodes 4 --k 2"},
	{"carvalho-roucairol", "requests are not granted in the order in which they happened", "check carvalho-roucairol --requests unbounded --property order"},
	{"raymond", "the same", "check raymond --requests unbounded --topology line --property order"},
	{"central", "the same, if applications talk to each other", "check central --requests unbounded --property order-open"},
}

// failing writes the table of algorithms that fail.
func failing(b *strings.Builder) {
	b.WriteString(`
## Where algorithms fail

Algorithms that were published, taught or believed and fail, with the one that mends each; then sound ones outside of their
assumptions: no lock here is made for crashes or lost messages, and [recovery](recovery.md) is what survives crashes. A check prints a
shortest counterexample, and a scenario replays one.

| algorithm | what happens | mended by | command |
|---|---|---|---|
`)
	for _, s := range catalog.All() {
		if !s.Sound() {
			fmt.Fprintf(b, "| %s | %s | %s | `%s` |\n", s.Name, cmp.Or(s.Wrong, s.Weaker), s.Fixed, s.Shown)
		}
	}
	for _, m := range deadlock.Methods() {
		if what := cmp.Or(m.Wrong, m.Weaker); what != "" {
			fmt.Fprintf(b, "| %s | %s | %s | `%s` |\n", m.Name, what, m.Fixed, m.Shown)
		}
	}
	for _, row := range beyond {
		fmt.Fprintf(b, "| %s | %s | | `stile %s` |\n", row[0], row[1], row[2])
	}
}
