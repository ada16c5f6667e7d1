package deadlock

import "github.com/stile-lock/stile/algorithm"

// The kinds of messages. The first three are those of locks at sites, and all that some
// methods need.
const (
	request uint8 = iota // home to lock: tx wants lock
	grant                // lock to home: tx has lock
	release              // home to a site: what tx has or wants there is free
	die                  // lock to home: tx must not wait, and dies
	wound                // lock to home: tx has what an older one wants
	abort                // detector to home: tx must break the deadlock cycle
	graph                // site to coordinator: the local wait-for graph
	collect              // coordinator to site: send yours
	demand               // site to coordinator: a transaction has waited for long; to a new banker: open
	waits                // home to a site where tx has locks: tx now waits elsewhere
	path                 // site to site: a path that leads to yours
	elect                // site to site: a message of the election of a coordinator
	elected              // site to site: the same, with its outcome
)

// Kinds returns the names of all kinds of messages, in their order.
func Kinds() []string {
	return []string{"REQUEST", "GRANT", "RELEASE", "DIE", "WOUND", "ABORT", "GRAPH", "COLLECT", "DEMAND", "WAITS", "PATH", "ELECTION", "COORDINATOR"}
}

// A node is a transaction in one of its attempts. An attempt ends when the transaction
// commits or aborts, so a node never comes back.
type node struct {
	tx      int
	attempt uint64
	stamp   algorithm.Time // when the transaction began; kept when it is restarted
	ext     bool           // of a waiting node: whether it has locks at other sites
}

// noTransaction is the node of no transaction.
func noTransaction() node { return node{tx: -1} }

// same reports whether two nodes are equal.
func (a node) same(b node) bool { return a.tx == b.tx && a.attempt == b.attempt }

// older reports whether a began before b. No two nodes have the same age.
func (a node) older(b node) bool {
	return a.stamp.Before(b.stamp) || a.stamp == b.stamp && a.tx < b.tx
}

func (a *node) fields(c *algorithm.Coder) {
	c.Index("tx", &a.tx, maxIndex)
	c.Seq("attempt", algorithm.ID(a.tx), &a.attempt)
	c.Time("stamp", &a.stamp)
	c.Bool("ext", &a.ext)
}

// A hold is an edge of a local graph: from waits for a lock that to has.
type hold struct {
	from, to node
	lock     int
}

func (h *hold) fields(c *algorithm.Coder) {
	h.from.fields(c)
	h.to.fields(c)
	c.Index("lock", &h.lock, maxIndex)
}

// A wish is an outstanding request: from waits for lock.
type wish struct {
	from node
	lock int
}

func (w *wish) fields(c *algorithm.Coder) {
	w.from.fields(c)
	c.Index("lock", &w.lock, maxIndex)
}

// maxList is the longest list in a message.
const maxList = 1 << 12

// list codes a list whose elements code themselves.
func list[T any, P interface {
	*T
	fields(c *algorithm.Coder)
}](c *algorithm.Coder, name string, all *[]T) {
	n := len(*all)
	c.Int(name, &n, maxList)
	if n != len(*all) {
		*all = make([]T, n)
	}
	for i := range *all {
		P(&(*all)[i]).fields(c)
	}
}

// A message is any message of any method; its fields depend on its kind.
type message struct {
	kind   uint8
	clock  algorithm.Time
	from   node  // the node it is about
	lock   int   // request, grant, waits, path
	claims []int // request
	cycle  []int // abort
	round  uint64
	edges  []hold // graph
	wishes []wish // graph
	path   []node // path: the last one waits for lock at the receiver
	bytes  []byte // elect, elected: the message of the election
}

func (m *message) Fields(c *algorithm.Coder) {
	c.Kind(&m.kind, elected)
	c.Time("clock", &m.clock)
	switch m.kind {
	case collect:
		c.Seq("round", algorithm.ID(maxIndex), &m.round)
		return
	case demand:
		return
	case graph:
		c.Seq("round", algorithm.ID(maxIndex), &m.round)
		list(c, "edges", &m.edges)
		list(c, "wishes", &m.wishes)
		return
	case elect, elected:
		c.Bytes("message", &m.bytes)
		return
	case path:
		list(c, "path", &m.path)
		c.Index("lock", &m.lock, maxIndex)
		return
	}
	m.from.fields(c)
	switch m.kind {
	case request:
		c.Index("lock", &m.lock, maxIndex)
		c.Indexes("claims", &m.claims, maxIndex)
	case grant, waits:
		c.Index("lock", &m.lock, maxIndex)
	case abort:
		c.Indexes("cycle", &m.cycle, maxIndex)
	}
}
