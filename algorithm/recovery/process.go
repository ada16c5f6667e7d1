package recovery

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

type out = algorithm.Out[frame]

// The states of an application.
const (
	idle uint8 = iota
	waits
	inside
)

// A process is one process of the group: its lock in the present view, and its part in
// elections.
type process struct {
	*family
	self algorithm.ID
	n    int

	phase   uint8
	epoch   int
	members []algorithm.ID // members of the view, by seat
	maker   algorithm.ID   // process that made the view, and is its coordinator
	lock    algorithm.Machine
	started bool
	frozen  bool          // whether a member has died: the lock is frozen
	told    algorithm.ID  // process it has reported to in this epoch, or None
	leader  algorithm.ID  // process that the election last named, or None
	dead    algorithm.Set // processes known to be dead
	early   []early       // frames of epochs whose view has not arrived

	fresh  bool          // whether it is new, and has been in no view
	silent bool          // whether it is new, and messages to its predecessor may still arrive
	met    bool          // whether there were newcomers
	back   algorithm.Set // dead processes that are back, and have not joined
	asks   algorithm.Set // newcomers that must be let in

	foretold algorithm.Set // newcomers that are let in, and whose JOIN is still in flight

	// At a leader, or a future one: the processes that reported, and those that were not
	// inside when it asked.
	reports algorithm.Set
	news    algorithm.Set // newcomers among them
	latest  int           // highest epoch of those that reported
	holder  algorithm.ID  // process that is inside, or None
	heard   algorithm.Set // empty if it does not ask

	vote             algorithm.Machine
	lockOut, voteOut host.Output
}

// An early frame waits for its view.
type early struct {
	from  algorithm.ID
	epoch int
	bytes []byte
}

// maxEarly bounds the number of frames kept for views that have not arrived.
const maxEarly = 1000

func newProcess(f *family, vote algorithm.Birth, self algorithm.ID, v algorithm.View) *process {
	s := &process{family: f, self: self, n: v.N, told: algorithm.None, holder: algorithm.None}
	if v.Late {
		s.vote = vote(self, algorithm.View{N: v.N})
		s.newcomer()
		return s
	}
	for id := range algorithm.ID(v.N) {
		s.members = append(s.members, id)
	}
	s.maker = algorithm.ID(v.N - 1)
	s.leader = s.maker
	s.vote = vote(self, algorithm.View{N: v.N, Holder: s.leader, Busy: true})
	s.lock = f.machine(self, s.maker, v)
	if v.Busy && v.Holder == self {
		s.phase = inside
	}
	return s
}

// seat returns the seat of a process in the view, or None.
func (s *process) seat(id algorithm.ID) algorithm.ID {
	return algorithm.ID(slices.Index(s.members, id))
}

// reseat makes a lock for the present members, in any state.
func (s *process) reseat(c *algorithm.Coder) {
	if s.seat(s.self) == algorithm.None {
		c.Refuse("members", "the process itself is not a member")
		s.members = []algorithm.ID{s.self}
	}
	s.lock = s.machine(s.seat(s.self), max(0, s.seat(s.maker)), algorithm.View{N: len(s.members)})
}

func (s *process) Fields(c *algorithm.Coder) {
	before, maker := slices.Clone(s.members), s.maker
	c.Uint8("state", &s.phase, "IDLE", "WAITS", "INSIDE")
	c.Int("epoch", &s.epoch, maxEpoch)
	c.Seats("members", &s.members)
	c.Seat("maker", &s.maker)
	if !slices.Equal(before, s.members) || maker != s.maker {
		s.reseat(c)
	}
	c.Bool("started", &s.started)
	c.Bool("frozen", &s.frozen)
	c.Maybe("told", &s.told)
	c.Maybe("leader", &s.leader)
	c.Set("dead", &s.dead)
	c.Set("reports", &s.reports)
	c.Int("latest", &s.latest, maxEpoch)
	c.Maybe("holder", &s.holder)
	c.Bool("fresh", &s.fresh)
	c.Bool("silent", &s.silent)
	c.Bool("met", &s.met)
	c.Set("back", &s.back)
	c.Set("asks", &s.asks)
	c.Set("foretold", &s.foretold)
	c.Set("news", &s.news)
	c.Set("heard", &s.heard)
	count := len(s.early)
	c.Int("early", &count, maxEarly)
	for len(s.early) < count {
		s.early = append(s.early, early{})
	}
	s.early = s.early[:count]
	for i := range s.early {
		c.Seat("early-from", &s.early[i].from)
		c.Int("early-epoch", &s.early[i].epoch, maxEpoch)
		c.Bytes("early-message", &s.early[i].bytes)
	}
	c.Inner("lock", s.lock, s.members)
	c.Inner("election", s.vote, nil)
}

// Carried implements algorithm.Carrier. A lock's message is read in its own view.
func (s *process) Carried(m algorithm.Fielder) (algorithm.Machine, []byte, []algorithm.ID) {
	switch f := m.(*frame); {
	case int(f.Kind) < s.locks && f.Epoch == s.epoch:
		return s.lock, f.Bytes, s.members
	case int(f.Kind) >= s.locks && int(f.Kind) < s.all:
		return s.vote, f.Bytes, nil
	}
	return nil, nil, nil
}

func (s *process) Start(o *out) {
	s.poll(host.Input{Kind: host.Start}, o)
	if s.silent {
		o.SetTimer(own, silence)
		return
	}
	if !s.started {
		s.started = true
		o.Fail(s.step(host.Input{Kind: host.Start}, o))
	}
}

func (s *process) Request(o *out) {
	s.phase = waits
	if !s.frozen {
		s.wind(o)
	}
	o.Fail(s.step(host.Input{Kind: host.Request}, o))
}

func (s *process) Release(o *out) {
	s.phase = idle
	// If the lock has let in two, which is its own mistake, a view knows of one of them:
	// there is nothing that the other could release.
	if err := s.step(host.Input{Kind: host.Release}, o); !errors.Is(err, host.ErrHost) {
		o.Fail(err)
	}
}

// step gives the lock an input, unless the lock is frozen: then the next view makes up
// for it.
func (s *process) step(in host.Input, o *out) error {
	if s.frozen {
		s.because(viewFrozen, facts{}, o)
		return nil
	}
	if err := o.StepInner(s.lock, in, &s.lockOut, 0, s.members); err != nil {
		return err
	}
	for i, m := range s.lockOut.Sends {
		o.Send(s.members[m.To], frame{Kind: m.Kind, Epoch: s.epoch, Bytes: s.lockOut.Bytes(i)})
	}
	for _, n := range s.lockOut.Notices {
		switch {
		case n.Kind == host.SetTimer && n.After > 0:
			return fmt.Errorf("%w: the lock sets timer %d, but a lock that survives crashes is made anew in each view and cannot keep timers: remove the timer, or use the lock without an election", host.ErrAlgorithm, n.Timer)
		case n.Kind == host.Denied && s.phase == waits:
			s.phase = idle
			s.wind(o)
			o.Deny()
		}
	}
	if s.lockOut.Entered && s.phase == waits {
		s.phase = inside
		s.wind(o)
		o.Enter()
	}
	return nil
}

// poll gives the election an input.
func (s *process) poll(in host.Input, o *out) {
	if err := o.StepInner(s.vote, in, &s.voteOut, s.lockRules, nil); err != nil {
		o.Fail(err)
		return
	}
	for i, m := range s.voteOut.Sends {
		o.Send(m.To, frame{Kind: uint8(s.locks) + m.Kind, Bytes: s.voteOut.Bytes(i)})
	}
	for _, n := range s.voteOut.Notices {
		switch n.Kind {
		case host.SetTimer:
			o.SetTimer(outer(n.Timer), n.After)
		case host.Leader:
			s.leader = n.Who
		}
	}
	if s.frozen && s.leader != algorithm.None && s.dead.Has(s.leader) && !s.back.Has(s.leader) {
		s.leader = algorithm.None // stale news: it has died since
		s.poll(host.Input{Kind: host.Request}, o)
		return
	}
	s.report(o)
	s.admit(o)
}

// outer returns the number that a timer of the election has here, and inner the reverse.
func outer(timer int) int {
	if timer >= own {
		timer++
	}
	return timer
}

func inner(timer int) int {
	if timer > own {
		timer--
	}
	return timer
}

func (s *process) Expire(timer int, o *out) {
	if timer == own {
		s.expired(o)
		return
	}
	s.poll(host.Input{Kind: host.Expire, Timer: inner(timer)}, o)
}

func (s *process) Receive(from algorithm.ID, m *frame, o *out) {
	switch kind := int(m.Kind); {
	case kind < s.locks:
		o.Fail(s.receive(from, m.Epoch, m.Bytes, o))
	case kind < s.all:
		s.poll(host.Input{Kind: host.Receive, From: from, Bytes: m.Bytes}, o)
	case s.silent:
		s.because(viewOther, facts{Who: from}, o)
	default:
		s.change(from, kind-s.all, m, o)
	}
}

// change handles a frame about views.
func (s *process) change(from algorithm.ID, kind int, m *frame, o *out) {
	switch {
	case kind == report:
		s.reported(from, m, o)
	case kind == view && from == s.told && m.Epoch > s.epoch && s.fits(m):
		s.install(from, m, o)
	case kind == join:
		s.joined(from, o)
	case kind == stop:
		s.stopped(from, m.Epoch, o)
	case kind == doubt && m.Epoch == s.epoch:
		s.doubted(o)
	case kind == who && m.Epoch == s.epoch:
		s.asked(from, o)
	case kind == here && m.Epoch == s.epoch:
		s.answered(from, m.Inside, o)
	default:
		s.because(viewOther, facts{Who: from}, o)
	}
}

// fits reports whether a view can be that of this process: it is a member, not its
// predecessor, and if it is inside the view says so, as it has reported. The first
// protects from frames that no leader sends. The second is needed if joined keeps the
// predecessor's report. No run is known that needs the third.
func (s *process) fits(m *frame) bool {
	return slices.Contains(m.Members, s.self) && slices.Contains(m.Members, m.Holder) &&
		s.fresh == slices.Contains(m.New, s.self) &&
		(s.phase != inside || m.Inside && m.Holder == s.self)
}

// receive handles a frame of the lock, if its view is the present one.
func (s *process) receive(from algorithm.ID, epoch int, bytes []byte, o *out) error {
	switch seat := s.seat(from); {
	case s.silent:
		s.because(viewOther, facts{Who: from}, o)
	case epoch == s.epoch && seat != algorithm.None:
		return s.step(host.Input{Kind: host.Receive, From: seat, Bytes: bytes}, o)
	case epoch > s.epoch && len(s.early) < maxEarly:
		s.because(viewEarly, facts{Who: from}, o)
		s.early = append(s.early, early{from, epoch, slices.Clone(bytes)})
	default:
		s.because(viewOther, facts{Who: from}, o)
	}
	return nil
}

// Suspect ends the view if the process was a member.
func (s *process) Suspect(id algorithm.ID, o *out) {
	if id == s.self || s.dead.Has(id) && !s.back.Has(id) {
		return
	}
	s.dead.Add(id)
	s.back.Remove(id)
	s.asks.Remove(id)
	s.foretold.Remove(id)
	if id == s.holder {
		s.holder = algorithm.None
	}
	s.poll(host.Input{Kind: host.Suspect, From: id}, o)
	if s.seat(id) != algorithm.None || s.frozen {
		s.freeze(o)
	}
	s.collect(o)
}

// freeze ends the view here, and requests a leader to make another.
func (s *process) freeze(o *out) {
	s.still(o)
	s.poll(host.Input{Kind: host.Request}, o)
}
