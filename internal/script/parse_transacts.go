package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/spell"
)

// lookForSites reads the lines that place processes and locks, because they may come
// after lines that depend on them.
func (p *parser) lookForSites() error {
	for i := range p.lines {
		if p.begin(i); !p.siteActs() && p.has("site") {
			p.sites++
		}
	}
	if p.sites == 0 {
		return nil
	}
	s := p.s
	s.Sites, s.Backoff = p.sites, Always(T)
	home := map[algorithm.ID]int{} // site of each process, from 1
	locks := map[int]int{}         // site of each lock, from 1
	said, last := map[algorithm.ID]int{}, 0
	for i := range p.lines {
		if p.begin(i); p.siteActs() || !p.has("site") {
			continue
		}
		w := p.here()
		site := p.asSite(p.take())
		if line := said[site]; line > 0 {
			p.failAt(w, fmt.Sprintf("site %d is already on line %d: put all of it on one line", site+1, line))
		}
		said[site], last = i+1, i+1
		for len(p.words) > 0 && p.err == nil {
			p.member(int(site)+1, home, locks)
		}
		if p.err != nil {
			return p.err
		}
	}
	if err := p.settleSites(home, locks, last); err != nil {
		return err
	}
	for i := range p.lines {
		if p.begin(i); p.has("units") {
			if p.units(); p.err == nil {
				p.end()
			}
		}
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

// member reads one process or lock of a site.
func (p *parser) member(site int, home map[algorithm.ID]int, locks map[int]int) {
	w := p.take()
	w.text = strings.TrimSuffix(w.text, ",")
	twice := 0
	switch {
	case strings.HasPrefix(w.text, "L"):
		k := p.asLock(w, maxLocks)
		twice, locks[k] = locks[k], site
	case strings.HasPrefix(w.text, "P"):
		id := p.asProcess(w)
		twice, home[id] = home[id], site
	default:
		p.fail(w, "the processes and locks of the site, such as site 1 P1 P2 L1%s", smallP(w.text))
	}
	if twice > 0 {
		p.failAt(w, fmt.Sprintf("%s is already at site %d: name it once, at one site", w.text, twice))
	}
}

// settleSites adopts the sites that were read, if they are complete. An error is reported
// at line.
func (p *parser) settleSites(home map[algorithm.ID]int, locks map[int]int, line int) error {
	s := p.s
	fault := func(format string, args ...any) error {
		return &Error{p.file, line, 1, fmt.Sprintf(format, args...)}
	}
	for id := range algorithm.ID(s.Processes) {
		if home[id] == 0 {
			return fault("%v is at no site: name it on the line of its site, such as site 1 %v", id, id)
		}
		s.Homes = append(s.Homes, algorithm.ID(home[id]-1))
	}
	for k := range len(locks) {
		if locks[k] == 0 {
			return fault("%s is at no site, but locks with larger numbers are: number locks from L1 without gaps", lockName(k))
		}
		s.Locks = append(s.Locks, algorithm.ID(locks[k]-1))
	}
	if len(locks) == 0 {
		return fault("there are no locks: add them to the site lines, such as site 1 P1 L1")
	}
	return nil
}

// asLock reads L3, and returns 2.
func (r *reader) asLock(w word, n int) int {
	number, isLock := strings.CutPrefix(w.text, "L")
	x, err := strconv.Atoi(number)
	switch {
	case !isLock || !isNumber(number):
		r.fail(w, "a lock such as L2%s", lockHint(w.text))
	case err != nil || x < 1 || x > n:
		r.failAt(w, fmt.Sprintf("there is no lock %s: want L1 to L%d", w.text, n))
	}
	if r.err != nil {
		return 0
	}
	return x - 1
}

func lockHint(found string) string {
	switch {
	case isNumber(found):
		return "; did you mean L" + found + "?"
	case strings.HasPrefix(found, "l"):
		return "; the L must be a capital"
	}
	return ""
}

// lockOnly are the settings that a scenario with sites does not have, and siteOnly those
// that only it has.
var (
	lockOnly = [...]string{"topology", "sets", "inform", "k", "coordinator", "experiment", "patience", "holder", "network", "begin", "set", "section", "deposit"}
	siteOnly = [...]string{"mode", "backoff", "units"}
)

// fits refuses a setting that is not for this kind of scenario.
func (p *parser) fits(name word) {
	switch {
	case p.s.Transacts() && slices.Contains(lockOnly[:], name.text):
		p.failAt(name, fmt.Sprintf("found %q: transactions do not have this setting; remove this line, or the site lines", name.text))
	case !p.s.Transacts() && slices.Contains(siteOnly[:], name.text):
		p.failAt(name, fmt.Sprintf("found %q: this is for transactions, which run at sites; add lines such as site 1 P1 L1", name.text))
	}
}

// siteActs reports whether the line is an action on a site, and not a declaration: site 1
// suspects site 2, site 1 timer 3 expires.
func (p *parser) siteActs() bool {
	return len(p.words) > 2 && p.words[0].text == "site" && (p.words[2].text == "suspects" || p.words[2].text == "timer")
}

// siteDeed reads an action on a site, after the word site.
func (p *parser) siteDeed(a *Action) {
	a.Proc = p.asSite(p.take())
	if verb := p.take(); verb.text == "timer" {
		a.Kind, a.Timer = ExpireSite, p.number(0, 1<<30)
		if w := p.take(); w.text != "expires" {
			p.fail(w, "expires, as in site 1 timer 2 expires")
		}
		return
	} else if verb.text != "suspects" {
		p.fail(verb, "suspects or timer, as in site 1 suspects site 2 or site 1 timer 2 expires%s", didYouMean(verb.text, "suspects", "timer"))
	}
	a.Kind = SuspectSite
	if w := p.here(); !p.has("site") {
		p.fail(w, "site and its number, as in site 1 suspects site 2")
	}
	w := p.here()
	if a.Peer = p.asSite(p.take()); p.err == nil && a.Peer == a.Proc {
		p.failAt(w, fmt.Sprintf("site %d suspects itself: want another site", a.Proc+1))
	}
}

// takes reads the locks that a transaction takes, or that it goes on.
func (p *parser) takes(verb word, a *Action) {
	if verb.text == "goes" {
		if w := p.take(); w.text != "on" {
			p.fail(w, "on, as in %v goes on", a.Proc)
		}
		if a.Kind = Proceed; !p.s.Steps {
			p.failAt(verb, "goes on: in a timed schedule a transaction goes on by itself; remove this line, or add the line schedule steps")
		}
		return
	}
	switch verb.text {
	case "cancels":
		a.Kind = Cancel
		return
	case "aborts":
		a.Kind = Abandon
		return
	}
	if verb.text != "takes" {
		hint := didYouMean(verb.text, "takes", "goes", "cancels", "aborts")
		for _, v := range verbs {
			if v.word == verb.text {
				hint = "; a scenario with sites is about transactions"
			}
		}
		on := ""
		if p.s.Steps {
			on = ", or goes on"
		}
		p.fail(verb, "takes and the locks in their order, such as %v takes L1 L2%s, or cancels or aborts%s", a.Proc, on, hint)
		return
	}
	a.Kind = Take
	for first := true; first || len(p.words) > 0 && p.err == nil; first = false {
		w := p.take()
		if w.text == "for" && !first {
			if p.s.Steps {
				p.failAt(w, `found "for": steps take no time; let the transaction go on by a separate line, such as P2 goes on`)
				return
			}
			d := p.dist()
			a.Hold = &d
			return
		}
		w.text = strings.TrimSuffix(w.text, ",")
		k := p.asLock(w, len(p.s.Locks))
		if slices.Contains(a.Locks, k) {
			p.failAt(w, fmt.Sprintf("%s is named twice: a transaction takes a lock once and holds it until it ends", w.text))
		}
		a.Locks = append(a.Locks, k)
		if mode := p.lockMode(k); mode != 0 || a.Modes != nil {
			for len(a.Modes) < len(a.Locks)-1 {
				a.Modes = append(a.Modes, 0)
			}
			a.Modes = append(a.Modes, mode)
		}
	}
}

// lockMode reads the mode in which a lock is taken: shared, exclusive, or a number of
// units. Without one it is exclusive.
func (p *parser) lockMode(k int) (mode int) {
	w := p.here()
	next := strings.TrimSuffix(p.peek(), ",")
	switch {
	case next == "exclusive":
		p.take()
	case next == "shared":
		p.take()
		mode = -1
	case isNumber(next):
		mode = p.number(1, maxUnits)
		if u := p.here(); !p.has("units") && !p.has("unit") && !p.has("units,") && !p.has("unit,") {
			p.fail(u, "units, as in %s 2 units", lockName(k))
		}
	}
	if why := p.s.unfit(k, mode); why != "" {
		p.failAt(w, why)
	}
	return mode
}

// units reads how many units a lock has.
func (p *parser) units() {
	w := p.take()
	k := p.asLock(w, len(p.s.Locks))
	n := p.number(1, maxUnits)
	if p.err != nil {
		return
	}
	if p.s.Units == nil {
		p.s.Units = make([]int, len(p.s.Locks))
	}
	if p.s.Units[k] > 0 {
		p.failAt(w, fmt.Sprintf("the units of %s were set before: remove one of the lines", w.text))
	}
	p.s.Units[k] = n
}

// siteOrder reads an action on a site, or on a message between sites.
func (p *parser) siteOrder(first word, a *Action) {
	a.Kind = CrashSite
	for _, o := range orders {
		if o.word == first.text && o.kind.OnLink() {
			if a.Kind = o.kind; a.Kind == Deliver && p.has("all") {
				a.Kind = DeliverAll
				return
			}
			p.onLink(a)
			return
		}
	}
	switch {
	case first.text == "site":
		p.siteDeed(a)
	case first.text != "crash":
		p.fail(first, "a process such as P2, deliver 1 -> 2, crash site 2, site 1 suspects site 2 or site 1 timer 3 expires: a scenario with sites is about transactions%s%s", didYouMean(first.text, "crash", "deliver", "site"), smallP(first.text))
	case p.peek() != "site":
		p.fail(p.here(), "site and its number, such as crash site 2: processes crash with their site")
	default:
		p.take()
		a.Proc = p.asSite(p.take())
	}
}

// transacting are the words that an expectation of transactions may begin with.
var transacting = [...]string{"commits", "aborts", "stuck", "deadlocks", "cycle", "false", "phantom"}

// violation reads the property that transactions violate: only one has a name.
func (p *parser) violation(e *Expectation) {
	e.Kind = Violated
	w := p.take()
	if e.Name = w.text; e.Name != MutualExclusion {
		p.fail(w, "%s: for transactions, expect a cycle, a false cycle or stuck instead", MutualExclusion)
	}
}

// ofTransactions reads an expectation about transactions.
func (p *parser) ofTransactions(w word, e *Expectation) {
	list := func(kind ExpectKind, none bool, what string) {
		if e.Kind = kind; !none || !p.has("none") {
			p.processes(e, what)
		}
	}
	switch w.text {
	case "commits":
		list(Commits, true, "the processes in the order of their commits, such as commits P5 P1, or none")
	case "aborts":
		list(Aborts, true, "the processes in the order in which they abort, such as aborts P2, or none")
	case "stuck":
		list(Stuck, true, "the processes whose transactions never end, such as stuck P1 P2, or none")
	case "cycle":
		list(Cycle, false, "the members of a deadlock, each waiting for the next, such as cycle P2 P3 P4")
	case "false":
		p.falseCycle()
		list(FalseCycle, false, "the members of a deadlock that was reported but never was, such as false cycle P1 P2")
	case "phantom":
		list(Phantom, false, "the members of a deadlock that was reported although an abort or a crash had just broken it, such as phantom P1 P2")
	case "no":
		e.Kind = NoFalseCycle
		if f := p.here(); !p.has("false") {
			p.fail(f, "false cycle, as in expect no false cycle")
		}
		p.falseCycle()
	case "violation":
		p.violation(e)
	case "deadlocks":
		e.Kind, e.N = Deadlocks, p.number(0, 1<<40)
	default:
		p.ofProcess(w, e)
	}
}

func (p *parser) falseCycle() {
	if w := p.here(); !p.has("cycle") {
		p.fail(w, "cycle, as in false cycle P1 P2")
	}
}

// ofProcess reads an expectation about the transactions of one process.
func (p *parser) ofProcess(w word, e *Expectation) {
	switch {
	case w.text == "at" && p.s.Steps:
		p.failAt(w, `found "at": steps have no times; put the line between the actions, where it must hold`)
	case w.text == "at":
		e.When = Moment{Kind: AtTime, At: p.time()}
		w = p.take()
	case p.s.Steps:
		e.When = Moment{Kind: AfterActions, Count: len(p.s.Actions)}
	}
	if !strings.HasPrefix(w.text, "P") {
		words := append(slices.Clone(transacting[:]), "no", "violation", "messages", "at")
		p.fail(w, "a process such as P2, or %s, because this is about transactions%s%s", spell.Either(words...), didYouMean(w.text, words...), smallP(w.text))
		return
	}
	e.Proc = p.asProcess(w)
	verb := p.take()
	switch {
	case verb.text == "idle":
		e.Kind, e.Phase = PhaseIs, Idle
	case verb.text == "waits" && p.has("for"):
		e.Kind = WaitsFor
		other := p.here()
		if e.Peer = p.process(); e.Peer == e.Proc {
			p.failAt(other, fmt.Sprintf("%v waits for itself: want another process", e.Proc))
		}
	case verb.text == "waits":
		e.Kind, e.Phase = PhaseIs, Waits
	case (verb.text == "commits" || verb.text == "aborts") && p.s.Steps:
		p.failAt(verb, fmt.Sprintf("steps have no times: use expect %s for the order", verb.text))
	case (verb.text == "commits" || verb.text == "aborts") && e.When.Kind == AtEnd:
		if e.Kind = CommitsAt; verb.text == "aborts" {
			e.Kind = AbortsAt
		}
		if at := p.here(); !p.has("at") {
			p.fail(at, "at and the time, such as expect %v %s at 7", e.Proc, verb.text)
		}
		e.At = p.time()
	default:
		words := []string{"waits", "waits for another", "idle", "commits at a time", "aborts at a time"}
		p.fail(verb, "%s%s", spell.Either(words...), didYouMean(verb.text, "waits", "idle", "commits", "aborts"))
	}
}
