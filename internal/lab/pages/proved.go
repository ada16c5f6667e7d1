package pages

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/lab/family/families"
)

// letters are the properties of docs/results/proofs.md, in words.
func letters(f algorithm.Family) map[byte]string {
	switch f {
	case algorithm.Transactions:
		return map[byte]string{'m': "mutual exclusion", 'd': "no deadlock", 's': "no starvation", 'f': "no false report", 'v': "the right victim"}
	case algorithm.MutualExclusion:
		return map[byte]string{
			'm': "mutual exclusion", 'd': "no deadlock", 's': "no starvation", 'o': "order", 't': "order when applications talk", 'b': "bypass",
			'k': "one token", 'f': "fencing counts", 'c': "bounded links", 'a': "every start of a view", 'i': "alibis", 'v': "convergence",
		}
	}
	return map[byte]string{'o': "one leader in each round", 'a': "agreement in the end"}
}

// spelled says which properties a cell of letters means.
func spelled(cell string, f algorithm.Family) string {
	var all []string
	names := letters(f)
	prefix := ""
	for i := range len(cell) {
		switch c := cell[i]; c {
		case '!':
			prefix = "**violated**: "
		case '?':
			prefix = "unknown: "
		default:
			all = append(all, prefix+names[c|0x20])
			prefix = ""
		}
	}
	return strings.Join(all, ", ")
}

// named puts a list of properties, as commands call them, into the same words.
func named(list string) string {
	all := strings.Split(list, ", ")
	for i, property := range all {
		switch property {
		case "deadlock", "starvation":
			all[i] = "no " + property
		case "order-open":
			all[i] = "order when applications talk"
		case "fence":
			all[i] = "fencing counts"
		case "channels":
			all[i] = "bounded links"
		case "start":
			all[i] = "every start of a view"
		case "alibi":
			all[i] = "alibis"
		default:
			all[i] = strings.ReplaceAll(property, "-", " ")
		}
	}
	return strings.Join(all, ", ")
}

// proved shows what the checker has proved.
func (p *page) proved() {
	p.heading("What is proved")
	switch {
	case p.name == recoveryName:
		p.recoveryProofs()
	case p.spec.Family == algorithm.Transactions:
		p.proofRows("Methods against deadlock", "method", "sites", "processes", "transactions", "site crash")
		p.text("In every order of events, with any number of restarts. *Any* number of transactions is a proof for these processes and sites. For more, see [what is checked](../deadlocks.md#what-is-checked) and [proofs.md](../results/proofs.md#methods-against-deadlock).")
	case p.isLock():
		p.lockProofs()
	default:
		f := families.Of(p.spec)
		p.proofRows(f.Name, f.Kind, "N", "crashes", "comebacks", "messages", "network")
		p.text("In every order of events with that many crashes and comebacks, among N processes: a bound on crashes, not a proof for any number of them. The columns are explained in [proofs.md](../results/proofs.md#%s).", strings.ToLower(f.Name))
	}
}

// proofRows copies rows of proofs.md whose first column names the subject, with the
// properties in words.
func (p *page) proofRows(title, first string, columns ...string) {
	t := tableWith(p.results.Proofs, title, first)
	rows := t.find(func(name string) bool { return name == p.name || strings.HasPrefix(name, p.name+" ") })
	if len(rows) == 0 {
		p.text("It has no row in [proofs.md](../results/proofs.md). A test checks two and three processes: [check/deadlock_test.go](../../lab/check/deadlock_test.go).")
		return
	}
	modes := len(p.method.Modes) > 0
	header, rule := "|", "|"
	if modes {
		header, rule = "| mode |", "|---|"
	}
	p.line("\n%s %s | states | what holds |\n%s%s--:|---|", header, strings.Join(columns, " | "), rule, strings.Repeat("--:|", len(columns)))
	for _, r := range rows {
		line := "|"
		if modes {
			line += " " + strings.TrimSpace(strings.TrimPrefix(r[0], p.name)) + " |"
		}
		for _, c := range columns {
			line += " " + t.of(r, c) + " |"
		}
		p.line("%s %s | %s |", line, t.of(r, "states"), spelled(t.of(r, "properties"), p.spec.Family))
	}
}

// A proof is a row of the table of proofs of a lock: groups of several sizes for which the
// same holds.
type proof struct {
	nodes, states           []string
	network, requests, what string
}

func (p *page) lockProofs() {
	t := tableWith(p.results.Proofs, "What was proved", "bypass")
	var all []*proof
	var bypass []string
	for _, r := range t.find(func(name string) bool { return name == p.name }) {
		n, net, requests := t.of(r, "N"), t.of(r, "network"), t.of(r, "requests")
		what := spelled(t.of(r, "properties"), p.spec.Family)
		if b := t.of(r, "bypass"); b != "" && requests == "any" && net == "fifo" {
			from, after, _ := strings.Cut(b, " / ")
			bypass = append(bypass, fmt.Sprintf("%s among %s (%s from the request on)", after, n, strings.ReplaceAll(from, "∞", "without bound")))
		}
		if k := len(all) - 1; k >= 0 && all[k].network == net && all[k].requests == requests && all[k].what == what {
			all[k].nodes, all[k].states = append(all[k].nodes, n), append(all[k].states, t.of(r, "states"))
			continue
		}
		all = append(all, &proof{[]string{n}, []string{t.of(r, "states")}, net, requests, what})
	}
	long := tableWith(p.results.ProofsLong, "", "verdict")
	for _, r := range long.find(func(name string) bool { return name == p.name }) {
		what := named(long.of(r, "property"))
		if v := long.of(r, "verdict"); strings.HasPrefix(v, "unfinished") {
			what = "unknown: " + what
		}
		all = append(all, &proof{[]string{long.of(r, "N")}, []string{long.of(r, "states")}, long.of(r, "network"), long.of(r, "requests"), what})
	}
	if len(all) == 0 {
		p.text("Nothing yet.")
		return
	}
	p.line("\n| processes | links | requests of each | states | what holds |\n|---|---|--:|--:|---|")
	for _, row := range all {
		p.line("| %s | %s | %s | %s | %s |", strings.Join(row.nodes, ", "), row.network, row.requests, strings.Join(row.states, ", "), row.what)
	}
	p.text("In every order of events. With *any* number of requests what holds is proved for that number of processes; with a number, it holds up to that many requests of each process, and is no proof beyond. [proofs.md](../results/proofs.md) explains the properties, and [proofs-long.md](../results/proofs-long.md) has the largest checks.")
	if p.spec.Endless != "" {
		p.text("The state space has no bound without one on requests: %s.", p.spec.Endless)
	}
	if len(bypass) > 0 {
		p.text("Entries of others that a waiting process can see at most, once its messages have arrived: %s.", strings.Join(bypass, ", "))
	}
	p.counted()
}

// counted says which checks another checker has repeated.
func (p *page) counted() {
	t := tableWith(p.results.TLA, "", "canonical")
	var n int
	for _, r := range t.rows {
		if f := strings.Fields(strings.Trim(r[0], "`")); len(f) > 2 && f[2] == p.name && !strings.Contains(strings.Join(r, " "), "violated") {
			n++
		}
	}
	switch n {
	case 0:
	case 1:
		p.text("TLC, another checker, counts the same states and comes to the same verdicts in [one check](../results/tla.md).")
	default:
		p.text("TLC, another checker, counts the same states and comes to the same verdicts in [%d checks](../results/tla.md).", n)
	}
}

// recoveryProofs lists the proofs of all locks with an election.
func (p *page) recoveryProofs() {
	t := tableWith(p.results.Proofs, "Locks that survive crashes", "lock")
	p.text("Mutual exclusion, and no starvation of live processes, in every order of events: each process asks once, and any process may crash at any step. With lost messages and comebacks: see [Elections](../elections.md#recovery-by-election).")
	p.line("\n| lock | processes | crashes | states |\n|---|--:|--:|--:|")
	for _, r := range t.rows {
		p.line("| `%s` | %s | %s | %s |", r[0], t.of(r, "N"), t.of(r, "crashes"), t.of(r, "states"))
	}
}

// faults shows what one fault does.
func (p *page) faults() {
	if p.spec.Family != algorithm.MutualExclusion {
		return
	}
	p.heading("What it tolerates")
	if p.name == recoveryName {
		p.text("A crash of any process, at any time. [What one fault does](../results/faults.md#locks-that-survive-crashes) lists every lock.")
		return
	}
	p.text("It is made for processes that do not crash and links that lose nothing. This is the worst that one fault can do among three processes, alone and combined with an [election](recovery.md):")
	p.line("\n| | message lost | message duplicated | crash while idle | crash while waiting | crash inside |\n|---|---|---|---|---|---|")
	for _, t := range tablesOf(p.results.Faults) {
		if t.column("crash inside") < 0 {
			continue
		}
		for _, r := range t.rows {
			lock, role, _ := strings.Cut(r[0], ": ")
			if lock != p.name && lock != p.name+"+bully" {
				continue
			}
			name := "`" + lock + "`"
			if role != "" {
				name += ": " + role
			}
			p.line("| %s | %s |", name, strings.Join(r[1:], " | "))
		}
	}
	p.text("*Goes on*: all live processes enter again. *Waits*: forever. *Unsafe*: two processes are inside. [What one fault does](../results/faults.md) has the commands that show each.")
}

// live says whether it runs live, and what it costs there.
func (p *page) live() {
	p.heading("Live")
	switch {
	case p.name == recoveryName:
		p.text("Not live: a view change takes its place. The view service agrees on the members through Raft, and leases make sure that an evicted member no longer holds a lock: see [the protocol](../protocol.md).")
	case !p.isLock() && p.spec.Family != algorithm.Transactions:
		p.text("Not live: leaders of a live cluster come from [elections with leases](../elections-live.md), which need no perfect failure detector.")
	case p.spec.Family == algorithm.Transactions:
		p.liveMethod()
	case catalog.NotLive(p.spec) != "":
		p.text("It does not run live: %s.", catalog.NotLive(p.spec))
	default:
		p.liveCost()
	}
}

func (p *page) liveMethod() {
	if p.method.Family == deadlock.Avoid {
		p.text("Not live: transactions of applications have no claims to declare.")
		return
	}
	p.text("It runs live as `kept:%s`, for the names below a prefix: see [kept locks](../kept.md).", p.name)
}

func (p *page) liveCost() {
	is := "It runs live"
	if catalog.Live()[0].Name == p.name {
		is = "It is the default of live locks"
	}
	p.text("%s: `stile serve --algorithm %s`, or for a prefix of names. Each lock is a group of its own, in which every member of the view has a seat. Seat 0 is the lock's home, which differs from name to name; the lock is born held by it.", is, p.name)
	p.text("Measured in whole processes, with N = 3 / 5 / 9 / 25 members ([what live locks cost](../results/live.md)):")
	p.line("\n| load | frames per entry | synchronisation delay, T | client delay, T | busiest member |\n|---|--:|--:|--:|--:|")
	for _, load := range []string{"locality", "one hot lock", "random locks"} {
		t := tableWith(p.results.Live, "Entries: "+load, "client delay")
		for _, r := range t.find(func(name string) bool { return name == p.name }) {
			p.line("| [%s](../results/live.md#entries-%s) | %s | %s | %s | %s |", load, strings.ReplaceAll(load, " ", "-"), t.of(r, "frames per entry"), t.of(r, "synchronisation delay"), t.of(r, "client delay"), t.of(r, "busiest member"))
		}
	}
	t := tableWith(p.results.Live, "A crash: locality, 9 members", "all")
	for _, r := range t.find(func(name string) bool { return name == p.name }) {
		p.text("After the crash of one of nine members, %s %% of all locks wait for its lease, with locality, and %s %% of those that it had used last.", t.of(r, "all"), t.of(r, "last holder"))
	}
}
