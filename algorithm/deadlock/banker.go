package deadlock

import (
	"slices"
	"sort"

	"github.com/stile-lock/stile/algorithm"
)

// Banker returns the method of avoidance: transactions claim beforehand what they may
// request, and a lock is given only if there is still an order in which all can get what
// they claim and end. One site, the banker, decides for all locks. When it dies the next
// one does, as soon as every other site has reported that its transactions have released
// what the dead banker gave them.
func Banker() Method {
	return Method{
		Name: "banker", Title: "Banker's algorithm", Family: Avoid, Claims: true, single: true, Exact: always,
		Paper: "E. W. Dijkstra: Cooperating Sequential Processes. EWD 123, 1965",
		rules: bankerRules,
		make:  only(func(l *Layout) method { return &banker{claimed: make([][]int, len(l.Home))} }),
	}
}

type banker struct {
	plain
	claimed [][]int       // claims of each transaction that has requested
	ready   algorithm.Set // sites that hold nothing of an earlier banker
}

func (b *banker) fields(_ *site, c *algorithm.Coder) {
	c.Set("ready", &b.ready)
	for tx := range b.claimed {
		c.Of("P", tx)
		c.Indexes("claimed", &b.claimed[tx], maxIndex)
	}
	c.Of("", 0)
}

func (b *banker) keeper(s *site, _ int) algorithm.ID { return s.lowest() }

// keeps implements method: a request may arrive before the site has heard that it is the
// banker.
func (b *banker) keeps(*site, int) bool { return true }

func (b *banker) claims(t *transaction) []int { return t.claims }

// allows implements method: a transaction gets only what it has claimed, and alone.
func (b *banker) allows(t *transaction, k int, m Mode) bool {
	return m != Shared && slices.Contains(t.claims, k)
}

func (b *banker) heard(s *site, who Attempt, m *message) {
	b.claimed[who.Tx] = slices.DeleteFunc(slices.Clone(m.claims), func(k int) bool { return !s.layout.hasLock(k) })
}

func (b *banker) ended(_ *site, who Attempt) {
	if who.Seq == 0 {
		b.claimed[who.Tx] = nil
	}
}

// opens reports whether the bank is open.
func (b *banker) opens(s *site) bool {
	for id := range s.self { // the bankers before are dead
		if !s.dead.Has(id) {
			return false
		}
	}
	for id := range algorithm.ID(s.layout.Sites) {
		if s.self > 0 && id != s.self && !s.dead.Has(id) && !b.ready.Has(id) {
			return false
		}
	}
	return true
}

func (b *banker) receive(s *site, from algorithm.ID, m *message, o *out) {
	if m.kind != demand {
		o.Because(siteVoid, facts{Site: from})
		return
	}
	o.Because(bankReady, facts{Site: from})
	b.ready.Add(from)
	b.pass(s, nil, o)
}

func (b *banker) died(s *site, d algorithm.ID, o *out) {
	if next := s.lowest(); d < next && next != s.self {
		o.Because(bankNotify, facts{Site: next})
		s.send(next, message{kind: demand}, o)
	}
	for tx, home := range s.layout.Home {
		if home == d {
			b.claimed[tx] = nil
		}
	}
}

// safeWith reports whether the state is safe once who has k.
func (b *banker) safeWith(s *site, k int, who Attempt) bool {
	s.locks[k].holds = append(s.locks[k].holds, Hold{Request: Request{Attempt: who}})
	safe := b.safe(s)
	s.locks[k].holds = s.locks[k].holds[:0]
	return safe
}

// safe is Safe for single instances. There all transactions can end, one after the other,
// unless some wait in a ring for what others have and they claim.
func (b *banker) safe(s *site) bool {
	seen := make([]uint8, len(b.claimed)) // 1 while the transactions it may wait for are examined, then 2
	var ends func(tx int) bool
	ends = func(tx int) bool {
		seen[tx] = 1
		for _, k := range b.claimed[tx] {
			h := s.locks[k].holder()
			if h >= 0 && h != tx && (seen[h] == 1 || seen[h] == 0 && !ends(h)) {
				return false
			}
		}
		seen[tx] = 2
		return true
	}
	for tx := range b.claimed {
		if seen[tx] == 0 && !ends(tx) {
			return false
		}
	}
	return true
}

// pass implements method: whenever something changes, any lock may have become safe to
// give. The oldest transactions are examined first, each once: giving a lock makes
// nothing safe that was not. The state after giving a lock must be safe, and a transaction
// that has nothing yet must not overtake an older one that waits and claims the lock too.
func (b *banker) pass(s *site, _ []int, o *out) {
	if s.lowest() != s.self || !b.opens(s) {
		o.Because(bankClosed, facts{})
		return
	}
	all := b.waiting(s)
	sort.SliceStable(all, func(i, j int) bool { return all[i].from.older(all[j].from) })
	holds := make([]bool, len(b.claimed))
	for k := range s.locks {
		if h := s.locks[k].holder(); h >= 0 {
			holds[h] = true
		}
	}
	older := make([]bool, len(s.locks)) // locks claimed by an older transaction that still waits
	for _, w := range all {
		l, f := &s.locks[w.lock], facts{Who: algorithm.ID(w.from.Tx), N: w.lock}
		switch {
		case l.holder() >= 0:
		case !holds[w.from.Tx] && older[w.lock]:
			o.Because(bankOlder, f)
		case !b.safeWith(s, w.lock, w.from):
			o.Because(bankUnsafe, f)
		default:
			i := slices.IndexFunc(l.queue, func(r Request) bool { return r.Attempt == w.from })
			s.do(w.lock, []Effect{l.grant(i)}, o)
			holds[w.from.Tx] = true
			continue
		}
		for _, k := range b.claimed[w.from.Tx] {
			older[k] = true
		}
	}
}

// waiting returns all waiting requests.
func (b *banker) waiting(s *site) []wish {
	var all []wish
	for k := range s.locks {
		for _, w := range s.locks[k].queue {
			all = append(all, wish{w.Attempt, k})
		}
	}
	return all
}

// holder returns the transaction that has a lock for itself, or -1.
func (k *Keeper) holder() int {
	if len(k.holds) == 0 {
		return -1
	}
	return k.holds[0].Tx
}
