package deadlock

import "slices"

// Paths is one site's part in path pushing, the detection of DetectDistributed: what it
// knows about transactions that wait at other sites. It is the part of a site that a lock
// service needs too, and is pure. The host calls a method for everything that happens, and
// then Search:
//
//	Requested  a request has arrived here
//	Queued     requests wait here, and what they wait for may be new
//	Granted    a request was granted here
//	Ended      an attempt has ended, or a request of it waits no longer
//	Waits      a transaction that holds a lock here waits at another site
//	Receive    another site has pushed a path to this one
//	Answered   a home has answered a question about a deadlock
//	Drop       a home is gone
//
// Search returns the deadlocks that must be confirmed, whose questions the host asks, and
// the paths that it must send. All this is void in the next view.
//
// A path is kept until its last transaction no longer waits here. Another transaction on it
// may have ended at its own site, which this site cannot know: a deadlock that contains it is
// not confirmed. So a request that waits for very long may collect many paths.
type Paths struct {
	PathsConfig
	victim  func(cycle []Attempt) Attempt
	smaller func(last, first Attempt) bool // the rule that lets a path go on

	away  []wish // holders here that wait elsewhere: Pn -> EXT
	paths []Path // received
	sent  []Path
	asks  Inquiries // deadlocks that are being confirmed

	roster *roster
	known  []record // by index

	// Not part of the state: memory of the search, and what it has not seen yet.
	web     *web
	news    news
	arrived bool // whether the last of paths is new
}

// A PathsConfig says what a host knows about members.
type PathsConfig struct {
	Gone func(who Attempt) bool // whether the home of a transaction is gone; nil for never
	Away func(lock int) bool    // whether a lock is kept by another member, which lives; nil for always
}

// A Path leads from one waiting transaction to another: each node waits for the next, and
// the last one for a lock of the site to which the path is sent.
type Path struct {
	Nodes []Attempt
	Lock  int // number of that lock, as the host likes
}

// first and last return the ends of a path.
func (r *Path) first() Attempt { return r.Nodes[0] }
func (r *Path) last() Attempt  { return r.Nodes[len(r.Nodes)-1] }

// equal reports whether two paths are the same.
func (r *Path) equal(t Path) bool { return r.Lock == t.Lock && slices.Equal(r.Nodes, t.Nodes) }

// A record is what is known about a transaction.
type record struct {
	latest uint64 // last known attempt: those before it have ended
	gone   bool   // whether that one has ended too
	past   int    // requests of that one up to this are over
}

// NewPaths returns the part of a site that knows of no transaction yet.
func NewPaths(c PathsConfig) *Paths { return newPaths(c, 0) }

// newPaths is NewPaths for transactions with numbers below dense and without an Origin, as
// far as there are such: then an index is a number.
func newPaths(c PathsConfig, dense int) *Paths {
	if c.Gone == nil {
		c.Gone = func(Attempt) bool { return false }
	}
	if c.Away == nil {
		c.Away = func(int) bool { return true }
	}
	r := &roster{dense: dense, size: dense}
	return &Paths{
		PathsConfig: c, victim: youngest, smaller: func(last, first Attempt) bool { return byIdentity(last, first) < 0 },
		roster: r, known: make([]record, dense), web: newWeb(r), news: news{all: true, roster: r},
	}
}

// of returns what is known about a transaction.
func (p *Paths) of(who Attempt) *record { return grown(&p.known, p.roster.index(who)) }

// Requested handles the arrival of a request.
func (p *Paths) Requested(who Attempt) { p.see(who) }

// Queued handles requests that have begun to wait here, or wait for others now.
func (p *Paths) Queued(all ...Request) {
	for i := range all {
		p.news.add(all[i].Attempt)
	}
}

// Granted handles a grant: paths that ended with who waiting lead nowhere from here now,
// and need not be stored until its attempt ends.
func (p *Paths) Granted(who Attempt, lock int) {
	p.paths = slices.DeleteFunc(p.paths, func(r Path) bool { return r.Lock == lock && r.last().same(who) })
}

// Ended handles the end of an attempt or, if who has a Seq, that of a request's wait.
func (p *Paths) Ended(who Attempt) {
	switch k := p.of(who); {
	case who.Number < k.latest:
	case who.Seq == 0:
		*k = record{who.Number, true, 0}
	default:
		p.see(who)
		k = p.of(who)
		k.past = max(k.past, who.Seq)
	}
	p.forget()
}

// Waits handles a transaction that holds a lock here and waits for one elsewhere.
func (p *Paths) Waits(who Attempt, lock int) {
	if p.isOver(who) {
		return
	}
	p.see(who)
	p.away = slices.DeleteFunc(p.away, func(w wish) bool { return w.from.of(who) })
	p.away = append(p.away, wish{who, lock})
	p.news.add(who)
}

// Receive handles a path of two or more nodes whose last one waits here.
func (p *Paths) Receive(r Path) {
	if len(r.Nodes) < 2 || p.stale(r) {
		return
	}
	p.see(r.Nodes...)
	if p.stale(r) {
		return // two attempts of one transaction, which no correct site sends
	}
	p.paths = append(slices.DeleteFunc(p.paths, r.equal), r)
	p.arrived = true
}

// Answered handles an answer. It returns a deadlock if all have confirmed that: then its
// victim must abort.
func (p *Paths) Answered(who Attempt, yes bool) *Deadlock {
	d, confirmed := p.asks.Answered(who, yes)
	switch {
	case confirmed:
		p.Ended(d.Victim) // it waits no longer, whatever it does
		return d
	case d != nil:
		p.Ended(who)
		p.news.all = true // the victim is spared, and may be part of another deadlock
	}
	return nil
}

// Drop handles that more homes are gone.
func (p *Paths) Drop() {
	p.forget()
	p.news.all = len(p.asks.Drop(p.Gone)) > 0 || p.news.all
}

// isOver reports that an attempt has ended, or a request, as far as is known here.
func (p *Paths) isOver(n Attempt) bool {
	k := p.of(n)
	return n.Number < k.latest || n.Number == k.latest && (k.gone || n.Seq > 0 && n.Seq <= k.past) || p.Gone(n)
}

// stale reports that an attempt on a path has ended.
func (p *Paths) stale(r Path) bool { return slices.ContainsFunc(r.Nodes, p.isOver) }

// forget drops everything about ended attempts. The web identifies a transaction by its
// number, so a later attempt would become part of an old path.
func (p *Paths) forget() {
	p.away = slices.DeleteFunc(p.away, func(w wish) bool { return p.isOver(w.from) })
	p.paths = slices.DeleteFunc(p.paths, p.stale)
	p.sent = slices.DeleteFunc(p.sent, p.stale)
}

// see records attempts: those before them have ended, and so have the waits of earlier
// requests.
func (p *Paths) see(nodes ...Attempt) {
	more := false
	for _, n := range nodes {
		k := p.of(n)
		if n.Number > k.latest {
			*k = record{latest: n.Number}
			more = true
		}
		if n.Number == k.latest && n.Seq-1 > k.past {
			k.past = n.Seq - 1
			more = true
		}
	}
	if more {
		p.forget()
	}
}

// Due reports whether there is anything new to search for.
func (p *Paths) Due() bool { return !p.news.none() || p.arrived }

// Search examines the graph, of which local is this site's part, and ext the requests here
// of transactions that hold locks elsewhere: deadlocks first, then paths to forward. What
// has disappeared since the last search makes no cycle and no path.
func (p *Paths) Search(local []Arc, ext []Attempt) (found []Deadlock, push []Path) {
	if !p.Due() {
		return nil, nil
	}
	if p.look(local, ext); p.news.none() {
		return nil, nil // a path with nothing new
	}
	for cycle := p.web.cycle(); cycle != nil; cycle = p.web.cycle() {
		d := Deadlock{p.victim(cycle), cycle, cycle}
		p.asks.Open(d)
		found = append(found, d)
		p.look(local, ext)
	}
	p.web.walk(&p.news, func(nodes []Attempt) {
		if r, ok := p.leads(nodes); ok {
			p.sent = append(p.sent, r)
			push = append(push, r)
		}
	})
	p.news.clear()
	p.tidy()
	return found, push
}

// look builds the web of what is known about who waits for whom: here, and on the
// received paths. After an abort some of it may be stale, so more than one edge may leave
// a node. EXT -> P1 exists for a transaction that waits here and has locks elsewhere, and
// where a received path begins. Victims of deadlocks that are being confirmed do not wait.
func (p *Paths) look(local []Arc, ext []Attempt) {
	w := p.web
	w.clear()
	for _, a := range ext {
		if !p.isOver(a) {
			w.enter(a)
		}
	}
	for _, a := range local {
		if !p.isOver(a.From) && !p.isOver(a.To) && !p.asks.About(a.From) {
			w.add(a)
		}
	}
	for k, r := range p.paths {
		fresh := p.arrived && k == len(p.paths)-1
		for i, to := range r.Nodes[1:] {
			if from := r.Nodes[i]; !w.has(from, to) && !p.asks.About(from) {
				w.add(Arc{From: from, To: to, Lock: -1})
				p.news.addIf(fresh, from)
			}
		}
		if !w.of(r.first()).entered {
			w.enter(r.first())
			p.news.addIf(fresh, r.first())
		}
	}
	p.arrived = false
	for i, a := range p.away {
		w.leave(a.from, i)
	}
}

// leads returns the path to forward, if nodes lead to another site, and the rule allows it.
func (p *Paths) leads(nodes []Attempt) (Path, bool) {
	last := nodes[len(nodes)-1]
	i := p.web.of(last).exit - 1
	if i < 0 || !p.smaller(last, nodes[0]) {
		return Path{}, false
	}
	nodes[len(nodes)-1] = p.away[i].from // with the request that waits there
	r := Path{nodes, p.away[i].lock}
	if !p.Away(r.Lock) || slices.ContainsFunc(p.sent, r.equal) {
		return Path{}, false
	}
	r.Nodes = slices.Clone(r.Nodes)
	return r, true
}

// maxIdle is how many transactions may have indices without need.
const maxIdle = 1 << 10

// tidy gives up the indices of transactions that nothing here mentions. That they have
// ended is then forgotten: an old path with them may be taken for a new one, and is refuted
// when the deadlock is not confirmed.
func (p *Paths) tidy() {
	if p.roster.size-p.roster.dense <= maxIdle {
		return
	}
	p.web.clear()
	old, known := *p.roster, p.known
	*p.roster = roster{dense: old.dense, size: old.dense}
	p.known = slices.Clone(known[:old.dense])
	*p.web, p.news = *newWeb(p.roster), news{roster: p.roster}
	keep := func(who Attempt) {
		if i := old.index(who); i < len(known) {
			*p.of(who) = known[i]
		}
	}
	for _, w := range p.away {
		keep(w.from)
	}
	for _, r := range slices.Concat(p.paths, p.sent) {
		for _, n := range r.Nodes {
			keep(n)
		}
	}
}

// A roster gives transactions indices.
type roster struct {
	dense int // transactions of Origin 0 with smaller numbers have these as indices
	size  int
	of    map[identity]int // the others
}

type identity struct {
	origin uint64
	tx     int
}

// index returns the index of a transaction.
func (r *roster) index(a Attempt) int {
	if a.Origin == 0 && a.Tx >= 0 && a.Tx < r.dense {
		return a.Tx
	}
	id := identity{a.Origin, a.Tx}
	i, ok := r.of[id]
	if !ok {
		if r.of == nil {
			r.of = make(map[identity]int)
		}
		i = r.size
		r.of[id], r.size = i, i+1
	}
	return i
}

// grown returns an element of a slice, which is made longer if it must be.
func grown[T any](all *[]T, i int) *T {
	for len(*all) <= i {
		var none T
		*all = append(*all, none)
	}
	return &(*all)[i]
}
