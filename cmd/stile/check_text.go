package main

import (
	"io"
	"strings"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/core"
)

// printCheck shows a report: what was checked, a verdict for each property,
// and the story of the first that is violated, unless it was told already.
func printCheck(w io.Writer, head string, r *check.Report, written, told string) error {
	if err := printTable(w, head, r, written); err != nil {
		return err
	}
	p := &page{w: w}
	if first := r.First(); first != nil && first.Name != told {
		p.line("")
		printViolation(p, first)
	}
	return p.err
}

// printTable shows what was checked, and the verdicts.
func printTable(w io.Writer, head string, r *check.Report, written string) error {
	p := &page{w: w}
	for _, line := range wrap(head, width) {
		p.line("%s", line)
	}
	p.line("")
	for _, q := range r.Properties {
		printProperty(p, q)
	}
	p.line("")
	p.line("%s%s", right("verdict", 18), r.Verdict)
	p.line("%s%s, %s transitions, depth %d", right("states", 18), grouped(r.States), grouped(r.Transitions), r.Depth)
	p.line("%s%.2f s, %s states per second", right("time", 18), r.Seconds, grouped(int64(r.Rate)))
	p.line("%s%.1g, that two states were taken for one", right("probability", 18), r.Collision)
	if written != "" {
		p.line("%s%s", right("written", 18), written)
	}
	return p.err
}

// setting says what was checked.
func setting(c check.Config) string {
	s := plural(c.Nodes, "process") + ", "
	if c.Requests == 0 {
		s += "any number of requests"
	} else {
		s += plural(c.Requests, "request") + " each"
	}
	s += ", " + c.Network.String() + " network"
	if c.Requesters != nil {
		s += ", only " + names(c.Requesters) + " ask"
	}
	switch {
	case len(c.Starts) > 1:
		s += ", from any start"
	case len(c.Starts) == 1 && c.Starts[0].Busy:
		s += ", " + c.Starts[0].Holder.String() + " inside at first"
	case len(c.Starts) == 1:
		s += ", the lock at " + c.Starts[0].Holder.String() + " at first"
	}
	return s
}

func printProperty(p *page, q check.Property) {
	verdict := string(q.Verdict)
	if q.Verdict == check.Violated {
		verdict = "VIOLATED"
	}
	name, note := q.Name, q.Note
	if strings.HasPrefix(note, "up to ") { // the first line says that already
		_, note, _ = strings.Cut(note, " of each process")
		note = strings.TrimLeft(note, ",; ")
	}
	if note == "" && q.Verdict != check.Violated {
		note = meaning(name)
	}
	for _, line := range wrap(note, width-33) {
		p.line("%s%s%s", right(name, 18), right(verdict, 15), line)
		name, verdict = "", ""
	}
}

// meaning says what it means that a property holds.
func meaning(property string) string {
	switch property {
	case check.MutualExclusion:
		return "never two inside"
	case check.Deadlock:
		return "while somebody waits, something can happen"
	case check.Starvation:
		return "nobody waits for ever"
	case check.Order:
		return "granted in the order in which requests happened"
	case check.OrderOpen:
		return "the same when applications talk, too"
	case check.Token:
		return "never two tokens"
	case check.Fence:
		return "the entry count rises by one at each entry"
	case check.Start:
		return "all this from every start of a view"
	case check.Alibi:
		return "who is given an alibi is not inside"
	case check.OneLeader:
		return "at most one wins in each round"
	case check.Agreement:
		return "in the end all alive follow the highest"
	case check.Convergence:
		return "it comes right by itself from every state"
	}
	return ""
}

// names lists processes for people.
func names(ids []core.ID) string {
	var words []string
	for _, id := range ids {
		words = append(words, id.String())
	}
	return strings.Join(words, ", ")
}
