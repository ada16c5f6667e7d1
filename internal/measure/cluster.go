package measure

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/peer"
	"github.com/stile-lock/stile/sim/kernel"
	"github.com/stile-lock/stile/trace"
)

// A Group says what a cluster of whole processes is.
type Group struct {
	Members, Voters int
	Settings        member.Settings
	Hold            member.Span // how long who uses another lock is inside; 0 is 10 T
	// Disk returns an empty one for a voter. Its log counts in ticks: see peer.Election.
	Disk func() engine.Store
}

// Tick is how often voters look around.
func (g *Group) Tick() member.Span {
	tick, _ := peer.Fit(g.Settings)
	return tick
}

// What happens at the processes of a cluster, besides messages.
const (
	starts   = kernel.Own + iota // a process starts
	rouses                       // a process is to be woken
	wants                        // an application asks for a lock
	releases                     // an application lets go
	resumes                      // at no process: one that stood still goes on
)

// A cluster is whole processes on the kernel: members with their links, the view
// service, and its voters with their disks.
type cluster struct {
	*kernel.Kernel
	Group
	sites  []*site
	chance kernel.Rand
	wants  []want
	entry  func(w *want) // is told of every entry
	err    error
}

// A site is a process. Its number is its place.
type site struct {
	c      *cluster
	id     core.ID
	peer   *peer.Peer
	record *engine.Record // of the view that it is in
	wakeAt int64          // when it is woken next; 0 if it is not
	wakeNo int
	victim bool
	since  int64 // when the first renewal was sent that is not confirmed; 0 if there is none
	slow   int64 // how long one took at most
	lost   int   // holds
}

// A want is what an application wants of a lock.
type want struct {
	at     *site
	name   string
	again  bool // it lets go after a while, and asks again
	held   bool
	asked  int64
	ticket member.Ticket
	token  member.Token
}

// newCluster starts processes; one of them founds a cluster, which the others
// join.
func newCluster(g Group, seed uint64) (*cluster, error) {
	if g.Disk == nil {
		return nil, errors.New("no disk for voters: want a way to make one")
	}
	c := &cluster{Group: g, chance: kernel.NewRand(seed, 1), entry: func(*want) {}}
	c.Kernel = kernel.New(kernel.Config{Processes: g.Members, Latency: varying(), Network: core.FIFO, Seed: seed, Adversary: true}, c)
	c.Happen = c.happen
	for i := range g.Members {
		c.sites = append(c.sites, &site{c: c, id: core.ID(i)})
		c.At(c.chance.Below(int64(g.Tick())), starts, core.ID(i), 0)
	}
	return c, c.until(c.formed)
}

func (c *cluster) now() member.Instant { return member.Instant(c.Now()) }

func (c *cluster) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// until lets time pass until something is so.
func (c *cluster) until(over func() bool) error {
	end := c.Now() + 20*int64(c.Settings.Lease)
	for c.err == nil && !over() {
		if c.Now() > end {
			return errors.New("it is not over after twenty leases")
		}
		c.Step() // voters tick for ever
	}
	return c.err
}

// pass lets some time pass.
func (c *cluster) pass(d int64) error {
	end := c.Now() + d
	return c.until(func() bool { return c.Due() > end })
}

// leader returns the process whose voter leads and serves, in the highest term.
func (c *cluster) leader() (best *site, term uint64) {
	for _, s := range c.sites {
		if s.peer == nil || s.peer.Clerk() == nil || c.Crashed(s.id) {
			continue
		}
		if l := s.peer.Clerk().Lead(); l.Serves && l.Term > term {
			best, term = s, l.Term
		}
	}
	return best, term
}

// formed reports whether all are members with a lease, and as many of them voters
// as are wanted.
func (c *cluster) formed() bool {
	s, _ := c.leader()
	if s == nil {
		return false
	}
	k := s.peer.Clerk()
	l, r := k.Lead(), k.Record()
	if len(r.Members) < c.Members || len(l.Voters) < c.Voters || !l.Settled || len(l.Learners) > 0 {
		return false
	}
	return !slices.ContainsFunc(c.sites, func(s *site) bool {
		return s.record == nil || s.record.Epoch != r.Epoch || !s.peer.Member().Usable(c.now())
	})
}

func (c *cluster) happen(e *kernel.Event) {
	if e.Kind == resumes {
		c.Resume(core.ID(e.Arg()))
		return
	}
	s := c.sites[e.Proc()]
	switch e.Kind {
	case starts:
		s.start()
	case rouses:
		if e.Arg() == s.wakeNo {
			s.wakeAt = 0
			s.peer.Wake(c.now())
			s.settled()
		}
	case wants:
		c.ask(e.Arg())
	case releases:
		c.release(e.Arg())
	}
}

// want has an application ask for a lock, and returns its number.
func (c *cluster) want(s *site, name string, again bool) int {
	c.wants = append(c.wants, want{at: s, name: name, again: again})
	c.ask(len(c.wants) - 1)
	return len(c.wants) - 1
}

func (c *cluster) ask(i int) {
	w := &c.wants[i]
	w.asked = c.Now()
	w.at.peer.Do(c.now(), func(m *member.Member) {
		var err error
		if w.ticket, err = m.Lock(c.now(), w.name, member.Ask{Deadline: member.Never}); err != nil {
			c.fail(err)
		}
	})
	w.at.settled()
}

// release has an application let go, and ask again later.
func (c *cluster) release(i int) {
	w := &c.wants[i]
	if !w.held {
		return
	}
	w.held = false
	w.at.peer.Do(c.now(), func(m *member.Member) {
		if err := m.Unlock(c.now(), w.name, w.token); err != nil {
			c.fail(err)
		}
	})
	w.at.settled()
	c.At(c.Now()+c.chance.Sample(exp(10*T)), wants, w.at.id, i)
}

// Deliver hands over a message that has come.
func (c *cluster) Deliver(from, to core.ID, slot int32) {
	s := c.sites[to]
	if s.peer == nil {
		return // it has not started yet
	}
	if err := s.peer.Receive(c.now(), c.sites[from].address(), c.Slot(slot).Bytes); err != nil {
		c.fail(fmt.Errorf("%s to %s: %w", c.sites[from].address(), s.address(), err))
	}
	s.settled()
}

// Expired is not used: processes say themselves when to wake them.
func (c *cluster) Expired(core.ID, kernel.Timer, kernel.Tag) {}

// Believed is not used: views say who is there.
func (c *cluster) Believed(core.ID, core.ID) {}

// Called is not used: nobody looks.
func (c *cluster) Called(*kernel.Slot) string { return "" }

// Describe is not used: nobody looks.
func (c *cluster) Describe(*trace.Event, *kernel.Slot) {}
