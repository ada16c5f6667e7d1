package main

import (
	"fmt"
	"strings"
)

// shown are the entrants with a column on the page.
var shown = []string{"stile", "stile-embedded", "stile-grpc", "stile-json", "etcd", "zookeeper", "redis", "postgres"}

type printer func(format string, args ...any)

// page returns docs/performance.md.
func page(r *Result) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("<!-- made by 'make race': do not edit -->")
	p("")
	p("# Performance: stile beside other lock services")
	p("")
	p("One run of `make race`, which starts real servers of each service and measures them in turns. Clients and")
	p("servers share the cores, so compare the columns; your machines will give other numbers.")
	p("")
	if r.Note != "" {
		p("**%s**", r.Note)
		p("")
	}
	about(r, p)
	goalList(r, p)
	leaders(r, p)
	figures(r, p)
	method(r, p)
	return b.String()
}

// about says where and how it was measured.
func about(r *Result, p printer) {
	at := ""
	if r.At != "" {
		at = ", at commit " + r.At
	}
	p("%s; servers write to %s; %s%s; medians of %d rounds of %g s;", r.Machine, r.Disk, r.Date, at, r.Rounds, r.Seconds)
	var all []string
	for _, name := range []string{"etcd", "ZooKeeper", "Redis", "PostgreSQL", "Go"} {
		if v := r.Versions[name]; v != "" {
			all = append(all, name+" "+v)
		}
	}
	p("%s.", strings.Join(all, ", "))
	p("")
}

func goalList(r *Result, p printer) {
	verdict := func(met bool) string {
		if met {
			return "met"
		}
		return "**missed**"
	}
	p("| goal | measured | |")
	p("|---|--:|---|")
	for _, g := range goals(r) {
		p("| %s | %s | %s |", g.text, g.measured, verdict(g.met))
	}
	behind, of := peersAhead(r)
	p("| ahead of every peer in every figure, with the same transport security | %d of %d | %s |", of-len(behind), of, verdict(len(behind) == 0))
	p("")
}

// leaders names the peers that are ahead, and in how many figures.
func leaders(r *Result, p printer) {
	behind, _ := peersAhead(r)
	count := map[string]int{}
	for _, a := range behind {
		count[a.peer.Title]++
	}
	var all []string
	for _, e := range entrants {
		if n := count[e.Title]; n > 0 {
			all = append(all, fmt.Sprintf("%s in %d", e.Title, n))
			delete(count, e.Title)
		}
	}
	if len(all) > 0 {
		p("Figures in which a peer is ahead: %s.", strings.Join(all, "; "))
		p("Where a few clients have a contended lock most of the time, the median and the mean are short, and the others starve.")
		p("")
	}
}

// figures is the table of the most telling figure of each workload.
func figures(r *Result, p printer) {
	header, rule := "| over TLS |", "|---|"
	for _, name := range shown {
		header, rule = header+" "+named(name).Title+" |", rule+"--:|"
	}
	p("%s", header)
	p("%s", rule)
	row := func(title string, w *workload, figure string) {
		line, found := "| "+title+" |", false
		for _, name := range shown {
			c := r.find(w.Name, name)
			s, ok := c.of(figure)
			switch {
			case !ok:
				line += " – |"
			case figure == figOutage && c.median(figNever) >= 0.5:
				line, found = line+fmt.Sprintf(" > %.0f s |", outageLimit.Seconds()), true
			default:
				line, found = line+" "+value(figure, s.median)+" |", true
			}
		}
		if found {
			p("%s", line)
		}
	}
	for _, w := range workloads {
		switch w.sort {
		case sortSpeed:
			if w.Name == "uncontended" || w.Name == "other-locks" {
				row(w.Title+", p50", w, figP50)
			}
			row(w.Title+", holds/s", w, figRate)
		case sortIdle:
			row(w.Title+", of a core", w, figIdle)
		case sortMemory:
			row(w.Title+", per waiter", w, figWaiter)
		default:
			row(w.Title+", until the lock is free", w, figOutage)
		}
	}
	p("")
	for _, e := range entrants {
		if why := r.Missing[e.Name]; why != "" {
			p("%s is left out: %s", e.Name, why)
		}
		for _, w := range workloads {
			if s, ok := r.find(w.Name, e.Name).of(figOverlap); ok && s.high > 0 {
				p("%s, %s: **two clients held the lock at the same time**, up to %.0f times in a round.", e.Title, w.Title, s.high)
			}
		}
	}
}

// value returns a value with its unit.
func value(figure string, v float64) string {
	switch figure {
	case figRate:
		return short(v)
	case figIdle:
		return fmt.Sprintf("%.2f %%", v)
	case figLock, figWaiter:
		return size(v)
	case figOutage:
		return fmt.Sprintf("%.2f s", v/1000)
	}
	return short(v) + " µs"
}

// method says what the figures are worth.
func method(r *Result, p printer) {
	p("- A hold is one acquisition and one release, and its time includes the wait. A node delegates an uncontended")
	p("  lock to the Go client, which then sends no message for the same lock: compare *another lock* with the peers.")
	p("- stile, etcd and ZooKeeper have three nodes, and fencing tokens, and tolerate one failure. Redis with one node")
	p("  and PostgreSQL tolerate none and give no token: a faster figure of theirs pays for less.")
	p("- etcd and ZooKeeper write every hold to disk. stile keeps holds in memory, protected by leases.")
	p("- A waiter of etcd may be notified only every 100 ms. A waiter of redsync asks again after 50 to 250 ms, so the")
	p("  client that had the lock usually has it again, and others starve.")
	p("- PostgreSQL frees the locks of a connection that ends; a paused process keeps its locks. The lease of the others")
	p("  in failovers is %.0f s.", failoverLease.Seconds())
	p("- A measurement with more than %g %% of the machine in use by other processes is repeated up to %d times.", r.Background, repeats)
	p("- Consul is left out: Debian has no package of it, and its Go module builds only in a clone of its repository.")
	p("")
	p("`make race` takes less than 20 minutes on two idle cores of Debian, as root, prints all figures of all entrants,")
	p("and writes this page; `make race RACE=\"-entrants stile,redis -workloads uncontended -rounds 1\"` only prints a part.")
}
