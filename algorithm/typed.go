package algorithm

import "github.com/stile-lock/stile/algorithm/host"

// New returns a Machine for the mutual exclusion algorithm s at seat self.
func New[M any, P Message[M]](self ID, v View, s Mutex[M]) Machine {
	t := newTyped[M, P](self, v, s)
	t.mutex, t.machine.lock = s, true
	if v.Busy && v.Holder == self {
		t.machine.phase = inside
	}
	return &t.machine
}

// NewSite returns a Machine for the site s at seat self. There are txs transactions, at
// all sites together.
func NewSite[M any, P Message[M]](self ID, v View, s Site[M], txs int) Machine {
	t := newTyped[M, P](self, v, s)
	t.site, t.out.txs = s, txs
	return &t.machine
}

// NewElection returns a Machine for the election s at seat self.
func NewElection[M any, P Message[M]](self ID, v View, s Elector[M]) Machine {
	t := newTyped[M, P](self, v, s)
	t.elector = s
	return &t.machine
}

// A receiver is what all algorithms have in common.
type receiver[M any] interface {
	Fielder
	Receive(from ID, m *M, out *Out[M])
}

// typed is a machine together with what depends on the type of its messages. That is kept
// small, because it is compiled for each of dozens of types; so would be the methods of an
// embedded machine.
type typed[M any, P Message[M]] struct {
	machine machine
	s       receiver[M]
	mutex   Mutex[M]   // s, if it is one
	site    Site[M]    // s, if it is one
	elector Elector[M] // s, if it is one
	msg     M          // the message being received
	out     Out[M]
}

func newTyped[M any, P Message[M]](self ID, v View, s receiver[M]) *typed[M, P] {
	t := &typed[M, P]{s: s}
	t.out.code = P(&t.out.msg)
	t.machine.begin(self, v.N, parts{s, t, P(&t.msg), &t.out.outbox})
	return t
}

// made implements actor.
func (t *typed[M, P]) made() string {
	switch {
	case t.mutex != nil:
		return "New"
	case t.site != nil:
		return "NewSite"
	}
	return "NewElection"
}

// blank implements actor.
func (t *typed[M, P]) blank() {
	var zero M
	t.msg = zero
}

// receive implements actor.
func (t *typed[M, P]) receive(from ID) { t.s.Receive(from, &t.msg, &t.out) }

// notice implements actor.
func (t *typed[M, P]) notice(in host.Input) {
	switch in.Kind {
	case host.Start:
		if s, ok := t.s.(Starter[M]); ok {
			s.Start(&t.out)
		}
	case host.Expire:
		if s, ok := t.s.(Expirer[M]); ok {
			s.Expire(in.Timer, &t.out)
		}
	case host.Suspect:
		if s, ok := t.s.(Suspecter[M]); ok {
			s.Suspect(in.From, &t.out)
		}
	case host.Trust:
		if s, ok := t.s.(Truster[M]); ok {
			s.Trust(in.From, &t.out)
		}
	}
}

// ask implements actor.
func (t *typed[M, P]) ask(in host.Input) {
	o := &t.out
	switch {
	case t.mutex != nil && in.Kind == host.Request:
		t.mutex.Request(o)
	case t.mutex != nil && in.Kind == host.Release:
		t.mutex.Release(o)
	case t.elector != nil && in.Kind == host.Request:
		t.elector.Request(o)
	case t.site == nil:
	case in.Kind == host.Request && in.Mode != 0 || in.Kind == host.Cancel:
		t.share(in)
	case in.Kind == host.Request:
		t.site.Acquire(in.From, in.Arg, o)
	case in.Kind == host.Release:
		t.site.Finish(in.From, o)
	case in.Kind == host.Claim:
		t.site.Claim(in.From, in.Arg)
	case in.Kind == host.Abort:
		t.site.Abort(in.From, o)
	}
}

// share passes on what only a Sharer understands. Others refuse a request in another mode.
func (t *typed[M, P]) share(in host.Input) {
	s, ok := t.s.(Sharer[M])
	switch {
	case ok && in.Kind == host.Cancel:
		s.Cancel(in.From, &t.out)
	case ok:
		s.AcquireAs(in.From, in.Arg, in.Mode, &t.out)
	case in.Kind == host.Request:
		t.out.Refuse(in.From)
	}
}
