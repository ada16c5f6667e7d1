package museum

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/check"
)

// A table is a part of docs/results/proofs.md, with a row for each command.
type table struct {
	title, text string
	columns     string // columns that say what is checked
	align       string
	letters     string                                   // letters of the properties, in their order
	say         func(name string, c check.Config) string // what is checked, in these columns
	commands    []string
	checks      []check.Config // that the commands make
}

// tables returns the tables.
func tables(parse Parser) ([]table, error) {
	pace := [...]string{check.AnyPace: "any", check.Quick: "quick", check.Slow: "slow"}
	all := []table{{
		title:   "Elections",
		text:    "Any process may crash and come back at any step, as often in total as the row says, and a process that does not follow a live one may call an election. *Messages*: *any*, each takes any time up to the longest, which is the unit of timeouts; *quick*, no time compared with timeouts; *slow*, always the longest. The properties: **O**ne leader in each round, and **A**greement on the highest live process in the end.",
		columns: "election | N | crashes | comebacks | messages | network", align: "---|--:|--:|--:|---|---",
		letters: "OA",
		say: func(name string, c check.Config) string {
			return fmt.Sprintf("%s | %d | %d | %d | %s | %v", name, c.Nodes, c.Crashes, c.Comebacks, pace[c.Pace], c.Network)
		},
		commands: elections(),
	}, {
		title:   "Locks that survive crashes",
		text:    "Each process asks once, and any process may crash at any step, as often in total as the row says. The properties: **M**utual exclusion, and no **S**tarvation of live processes.",
		columns: "lock | N | crashes | messages", align: "---|--:|--:|---",
		letters: "MS",
		say: func(name string, c check.Config) string {
			return fmt.Sprintf("%s | %d | %d | %s", name, c.Nodes, c.Crashes, pace[c.Pace])
		},
		commands: deaths(),
	}, {
		title:   "Methods against deadlock",
		text:    "Each process takes its own lock and then the next one's, in as many transactions as the row says; an aborted transaction is retried, any number of times. With *any* number of transactions, what holds is proved for these processes and sites. The properties: **M**utual exclusion, no **D**eadlock (for detection methods: none that persists), no **S**tarvation, no **F**alse report before any transaction has aborted, exactly the right **V**ictim.",
		columns: "method | sites | processes | transactions | site crash", align: "---|--:|--:|--:|---",
		letters: "MDSFV",
		say: func(name string, c check.Config) string {
			dies := ""
			if c.Crashes > 0 {
				dies = "yes"
			}
			return fmt.Sprintf("%s | %d | %d | %s | %s", name, c.Family.Sites, c.Nodes, times(c.Requests), dies)
		},
		commands: deadlocks(),
	}}
	var err error
	for i := range all {
		if all[i].checks, err = parseAll(parse, all[i].commands); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// parseAll returns the checks that commands make.
func parseAll(parse Parser, commands []string) ([]check.Config, error) {
	var all []check.Config
	for _, command := range commands {
		c, err := parse(command)
		if err != nil {
			return nil, fmt.Errorf("stile check %s: %w", command, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// table writes a table.
func (b *builder) table(t table) error {
	b.line("\n## %s", t.title)
	b.text(t.text)
	b.line("\n| %s | states | transitions | depth | properties | seconds |", t.columns)
	b.line("|%s|--:|--:|--:|---|--:|", t.align)
	for i, c := range t.checks {
		name, flags, _ := strings.Cut(t.commands[i], " ")
		if _, mode, ok := strings.Cut(flags, "--mode "); ok {
			name += " " + mode
		}
		say := t.say(name, c)
		err := b.part(strings.ReplaceAll(say, " | ", ", "), func() error {
			r, err := b.check(c, b.limits)
			if err != nil {
				return err
			}
			b.row("| %s | %s | %s | %d | %s | %.1f |", say, words.Grouped(r.States), words.Grouped(r.Transitions), r.Depth,
				verdicts(r, check.Properties(c.Family), t.letters), r.Seconds)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// verdicts formats the verdicts in few characters: a letter for each property.
func verdicts(r *check.Report, properties []string, letters string) string {
	all := ""
	for i, name := range properties {
		p, letter := r.Find(name), letters[i:i+1]
		switch {
		case p == nil:
		case p.Verdict == check.Holds:
			all += letter
		case p.Verdict == check.HoldsBounded:
			all += strings.ToLower(letter)
		case p.Verdict == check.Violated:
			all += "!" + letter
		case p.Verdict == check.Unfinished:
			all += "?" + letter
		}
	}
	return all
}

// elections lists what is checked of elections.
func elections() []string {
	return []string{
		"bully --crashes 2 --comebacks 2",
		"bully --crashes 1 --comebacks 1 --network unordered",
		"bully --nodes 4 --crashes 2",
		"bully --nodes 4 --crashes 1 --comebacks 1 --pace quick",
		"bully --nodes 4 --crashes 1 --comebacks 1 --pace slow",
		"bully --nodes 4 --crashes 2 --comebacks 1 --pace slow",
		"ring-election --crashes 2 --comebacks 1",
		"ring-election --crashes 2 --comebacks 2 --pace slow",
		"ring-election --nodes 2 --crashes 2 --comebacks 2 --network unordered",
		"ring-election --nodes 4 --crashes 2",
		"ring-election --nodes 4 --crashes 1 --comebacks 1",
		"chang-roberts --crashes 2 --comebacks 2",
		"chang-roberts --crashes 1 --comebacks 1 --network unordered",
		"chang-roberts --nodes 4 --crashes 2",
		"chang-roberts --nodes 4 --crashes 2 --comebacks 1",
		"chang-roberts --nodes 4 --crashes 2 --comebacks 2",
	}
}

// recovered lists the locks that are checked together with an election.
func recovered() []string {
	return strings.Fields("central central-stamped token-ring token-ring-lazy suzuki-kasami raymond naimi-trehel ricart-agrawala-token carvalho-roucairol ricart-agrawala maekawa dijkstra lamport bakery majority")
}

// deaths lists what is checked of locks that survive crashes.
func deaths() []string {
	var all []string
	for _, name := range recovered() {
		all = append(all, name+"+bully --crashes 1 --pace any")
	}
	return append(all,
		"central+bully --crashes 2 --pace any",
		"suzuki-kasami+bully --crashes 2 --pace any",
		"central+ring-election --crashes 1 --pace any",
		"token-ring+ring-election --crashes 1 --pace any",
		"central+chang-roberts --crashes 1 --pace any",
	)
}

// deadlocks lists what is checked of methods against deadlock.
func deadlocks() []string {
	var all []string
	for name := range strings.FieldsSeq("none ordered priority priority-requester wait-die wound-wait banker detect-distributed") {
		all = append(all,
			name+" --requests unbounded",
			name+" --requests unbounded --nodes 3",
			name+" --requests unbounded --crashes 1",
			name+" --requests 1 --sites 3 --nodes 3 --crashes 1")
	}
	return append(all,
		"wait-die-restamped --requests unbounded",
		"wait-die-restamped --requests unbounded --nodes 3",
		"wait-die-restamped --requests unbounded --crashes 1",
		"wait-die-restamped --requests 1 --sites 3 --nodes 3 --crashes 1",
		"wound-wait-restamped --requests unbounded",
		"wound-wait-restamped --requests unbounded --crashes 1",
		"wound-wait-restamped --requests 1 --sites 3 --nodes 3 --crashes 1",
		"ordered --requests unbounded --sites 3 --nodes 3",
		"priority-requester --requests unbounded --sites 3 --nodes 3",
		"wait-die --requests unbounded --sites 3 --nodes 3",
		"banker --requests unbounded --sites 3 --nodes 3",
		"detect-distributed --requests unbounded --sites 3 --nodes 3",
		"detect-central --requests unbounded --mode demand",
		"detect-central --requests 1 --sites 3 --nodes 3 --mode demand",
		"detect-central --requests 1 --crashes 1 --mode demand",
		"detect-central --requests 1 --sites 3 --crashes 1 --mode demand",
		"detect-central --requests unbounded --mode change",
		"detect-central --requests unbounded --nodes 3 --mode change",
		"detect-central --requests 1 --sites 3 --nodes 3 --crashes 1 --mode change",
		"detect-central --requests 2 --mode batch",
		"detect-central --requests 1 --sites 3 --nodes 3 --mode batch",
		"detect-central --requests 1 --sites 3 --nodes 3 --crashes 1 --mode batch",
	)
}
