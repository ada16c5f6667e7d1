package museum

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/family/transactions"
)

// A proof is one check: of an election, of a lock that survives crashes, or of a method
// against deadlock.
type proof struct {
	name, mode       string
	nodes, sites     int
	requests         int // requests, or transactions, of each process; 0 means any number
	crashes, returns int
	pace             check.Pace
	network          algorithm.Network
}

// config returns the check.
func (p proof) config() (check.Config, error) {
	c := check.Config{
		Nodes: p.nodes, Requests: p.requests, Crashes: p.crashes, Comebacks: p.returns, Pace: p.pace, Network: p.network,
	}
	if p.sites > 0 {
		err := dine(&c, p.name, p.mode, p.sites)
		return c, err
	}
	var err error
	c.Spec, err = catalog.Make(p.name, algorithm.Options{})
	return c, err
}

// dine makes a check one of a method against deadlock: each process takes its own lock
// and then the next one's.
func dine(c *check.Config, name, mode string, sites int) error {
	m, err := deadlock.Find(name)
	if err != nil {
		return err
	}
	dinner := transactions.Dinner(m, mode, sites, c.Nodes)
	c.Family = dinner.Family()
	c.Spec, err = dinner.Spec()
	return err
}

// A table is a part of docs/results/proofs.md, with a row for each proof.
type table struct {
	title, text string
	columns     string // columns that say what is checked
	align       string
	letters     string               // letters of the properties, in their order
	say         func(p proof) string // what is checked, in these columns
	proofs      []proof
}

func tables() []table {
	pace := [...]string{check.AnyPace: "any", check.Quick: "quick", check.Slow: "slow"}
	return []table{{
		title:   "Elections",
		text:    "Any process may crash and come back at any step, as often as the row says in all, and whoever follows nobody alive may hold an election. *Messages*: *any*, each takes any time up to the longest, which timeouts are counted in; *quick*, none compared with timeouts; *slow*, always the longest. The properties: **O**ne leader in each round, and **A**greement on the highest alive in the end.",
		columns: "election | N | crashes | comebacks | messages | network", align: "---|--:|--:|--:|---|---",
		letters: "OA",
		say: func(p proof) string {
			return fmt.Sprintf("%s | %d | %d | %d | %s | %v", p.name, p.nodes, p.crashes, p.returns, pace[p.pace], p.network)
		},
		proofs: elections(),
	}, {
		title:   "Locks that survive deaths",
		text:    "Each process asks once, and any may die at any step, as often as the row says in all. The properties: **M**utual exclusion, and no **S**tarvation of anybody alive.",
		columns: "lock | N | crashes | messages", align: "---|--:|--:|---",
		letters: "MS",
		say: func(p proof) string {
			return fmt.Sprintf("%s | %d | %d | %s", p.name, p.nodes, p.crashes, pace[p.pace])
		},
		proofs: deaths(),
	}, {
		title:   "Methods against deadlock",
		text:    "Each process takes its own lock and then the next one's, in as many transactions as the row says; a transaction that is aborted is tried again, any number of times. With *any* number of transactions what holds is proved for these processes and sites. The properties: **M**utual exclusion, no **D**eadlock (of detection: none that stays), no **S**tarvation, no **F**alse report before anybody has aborted, exactly the right **V**ictim.",
		columns: "method | sites | processes | transactions | a site dies", align: "---|--:|--:|--:|---",
		letters: "MDSFV",
		say: func(p proof) string {
			dies := ""
			if p.crashes > 0 {
				dies = "yes"
			}
			return fmt.Sprintf("%s | %d | %d | %s | %s", strings.TrimSpace(p.name+" "+p.mode), p.sites, p.nodes, times(p.requests), dies)
		},
		proofs: deadlocks(),
	}}
}

// table writes a table.
func (b *builder) table(t table) error {
	b.line("\n## %s", t.title)
	b.text(t.text)
	b.line("\n| %s | states | transitions | depth | properties | seconds |", t.columns)
	b.line("|%s|--:|--:|--:|---|--:|", t.align)
	for _, p := range t.proofs {
		if err := b.part(strings.ReplaceAll(t.say(p), " | ", ", "), func() error { return b.proved(t, p) }); err != nil {
			return err
		}
	}
	return nil
}

// proved writes the row of a proof.
func (b *builder) proved(t table, p proof) error {
	c, err := p.config()
	if err != nil {
		return err
	}
	r, err := b.check(c, b.limits)
	if err != nil {
		return err
	}
	b.row("| %s | %s | %s | %d | %s | %.1f |", t.say(p), words.Grouped(r.States), words.Grouped(r.Transitions), r.Depth, verdicts(r.Properties, t.letters), r.Seconds)
	return nil
}

// verdicts formats the verdicts in few characters: a letter for each property, in their
// order.
func verdicts(all []check.Property, letters string) string {
	var b strings.Builder
	for i, p := range all {
		letter := letters[i : i+1]
		switch p.Verdict {
		case check.Holds:
			b.WriteString(letter)
		case check.HoldsBounded:
			b.WriteString(strings.ToLower(letter))
		case check.Violated:
			b.WriteString("!" + letter)
		case check.Unfinished:
			b.WriteString("?" + letter)
		}
	}
	return b.String()
}

// elections lists what is checked of elections.
func elections() []proof {
	return []proof{
		{name: "bully", nodes: 3, crashes: 2, returns: 2},
		{name: "bully", nodes: 3, crashes: 1, returns: 1, network: algorithm.Unordered},
		{name: "bully", nodes: 4, crashes: 2},
		{name: "bully", nodes: 4, crashes: 1, returns: 1, pace: check.Quick},
		{name: "bully", nodes: 4, crashes: 1, returns: 1, pace: check.Slow},
		{name: "bully", nodes: 4, crashes: 2, returns: 1, pace: check.Slow},
		{name: "ring-election", nodes: 3, crashes: 2, returns: 1},
		{name: "ring-election", nodes: 3, crashes: 2, returns: 2, pace: check.Slow},
		{name: "ring-election", nodes: 2, crashes: 2, returns: 2, network: algorithm.Unordered},
		{name: "ring-election", nodes: 4, crashes: 2},
		{name: "ring-election", nodes: 4, crashes: 1, returns: 1},
		{name: "chang-roberts", nodes: 3, crashes: 2, returns: 2},
		{name: "chang-roberts", nodes: 3, crashes: 1, returns: 1, network: algorithm.Unordered},
		{name: "chang-roberts", nodes: 4, crashes: 2},
		{name: "chang-roberts", nodes: 4, crashes: 2, returns: 1},
		{name: "chang-roberts", nodes: 4, crashes: 2, returns: 2},
	}
}

// deaths lists what is checked of locks that survive crashes.
func deaths() []proof {
	var all []proof
	for name := range strings.FieldsSeq("central central-stamped token-ring token-ring-lazy suzuki-kasami raymond naimi-trehel ricart-agrawala-token carvalho-roucairol ricart-agrawala maekawa dijkstra lamport bakery majority") {
		all = append(all, proof{name: name + "+bully", nodes: 3, requests: 1, crashes: 1})
	}
	return append(all,
		proof{name: "central+bully", nodes: 3, requests: 1, crashes: 2},
		proof{name: "suzuki-kasami+bully", nodes: 3, requests: 1, crashes: 2},
		proof{name: "central+ring-election", nodes: 3, requests: 1, crashes: 1},
		proof{name: "token-ring+ring-election", nodes: 3, requests: 1, crashes: 1},
		proof{name: "central+chang-roberts", nodes: 3, requests: 1, crashes: 1},
	)
}

// deadlocks lists what is checked of methods against deadlock.
func deadlocks() []proof {
	var all []proof
	for name := range strings.FieldsSeq("none ordered priority priority-requester wait-die wound-wait banker detect-distributed") {
		all = append(all,
			proof{name: name, sites: 2, nodes: 2}, proof{name: name, sites: 2, nodes: 3},
			proof{name: name, sites: 2, nodes: 2, crashes: 1}, proof{name: name, sites: 3, nodes: 3, requests: 1, crashes: 1})
	}
	return append(all,
		proof{name: "wait-die-restamped", sites: 2, nodes: 2},
		proof{name: "wait-die-restamped", sites: 2, nodes: 3},
		proof{name: "wait-die-restamped", sites: 2, nodes: 2, crashes: 1},
		proof{name: "wait-die-restamped", sites: 3, nodes: 3, requests: 1, crashes: 1},
		proof{name: "wound-wait-restamped", sites: 2, nodes: 2},
		proof{name: "wound-wait-restamped", sites: 2, nodes: 2, crashes: 1},
		proof{name: "wound-wait-restamped", sites: 3, nodes: 3, requests: 1, crashes: 1},
		proof{name: "ordered", sites: 3, nodes: 3},
		proof{name: "priority-requester", sites: 3, nodes: 3},
		proof{name: "wait-die", sites: 3, nodes: 3},
		proof{name: "banker", sites: 3, nodes: 3},
		proof{name: "detect-distributed", sites: 3, nodes: 3},
		proof{name: "detect-central", mode: deadlock.OnDemand, sites: 2, nodes: 2},
		proof{name: "detect-central", mode: deadlock.OnDemand, sites: 3, nodes: 3, requests: 1},
		proof{name: "detect-central", mode: deadlock.OnDemand, sites: 2, nodes: 2, requests: 1, crashes: 1},
		proof{name: "detect-central", mode: deadlock.OnDemand, sites: 3, nodes: 2, requests: 1, crashes: 1},
		proof{name: "detect-central", mode: deadlock.OnChange, sites: 2, nodes: 2},
		proof{name: "detect-central", mode: deadlock.OnChange, sites: 2, nodes: 3},
		proof{name: "detect-central", mode: deadlock.OnChange, sites: 3, nodes: 3, requests: 1, crashes: 1},
		proof{name: "detect-central", mode: deadlock.InBatch, sites: 2, nodes: 2, requests: 2},
		proof{name: "detect-central", mode: deadlock.InBatch, sites: 3, nodes: 3, requests: 1},
		proof{name: "detect-central", mode: deadlock.InBatch, sites: 3, nodes: 3, requests: 1, crashes: 1},
	)
}
