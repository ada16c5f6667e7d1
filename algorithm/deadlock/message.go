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
	cancel               // home to a site: tx no longer wants what it requested
	confirm              // detector to home: does tx still wait with that request?
	answer               // home to detector: whether it does
)

// Kinds returns the names of all kinds of messages, in their order.
func Kinds() []string {
	return []string{"REQUEST", "GRANT", "RELEASE", "DIE", "WOUND", "ABORT", "GRAPH", "COLLECT", "DEMAND", "WAITS", "PATH", "ELECTION", "COORDINATOR", "CANCEL", "CONFIRM", "ANSWER"}
}

func (a *Attempt) fields(c *algorithm.Coder) {
	c.Index("tx", &a.Tx, maxIndex)
	c.Seq("attempt", algorithm.ID(a.Tx), &a.Number)
	c.Time("stamp", &a.Stamp)
	c.Int("request", &a.Seq, maxIndex)
}

// fields codes a mode, as whether it is shared and how many units it takes.
func (m *Mode) fields(c *algorithm.Coder) {
	shared, units := *m == Shared, max(0, int(*m))
	c.Bool("shared", &shared)
	c.Int("units", &units, maxIndex)
	if *m = Mode(units); shared {
		*m = Shared
	}
}

func (r *Request) fields(c *algorithm.Coder) {
	r.Attempt.fields(c)
	r.Mode.fields(c)
	c.Bool("ext", &r.Ext)
}

// fields codes a hold without its fencing token, which simulated sites do not use and
// which would make every state different.
func (h *Hold) fields(c *algorithm.Coder) {
	h.Attempt.fields(c)
	h.Mode.fields(c)
	c.Bool("wounded", &h.Wounded)
}

func (k *Keeper) fields(c *algorithm.Coder) {
	list(c, "holds", &k.holds)
	list(c, "queue", &k.queue)
}

func (a *Arc) fields(c *algorithm.Coder) {
	a.From.fields(c)
	a.To.fields(c)
	c.Index("lock", &a.Lock, maxIndex)
	c.Int("units", &a.Units, maxIndex)
	c.Int("spare", &a.Spare, maxIndex)
}

// A wish is an outstanding request: from waits for lock.
type wish struct {
	from Attempt
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
	from   Attempt // the attempt it is about, and the request
	lock   int     // request, grant, waits, path, cancel
	mode   Mode    // request
	ext    bool    // request: see Request
	yes    bool    // answer
	claims []int   // request
	cycle  []int   // abort
	round  uint64
	edges  []Arc     // graph
	wishes []wish    // graph
	path   []Attempt // path: the last one waits for lock at the receiver
	bytes  []byte    // elect, elected: the message of the election
}

func (m *message) Fields(c *algorithm.Coder) {
	c.Kind(&m.kind, answer)
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
		m.mode.fields(c)
		c.Bool("ext", &m.ext)
		c.Indexes("claims", &m.claims, maxIndex)
	case answer:
		c.Bool("waits", &m.yes)
	case grant, waits, cancel:
		c.Index("lock", &m.lock, maxIndex)
	case abort:
		c.Indexes("cycle", &m.cycle, maxIndex)
	}
}
