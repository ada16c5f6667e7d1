package viewmodel

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/results/proofs-view.md")

// TestPage keeps docs/results/proofs-view.md to what the tests of this package see.
func TestPage(t *testing.T) {
	const path = "../../../docs/results/proofs-view.md"
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
		t.Errorf("%s is not what the tests say: run go test ./internal/lab/viewmodel -run TestPage -update", path)
	}
}

func page() string {
	var b strings.Builder
	fmt.Fprintf(&b, prose, len(runs()), seenToEnd, len(runs()))
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
	b.WriteString(ruleProse)
	b.WriteString("| broken rule | meaning | property | steps |\n|---|---|---|--:|\n")
	for _, r := range rules() {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", r.name, r.text, Names(r.breaks)[0], r.steps)
	}
	b.WriteString(leaverProse)
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

<!-- made by 'go test ./internal/lab/viewmodel -run TestPage -update': do not edit -->

The model runs the member itself, ` + "`internal/member`" + `, in every state that a few members can reach with one lock and a few views. All settings below were explored completely. In all of them these properties hold:

- No two processes are inside at once. A process whose hold is lost because the lease expires counts as inside until the lease has expired (mutual).
- Fencing tokens rise, within an epoch by exactly one per entry (tokens).
- When the home of an epoch lets go of the lock, lends it or enters, no process is inside by an older epoch, and none enters by an older epoch later (older).
- No process enters without a lease, and holders are notified of the loss before the lease expires (leased).
- If the home had all reports when it began, no process enters before one that has been waiting longer, since an older epoch (order).
- No valid frame or unlock is refused, and no late unlock is accepted (refused, fenced).
- No process waits when no further step must happen (waits). If every run ends, as it should with bounded requests, then no process waits forever. A search for cycles confirmed that every run ends for the first %d rows, for all settings named *b evicted* and *c evicted* except those of lamport, and for the last %d rows.

**What can happen.** Unless the setting says otherwise there are three members a, b and c, all in view 1, with a as home. A member installs a later view at any time and may skip views. Links are reliable and FIFO within an epoch. A frame of an older epoch is dropped, and a frame of a newer epoch waits. Each process makes one request, unless the setting says more, at any time, also while its other requests wait. A process that is inside releases at any time. An evicted process never learns of its eviction: it continues in its last epoch, or crashes at any time. Its lease expires at any time. The holder is notified first, and later the lock is passed on. Each member counts a ghost as expired at any time after that, and in the next view it still does, if it has skipped none. Otherwise there are no clocks. Not in the model: several locks, tries, deadlines, more than one client, drift, and link faults.

- *home evicted*: view 2 is b and c, with home b (*to c*: home c). *b evicted*, *c evicted*: the home stays.
- *twice each*: two requests each. *handover*: the same, with at most one local handover in a row. *cancel*: one request is cancelled.
- *all*: one request may be cancelled, one member that stays may lose its lease and get it back, and one unlock is repeated with its old token.
- *two evicted*, *two homes evicted*: a third view follows, without c or without b.
- *home leaves*: an orderly leave, two requests each, one cancelled. *nobody evicted*: view 2 has the same members. *other algorithm*: the same, with central.
- *a home joins*: a and b, then c joins as home, two requests each. *is evicted*: then c is evicted. *another joins*: a is evicted, and d joins as home.
- *nothing, then c evicted*: view 2 has the same members, view 3 is without c.

These settings follow a ghost through two view changes. One that was inside when it was evicted may still act two views later, under another home:

- *home evicted, a home joins*: a and b; a is evicted, then c joins as home. *of three*: the same with a, b and c, where d joins and only a and d make requests.
- *lender evicted, a home joins*: a and b; view 2 has the same members, so a lends the lock to b if b waited in view 1. Then a is evicted, and c joins as home. *lender evicted*: a, b and c, of which a makes no request; view 2 has the same members, and a is evicted in view 3, where b is home.

These settings have a member that stays in the view and loses its lease, at most once and at any time. If it is inside it is notified, and may still act until the lease has expired. A view change can come in between, and so can the renewal that gives the member its lease back. The lease of a member that is evicted later expires only once, for good:

- *a home joins, lease expires*: a and b, then c joins as home; a, the old home, stays. *b replaced by a home*: b is evicted when c joins, so that c needs the testimony of a while the lease of b runs. *b of three replaced*: a, b and c, then d in the place of b. *nothing, a home joins*: c joins in view 3.

These settings have a home that enters without a message, because no other process wants the lock, while others may be waiting since an older view:

- *nothing, a home joins*: a and b; view 2 has the same members, in view 3 c joins as home, and a stays. *nothing, home evicted*, *nothing, home leaves*: a is evicted, or leaves, in view 3. (In the former c makes no request.)
- *home evicted, next home leaves*: a is evicted, then b leaves, the home of view 2. *a home joins, leaves*: a and b, then c joins as home, then c leaves.

These settings have a client that acquires the lock through a, once, and may claim it through b, once, at any time. Here the home of view 2 is b, if a is evicted, and a otherwise. The client holds the lock through one member at a time. Until it stops holding it, that member keeps its lease and the client's session. It stops at any time: because it releases the lock, crashes, or its deadline passes. After that, each member hears it from the client at any time, or ends the session. A claim may arrive late, after the client has stopped, and so may its confirmation, which is then ignored. A renewal that proves membership is confirmed only for a member of the newest view that was installed anywhere, and the confirmation arrives at any time after that:

- *claim, a evicted*: a and b; *of three*: a, b and c, with home c, and only c asks. *home stays*: the same, with c as home of both views. *all*: two claims, a may crash, and b may lose its lease and get it back.
- *claim, nobody evicted*, *late reports*: a and b, and view 2 has the same members. *claim at the home*: b is the home, of both views or of the second one. *and back*: the client may claim the lock through b and through a, in two more views. *another home evicted*: a, b and c; c, the home, is evicted, and b is the next home.
- *claim through a joiner*: c replaces a, and the client claims through c. *a home joins*: a and b stay, and c joins as home.
- *claim twice*: like *of three*, with two claims, through b and c. *b evicted*: the client acquires the lock through b, which is evicted, and may claim it twice, through a and c. *both evicted*: c replaces a, then b is evicted; the client may claim the lock through b and c.
- *nothing, a evicted*, *a evicted, a home joins*, *nothing, twice* and *nothing, a home joins* have three views.
- *move*: when the client holds the lock through b, it closes its session at a, which makes no requests of its own. *a leaves*: view 2 has the same members, and a leaves in view 3.

In the settings *delegated* the client may be delegated the lock through a, with three counts. It enters and leaves by itself at any time, and without a recall it need not return the lock: a process that then waits forever violates *waits*. The home has used the lock once before. *Elsewhere*: b is the home, and a has used the lock before it delegates it. *Same members*, *a evicted*, *b evicted*, *a home joins*: as above, with one later view. *Cancel*: one request is cancelled, and one unlock is repeated. *Claim*: the client may claim the lock through b, or through the joiner c.

*Late reports*: a member makes a REPORT or QUERY at any time after the step that calls for it, as it does when a link has no room. *Only c asks*, *b and c ask*: the others make no request; in the former one request is cancelled. *Reports in parts*: every REPORT comes in three parts, as if it were long, and only the second part mentions the lock.

` + "`go test ./internal/lab/viewmodel`" + ` explores the first %d rows and the negative controls below, in about half a minute of processor time. ` + "`make proofs-view`" + ` explores all rows, and checks that every run ends. Without that check, the 61 rows that there were at commit 01a05c2 took ten minutes on 2 cores of linux/amd64. The counts depend on what is modelled: if one changes, a member behaves differently than before.

`

const controlProse = `
## Negative controls

Each rule of [the protocol](../protocol.md) broken in turn, in a setting that is as small as possible. The table shows which property is violated, and how many steps the shortest counterexample has. The rules are broken by rewriting the source in a test build: see [internal/controls](../../internal/controls/doc.go). Some rules matter only if another one is broken too, which internal/controls names. Rules about drift, about the start of a lease and about the length of sessions are missing, because the model has no clocks. So are rules about tries, because no process tries, and the bound on local handovers, because the model bounds requests.

`

const ruleProse = `
Rules about ghosts, expired leases, homes that enter on their own and reports in parts, each broken by hand in a small part of one of the settings above, with naimi-trehel:

`

const leaverProse = `
## A leaver whose lease has expired

A member that leaves is not a ghost, so no home waits for its lease. ` + "`Leave`" + ` gives up what the member holds, and relies on its host that no process acts on it any longer. Therefore ` + "`internal/process`" + ` lets a member leave only when no process can act on a hold that the lease has lost. Without that rule two processes are inside after 5 steps:

1. a, the home, enters with token 1.1.
2. The lease of a is about to expire. a is notified that the lock is lost, and may still act.
3. a leaves.
4. b installs view 2, in which a is neither a member nor a ghost, and b is the home.
5. b requests the lock and enters with token 2.1, while a may still act.
`
