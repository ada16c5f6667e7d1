package sim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

func siteNames(sites int) []string {
	var names []string
	for s := range sites {
		names = append(names, fmt.Sprintf("site %d", s+1))
	}
	return names
}

// Trace returns an empty trace for a run: a lane for each site, and then one for each
// process.
func (c *Transactions) Trace() trace.Trace {
	lanes := siteNames(c.Layout.Sites)
	for p := range c.Layout.Home {
		lanes = append(lanes, algorithm.ID(p).String())
	}
	return trace.Trace{
		N: len(lanes), Names: lanes, Title: c.Method.Title, Algorithm: c.Method.Name, Kinds: deadlock.Kinds(), Unit: scenario.T,
		Waiting: "waits for a lock", Inside: "holds locks",
	}
}

// Story tells what happened, line by line: when, at which site, and what.
func Story(l deadlock.Layout, t *trace.Trace) string {
	var b strings.Builder
	for _, e := range t.Events {
		if int(e.Proc) >= l.Sites {
			continue // reported by its site
		}
		what := ""
		switch e.Kind {
		case trace.Send:
			what = fmt.Sprintf("%s to site %d%s", e.Name, e.Peer+1, about(e))
		case trace.Receive:
			what = fmt.Sprintf("receives %s from site %d%s", e.Name, e.Peer+1, about(e))
		case trace.Drop:
			what = fmt.Sprintf("%s to site %d is lost%s", e.Name, e.Peer+1, about(e))
		case trace.Crash:
			what = "crashes"
		case trace.Suspect:
			what = fmt.Sprintf("is notified that site %d is dead", e.Peer+1)
		case trace.Expire:
			what = "a timer expires"
		case trace.Violation:
			what = "VIOLATION: " + e.Name
		default:
			what = e.Name
		}
		where := "      "
		if e.Proc != algorithm.None {
			where = fmt.Sprintf("site %d", e.Proc+1)
		}
		fmt.Fprintf(&b, "%10s  %s  %s\n", moment(e.At, t.Unit <= 1), where, what)
		for _, y := range e.Why {
			indented(&b, 16+len(where), y.Rule+": "+y.Text)
		}
	}
	return b.String()
}

// indented writes a sentence, on more than one line if it needs them.
func indented(b *strings.Builder, indent int, text string) {
	const width = 80
	line := strings.Repeat(" ", indent-1)
	for i, word := range strings.Fields(text) {
		if i > 0 && len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", indent+1)
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// moment formats the time of an event.
func moment(at int64, steps bool) string {
	if steps {
		return strconv.FormatInt(at, 10)
	}
	return scenario.FormatTime(at)
}

// about describes the transactions and the lock that a message is about.
func about(e trace.Event) string {
	var txs []string
	lock, cycle := "", ""
	for _, f := range e.Fields {
		switch f.Name {
		case "tx":
			txs = append(txs, "P"+f.Value)
		case "lock":
			lock = "L" + f.Value
		case "cycle":
			cycle = f.Value
		}
	}
	words := strings.Join(txs, "->")
	switch {
	case e.Name == "GRAPH": // pairs, and outstanding requests
		words = pairs(e)
	case cycle != "" && cycle != "none":
		words += ", cycle P" + strings.ReplaceAll(cycle, " ", " P")
	case lock != "":
		words += " " + lock
	}
	if words == "" {
		return ""
	}
	return ": " + words
}

// pairs describes the edges of a graph.
func pairs(e trace.Event) string {
	var edges []string
	from := ""
	wishes := false
	for _, f := range e.Fields {
		switch {
		case f.Name == "wishes":
			wishes = true
		case f.Name != "tx" || wishes:
		case from == "":
			from = f.Value
		default:
			edges = append(edges, "P"+from+"->P"+f.Value)
			from = ""
		}
	}
	if len(edges) == 0 {
		return "no edges"
	}
	return strings.Join(edges, ", ")
}
