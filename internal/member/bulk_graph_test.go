package member

import "testing"

// A crowd is a cluster whose second member is the home of a semaphore for which many
// transactions wait, so that its graph is much longer than a link can keep, and of two
// locks for which transactions of the second and third member wait in a circle.
type crowd struct {
	*cluster
	semaphore    string
	parts, edges int // of the graph that the home has sent in the first round
	dooms        int
}

const (
	crowdLink   = 8000
	crowdWindow = 2000
	crowdPart   = 500

	crowdSize  = 50
	crowdEdges = crowdSize*(crowdSize-1)/2 + 2 // to all that are ahead, and those of the circle
)

func newCrowd(t *testing.T) *crowd {
	c := &crowd{cluster: newCluster(t, keptPrefix+"detect-central", 3, Limits{Part: crowdPart}, LinkLimits{Bytes: crowdLink, Window: crowdWindow})}
	c.sees = c.looks
	c.settle()
	names := homed(c.view, 1, 3, 20)
	c.semaphore = names[0]
	for range crowdSize {
		c.want(3, c.semaphore, Terms{Mode: 2, Units: 2})
	}
	c.want(2, names[1], Terms{Tx: 1})
	c.want(3, names[2], Terms{Tx: 1})
	c.want(2, names[2], Terms{Tx: 1})
	c.want(3, names[1], Terms{Tx: 1})
	return c
}

// want requests a kept lock.
func (c *crowd) want(inc uint64, name string, t Terms) {
	c.use(inc, func(p *process) {
		ticket, err := p.Lock(c.now, name, Ask{Deadline: Never, Terms: t})
		if err != nil {
			c.tb.Fatal(err)
		}
		p.tickets[ticket] = name
	})
	c.settle()
}

// looks notes the parts of the home's graph, and how many transactions must abort.
func (c *crowd) looks(p *process, to uint64, b []byte) {
	var f frame
	if err := f.parse(b); err != nil {
		c.tb.Fatal(err)
	}
	switch f.kind {
	case graphFrame:
		if p.Inc == 2 && f.round == 1 {
			c.parts, c.edges = c.parts+1, c.edges+len(f.arcs)
		}
		if most := crowdPart + 2*MaxName; len(b) > most {
			c.tb.Errorf("a part of a graph has %d bytes, want at most %d", len(b), most)
		}
	case doomFrame:
		c.dooms++
	}
}

// demand lets so much time pass that transactions demand a round.
func (c *crowd) demand() {
	c.now += Instant(detectMost)
	for _, p := range c.procs {
		c.use(p.Inc, func(p *process) { p.Wake(c.now) })
	}
}

// A graph that is longer than what a link keeps fills no link: its parts go out as those
// before them are confirmed. The deadlock in it is found.
func TestLongGraph(t *testing.T) {
	c := newCrowd(t)
	for _, p := range c.procs {
		p.most = 0
	}
	c.demand()
	c.settle()
	c.healthy()
	if most, got := crowdWindow+crowdPart+2*MaxName, c.procs[1].most; got > most {
		t.Errorf("the home keeps %d bytes for the coordinator, want at most %d", got, most)
	}
	if c.edges != crowdEdges {
		t.Errorf("%d edges in %d parts, want %d edges", c.edges, c.parts, crowdEdges)
	}
	if c.dooms != 1 || c.procs[1].Bulk() {
		t.Errorf("%d transactions must abort, want 1; more to come: %v", c.dooms, c.procs[1].Bulk())
	}
}

// While the coordinator confirms nothing, the home makes no more parts than fit a window,
// but sends it other frames. A request that comes then is not in the graph, which is that
// of the time when the coordinator asked for it. With the view, the rest is void.
func TestGraphWaitsForRoom(t *testing.T) {
	for _, next := range []bool{false, true} {
		c := newCrowd(t)
		home := c.procs[1]
		c.cut[[2]uint64{2, 1}] = true
		c.demand()
		for c.carry(3, 1) || c.carry(1, 2) {
		}
		made := c.parts
		if made == 0 || made > 1+crowdWindow/(crowdPart/2) || !home.Bulk() || home.links.Room(1) {
			t.Fatalf("%d parts while none is confirmed; more to come: %v, room: %v", made, home.Bulk(), home.links.Room(1))
		}
		c.want(3, c.semaphore, Terms{Mode: 2, Units: 2})
		other := homed(c.view, 0, 1, 20)[0]
		c.want(2, other, Terms{})
		delete(c.cut, [2]uint64{2, 1})
		if next {
			c.install(nextView(c.view))
			if home.Bulk() || home.frozen.graph != nil {
				t.Error("the rest of the graph is kept although its view has ended")
			}
		}
		c.settle()
		c.healthy()
		if c.held[other] != 2 {
			t.Error("a lock whose home is the coordinator is not granted")
		}
		if complete := c.edges == crowdEdges; complete == next || next && c.parts > made || home.Bulk() {
			t.Errorf("new view: %v, %d edges in %d parts, %d of them while none was confirmed; more to come: %v", next, c.edges, c.parts, made, home.Bulk())
		}
	}
}
