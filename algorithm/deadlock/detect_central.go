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
// site carries a stamp, which here is the number of the transaction's attempt and of the
// request within it. Its edge counts only if the lock's site reports it and the waiting
// transaction's home reports it with the same stamp. That is not enough if transactions
// abort or cancel requests during the round. So the coordinator asks the transactions of a
// cycle whether they still wait, before it orders a victim to abort. The other modes do
// without: they are here to show what goes wrong.
func DetectCentral() Method {
	return Method{
		Name: "detect-central", Title: "Detection by a coordinator", Family: Detection,
		Paper: "J. N. Gray: Notes on Data Base Operating Systems. Operating Systems: An Advanced Course, LNCS 60, 1978; the stamps: G. S. Ho, C. V. Ramamoorthy: Protocols for Deadlock Detection in Distributed Database Systems. IEEE TSE 8(6), 1982",
		Modes: []string{OnDemand, OnChange, InBatch},
		Exact: func(mode string) bool { return mode == OnDemand || mode == "" },
		modal: graphRules,
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
	edges  []Arc
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
	union  func(s *site) []Arc // how the graphs are joined
	victim func(cycle []Attempt) Attempt

	sent    []Arc // change, batch: the graph sent last
	seen    []Arc // batch: the graph at the last change
	changes int   // batch: number of changes since

	reports []report      // at the coordinator: by site
	told    []Attempt     // at the coordinator: the last victim's attempt of each transaction; see gone
	round   uint64        // demand: round of the coordinator; on FIFO channels no correct site sends a graph of another
	missing algorithm.Set // demand: sites that have not answered yet
	again   bool          // demand: whether a round has been demanded since this one began
	asks    Inquiries     // demand: deadlocks that are being confirmed

	demanded bool // demand: whether this site has, and no round has come since

	memory []Arc // not part of the state: scratch memory for joining graphs
}

func newCentral(mode string, l *Layout) *central {
	m := &central{seat: newSeat(l.Sites), mode: mode, victim: youngest, reports: make([]report, l.Sites), told: make([]Attempt, len(l.Home))}
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
	list(c, "asks", &m.asks.all)
	for i := range m.reports {
		c.Of("site ", i)
		m.reports[i].fields(c)
	}
	for tx := range m.told {
		c.Of("P", tx)
		c.Seq("told", algorithm.ID(tx), &m.told[tx].Number)
		c.Int("request", &m.told[tx].Seq, maxIndex)
	}
	c.Of("", 0)
}

// asked implements method: a transaction that waits for long demands a round.
func (m *central) asked(_ *site, who Attempt, _ int, o *out) {
	if m.mode == OnDemand {
		o.SetTimer(who.Tx, patience)
	}
}

func (m *central) expire(s *site, timer int, o *out) {
	switch {
	case timer == batchTimer && m.taken():
		m.sendGraph(s, m.coordinator, 0, o)
	case s.atHome(timer) && s.txs[timer].phase == waiting:
		if !m.demanded && m.taken() {
			m.demanded = true
			o.Because(graphDemand, facts{Who: algorithm.ID(timer), Site: m.coordinator})
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
	o.Because(graphCount, facts{N: m.changes})
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
	o.Because(graphSend, facts{Site: to})
	s.send(to, g, o)
}

func (m *central) receive(s *site, from algorithm.ID, g *message, o *out) {
	lead := m.coordinator == s.self // if not, it may not have heard yet that it was elected
	switch {
	case g.kind == elect || g.kind == elected:
		o.Because(seatVote, facts{Site: from})
		m.poll(s, host.Input{Kind: host.Receive, From: from, Bytes: g.bytes}, o)
		m.follow(s, o)
	case g.kind == collect:
		m.demanded = false
		m.sendGraph(s, from, g.round, o) // it leads, although the news may still be in flight
	case g.kind == demand && m.mode == OnDemand:
		o.Because(graphAgain, facts{Site: from})
		if m.again = true; lead && m.missing.Empty() {
			m.collect(s, o)
		}
	case g.kind == answer:
		o.Because(findAnswer, facts{Who: algorithm.ID(g.from.Tx), Site: from})
		if d, confirmed := m.asks.Answered(g.from, g.yes); confirmed {
			s.orderAbort(findAbort, facts{}, abort, d.Victim, numbers(d.Cycle), o)
		} else if d != nil {
			o.Because(findSpare, facts{Who: algorithm.ID(d.Victim.Tx)})
			m.spare(d.Victim)
		}
	case g.kind == graph && m.valid(s, g):
		o.Because(graphKeep, facts{Site: from})
		m.reports[from] = report{slices.Clone(g.edges), slices.Clone(g.wishes)}
		if m.mode != OnDemand && lead {
			m.search(s, o)
		} else if m.mode == OnDemand && g.round == m.round && m.missing.Has(from) {
			m.missing.Remove(from)
			m.close(s, o)
		}
	default:
		o.Because(siteVoid, facts{Site: from})
	}
}

// valid reports whether the transactions and locks of a graph exist.
func (m *central) valid(s *site, g *message) bool {
	bad := func(n Attempt) bool { return !s.layout.hasTx(n.Tx) }
	return !slices.ContainsFunc(g.edges, func(h Arc) bool { return bad(h.From) || bad(h.To) || !s.layout.hasLock(h.Lock) }) &&
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
		o.Because(graphCollect, facts{Site: id})
		s.send(id, message{kind: collect, round: m.round}, o)
	}
}

// close ends a round when all sites have answered.
func (m *central) close(s *site, o *out) {
	if m.missing.Empty() {
		m.search(s, o)
		clear(m.reports) // the next round brings all of them anew, so this only keeps states few
		if m.again {
			m.collect(s, o)
		}
	}
}

// naive joins the graphs as they are. In them a transaction is identified by its number:
// it may have committed, and be another one since.
func (m *central) naive(s *site) []Arc {
	all := m.memory[:0]
	for i := range m.reports {
		for _, h := range m.reports[i].edges {
			if !m.gone(s, h.From) && !m.gone(s, h.To) {
				h.To.Number, h.To.Seq = 0, 0
				all = append(all, h)
			}
		}
	}
	return all
}

// stamped joins the graphs of one round. An edge of a request to another site counts only
// if both sites report it, with the same stamp.
func (m *central) stamped(s *site) []Arc {
	all := m.memory[:0]
	for site := range m.reports {
		for _, h := range m.reports[site].edges {
			home := s.layout.Home[h.From.Tx]
			twice := int(home) == site || slices.ContainsFunc(m.reports[home].wishes, func(w wish) bool {
				return w.from == h.From && w.lock == h.Lock
			})
			if twice && !m.gone(s, h.From) && !m.gone(s, h.To) {
				all = append(all, h)
			}
		}
	}
	return all
}

// gone reports that a node is no longer part of the graph: its site is dead, or it was
// chosen as a victim (on demand, with that request), although the graphs of other sites
// still have it. The checker has found no promise that depends on this. It saves messages,
// because each graph that arrives in the meantime would bring the same order again, or an
// inquiry; and in the naive modes it saves transactions from aborting for a broken cycle.
func (m *central) gone(s *site, n Attempt) bool {
	told := m.told[n.Tx]
	return s.dead.Has(s.layout.Home[n.Tx]) || told.Number == n.Number && n.Number != 0 && (told.Seq == 0 || told.Seq == n.Seq)
}

// search looks for cycles and notifies a victim of each.
func (m *central) search(s *site, o *out) {
	m.memory = m.union(s)
	found := deadlocks(m.memory, m.victim)
	if len(found) == 0 {
		o.Because(graphNone, facts{})
	}
	for _, d := range found {
		because(d, o)
		if m.mode == OnDemand {
			m.asks.Open(d)
			s.ask(d, o)
		} else {
			d.Victim.Seq = 0 // whatever it does by then
			s.orderAbort(findAbort, facts{}, abort, d.Victim, numbers(d.Cycle), o)
		}
		m.told[d.Victim.Tx] = Attempt{Number: d.Victim.Number, Seq: d.Victim.Seq}
	}
}

// spare takes back that a victim was chosen, because the deadlock was not confirmed. If
// there is one after all, another round will be demanded.
func (m *central) spare(victim Attempt) {
	if m.told[victim.Tx].Number == victim.Number {
		m.told[victim.Tx] = Attempt{}
	}
}

// died implements method: the graphs of a dead site are void.
func (m *central) died(s *site, d algorithm.ID, o *out) {
	m.reports[d] = report{}
	for _, f := range m.asks.Drop(s.buried) {
		m.spare(f.Victim)
	}
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
	o.Because(seatLead, facts{Site: m.coordinator})
	o.Lead(m.coordinator)
	m.sent, m.seen, m.demanded, m.changes = nil, nil, false, 0
	switch {
	case m.mode != OnDemand:
		m.sendGraph(s, m.coordinator, 0, o)
	case m.coordinator == s.self && m.again && m.missing.Empty():
		m.collect(s, o)
	}
}

// numbers returns the transactions of nodes.
func numbers(nodes []Attempt) []int {
	txs := make([]int, len(nodes))
	for i, n := range nodes {
		txs[i] = n.Tx
	}
	return txs
}
