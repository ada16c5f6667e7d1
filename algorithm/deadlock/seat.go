package deadlock

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
)

// A seat is that of the coordinator: its occupant, as far as this site knows, and this
// site's part in the elections that fill it. The election is the ring, a machine inside
// the site that knows nothing of locks.
//
// The election relies on a timeout to make up for messages lost with a site that died.
// Here a perfect failure detector reports that a site has died, after all messages from
// it have arrived. So that timeout expires when a death is reported, and at no other
// time.
type seat struct {
	coordinator algorithm.ID // the coordinator, or None while the seat is vacant
	named       algorithm.ID // process that the election has named in this step, or None: not part of the state
	birth       algorithm.Birth
	sites       int
	vote        algorithm.Machine // nil until the site is known
	out         host.Output
}

// newSeat returns the seat among the given number of sites. Site 1 occupies it.
func newSeat(sites int) seat {
	birth, err := election.Ring().Birth(max(1, sites))
	if err != nil {
		panic("deadlock: the ring election takes any number of sites: " + err.Error())
	}
	return seat{named: algorithm.None, birth: birth, sites: sites}
}

// machine returns this site's part in elections.
func (e *seat) machine(s *site) algorithm.Machine {
	if e.vote == nil {
		e.vote = e.birth(s.self, algorithm.View{N: e.sites, Busy: true})
	}
	return e.vote
}

func (e *seat) fields(s *site, c *algorithm.Coder) {
	c.Maybe("coordinator", &e.coordinator)
	c.Inner("election", e.machine(s), nil)
}

// taken reports whether there is a coordinator.
func (e *seat) taken() bool { return e.coordinator != algorithm.None }

// poll gives the election an input, and sends its messages.
func (e *seat) poll(s *site, in host.Input, o *out) {
	if err := e.machine(s).Step(in, &e.out); err != nil {
		o.Fail(err)
		return
	}
	for i, m := range e.out.Sends {
		o.Because(seatElect+int(m.Kind), facts{Site: m.To})
		s.send(m.To, message{kind: elect + m.Kind, bytes: e.out.Bytes(i)}, o)
	}
	for _, n := range e.out.Notices {
		if n.Kind == host.Leader && n.Who != algorithm.None {
			e.named = n.Who
		}
	}
}

// fill handles the death of a site. If it was the coordinator the seat becomes vacant;
// and while the seat is vacant, any election is held again.
func (e *seat) fill(s *site, d algorithm.ID, o *out) {
	e.poll(s, host.Input{Kind: host.Suspect, From: d}, o)
	if e.coordinator == d {
		e.coordinator = algorithm.None
	}
	if !e.taken() {
		e.poll(s, host.Input{Kind: host.Expire}, o)
		e.poll(s, host.Input{Kind: host.Request}, o)
	}
}

// settle adopts the coordinator that the election has named, and reports whether it is
// new. It is not if the named site has died since: then there is another election, which
// began when the death was reported.
func (e *seat) settle(s *site) bool {
	named := e.named
	e.named = algorithm.None
	if named == algorithm.None || named == e.coordinator || s.dead.Has(named) {
		return false
	}
	e.coordinator = named
	return true
}
