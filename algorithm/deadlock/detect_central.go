package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// How a coordinator obtains the local graphs.
const (
	OnChange = "change" // each site sends its graph whenever it has changed
	InBatch  = "batch"  // after a number of changes
	OnDemand = "demand" // when the coordinator asks for it
)

// DetectCentral returns the method of detection by a coordinator that joins the local
// graphs and looks for cycles. The youngest transaction in a cycle must abort. The
// coordinator is at first site 1; when it dies the others elect the next one: see seat.
//
// Sent on change or in batches, the graphs of different sites are from different times,
// and the coordinator may see a cycle that never existed. On demand, a request to another
// site carries a stamp, which here is the number of the transaction's attempt. Its edge
// counts only if the lock's site reports it and the waiting transaction's home reports it
// with the same stamp.
func DetectCentral() Method {
	return Method{
		Name: "detect-central", Title: "Detection by a coordinator", Family: Detection,
		Paper: "J. N. Gray: Notes on Data Base Operating Systems. Operating Systems: An Advanced Course, LNCS 60, 1978; the stamps: G. S. Ho, C. V. Ramamoorthy: Protocols for Deadlock Detection in Distributed Database Systems. IEEE TSE 8(6), 1982",
		Modes: []string{OnDemand, OnChange, InBatch},
		Exact: func(mode string) bool { return mode == OnDemand || mode == "" },
		make: func(mode string) func(l *Layout) method {
			return func(l *Layout) method { return newCentral(mode, l) }
		},
	}
}

const (
	batchSize  = 5 // changes
	batchDelay = 8 // delay after which an incomplete batch is sent, in units of a latency
	patience   = 4 // delay after which a waiting transaction demands a round
	batchTimer = maxIndex
)

// A report is the last graph that the coordinator has received from a site.
type report struct {
	edges  []hold
	wishes []wish
}

func (r *report) fields(c *algorithm.Coder) {
	list(c, "edges", &r.edges)
	list(c, "wishes", &r.wishes)
}

type central struct {
	plain
	seat
	mode   string
	union  func(s *site) []hold // how the graphs are joined
	victim func(cycle []node) node

	sent    []hold // change, batch: the graph sent last
	seen    []hold // batch: the graph at the last change
	changes int    // batch: number of changes since

	reports []report      // at the coordinator: by site
	told    []uint64      // at the coordinator: the attempt in which each was ordered to abort
	round   uint64        // demand: round of the coordinator
	missing algorithm.Set // demand: sites that have not answered yet
	again   bool          // demand: whether a round has been demanded since this one began

	demanded bool // demand: whether this site has, and no round has come since

	memory []hold // not part of the state: scratch memory for joining graphs
}

func newCentral(mode string, l *Layout) *central {
	m := &central{seat: newSeat(l.Sites), mode: mode, victim: youngest, reports: make([]report, l.Sites), told: make([]uint64, len(l.Home))}
	m.union = m.naive
	if mode == OnDemand {
		m.union = m.stamped
	}
	return m
}

func (m *central) fields(s *site, c *algorithm.Coder) {
	m.seat.fields(s, c)
	c.Int("changes", &m.changes, batchSize)
	list(c, "sent", &m.sent)
	list(c, "seen", &m.seen)
	c.Bool("demanded", &m.demanded)
	c.Seq("round", maxIndex, &m.round)
	c.Set("missing", &m.missing)
	c.Bool("again", &m.again)
	for i := range m.reports {
		c.Of("site ", i)
		m.reports[i].fields(c)
	}
	for tx := range m.told {
		c.Of("P", tx)
		c.Seq("told", algorithm.ID(tx), &m.told[tx])
	}
	c.Of("", 0)
}

// asked implements method: a transaction that waits for long demands a round.
func (m *central) asked(_ *site, who node, _ int, o *out) {
	if m.mode == OnDemand {
		o.SetTimer(who.tx, patience)
	}
}

func (m *central) expire(s *site, timer int, o *out) {
	switch {
	case timer == batchTimer && m.taken():
		m.sendGraph(s, m.coordinator, 0, o)
	case s.atHome(timer) && s.txs[timer].phase == waiting:
		if !m.demanded && m.taken() {
			m.demanded = true
			s.send(m.coordinator, message{kind: demand}, o)
		}
		o.SetTimer(timer, patience)
	}
}

// changed sends the local graph if it is due. While there is no coordinator it waits: the
// next one gets it at once.
func (m *central) changed(s *site, o *out) {
	if m.mode == OnDemand || !m.taken() {
		return
	}
	now := s.local()
	if m.mode == OnChange {
		if !slices.Equal(now, m.sent) {
			m.sendGraph(s, m.coordinator, 0, o)
		}
		return
	}
	if slices.Equal(now, m.seen) {
		return
	}
	m.seen = now
	m.changes++
	switch m.changes {
	case 1:
		o.SetTimer(batchTimer, batchDelay)
	case batchSize:
		m.sendGraph(s, m.coordinator, 0, o)
	}
}

// sendGraph sends the local graph to a coordinator.
func (m *central) sendGraph(s *site, to algorithm.ID, round uint64, o *out) {
	g := message{kind: graph, round: round, edges: s.local()}
	if m.mode == OnDemand {
		g.wishes = s.wishes()
	} else {
		m.sent, m.changes = g.edges, 0
	}
	s.send(to, g, o)
}

func (m *central) receive(s *site, from algorithm.ID, g *message, o *out) {
	lead := m.coordinator == s.self // if not, it may not have heard yet that it was elected
	switch {
	case g.kind == elect || g.kind == elected:
		m.poll(s, host.Input{Kind: host.Receive, From: from, Bytes: g.bytes}, o)
		m.follow(s, o)
	case g.kind == collect:
		m.demanded = false
		m.sendGraph(s, from, g.round, o) // it leads, although the news may still be in flight
	case g.kind == demand && m.mode == OnDemand:
		if m.again = true; lead && m.missing.Empty() {
			m.collect(s, o)
		}
	case g.kind == graph && m.valid(s, g):
		m.reports[from] = report{slices.Clone(g.edges), slices.Clone(g.wishes)}
		if m.mode != OnDemand && lead {
			m.search(s, o)
		} else if m.mode == OnDemand && g.round == m.round && m.missing.Has(from) {
			m.missing.Remove(from)
			m.close(s, o)
		}
	}
}

// valid reports whether the transactions and locks of a graph exist.
func (m *central) valid(s *site, g *message) bool {
	bad := func(n node) bool { return !s.layout.hasTx(n.tx) }
	return !slices.ContainsFunc(g.edges, func(h hold) bool { return bad(h.from) || bad(h.to) || !s.layout.hasLock(h.lock) }) &&
		!slices.ContainsFunc(g.wishes, func(w wish) bool { return bad(w.from) })
}

// collect begins a round.
func (m *central) collect(s *site, o *out) {
	m.round++
	m.again = false
	for id := range algorithm.ID(s.layout.Sites) {
		if !s.dead.Has(id) {
			m.missing.Add(id)
		}
	}
	for id := range m.missing.All() {
		s.send(id, message{kind: collect, round: m.round}, o)
	}
}

// close ends a round when all sites have answered.
func (m *central) close(s *site, o *out) {
	if m.missing.Empty() {
		m.search(s, o)
		clear(m.reports)
		if m.again {
			m.collect(s, o)
		}
	}
}

// naive joins the graphs as they are. In them a transaction is identified by its number:
// it may have committed, and be another one since.
func (m *central) naive(s *site) []hold {
	all := m.memory[:0]
	for i := range m.reports {
		for _, h := range m.reports[i].edges {
			if !m.gone(s, h.from) && !m.gone(s, h.to) {
				h.to.attempt = 0
				all = append(all, h)
			}
		}
	}
	return all
}

// stamped joins the graphs of one round. An edge of a request to another site counts only
// if both sites report it, with the same stamp.
func (m *central) stamped(s *site) []hold {
	all := m.memory[:0]
	for site := range m.reports {
		for _, h := range m.reports[site].edges {
			home := s.layout.Home[h.from.tx]
			twice := int(home) == site || slices.ContainsFunc(m.reports[home].wishes, func(w wish) bool {
				return w.from.same(h.from) && w.lock == h.lock
			})
			if twice && !m.gone(s, h.from) && !m.gone(s, h.to) {
				all = append(all, h)
			}
		}
	}
	return all
}

// gone reports that a node is no longer part of the graph: its site is dead, or it was
// ordered to abort.
func (m *central) gone(s *site, n node) bool {
	return s.dead.Has(s.layout.Home[n.tx]) || m.told[n.tx] == n.attempt && n.attempt != 0
}

// search looks for cycles and notifies a victim of each.
func (m *central) search(s *site, o *out) {
	m.memory = m.union(s)
	for _, cycle := range cyclesOf(m.memory) {
		victim := m.victim(cycle)
		m.told[victim.tx] = victim.attempt
		s.orderAbort(abort, victim, numbers(cycle), o)
	}
}

// died implements method: the graphs of a dead site are void.
func (m *central) died(s *site, d algorithm.ID, o *out) {
	m.reports[d] = report{}
	m.fill(s, d, o)
	m.follow(s, o)
	if m.coordinator != s.self {
		return
	}
	if m.mode != OnDemand {
		m.search(s, o)
	} else if m.missing.Has(d) {
		m.missing.Remove(d)
		m.close(s, o)
	}
}

// follow adopts the coordinator that the election has named. A new coordinator begins
// with nothing, and gets all graphs again.
func (m *central) follow(s *site, o *out) {
	if !m.settle(s) {
		return
	}
	o.Lead(m.coordinator)
	m.sent, m.seen, m.demanded, m.changes = nil, nil, false, 0
	switch {
	case m.mode != OnDemand:
		m.sendGraph(s, m.coordinator, 0, o)
	case m.coordinator == s.self && m.again && m.missing.Empty():
		m.collect(s, o)
	}
}

// cyclesOf returns the cycles among edges, of which at most one leaves each node. An edge
// to attempt 0 leads to whatever attempt waits.
func cyclesOf(edges []hold) [][]node {
	last := -1
	for _, h := range edges {
		last = max(last, h.from.tx)
	}
	next := make([]int, last+1) // 1 + the edge that leaves each transaction
	for i, h := range edges {
		next[h.from.tx] = i + 1
	}
	seen := make([]int, last+1) // 1 + the walk that visited it
	var cycles [][]node
	for tx := range next {
		at := tx
		for at <= last && next[at] != 0 && seen[at] == 0 {
			seen[at] = tx + 1
			e := edges[next[at]-1]
			if e.to.tx > last || next[e.to.tx] == 0 || e.to.attempt != 0 && !edges[next[e.to.tx]-1].from.same(e.to) {
				at = last + 1 // it does not wait, or another attempt does
				break
			}
			at = e.to.tx
		}
		if at > last || next[at] == 0 || seen[at] != tx+1 {
			continue
		}
		var cycle []node
		for end := at; ; {
			e := edges[next[at]-1]
			cycle = append(cycle, e.from)
			if at = e.to.tx; at == end {
				break
			}
		}
		cycles = append(cycles, cycle)
	}
	return cycles
}

// numbers returns the transactions of nodes.
func numbers(nodes []node) []int {
	txs := make([]int, len(nodes))
	for i, n := range nodes {
		txs[i] = n.tx
	}
	return txs
}
