package deadlock

import "slices"

// A web is the graph that path pushing searches: which transaction waits for which, as
// far as a site knows. It is rebuilt for every search, but keeps its memory. A site knows
// at most one attempt of each transaction that has not ended, so a transaction is
// identified here by its index in a roster.
type web struct {
	edges   []Arc
	entries []Attempt // P1 of every EXT -> P1

	roster *roster
	nodes  []node // by index

	exits []Attempt // transactions that have an exit
	awake []int     // indices of transactions that wake
	path  []Attempt // the current path
}

// A node of a web is a transaction.
type node struct {
	out, in []int32 // the edges that leave it, and those that lead to it
	entered bool    // whether it is one of the entries
	exit    int32   // 1 + the wish of Pn -> EXT, or 0
	left    int32   // mark of one search for a cycle; 0 before and after it
	wakes   bool    // whether it leads to something new
	on      bool    // whether it is part of the current path
}

func newWeb(r *roster) *web { return &web{roster: r} }

// of returns the node of a transaction. It is valid until the next call for a transaction
// that is not part of the web.
func (w *web) of(a Attempt) *node { return grown(&w.nodes, w.roster.index(a)) }

// ends returns the nodes of an edge.
func (w *web) ends(i int32) (from, to *node) { return w.of(w.edges[i].From), w.of(w.edges[i].To) }

func (w *web) clear() {
	for i := range w.edges {
		from, to := w.ends(int32(i))
		from.out, to.in = from.out[:0], to.in[:0]
	}
	for _, e := range w.entries {
		w.of(e).entered = false
	}
	for _, e := range w.exits {
		w.of(e).exit = 0
	}
	w.edges, w.entries, w.exits = w.edges[:0], w.entries[:0], w.exits[:0]
}

func (w *web) add(h Arc) {
	i := int32(len(w.edges))
	w.edges = append(w.edges, h)
	from := w.of(h.From)
	from.out = append(from.out, i)
	to := w.of(h.To)
	to.in = append(to.in, i)
}

func (w *web) has(from, to Attempt) bool {
	return slices.ContainsFunc(w.of(from).out, func(i int32) bool { return w.edges[i].To.of(to) })
}

func (w *web) enter(first Attempt) {
	w.entries = append(w.entries, first)
	w.of(first).entered = true
}

func (w *web) leave(last Attempt, wish int) {
	w.exits = append(w.exits, last)
	w.of(last).exit = int32(wish) + 1
}

// cycle returns a cycle, or nil.
func (w *web) cycle() []Attempt {
	w.prune()
	var nodes []Attempt
	if i := slices.IndexFunc(w.edges, func(h Arc) bool { return w.of(h.To).left > 0 }); i >= 0 {
		nodes = w.follow(w.edges[i].From)
	}
	for i := range w.edges {
		from, to := w.ends(int32(i))
		from.left, to.left = 0, 0
	}
	return nodes
}

// prune counts the edges that leave each transaction, without those to transactions that
// wait for none, then without those to transactions that wait only for such, and so on.
func (w *web) prune() {
	var ended []*node
	for i := range w.edges {
		from, to := w.ends(int32(i))
		from.left++
		if len(to.out) == 0 && to.left == 0 {
			to.left = -1
			ended = append(ended, to)
		}
	}
	for len(ended) > 0 {
		last := ended[len(ended)-1]
		ended = ended[:len(ended)-1]
		for _, i := range last.in {
			from, _ := w.ends(i)
			if from.left--; from.left == 0 {
				ended = append(ended, from)
			}
		}
	}
}

// follow walks from a node until it repeats one, and returns the cycle that it reached.
func (w *web) follow(at Attempt) []Attempt {
	nodes := []Attempt{at}
	for {
		out := w.of(nodes[len(nodes)-1]).out
		i := slices.IndexFunc(out, func(i int32) bool { return w.of(w.edges[i].To).left > 0 })
		nodes[len(nodes)-1] = w.edges[out[i]].From // the request with which it waits
		to := w.edges[out[i]].To
		if k := slices.IndexFunc(nodes, to.of); k >= 0 {
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
		if at := w.of(first); at.wakes || n.all {
			w.path = append(w.path[:0], first)
			at.on = true
			w.longer(n, n.has(first), visit)
			at.on = false
		}
	}
	for _, tx := range w.awake {
		w.nodes[tx].wakes = false
	}
}

// wake finds the transactions that lead to something new.
func (w *web) wake(n *news) {
	w.awake = append(w.awake[:0], n.txs...)
	for _, tx := range w.awake {
		grown(&w.nodes, tx).wakes = true
	}
	for i := 0; i < len(w.awake); i++ {
		for _, e := range w.nodes[w.awake[i]].in {
			if from := w.roster.index(w.edges[e].From); !w.nodes[from].wakes {
				w.nodes[from].wakes = true
				w.awake = append(w.awake, from)
			}
		}
	}
}

// longer visits the paths that extend w.path.
func (w *web) longer(n *news, fresh bool, visit func(path []Attempt)) {
	for _, i := range w.of(w.path[len(w.path)-1]).out {
		to := w.edges[i].To
		at := w.of(to)
		w.path[len(w.path)-1] = w.edges[i].From // the request with which it waits
		if at.on || !fresh && !at.wakes {
			continue
		}
		w.path = append(w.path, to)
		at.on = true
		now := fresh || n.has(to)
		if now {
			visit(w.path)
		}
		w.longer(n, now, visit)
		at.on = false
		w.path = w.path[:len(w.path)-1]
	}
}

// news is the set of transactions about which something is new since the last search: the
// one it waits for, that it waits elsewhere, or that a path begins with it. All paths
// without news have been visited before.
type news struct {
	roster *roster
	all    bool   // news about all
	txs    []int  // indices of transactions
	is     []bool // by index
}

func (n *news) add(who Attempt) {
	i := n.roster.index(who)
	if is := grown(&n.is, i); !*is {
		*is = true
		n.txs = append(n.txs, i)
	}
}

func (n *news) addIf(fresh bool, who Attempt) {
	if fresh {
		n.add(who)
	}
}

func (n *news) has(who Attempt) bool { return n.all || *grown(&n.is, n.roster.index(who)) }

func (n *news) none() bool { return !n.all && len(n.txs) == 0 }

func (n *news) clear() {
	for _, tx := range n.txs {
		n.is[tx] = false
	}
	n.all, n.txs = false, n.txs[:0]
}
