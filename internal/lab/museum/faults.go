package museum

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/lab/faults"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/check"
)

// faultNodes is the number of processes with which faults are tried.
const faultNodes = 3

// A faultRow is a row of docs/results/faults.md: a lock, and the processes with the
// fault.
type faultRow struct {
	lock string
	role string // role of those with the fault in the lock; empty means all
	at   string // those processes, in the form of --at
}

// faultRows lists the sound locks, or the named ones: for those with a coordinator, it
// and its clients have rows of their own.
func faultRows(names []string, suffix string, coordinator int) []faultRow {
	var all []faultRow
	for _, name := range names {
		if _, err := catalog.Make(name, algorithm.Options{Coordinator: 1}); err != nil {
			all = append(all, faultRow{lock: name + suffix})
			continue
		}
		var clients []string
		for p := 1; p <= faultNodes; p++ {
			if p != coordinator {
				clients = append(clients, fmt.Sprint(p))
			}
		}
		all = append(all,
			faultRow{name + suffix, "its coordinator", fmt.Sprint(coordinator)},
			faultRow{name + suffix, "a client", strings.Join(clients, ",")})
	}
	return all
}

// A faultTable is a part of docs/results/faults.md.
type faultTable struct {
	title, text string
	rows        []faultRow
}

func faultTables() []faultTable {
	var sound []string
	for _, s := range catalog.Sound() {
		sound = append(sound, s.Name)
	}
	return []faultTable{{
		title: "Locks as they are",
		text:  "No lock here is made for faults: each assumes that no process crashes, and that every message arrives exactly once. The table shows what that assumption is worth. Processes are not notified of a crash. The wrong algorithms are omitted, because they fail even without a fault.",
		rows:  faultRows(sound, "", 1),
	}, {
		title: "Locks that survive crashes",
		text:  "The same locks, each combined with an election: a perfect failure detector reports crashes, and the highest live process is elected and makes a new view. That repairs every crash, and nothing else. A message that is lost while no process crashes stays lost, unless the lock itself tolerates it or a waiting process loses patience ([elections](../elections.md)). A duplicated message usually has the same effect as above, because nothing is recovered while all processes live.",
		rows:  faultRows(recovered(), "+bully", faultNodes),
	}}
}

// Faults makes docs/results/faults.md. It takes a minute or two, so told receives each
// row as soon as it is known.
func Faults(l check.Limits, told func(line string)) (string, error) {
	b := newPage("What one fault does", "faults", l, told)
	b.text("One message is lost or duplicated, or one process crashes: while idle, while waiting, or inside. What happens to the other processes?")
	b.text(fmt.Sprintf("**How it was found.** %d processes ask up to three times each, in every order, first with the same latency on all links and then with a different one on each. In each of these runs the fault happens once, at every possible place: to every message, or to every process right before any event, as long as the process is in the state that the column names. The copy of a message arrives right after it, or shortly after a process asks, enters or leaves within the next 12 message times; all other messages stay in order. Long afterwards, every live idle process asks again, and once more if it is denied: a process that does not enter waits forever. The cell shows the worst of these outcomes. A step is atomic: a process that crashes has sent all messages of a step or none, and those still arrive.", faultNodes))
	b.text("**What a cell means.** *goes on*: every live process enters again, wherever the fault was. *one waits*, *two wait*: forever, while others go on. *all wait*: every live process waits forever. *unsafe*: two processes are inside. This is what can happen, not what must: the lists below say in how many runs it did, with the command for each cell, which prints its worst run; `--svg` draws it, and `--trace x.stile` writes it as a scenario. A bad cell has a run that shows it. A good cell was not found bad: every place of the fault was tried, but not every timing of the rest. Where no number of lost messages lets two processes in, the checker can prove it: `stile check ricart-agrawala --network lossy --property mutual-exclusion`.")
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
	b.line("\n| lock | message lost | message duplicated | crash while idle | crash while waiting | crash inside |\n|---|---|---|---|---|---|")
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

func (s faultRow) name() string {
	if s.role == "" {
		return s.lock
	}
	return s.lock + ": " + s.role
}

// command returns the command that tries one cell.
func (s faultRow) command(k faults.Kind) string {
	c := fmt.Sprintf("stile check %s --fault %v", s.lock, k)
	if s.at != "" {
		c += " --at " + s.at
	}
	return c
}

// suffers gives a lock its row, and its lines in the list of commands.
func (b *builder) suffers(list *strings.Builder, s faultRow) error {
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
		fmt.Fprintf(&lines, "| `%s` | %s | %s of %s |\n", s.command(c.Kind), cmp.Or(r.What, "cannot happen"), words.Grouped(r.Count[r.Worst]), words.Grouped(r.Runs))
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
