package deadlock

import (
	"encoding/binary"
	"slices"
	"testing"
)

// A model of one keeper across views: members, of which the first alive is the home of the
// lock, evictions, ghosts whose leases run on, and frames in flight. It explores every
// order of events. What it tries out is the keeper; members and home do here what the
// rules of a service demand of them, and a bug is a rule that one of them breaks.

// A frame is in flight between two members.
type frame struct {
	epoch  int
	kind   frameKind
	tx     int
	holds  []int // report
	waits  []int // report
	member int   // report
}

type frameKind uint8

const (
	asks frameKind = iota
	gives
	reports
	grants
	wounds
	dies
)

// What a member knows about a transaction.
type txPhase uint8

const (
	txIdle txPhase = iota
	txWaits
	txHolds
	txWounded // holds, and must abort
	txDone
)

// A cluster is a state of the model.
type cluster struct {
	epoch     int
	epochs    []int  // of each member
	ghosts    []bool // evicted, and the lease runs
	gone      []bool // evicted
	txs       []txPhase
	lines     [][]frame // by sender and receiver
	homes     []int     // of the lock, in the view of each member
	keepers   []Keeper  // of each member that is or was the home; that of a ghost goes on
	evictions int
	cancels   int
}

// A setting is a case: where transactions are and what they want, and which bug there is.
type setting struct {
	members   int
	home      []int // of each transaction
	modes     []Mode
	units     int
	method    Method
	evictions int
	cancels   int
	bug       string
}

func (s *setting) attempt(tx int) Attempt {
	return Attempt{Tx: tx, Number: 1, Stamp: at(tx + 1), Seq: 1}
}

func (s *setting) request(tx int) Request { return Request{Attempt: s.attempt(tx), Mode: s.modes[tx]} }

func (c *cluster) copy() *cluster {
	n := *c
	n.epochs, n.ghosts, n.gone, n.txs = slices.Clone(c.epochs), slices.Clone(c.ghosts), slices.Clone(c.gone), slices.Clone(c.txs)
	n.lines = slices.Clone(c.lines)
	n.homes, n.keepers = slices.Clone(c.homes), slices.Clone(c.keepers)
	for i := range n.keepers {
		k := &n.keepers[i]
		k.holds, k.queue, k.suspects = slices.Clone(k.holds), slices.Clone(k.queue), slices.Clone(k.suspects)
	}
	return &n
}

// key identifies a state. How often a lock was granted is not part of it.
func (c *cluster) key() string {
	b := []byte{byte(c.evictions), byte(c.cancels)}
	for m := range c.epochs {
		b = append(b, byte(c.epochs[m]), byte(c.homes[m]), truth(c.ghosts[m]), truth(c.gone[m]))
	}
	for _, tx := range c.txs {
		b = append(b, byte(tx))
	}
	for _, line := range c.lines {
		b = append(b, byte(len(line)))
		for _, f := range line {
			b = append(b, byte(f.epoch), byte(f.kind), byte(f.tx), byte(f.member), byte(len(f.holds)), byte(len(f.waits)))
			for _, tx := range slices.Concat(f.holds, f.waits) {
				b = append(b, byte(tx))
			}
		}
	}
	for i := range c.keepers {
		k := &c.keepers[i]
		b = append(b, byte(len(k.holds)), byte(len(k.queue)), byte(len(k.suspects)), truth(k.readers))
		b = binary.AppendVarint(b, int64(k.most))
		for _, h := range k.holds { // a transaction has one attempt here, and one request
			b = append(b, byte(h.Tx), truth(h.Wounded))
		}
		for _, r := range k.queue {
			b = append(b, byte(r.Tx))
		}
		for _, m := range k.suspects {
			b = append(b, byte(m))
		}
	}
	return string(b)
}

func truth(is bool) byte {
	if is {
		return 1
	}
	return 0
}

func (s *setting) send(c *cluster, from, to int, f frame) {
	f.epoch = c.epochs[from]
	i := from*s.members + to
	c.lines[i] = append(slices.Clip(c.lines[i]), f)
}

// do carries out what the keeper wants done.
func (s *setting) do(c *cluster, home int, effects []Effect) {
	for len(effects) > 0 {
		e := effects[0]
		effects = effects[1:]
		kind := map[EffectKind]frameKind{Grant: grants, Wound: wounds, Die: dies}[e.Kind]
		s.send(c, home, s.home[e.Tx], frame{kind: kind, tx: e.Tx})
		if e.Kind == Wound && s.bug == "a lock is passed on with the order to abort" {
			effects = append(effects, c.keepers[home].Release(e.Attempt)...)
		}
	}
}

// evict begins a view without a member.
func (s *setting) evict(c *cluster, m int) {
	c.gone[m], c.ghosts[m] = true, true
	c.epoch++
	c.evictions--
	home := slices.Index(c.gone, false)
	var suspects []uint64
	for p := range s.members {
		ghost := c.ghosts[p] && s.bug != "ghosts are not waited for" && (s.bug != "only the last ghost is waited for" || p == m)
		if ghost || !c.gone[p] && s.bug != "reports are not waited for" {
			suspects = append(suspects, uint64(p))
		}
	}
	k, err := s.method.Keeper(KeeperConfig{Epoch: uint64(c.epoch), Units: s.units, Suspects: suspects})
	if err != nil {
		panic(err)
	}
	if c.keepers[home] = *k; s.bug == "shared requests do not wait for suspects" {
		c.keepers[home].readers = true
	}
	for p := range s.members {
		if c.gone[p] {
			continue
		}
		c.epochs[p], c.homes[p] = c.epoch, home
		f := frame{kind: reports, member: p}
		for tx, at := range s.home {
			switch {
			case at != p:
			case c.txs[tx] == txHolds, c.txs[tx] == txWounded && s.bug != "a wounded transaction reports no hold":
				f.holds = append(f.holds, tx)
			case c.txs[tx] == txWaits && s.bug != "waits are not reported":
				f.waits = append(f.waits, tx)
			}
		}
		s.send(c, p, home, f)
	}
}

// hear delivers a frame.
func (s *setting) hear(c *cluster, to int, f frame) {
	stale := f.epoch < c.epochs[to]
	if stale && !(s.bug == "an older grant is accepted" && f.kind == grants) && !(s.bug == "an older request is accepted" && f.kind == asks) {
		return
	}
	k := &c.keepers[to]
	switch f.kind {
	case asks:
		effects, _ := k.Request(s.request(f.tx))
		s.do(c, to, effects)
	case gives:
		s.do(c, to, k.Release(s.attempt(f.tx)))
	case reports:
		var holds []Hold
		var waits []Request
		for _, tx := range f.holds {
			if s.bug != "reported holds are forgotten" {
				holds = append(holds, Hold{Request: s.request(tx)})
			}
		}
		for _, tx := range f.waits {
			waits = append(waits, s.request(tx))
		}
		effects := k.Report(uint64(f.member), holds, waits)
		if len(holds) > 0 && (s.bug == "a shared hold clears all suspects" && s.units == 0 || s.bug == "units reported clear all suspects") {
			k.suspects = nil
			effects = append(effects, k.settle()...)
		}
		s.do(c, to, effects)
	case grants:
		if c.txs[f.tx] == txWaits {
			c.txs[f.tx] = txHolds
		}
	case wounds, dies:
		switch c.txs[f.tx] {
		case txHolds:
			c.txs[f.tx] = txWounded
		case txWaits:
			s.release(c, f.tx)
		}
	}
}

// release ends a transaction, and notifies the home as its member knows it.
func (s *setting) release(c *cluster, tx int) {
	c.txs[tx] = txDone
	m := s.home[tx]
	s.send(c, m, c.homes[m], frame{kind: gives, tx: tx})
}

// next returns the states that follow, and whether one of them must come about.
func (s *setting) next(c *cluster) (all []*cluster, goesOn bool) {
	try := func(must bool, do func(n *cluster)) {
		n := c.copy()
		do(n)
		all = append(all, n)
		goesOn = goesOn || must
	}
	for i, line := range c.lines {
		if to := i % s.members; len(line) > 0 {
			try(true, func(n *cluster) {
				n.lines[i] = n.lines[i][1:]
				if !n.gone[to] || n.ghosts[to] && n.epochs[to] == line[0].epoch {
					s.hear(n, to, line[0])
				}
			})
		}
	}
	for tx, phase := range c.txs {
		switch m := s.home[tx]; {
		case c.gone[m] && !c.ghosts[m]:
		case phase == txIdle:
			try(false, func(n *cluster) {
				n.txs[tx] = txWaits
				s.send(n, m, n.homes[m], frame{kind: asks, tx: tx})
			})
		case phase == txHolds, phase == txWounded:
			try(true, func(n *cluster) { s.release(n, tx) })
		case phase == txWaits && c.cancels > 0:
			try(false, func(n *cluster) {
				n.cancels--
				s.release(n, tx)
			})
		}
	}
	for m := range s.members {
		switch alive := s.members - count(c.gone); {
		case c.ghosts[m]:
			try(true, func(n *cluster) { // its lease expires
				n.ghosts[m] = false
				for tx, at := range s.home {
					if at == m {
						n.txs[tx] = txDone
					}
				}
				home := slices.Index(n.gone, false)
				s.do(n, home, n.keepers[home].Over(uint64(m)))
			})
		case !c.gone[m] && c.evictions > 0 && alive > 1:
			try(false, func(n *cluster) { s.evict(n, m) })
		}
	}
	return all, goesOn
}

func count(all []bool) (n int) {
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}

// held returns how much of the lock is held validly, and how much there is.
func (s *setting) held(c *cluster) (n, whole int) {
	for tx, phase := range c.txs {
		amount, all := s.modes[tx].Of(s.units)
		if whole = all; phase == txHolds || phase == txWounded {
			n += amount
		}
	}
	return n, whole
}

// explore visits every state, and returns what is violated first, if anything.
func (s *setting) explore(t *testing.T) (states int, violated string) {
	t.Helper()
	k, err := s.method.Keeper(KeeperConfig{Units: s.units})
	if err != nil {
		t.Fatal(err)
	}
	first := &cluster{
		epochs: make([]int, s.members), ghosts: make([]bool, s.members), gone: make([]bool, s.members),
		txs: make([]txPhase, len(s.home)), lines: make([][]frame, s.members*s.members), homes: make([]int, s.members), keepers: make([]Keeper, s.members), evictions: s.evictions, cancels: s.cancels,
	}
	first.keepers[0] = *k
	seen := map[string]bool{first.key(): true}
	for queue := []*cluster{first}; len(queue) > 0; queue = queue[1:] {
		c := queue[0]
		if n, whole := s.held(c); n > whole {
			return len(seen), "incompatible holds"
		}
		all, goesOn := s.next(c)
		if !goesOn && slices.Contains(c.txs, txWaits) {
			return len(seen), "a process waits forever"
		}
		for _, n := range all {
			if key := n.key(); !seen[key] {
				seen[key] = true
				queue = append(queue, n)
			}
		}
	}
	return len(seen), ""
}

// settings are the cases without a bug. All that is needed of a case is that one control
// is caught in it.
func settings() map[string]setting {
	return map[string]setting{
		"writers":      {members: 3, home: []int{1, 2}, modes: []Mode{Exclusive, Exclusive}, method: None(), evictions: 2},
		"at home":      {members: 2, home: []int{0, 1}, modes: []Mode{Exclusive, Shared}, method: None(), evictions: 1, cancels: 1},
		"readers":      {members: 3, home: []int{1, 2, 2}, modes: []Mode{Shared, Shared, Exclusive}, method: None(), evictions: 1},
		"write, read":  {members: 3, home: []int{1, 2}, modes: []Mode{Exclusive, Shared}, method: None(), evictions: 2},
		"units":        {members: 3, home: []int{1, 2, 2}, modes: []Mode{1, 1, 2}, units: 3, method: None(), evictions: 1},
		"wounded":      {members: 3, home: []int{2, 1}, modes: []Mode{Exclusive, Exclusive}, method: WoundWait(), evictions: 1},
		"wounded late": {members: 2, home: []int{1, 1}, modes: []Mode{Exclusive, Shared}, method: WoundWait(), evictions: 1, cancels: 1},
		"dying":        {members: 3, home: []int{1, 2}, modes: []Mode{Exclusive, Exclusive}, method: WaitDie(), evictions: 2},
	}
}

// TestViews: across evictions, ghosts and reports in any order, no two incompatible holds
// are valid at once, and no transaction waits forever.
func TestViews(t *testing.T) {
	for name, s := range settings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			states, violated := s.explore(t)
			if violated != "" {
				t.Errorf("%s after %d states", violated, states)
			}
			t.Logf("%d states", states)
		})
	}
}

// TestViewRules: every rule of views is needed.
func TestViewRules(t *testing.T) {
	const unsafe, stuck = "incompatible holds", "a process waits forever"
	for _, c := range []struct{ bug, in, violated string }{
		{"ghosts are not waited for", "writers", unsafe},
		{"only the last ghost is waited for", "writers", unsafe},
		{"reports are not waited for", "writers", unsafe},
		{"reported holds are forgotten", "writers", unsafe},
		{"waits are not reported", "writers", stuck},
		{"shared requests do not wait for suspects", "write, read", unsafe},
		{"a shared hold clears all suspects", "readers", unsafe},
		{"units reported clear all suspects", "units", unsafe},
		{"an older grant is accepted", "writers", unsafe},
		{"a lock is passed on with the order to abort", "wounded", unsafe},
		{"a wounded transaction reports no hold", "wounded", unsafe},
	} {
		t.Run(c.bug, func(t *testing.T) {
			t.Parallel()
			s := settings()[c.in]
			s.bug = c.bug
			if states, violated := s.explore(t); violated != c.violated {
				t.Errorf("%q after %d states, want %q", violated, states, c.violated)
			}
		})
	}
}
