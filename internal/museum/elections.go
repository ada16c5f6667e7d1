package museum

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/family/transactions"
	"github.com/stile-lock/stile/internal/words"
)

// paceNames says how long messages take, compared with timeouts.
var paceNames = [...]string{check.AnyPace: "any", check.Quick: "quick", check.Slow: "slow"}

// An electionProof is one check of an election.
type electionProof struct {
	name                    string
	nodes, crashes, returns int
	pace                    check.Pace
	network                 core.Network
}

// A deathProof is one check of a lock that survives deaths.
type deathProof struct {
	name           string
	nodes, crashes int
	pace           check.Pace
}

// A deadlockProof is one check of a method against deadlock.
type deadlockProof struct {
	name, mode                     string
	sites, processes, transactions int
	crash                          bool
}

// Elections makes the tables of what was proved of elections, of locks that
// survive deaths, and of methods against deadlock. told is given each line when
// it is known.
func Elections(l check.Limits, told func(line string)) (string, error) {
	b := &builder{limits: l}
	for _, table := range []func(func(string)) error{b.elections, b.deaths, b.deadlocks} {
		if err := table(told); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func (b *builder) elections(told func(line string)) error {
	b.line("\n## Elections")
	b.text("Any process may crash and come back at any step, as often as the row says in all, and whoever follows nobody alive may hold an election. *Messages*: *any*, each takes any time up to the longest, which timeouts are counted in; *quick*, none compared with timeouts; *slow*, always the longest. The properties: **O**ne leader in each round, and **A**greement on the highest alive in the end.")
	b.line("\n| election | N | crashes | comebacks | messages | network | states | transitions | depth | properties | seconds |")
	b.line("|---|--:|--:|--:|---|---|--:|--:|--:|---|--:|")
	for _, e := range electionProofs() {
		spec, err := catalog.Make(e.name, core.Options{})
		if err != nil {
			return err
		}
		r, err := check.Run(check.Config{
			Spec: spec, Nodes: e.nodes, Crashes: e.crashes, Comebacks: e.returns, Pace: e.pace, Network: e.network, Limits: b.limits,
		})
		if err := b.result(r, err, told, fmt.Sprintf("%s | %d | %d | %d | %s | %v", e.name, e.nodes, e.crashes, e.returns, paceNames[e.pace], e.network), "OA"); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) deaths(told func(line string)) error {
	b.line("\n## Locks that survive deaths")
	b.text("Each process asks once, and any may die at any step, as often as the row says in all. The properties: **M**utual exclusion, and no **S**tarvation of anybody alive.")
	b.line("\n| lock | N | crashes | messages | states | transitions | depth | properties | seconds |")
	b.line("|---|--:|--:|---|--:|--:|--:|---|--:|")
	for _, d := range deathProofs() {
		spec, err := catalog.Make(d.name, core.Options{})
		if err != nil {
			return err
		}
		r, err := check.Run(check.Config{Spec: spec, Nodes: d.nodes, Requests: 1, Crashes: d.crashes, Pace: d.pace, Limits: b.limits})
		if err := b.result(r, err, told, fmt.Sprintf("%s | %d | %d | %s", d.name, d.nodes, d.crashes, paceNames[d.pace]), "MS"); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) deadlocks(told func(line string)) error {
	b.line("\n## Methods against deadlock")
	b.text("Each process takes its own lock and then the next one's, in as many transactions as the row says; a transaction that is aborted is tried again, any number of times. With *any* number of transactions what holds is proved for these processes and sites. The properties: **M**utual exclusion, no **D**eadlock (of detection: none that stays), no **S**tarvation, no **F**alse report before anybody has aborted, exactly the right **V**ictim.")
	b.line("\n| method | sites | processes | transactions | a site dies | states | transitions | depth | properties | seconds |")
	b.line("|---|--:|--:|--:|---|--:|--:|--:|---|--:|")
	for _, d := range deadlockProofs() {
		m, err := deadlock.Find(d.name)
		if err != nil {
			return err
		}
		dinner := transactions.Dinner(m, d.mode, d.sites, d.processes)
		spec, err := dinner.Spec()
		if err != nil {
			return err
		}
		c := check.Config{Spec: spec, Family: dinner.Family(), Nodes: d.processes, Requests: d.transactions, Limits: b.limits}
		number, dies := "any", ""
		if d.transactions > 0 {
			number = fmt.Sprint(d.transactions)
		}
		if d.crash {
			dies, c.Crashes = "yes", 1
		}
		r, err := check.Run(c)
		if err := b.result(r, err, told, fmt.Sprintf("%s | %d | %d | %s | %s", strings.TrimSpace(d.name+" "+d.mode), d.sites, d.processes, number, dies), "MDSFV"); err != nil {
			return err
		}
	}
	return nil
}

// result writes a row: what was checked, and what came of it. Letters are those
// of the properties, in their order.
func (b *builder) result(r *check.Report, err error, told func(line string), what, letters string) error {
	if err != nil {
		return err
	}
	if b.limits.Context != nil && b.limits.Context.Err() != nil {
		return fmt.Errorf("interrupted: nothing is printed")
	}
	var verdicts strings.Builder
	for i, p := range r.Properties {
		verdicts.WriteString(letter(letters[i:i+1], p.Verdict))
	}
	line := fmt.Sprintf("| %s | %s | %s | %d | %s | %.1f |", what, words.Grouped(r.States), words.Grouped(r.Transitions), r.Depth, verdicts.String(), r.Seconds)
	told(line)
	b.line("%s", line)
	return nil
}

// letter is the verdict on a property.
func letter(name string, v check.Verdict) string {
	switch v {
	case check.Holds:
		return name
	case check.HoldsBounded:
		return strings.ToLower(name)
	case check.Violated:
		return "!" + name
	case check.Unfinished:
		return "?" + name
	}
	return ""
}

// electionProofs lists what is checked of elections.
func electionProofs() []electionProof {
	return []electionProof{
		{"bully", 3, 2, 2, check.AnyPace, core.FIFO},
		{"bully", 3, 1, 1, check.AnyPace, core.Unordered},
		{"bully", 4, 2, 0, check.AnyPace, core.FIFO},
		{"bully", 4, 1, 1, check.Quick, core.FIFO},
		{"bully", 4, 1, 1, check.Slow, core.FIFO},
		{"bully", 4, 2, 1, check.Slow, core.FIFO},
		{"ring-election", 3, 2, 1, check.AnyPace, core.FIFO},
		{"ring-election", 3, 2, 2, check.Slow, core.FIFO},
		{"ring-election", 2, 2, 2, check.AnyPace, core.Unordered},
		{"ring-election", 4, 2, 0, check.AnyPace, core.FIFO},
		{"ring-election", 4, 1, 1, check.AnyPace, core.FIFO},
		{"chang-roberts", 3, 2, 2, check.AnyPace, core.FIFO},
		{"chang-roberts", 3, 1, 1, check.AnyPace, core.Unordered},
		{"chang-roberts", 4, 2, 0, check.AnyPace, core.FIFO},
		{"chang-roberts", 4, 2, 1, check.AnyPace, core.FIFO},
		{"chang-roberts", 4, 2, 2, check.AnyPace, core.FIFO},
	}
}

// deathProofs lists what is checked of locks that survive deaths.
func deathProofs() []deathProof {
	var all []deathProof
	for name := range strings.FieldsSeq("central central-stamped token-ring token-ring-lazy suzuki-kasami raymond naimi-trehel ricart-agrawala-token carvalho-roucairol ricart-agrawala maekawa dijkstra lamport bakery majority") {
		all = append(all, deathProof{name + "+bully", 3, 1, check.AnyPace})
	}
	return append(all,
		deathProof{"central+bully", 3, 2, check.AnyPace},
		deathProof{"suzuki-kasami+bully", 3, 2, check.AnyPace},
		deathProof{"central+ring-election", 3, 1, check.AnyPace},
		deathProof{"token-ring+ring-election", 3, 1, check.AnyPace},
		deathProof{"central+chang-roberts", 3, 1, check.AnyPace},
	)
}

// deadlockProofs lists what is checked of methods against deadlock.
func deadlockProofs() []deadlockProof {
	var all []deadlockProof
	for name := range strings.FieldsSeq("none ordered priority wait-die wound-wait banker detect-distributed") {
		all = append(all, deadlockProof{name, "", 2, 2, 0, false}, deadlockProof{name, "", 2, 3, 0, false}, deadlockProof{name, "", 2, 2, 0, true}, deadlockProof{name, "", 3, 3, 1, true})
	}
	return append(all,
		deadlockProof{"ordered", "", 3, 3, 0, false},
		deadlockProof{"wait-die", "", 3, 3, 0, false},
		deadlockProof{"banker", "", 3, 3, 0, false},
		deadlockProof{"detect-distributed", "", 3, 3, 0, false},
		deadlockProof{"detect-central", deadlock.OnDemand, 2, 2, 0, false},
		deadlockProof{"detect-central", deadlock.OnDemand, 3, 3, 1, false},
		deadlockProof{"detect-central", deadlock.OnDemand, 2, 2, 1, true},
		deadlockProof{"detect-central", deadlock.OnChange, 2, 2, 0, false},
		deadlockProof{"detect-central", deadlock.OnChange, 2, 3, 0, false},
		deadlockProof{"detect-central", deadlock.OnChange, 3, 3, 1, true},
		deadlockProof{"detect-central", deadlock.InBatch, 2, 2, 2, false},
		deadlockProof{"detect-central", deadlock.InBatch, 3, 3, 1, false},
		deadlockProof{"detect-central", deadlock.InBatch, 3, 3, 1, true},
	)
}
