package document

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// What a transaction waits for.

// held records which transaction last had a lock.
type held struct {
	by    int  // its lane; 0, that of a site, if no transaction has had the lock yet
	given bool // it has ended its transaction since
}

// got notes that a transaction has acquired these locks.
func (r *recorder) got(lane int, locks string) {
	for k := range r.held {
		if slices.Contains(strings.Fields(locks), deadlock.LockName(k)) {
			r.held[k] = held{by: lane}
		}
	}
}

// gave notes that a transaction has ended.
func (r *recorder) gave(lane int) {
	for k := range r.held {
		if r.held[k].by == lane {
			r.held[k].given = true
		}
	}
}

// whyLocked says which transaction has the lock that this one waits for.
func (r *recorder) whyLocked(i int) string {
	s := "waits for " + r.lanes[i].lock
	at := slices.IndexFunc(r.edges, func(e Edge) bool { return e.From == i })
	if at < 0 {
		return s + r.whyUnheld(i)
	}
	to := r.edges[at].To
	s += ", held by " + r.name(to)
	chain := []int{i, to}
	for {
		at = slices.IndexFunc(r.edges, func(e Edge) bool { return e.From == to })
		if at < 0 {
			return s
		}
		next := r.edges[at].To
		if back := slices.Index(chain, next); back > 0 {
			var ring []string
			for _, p := range chain[back:] {
				ring = append(ring, r.name(p))
			}
			return s + "; " + list(ring) + " are in a deadlock"
		}
		s += "; " + r.name(to) + " waits for " + r.name(next)
		if next == i {
			return s + ": a deadlock"
		}
		chain, to = append(chain, next), next
	}
}

// whyUnheld says why a transaction waits although it waits for no other: its lock is free,
// or the site where that matters does not know yet that it is not.
func (r *recorder) whyUnheld(i int) string {
	k := 0
	for k < len(r.held)-1 && deadlock.LockName(k) != r.lanes[i].lock {
		k++
	}
	if m, ok := r.about(i); ok {
		return ": " + r.onItsWay(m)
	}
	keeper, bank := r.keeper(i, k)
	if r.lanes[keeper].status == Crashed {
		return ": " + r.name(int(keeper)) + ", which must grant it, has crashed"
	}
	switch h := r.held[k]; {
	case h.by > 0 && r.lanes[h.by].status == Crashed:
		return ", last held by " + r.name(h.by) + ", which has crashed"
	case h.by > 0 && !h.given:
		s := ", held by " + r.name(h.by) + "; "
		if m, ok := r.about(h.by); ok {
			return s + r.onItsWay(m)
		}
		return s + "no message about it is in flight"
	case h.by > 0:
		if m, ok := r.messageAbout(r.home(h.by), keeper, h.by, "RELEASE"); ok {
			return ", released by " + r.name(h.by) + ": " + r.onItsWay(m)
		}
	}
	for q := r.sites; q < len(r.lanes); q++ {
		if m, ok := r.messageAbout(keeper, r.home(q), q, "GRANT"); ok && m.field("lock") == itoa(k+1) {
			s := ", granted to " + r.name(q)
			if r.lanes[q].status == Crashed {
				s += ", which has crashed"
			}
			return s + ": " + r.onItsWay(m)
		}
	}
	if bank {
		return ", which is free" + r.whyKept(i, k, keeper)
	}
	return ", which is free; no message about it is in flight"
}

// whyKept says why the banker withholds a free lock, according to the state of its site.
func (r *recorder) whyKept(i, k int, site algorithm.ID) string {
	bank, n, me := &r.lanes[site], len(r.lanes)-r.sites, algorithm.ID(i-r.sites)
	units := make([]int, len(r.held))
	claims, have := make([][]int, n), make([][]int, n)
	for p := range n {
		claims[p], have[p] = make([]int, len(units)), make([]int, len(units))
		for _, lock := range many(bank.field(algorithm.ID(p).String()+".claimed"), len(units)) {
			claims[p][lock] = 1
		}
	}
	var all []queued
	for lock := range units {
		units[lock] = 1
		if tx, ok := one(bank.field(deadlock.LockName(lock)+".tx"), n); ok && bank.holds(lock) > 0 {
			have[tx][lock] = 1
		}
		all = append(all, bank.queue(lock, n)...)
	}
	at := slices.IndexFunc(all, func(q queued) bool { return q.tx == me && q.lock == k })
	if at < 0 {
		return "; no message about it is in flight"
	}
	if !r.opened(site) {
		return ": " + r.name(int(site)) + " becomes the banker only when all other sites have reported that its predecessor has crashed"
	}
	begun := slices.Contains(have[me], 1)
	have[me][k] = 1
	if !deadlock.Safe(units, claims, have) {
		return ": the banker keeps it, because granting it to " + r.name(i) + " would not be safe"
	}
	for _, q := range all {
		if !begun && q.tx != me && claims[q.tx][k] == 1 && cmp.Or(q.stamp-all[at].stamp, int(q.tx-me)) < 0 {
			return ": the banker keeps it for " + q.tx.String() + ", which is older and claims it too"
		}
	}
	return ""
}

// A queued is a transaction that waits at a site for a lock.
type queued struct {
	tx          algorithm.ID
	lock, stamp int
}

// holds returns how many transactions hold a lock at a site.
func (l *lane) holds(lock int) int {
	n, _ := strconv.Atoi(l.field(deadlock.LockName(lock) + ".holds"))
	return n
}

// queue returns the transactions that wait for a lock at a site, which lists them after its
// holders.
func (l *lane) queue(lock, n int) []queued {
	var all []queued
	for {
		place := ""
		if i := l.holds(lock) + len(all) + 1; i > 1 {
			place = " (" + itoa(i) + ")"
		}
		tx, ok := one(l.field(deadlock.LockName(lock)+".tx"+place), n)
		if !ok {
			return all
		}
		stamp, _ := strconv.Atoi(l.field(deadlock.LockName(lock) + ".stamp" + place))
		all = append(all, queued{tx, lock, stamp})
	}
}

// opened reports whether a site has become the banker, having heard from all others.
func (r *recorder) opened(site algorithm.ID) bool {
	dead, ready := many(r.lanes[site].field("dead"), r.sites), many(r.lanes[site].field("ready"), r.sites)
	for id := range algorithm.ID(r.sites) {
		if site > 0 && id != site && !slices.Contains(dead, id) && (id < site || !slices.Contains(ready, id)) {
			return false
		}
	}
	return true
}

// home returns the site of a process.
func (r *recorder) home(lane int) algorithm.ID { return r.sc.Homes[lane-r.sites] }

// keeper returns the site that grants a lock to a process: where the lock is, or the
// banker, which is the first site that is not known to have crashed.
func (r *recorder) keeper(lane, lock int) (site algorithm.ID, bank bool) {
	m, err := deadlock.Find(r.sc.Algorithm)
	if err != nil || !m.Claims {
		return r.sc.Locks[lock], false
	}
	dead := many(r.lanes[r.home(lane)].field("dead"), r.sites)
	for slices.Contains(dead, site) && int(site) < r.sites-1 {
		site++
	}
	return site, true
}

// about returns a message in flight about the current attempt of a process: its request, or
// the answer to it.
func (r *recorder) about(lane int) (message, bool) {
	home := r.home(lane)
	for site := range algorithm.ID(r.sites) {
		if m, ok := r.messageAbout(home, site, lane, "REQUEST"); ok {
			return m, true
		}
		if m, ok := r.messageAbout(site, home, lane, "GRANT", "DIE", "WOUND", "ABORT"); ok {
			return m, true
		}
	}
	return message{}, false
}

// messageAbout returns a message in flight between two sites about a process, of one of these
// kinds. Of the messages to and from its home, only those about its current attempt count;
// a RELEASE ends one.
func (r *recorder) messageAbout(from, to algorithm.ID, lane int, kinds ...string) (message, bool) {
	p := algorithm.ID(lane - r.sites)
	attempt := r.lanes[r.home(lane)].field(p.String() + ".attempt")
	for _, n := range r.wire.links[link{from, to}] {
		m := r.wire.messages[n]
		if slices.Contains(kinds, m.name) && m.field("tx") == itoa(int(p)+1) && (m.name == "RELEASE" || m.field("attempt") == attempt) {
			return m, true
		}
	}
	return message{}, false
}

// field returns the value of a field of the message, or nothing.
func (l *message) field(name string) string {
	v, _ := value(l.fields, 0, name)
	return v
}

// onItsWay says that a message between sites is in flight.
func (r *recorder) onItsWay(m message) string {
	return m.name + " is in flight from " + r.name(int(m.from)) + " to " + r.name(int(m.to))
}
