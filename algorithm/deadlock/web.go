package deadlock

import "slices"

// A web is the graph that path pushing searches: which transaction waits for which, as
// far as a site knows. It is rebuilt for every search, but keeps its memory. A site knows
// at most one attempt of each transaction that has not ended, so a transaction is
// identified here by its number.
type web struct {
	edges   []Arc
	entries []Attempt // P1 of every EXT -> P1

	// By transaction.
	out, in [][]int32 // the edges that leave it, and those that lead to it
	entered []bool    // whether it is one of the entries
	exit    []int32   // 1 + the wish of Pn -> EXT, or 0
	marks   []int32   // marks of one search; 0 before and after it
	wakes   []bool    // whether it leads to something new
	on      []bool    // whether it is part of the current path

	exits []int     // transactions that have an exit
	awake []int     // transactions that wake
	path  []Attempt // the current path
}

func newWeb(transactions int) *web {
	n := transactions
	return &web{
		out: make([][]int32, n), in: make([][]int32, n), entered: make([]bool, n), exit: make([]int32, n),
		marks: make([]int32, n), wakes: make([]bool, n), on: make([]bool, n),
	}
}

func (w *web) clear() {
	for i := range w.edges {
		from, to := w.edges[i].From.Tx, w.edges[i].To.Tx
		w.out[from], w.in[to] = w.out[from][:0], w.in[to][:0]
	}
	for _, e := range w.entries {
		w.entered[e.Tx] = false
	}
	for _, tx := range w.exits {
		w.exit[tx] = 0
	}
	w.edges, w.entries, w.exits = w.edges[:0], w.entries[:0], w.exits[:0]
}

func (w *web) add(h Arc) {
	i := int32(len(w.edges))
	w.edges = append(w.edges, h)
	w.out[h.From.Tx] = append(w.out[h.From.Tx], i)
	w.in[h.To.Tx] = append(w.in[h.To.Tx], i)
}

func (w *web) has(from, to Attempt) bool {
	return slices.ContainsFunc(w.out[from.Tx], func(i int32) bool { return w.edges[i].To.Tx == to.Tx })
}

func (w *web) enter(first Attempt) {
	w.entries = append(w.entries, first)
	w.entered[first.Tx] = true
}

func (w *web) leave(last Attempt, wish int) {
	w.exits = append(w.exits, last.Tx)
	w.exit[last.Tx] = int32(wish) + 1
}

// cycle returns a cycle, or nil.
func (w *web) cycle() []Attempt {
	left := w.marks // number of edges of each to a transaction that may be part of a cycle
	w.prune(left)
	var nodes []Attempt
	if i := slices.IndexFunc(w.edges, func(h Arc) bool { return left[h.To.Tx] > 0 }); i >= 0 {
		nodes = w.follow(left, w.edges[i].From)
	}
	for i := range w.edges {
		left[w.edges[i].From.Tx], left[w.edges[i].To.Tx] = 0, 0
	}
	return nodes
}

// prune counts the edges that leave each transaction, without those to transactions that
// wait for none, then without those to transactions that wait only for such, and so on.
func (w *web) prune(left []int32) {
	var ended []int
	for i := range w.edges {
		from, to := w.edges[i].From.Tx, w.edges[i].To.Tx
		left[from]++
		if len(w.out[to]) == 0 && left[to] == 0 {
			left[to] = -1
			ended = append(ended, to)
		}
	}
	for len(ended) > 0 {
		tx := ended[len(ended)-1]
		ended = ended[:len(ended)-1]
		for _, i := range w.in[tx] {
			from := w.edges[i].From.Tx
			if left[from]--; left[from] == 0 {
				ended = append(ended, from)
			}
		}
	}
}

// follow walks from a node until it repeats one, and returns the cycle that it reached.
func (w *web) follow(left []int32, at Attempt) []Attempt {
	nodes := []Attempt{at}
	for {
		out := w.out[nodes[len(nodes)-1].Tx]
		i := slices.IndexFunc(out, func(i int32) bool { return left[w.edges[i].To.Tx] > 0 })
		nodes[len(nodes)-1] = w.edges[out[i]].From // the request with which it waits
		to := w.edges[out[i]].To
		if k := slices.IndexFunc(nodes, func(a Attempt) bool { return a.Tx == to.Tx }); k >= 0 {
			return nodes[k:]
		}
		nodes = append(nodes, to)
	}
}

// walk visits every path of two or more nodes that begins with an entry and has news: a
// transaction about which something is new.
func (w *web) walk(n *news, visit func(path []Attempt)) {
	w.wake(n)
	for _, first := range w.entries {
		if w.wakes[first.Tx] || n.all {
			w.path = append(w.path[:0], first)
			w.on[first.Tx] = true
			w.longer(n, n.has(first), visit)
			w.on[first.Tx] = false
		}
	}
	for _, tx := range w.awake {
		w.wakes[tx] = false
	}
}

// wake finds the transactions that lead to something new.
func (w *web) wake(n *news) {
	w.awake = append(w.awake[:0], n.txs...)
	for _, tx := range w.awake {
		w.wakes[tx] = true
	}
	for i := 0; i < len(w.awake); i++ {
		for _, e := range w.in[w.awake[i]] {
			if from := w.edges[e].From.Tx; !w.wakes[from] {
				w.wakes[from] = true
				w.awake = append(w.awake, from)
			}
		}
	}
}

// longer visits the paths that extend w.path.
func (w *web) longer(n *news, fresh bool, visit func(path []Attempt)) {
	last := w.path[len(w.path)-1]
	for _, i := range w.out[last.Tx] {
		to := w.edges[i].To
		w.path[len(w.path)-1] = w.edges[i].From // the request with which it waits
		if w.on[to.Tx] || !fresh && !w.wakes[to.Tx] {
			continue
		}
		w.path = append(w.path, to)
		w.on[to.Tx] = true
		now := fresh || n.has(to)
		if now {
			visit(w.path)
		}
		w.longer(n, now, visit)
		w.on[to.Tx] = false
		w.path = w.path[:len(w.path)-1]
	}
}

// news is the set of transactions about which something is new since the last search: the
// one it waits for, that it waits elsewhere, or that a path begins with it. All paths
// without news have been visited before.
type news struct {
	all bool // news about all
	txs []int
	is  []bool // by transaction
}

func (n *news) add(who Attempt) {
	if !n.is[who.Tx] {
		n.is[who.Tx] = true
		n.txs = append(n.txs, who.Tx)
	}
}

func (n *news) addIf(fresh bool, who Attempt) {
	if fresh {
		n.add(who)
	}
}

func (n *news) has(who Attempt) bool { return n.all || n.is[who.Tx] }

func (n *news) none() bool { return !n.all && len(n.txs) == 0 }

func (n *news) clear() {
	for _, tx := range n.txs {
		n.is[tx] = false
	}
	n.all, n.txs = false, n.txs[:0]
}
