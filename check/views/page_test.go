package views

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/proofs-view.md")

// TestPage keeps docs/proofs-view.md to what the tests of this package see.
func TestPage(t *testing.T) {
	const path = "../../docs/proofs-view.md"
	want := page()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the tests say: run go test ./check/views -run TestPage -update", path)
	}
}

func page() string {
	var b strings.Builder
	fmt.Fprintf(&b, prose, len(runs()), len(runs()))
	b.WriteString("| algorithm | setting | states | transitions | depth |\n|---|---|--:|--:|--:|\n")
	for _, all := range [][]run{runs(), longRuns()} {
		for _, r := range all {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %d |\n", r.algorithm, r.setting, thousands(r.states), thousands(r.transitions), r.depth)
		}
	}
	b.WriteString(controlProse)
	b.WriteString("| broken rule | algorithm | property | steps |\n|---|---|---|--:|\n")
	for _, c := range smallest() {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", c.rule, c.algorithm, Names(c.breaks)[0], c.steps)
	}
	return b.String()
}

// thousands writes a number for people.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

const prose = `# Every change of views of a few members

<!-- made by 'go test ./check/views -run TestPage -update': do not edit -->

What runs is the member itself, ` + "`internal/member`" + `, put into every state that a few members can reach with one lock and a few views. All rows were explored to the end; in all of them

- no two are inside at once, where whoever has lost its lock by the end of its lease counts as inside until the lease is over (mutual);
- tokens rise, and within an epoch by exactly one per entry (tokens);
- when the home of an epoch lets go of the lock, lends it or enters, nobody is inside by an older epoch, and nobody enters by one later (older);
- nobody enters without a lease, and holds are told to be lost before it ends (leased);
- if the home had all reports when it began, nobody enters before one that has waited longer since an older epoch (order);
- no frame of a member and no unlock is refused that is right, and no late unlock accepted (refused, fenced);
- where nothing need happen any more nobody waits (waits). If every run ends, as it should with bounded requests, nobody waits for ever then. A search for a cycle has found that it does for the first %d rows, and for all of *b evicted* and *c evicted* but those of lamport.

**What can happen.** Three members a, b, c, all in view 1, whose home is a. A member installs a later view at any time, and may skip some. Links are reliable and first in, first out within an epoch; a frame of an older epoch is dropped, one of a newer epoch waits. Each process asks once, if the setting says no more, at any time, also while others of its requests wait; whoever is inside lets go at any time. The evicted never hears of it: it goes on in its last epoch, or crashes at any time. Its lease ends at any time: first it is told, then what it held is passed on. Each member counts the ghost as over at any time after that. There are no clocks otherwise. Not in the model: several locks, tries, deadlines, clients, drift, faults of links.

- *home evicted*: view 2 is b and c, home b (*to c*: home c). *b evicted*, *c evicted*: the home stays.
- *twice each*: each asks twice. *handover*: the same, with one local handover in a row. *cancel*: one request is cancelled.
- *all*: one request may be cancelled; one lease of a member that stays ends and comes back; one unlock is repeated with its old token.
- *two evicted*, *two homes evicted*: a third view, without c or b.
- *home leaves*: in order; two requests each and one cancelled. *nobody evicted*: view 2 has the same members. *other algorithm*: the same, with central.
- *a home joins*: a and b, then c as home, two requests each; *is evicted*: then without c again. *another joins*: when a is evicted, d joins as home.
- *nothing, then c evicted*: a second view of the same members, a third without c.
- *late reports*: a member makes a REPORT or QUERY at any time after the step that calls for it, as it does when a link has no room. *only c asks*, *b and c ask*: the others ask for nothing. *only c asks* has one cancelled request.

The first %d rows are explored by every ` + "`go test ./check/views`" + `, in about a minute of processor time together with what is below; all of them, and that every run ends, by ` + "`make proofs-view`" + `. Without that search it took ten minutes on 2 cores of linux/amd64, at commit 01a05c2, when there were no late reports. States depend on what is modelled: a count that differs says that something behaves otherwise than before.

`

const controlProse = `
## Negative controls

Each rule of [the protocol](protocol.md) broken in turn, in a setting that is as small as possible. The table shows which property is violated, and how many steps the shortest counterexample has. The rules are broken by rewriting the source in a test build: see [internal/controls](../internal/controls/doc.go). Rules about drift, about the start of a lease and about client sessions are missing, because the model has no clocks. So are rules about tries, because no process tries, and the bound on local handovers, because the model bounds requests.

`
