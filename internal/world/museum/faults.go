package museum

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/faults"
)

// faultNodes is the number of processes with which faults are tried.
const faultNodes = 3

// A sufferer is a row of docs/results/faults.md: a lock, and the processes with the
// fault.
type sufferer struct {
	lock string
	role string // role of those with the fault in the lock; empty means all
	at   string // those processes, in the form of --at
}

// sufferers lists the sound locks, or the named ones: for those with a coordinator, it
// and its clients have rows of their own.
func sufferers(names []string, suffix string, coordinator int) []sufferer {
	var all []sufferer
	for _, name := range names {
		if _, err := catalog.Make(name, algorithm.Options{Coordinator: 1}); err != nil {
			all = append(all, sufferer{lock: name + suffix})
			continue
		}
		var clients []string
		for p := 1; p <= faultNodes; p++ {
			if p != coordinator {
				clients = append(clients, fmt.Sprint(p))
			}
		}
		all = append(all,
			sufferer{name + suffix, "its coordinator", fmt.Sprint(coordinator)},
			sufferer{name + suffix, "a client", strings.Join(clients, ",")})
	}
	return all
}

// A faultTable is a part of docs/results/faults.md.
type faultTable struct {
	title, text string
	rows        []sufferer
}

func faultTables() []faultTable {
	var sound []string
	for _, s := range catalog.Sound() {
		sound = append(sound, s.Name)
	}
	return []faultTable{{
		title: "Locks as they are",
		text:  "No lock here is made for this: each assumes that nobody dies, and that every message comes, and comes once. The table says what that assumption is worth. A process that has died is not told of to anybody. The wrong algorithms are not in it: they fail without a fault.",
		rows:  sufferers(sound, "", 1),
	}, {
		title: "Locks that survive deaths",
		text:  "The same locks, each with an election beside it: a perfect failure detector tells who has died, the highest alive is elected and makes a new view. That repairs every death, and nothing else: a message that is lost while nobody dies stays lost, unless the lock itself does something about it, or who waits loses patience ([elections](../elections.md)). One that comes twice does what it does above, as a rule, since nothing is recovered while everybody lives.",
		rows:  sufferers(recovered(), "+bully", faultNodes),
	}}
}

// Faults makes docs/results/faults.md. It takes a minute or two, so told receives each
// row as soon as it is known.
func Faults(l check.Limits, told func(line string)) (string, error) {
	b := newPage("What one fault does", "faults", l, told)
	b.text("One message is lost, or comes twice; or one process dies: while it is idle, while it waits, or inside. What becomes of the others?")
	b.text(fmt.Sprintf("**How it was found.** %d processes ask up to three times each, in every order of asking, with messages that all take as long, and again with links of which each takes its own time. In each of these runs the fault happens once, everywhere that it can: to every message; or to every process right before anything that happens anywhere, as long as it does what the column says. The copy of a message comes right behind it, or shortly after anybody asks, enters or leaves within the next 12 message times; all else stays in order. Afterwards, when all has long been over, everybody who is alive and idle asks again, and again if it is refused: who does not get in waits for ever. The cell is the worst of all that. A step is never cut in two: who dies has sent all messages of a step or none, and those still arrive.", faultNodes))
	b.text("**What a cell says.** *goes on*: everybody who is alive gets in again, wherever the fault was. *one waits*, *two wait*: for ever, while others go on. *all wait*: everybody who is alive. *unsafe*: two are inside. It is what can happen, not what must: the lists below say in how many of the runs it did, with the command for each cell, which tells its worst run; `--svg` draws it, and `--trace x.stile` writes it as a scenario. A cell that is bad has a run that shows it. One that is good was not found bad: every place of the fault was tried, but not every timing of the rest. That no number of losses lets two in, in any timing, the checker says where it is so: `stile check ricart-agrawala --network lossy --property mutual-exclusion`.")
	all := faultTables()
	b.things = "rows"
	for _, t := range all {
		b.total += len(t.rows)
	}
	for _, t := range all {
		if err := b.faults(t); err != nil {
			return b.ended(err)
		}
	}
	return b.ended(nil)
}

// faults writes a table, and below it the commands of its cells.
func (b *builder) faults(t faultTable) error {
	b.line("\n## %s", t.title)
	b.text(t.text)
	b.line("\n| lock | message lost | message twice | dies idle | dies waiting | dies inside |\n|---|---|---|---|---|---|")
	var list strings.Builder
	for _, s := range t.rows {
		err := b.part(s.name(), func() error { return b.suffers(&list, s) })
		if err != nil {
			return err
		}
	}
	b.line("\n| command | what its worst run shows | in |\n|---|---|---|")
	b.WriteString(list.String())
	return nil
}

func (s sufferer) name() string {
	if s.role == "" {
		return s.lock
	}
	return s.lock + ": " + s.role
}

// command returns the command that tries one cell.
func (s sufferer) command(k faults.Kind) string {
	c := fmt.Sprintf("stile check %s --fault %v", s.lock, k)
	if s.at != "" {
		c += " --at " + s.at
	}
	return c
}

// suffers gives a lock its row, and its lines in the list of commands.
func (b *builder) suffers(list *strings.Builder, s sufferer) error {
	spec, err := catalog.Make(s.lock, algorithm.Options{})
	if err != nil {
		return err
	}
	c := faults.Config{Spec: spec, Nodes: faultNodes, Workers: b.limits.Workers, Watch: func(int) bool { return !b.over() }}
	if s.at != "" {
		if c.At, err = catalog.ParseList(s.at); err != nil {
			return err
		}
	}
	row := "| " + s.name() + " |"
	var lines strings.Builder
	for _, c.Kind = range faults.Kinds() {
		r, err := faults.Try(c)
		if err == nil && r.Stopped {
			err = errInterrupted
		}
		if err != nil {
			return err
		}
		row += " " + cell(r) + " |"
		fmt.Fprintf(&lines, "| `%s` | %s | %s of %s |\n", s.command(c.Kind), cmp.Or(r.What, "it cannot happen"), words.Grouped(r.Count[r.Worst]), words.Grouped(r.Runs))
	}
	b.row("%s", row)
	list.WriteString(lines.String())
	return nil
}

// cell summarizes the outcome of a fault.
func cell(r *faults.Report) string {
	switch {
	case r.Runs == 0:
		return "cannot be"
	case r.Worst == faults.Unsafe:
		return "**unsafe**"
	case r.Worst == faults.AllWait:
		return "all wait"
	case r.Worst == faults.GoesOn:
		return "goes on"
	case len(r.Waiting) == 1:
		return "one waits"
	}
	return "two wait"
}
