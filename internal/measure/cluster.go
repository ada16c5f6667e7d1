package measure

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
)

// A Group describes a cluster.
type Group struct {
	Members, Voters int
	Settings        member.Settings
	Hold            member.Span // how long the lock that two members use in turns is held; 0: 10 T
	Logs            views.Logs  // starts the logs of voters, which count in ticks: see process.Election
}

// tick returns the duration of a voter's tick.
func (g *Group) tick() member.Span { return process.Tick(g.Settings) }

// What happens to a cluster, besides messages and timers.
const (
	starts   = own + iota // a process starts
	wants                 // an application requests a lock
	releases              // an application releases a lock
	resumes               // at no process: a paused process resumes
)

// A cluster is a group of processes with their own view service.
type cluster struct {
	*harness
	Group
	sites  []*site
	chance kernel.Rand
	wants  []want
	entry  func(w *want) // called at every entry
}

// A site is a node of a cluster, and what is measured of it.
type site struct {
	*node
	record *views.Record // record of its view; nil if it is not a member
	victim bool
	since  int64 // when the first unconfirmed renewal was sent; 0 if there is none
	slow   int64 // longest time that a renewal was not confirmed
	lost   int   // lost locks
}

// A want is a request of an application.
type want struct {
	at     *site
	name   string
	again  bool // it releases the lock after a while, and requests it again
	held   bool
	asked  int64
	ticket member.Ticket
	token  member.Token
}

// newCluster starts processes. One of them founds a cluster, and the others join it.
func newCluster(g Group, seed uint64) (*cluster, error) {
	if g.Logs == nil {
		return nil, errors.New("the cluster has no logs for its voters: set Group.Logs")
	}
	c := &cluster{Group: g, harness: newHarness(g.Members, varying(), seed), chance: kernel.NewRand(seed, 1), entry: func(*want) {}}
	c.Happen, c.seen = c.happen, c.see
	for _, n := range c.nodes {
		c.sites = append(c.sites, &site{node: n})
		c.At(c.chance.Below(int64(g.tick())), starts, n.id, 0)
	}
	return c, c.until(c.formed)
}

// until lets time pass until a condition holds.
func (c *cluster) until(over func() bool) error {
	end := c.Now() + 20*int64(c.Settings.Lease)
	for c.err == nil && !over() {
		if c.Now() > end {
			return errors.New("still running after twenty leases")
		}
		c.Step() // voters tick forever
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
		if s.Process == nil || s.Voter() == nil || c.Crashed(s.id) {
			continue
		}
		if l := s.Voter().Lead(); l.Serves && l.Term > term {
			best, term = s, l.Term
		}
	}
	return best, term
}

// formed reports whether all processes are members with a lease, and the required number of
// them are voters.
func (c *cluster) formed() bool {
	s, _ := c.leader()
	if s == nil {
		return false
	}
	l, r := s.Voter().Lead(), s.Voter().Record()
	if len(r.Members) < c.Members || len(l.Voters) < c.Voters || !l.Settled || len(l.Learners) > 0 {
		return false
	}
	return !slices.ContainsFunc(c.sites, func(s *site) bool {
		return s.record == nil || s.record.Epoch != r.Epoch || !s.Member().Usable(c.now())
	})
}

func (c *cluster) happen(e *kernel.Event) {
	switch e.Kind {
	case wakes:
		c.wake(e)
	case starts:
		c.start(c.sites[e.Proc()])
	case wants:
		c.ask(e.Arg())
	case releases:
		c.release(e.Arg())
	case resumes:
		c.Resume(algorithm.ID(e.Arg()))
	}
}

// start starts a process, with an empty disk.
func (c *cluster) start(s *site) {
	config := process.Config{Begin: process.Begin{Settings: c.Settings}, Logs: c.Logs, Spec: catalog.MakeLive}
	binary.BigEndian.PutUint64(config.Seed[:], uint64(c.chance.Below(1<<62)))
	for _, o := range c.sites {
		if o != s {
			config.Contacts = append(config.Contacts, o.address)
		}
	}
	if s.id == 0 {
		usual := catalog.Live()[0]
		config.Found = &process.Founding{Cluster: 1, Epoch: 1, Settings: c.Settings, Voters: c.Voters, Choices: []member.Choice{{Algorithm: usual.Name, Version: usual.Version}}}
	}
	s.start(config)
}

// see handles a report of a process.
func (c *cluster) see(n *node, e *process.Effect) {
	s := c.sites[n.id]
	switch e.Kind {
	case process.Notify:
		c.notified(s, &e.Event)
	case process.View:
		r := e.Record.Clone()
		s.record = &r
	case process.Ended:
		if s.record = nil; !s.victim {
			c.fail(fmt.Errorf("%s was evicted, although it had not failed", s.address))
		}
	case process.Renewing:
		if s.since == 0 {
			s.since = c.Now()
		}
	case process.Confirming:
		if s.since != 0 {
			s.slow = max(s.slow, c.Now()-s.since)
			s.since = 0
		}
	}
}

// notified handles the outcome of a request.
func (c *cluster) notified(s *site, e *member.Event) {
	for i := range c.wants {
		w := &c.wants[i]
		if w.at != s || w.ticket != e.Ticket {
			continue
		}
		switch e.Kind {
		case member.Held:
			w.held, w.token = true, e.Token
			c.entry(w)
			if w.again {
				c.At(c.Now()+cmp.Or(int64(c.Hold), 10*T), releases, s.id, i)
			}
		case member.Lost:
			w.held = false
			s.lost++
		}
	}
}

// want makes an application request a lock, and returns the number of the request.
func (c *cluster) want(s *site, name string, again bool) int {
	c.wants = append(c.wants, want{at: s, name: name, again: again})
	c.ask(len(c.wants) - 1)
	return len(c.wants) - 1
}

func (c *cluster) ask(i int) {
	w := &c.wants[i]
	w.asked = c.Now()
	w.at.take(process.Input{Kind: process.Lock, Text: w.name})
	if w.ticket = w.at.Out.Ticket; w.at.Out.Err != nil {
		c.fail(w.at.Out.Err)
	}
	w.at.carryOut()
}

// release makes an application release a lock and, if it is one that does so, request it
// again later.
func (c *cluster) release(i int) {
	w := &c.wants[i]
	if !w.held {
		return
	}
	w.held = false
	w.at.take(process.Input{Kind: process.Unlock, Text: w.name, Token: w.token})
	if w.at.Out.Err != nil {
		c.fail(w.at.Out.Err)
	}
	w.at.carryOut()
	if w.again {
		c.At(c.Now()+c.chance.Sample(exp(10*T)), wants, w.at.id, i)
	}
}
