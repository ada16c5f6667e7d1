package mutex

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/quorum"
)

// plant returns spec with another state behind it: the real one with one verb
// or rule replaced.
func plant[M any, P core.Message[M]](bug string, spec core.Spec, state func(self core.ID, v core.View) core.Mutex[M]) mutant {
	return mutant{name: bug, spec: spec, birth: func(self core.ID, v core.View) core.Machine {
		return core.New[M, P](self, v, state(self, v))
	}}
}

func moreMutants() []mutant {
	return []mutant{
		plant("grants whoever asks", Central(0), func(self core.ID, v core.View) core.Mutex[centralMessage] {
			return &centralGrantsAll{newCentral(self, v, 0)}
		}),
		plant("forgets who asks while it is busy", Central(0), func(self core.ID, v core.View) core.Mutex[centralMessage] {
			return &centralForgets{newCentral(self, v, 0)}
		}),
		plant("grants whoever asks", CentralDeny(0), func(self core.ID, v core.View) core.Mutex[denyMessage] {
			return &denyGrantsAll{newCentralDeny(self, v, 0)}
		}),
		plant("says nothing instead of DENIED", CentralDeny(0), func(self core.ID, v core.View) core.Mutex[denyMessage] {
			return &denySilent{newCentralDeny(self, v, 0)}
		}),
		plant("does not remember whom it let in", CentralStamped(0), func(self core.ID, v core.View) core.Mutex[stampedMessage] {
			return &stampedForgetsGrant{newCentralStamped(self, v, 0)}
		}),
		plant("keeps the newest request only", CentralStamped(0), func(self core.ID, v core.View) core.Mutex[stampedMessage] {
			return &stampedKeepsOne{newCentralStamped(self, v, 0)}
		}),
		plant("keeps the token it passes on", TokenRing(), func(self core.ID, v core.View) core.Mutex[ringMessage] {
			return &ringKeeps{newTokenRing(self, v)}
		}),
		plant("everybody starts with a token", TokenRing(), func(self core.ID, v core.View) core.Mutex[ringMessage] {
			return &ringManyTokens{newTokenRing(self, v)}
		}),
		plant("an idle process lets the token lie", TokenRing(), func(self core.ID, v core.View) core.Mutex[ringMessage] {
			return &ringLetsLie{newTokenRing(self, v)}
		}),
		plant("keeps the token it passes on", TokenRingLazy(), func(self core.ID, v core.View) core.Mutex[lazyMessage] {
			return &lazyKeeps{newTokenRingLazy(self, v)}
		}),
		plant("the goal is forgotten on the way", TokenRingLazy(), func(self core.ID, v core.View) core.Mutex[lazyMessage] {
			return &lazyForgets{newTokenRingLazy(self, v)}
		}),
		plant("who is inside swallows wishes", TokenRingLazy(), func(self core.ID, v core.View) core.Mutex[lazyMessage] {
			return &lazySwallows{newTokenRingLazy(self, v)}
		}),
		plant("a REPLY counts for any request", Lamport(), func(self core.ID, v core.View) core.Mutex[lamMessage] {
			return &lamportBareReply{newLamport(self, v)}
		}),
		plant("the seat does not break ties", Lamport(), func(self core.ID, v core.View) core.Mutex[lamMessage] {
			return &lamportTies{newLamport(self, v)}
		}),
		plant("clocks are moved by REQUESTs only", Lamport(), func(self core.ID, v core.View) core.Mutex[lamMessage] {
			return &lamportSlowClock{newLamport(self, v)}
		}),
		plant("keeps the permission of those it gives an OK", CarvalhoRoucairol(), func(self core.ID, v core.View) core.Mutex[raMessage] {
			return &carvalhoKeeps{newCarvalhoRoucairol(self, v)}
		}),
		plant("gives way but does not ask again", CarvalhoRoucairol(), func(self core.ID, v core.View) core.Mutex[raMessage] {
			return &carvalhoSilent{newCarvalhoRoucairol(self, v)}
		}),
		plant("does not defer while inside", CarvalhoRoucairol(), func(self core.ID, v core.View) core.Mutex[raMessage] {
			return &carvalhoNoDefer{newCarvalhoRoucairol(self, v)}
		}),
		plant("keeps the token it passes on", RicartAgrawalaToken(), func(self core.ID, v core.View) core.Mutex[ratMessage] {
			return &scanKeeps{newRicartAgrawalaToken(self, v)}
		}),
		plant("the scan stops at the last seat", RicartAgrawalaToken(), func(self core.ID, v core.View) core.Mutex[ratMessage] {
			return &scanStops{newRicartAgrawalaToken(self, v)}
		}),
		plant("the token does not learn what it granted", RicartAgrawalaToken(), func(self core.ID, v core.View) core.Mutex[ratMessage] {
			return &scanForgets{newRicartAgrawalaToken(self, v)}
		}),
		plant("keeps its vote whatever REJECT says", MaekawaReject(quorum.Grid), func(self core.ID, v core.View) core.Mutex[sanMessage] {
			return &rejectKeeps{rejecting(self, v)}
		}),
		plant("gives its vote back while it is inside", MaekawaReject(quorum.Grid), func(self core.ID, v core.View) core.Mutex[sanMessage] {
			return &rejectGivesAll{rejecting(self, v)}
		}),
		plant("the guess is not turned round", NaimiTrehel(), func(self core.ID, v core.View) core.Mutex[ntMessage] {
			return &naimiNoReversal{newNaimiTrehel(self, v)}
		}),
		plant("keeps the token it passes on", NaimiTrehel(), func(self core.ID, v core.View) core.Mutex[ntMessage] {
			return &naimiKeeps{newNaimiTrehel(self, v)}
		}),
		plant("who waits passes on a token it has not got", NaimiTrehel(), func(self core.ID, v core.View) core.Mutex[ntMessage] {
			return &naimiEager{newNaimiTrehel(self, v)}
		}),
	}
}

// rejecting makes the state of maekawa-reject with the grid.
func rejecting(self core.ID, v core.View) *sanders {
	sets, err := quorum.Grid(v.N)
	if err != nil {
		panic(err)
	}
	return newSanders(self, v, Structure{sets, sets})
}

type rejectKeeps struct{ *sanders }

func (s *rejectKeeps) Receive(from core.ID, m *sanMessage, out *core.Out[sanMessage]) {
	if m.Kind != sanInquire {
		s.sanders.Receive(from, m, out)
	}
}

type rejectGivesAll struct{ *sanders }

func (s *rejectGivesAll) Receive(from core.ID, m *sanMessage, out *core.Out[sanMessage]) {
	if m.Kind == sanInquire && s.state == held && s.asked == m.Time {
		out.Send(from, s.about(sanRelinquish, s.asked))
		return
	}
	s.sanders.Receive(from, m, out)
}

type centralGrantsAll struct{ *central }

func (s *centralGrantsAll) Receive(from core.ID, m *centralMessage, out *core.Out[centralMessage]) {
	if m.Kind == centralRequest {
		s.granted = core.None
	}
	s.central.Receive(from, m, out)
}

type centralForgets struct{ *central }

func (s *centralForgets) Receive(from core.ID, m *centralMessage, out *core.Out[centralMessage]) {
	if m.Kind != centralRequest || s.granted == core.None {
		s.central.Receive(from, m, out)
	}
}

type denyGrantsAll struct{ *centralDeny }

func (s *denyGrantsAll) Receive(from core.ID, m *denyMessage, out *core.Out[denyMessage]) {
	if m.Kind == denyRequest {
		s.granted = core.None
	}
	s.centralDeny.Receive(from, m, out)
}

type denySilent struct{ *centralDeny }

func (s *denySilent) Receive(from core.ID, m *denyMessage, out *core.Out[denyMessage]) {
	if m.Kind != denyRequest || s.granted == core.None {
		s.centralDeny.Receive(from, m, out)
	}
}

type stampedForgetsGrant struct{ *centralStamped }

func (s *stampedForgetsGrant) Receive(from core.ID, m *stampedMessage, out *core.Out[stampedMessage]) {
	s.centralStamped.Receive(from, m, out)
	s.granted = core.None
}

type stampedKeepsOne struct{ *centralStamped }

func (s *stampedKeepsOne) Receive(from core.ID, m *stampedMessage, out *core.Out[stampedMessage]) {
	if m.Kind == centralRequest {
		clear(s.waiting)
	}
	s.centralStamped.Receive(from, m, out)
}

type ringKeeps struct{ *tokenRing }

func (s *ringKeeps) Release(out *core.Out[ringMessage]) {
	s.tokenRing.Release(out)
	s.token = true
}

type ringManyTokens struct{ *tokenRing }

func (s *ringManyTokens) Start(out *core.Out[ringMessage]) {
	s.token = true
	s.tokenRing.Start(out)
}

type ringLetsLie struct{ *tokenRing }

func (s *ringLetsLie) Receive(from core.ID, m *ringMessage, out *core.Out[ringMessage]) {
	if s.state == wanted {
		s.tokenRing.Receive(from, m, out)
		return
	}
	s.token = true
}

type lazyKeeps struct{ *tokenRingLazy }

func (s *lazyKeeps) Release(out *core.Out[lazyMessage]) {
	s.tokenRingLazy.Release(out)
	s.token = true
}

type lazyForgets struct{ *tokenRingLazy }

func (s *lazyForgets) Receive(from core.ID, m *lazyMessage, out *core.Out[lazyMessage]) {
	if m.Kind == lazyToken && s.state == wanted {
		m.Seat = s.self
	}
	s.tokenRingLazy.Receive(from, m, out)
}

type lazySwallows struct{ *tokenRingLazy }

func (s *lazySwallows) Receive(from core.ID, m *lazyMessage, out *core.Out[lazyMessage]) {
	if m.Kind == lazyToken || s.state != held {
		s.tokenRingLazy.Receive(from, m, out)
	}
}

type lamportBareReply struct{ *lamport }

func (s *lamportBareReply) Receive(from core.ID, m *lamMessage, out *core.Out[lamMessage]) {
	if m.Kind == lamReply && s.state == wanted {
		m.Time, m.Clock = s.requests[s.self], s.clock
	}
	s.lamport.Receive(from, m, out)
}

type lamportTies struct{ *lamport }

func (s *lamportTies) Receive(from core.ID, m *lamMessage, out *core.Out[lamMessage]) {
	s.lamport.Receive(from, m, out)
	if s.state == wanted && s.missing.Empty() && oldest(s.requests).Time == s.requests[s.self] {
		s.state = held
		s.requests[s.self] = core.Time{}
		out.Enter()
	}
}

type lamportSlowClock struct{ *lamport }

func (s *lamportSlowClock) Receive(from core.ID, m *lamMessage, out *core.Out[lamMessage]) {
	clock := s.clock
	s.lamport.Receive(from, m, out)
	if m.Kind != lamRequest {
		s.clock = clock
	}
}

type carvalhoKeeps struct{ *carvalhoRoucairol }

func (s *carvalhoKeeps) Receive(from core.ID, m *raMessage, out *core.Out[raMessage]) {
	had := s.have.Has(from)
	s.carvalhoRoucairol.Receive(from, m, out)
	if had {
		s.have.Add(from)
	}
}

type carvalhoSilent struct{ *carvalhoRoucairol }

func (s *carvalhoSilent) Receive(from core.ID, m *raMessage, out *core.Out[raMessage]) {
	if m.Kind == raRequest {
		s.have.Remove(from)
	}
	s.carvalhoRoucairol.Receive(from, m, out)
}

type carvalhoNoDefer struct{ *carvalhoRoucairol }

func (s *carvalhoNoDefer) Receive(from core.ID, m *raMessage, out *core.Out[raMessage]) {
	inside := s.state == held
	if inside {
		s.state = released
	}
	s.carvalhoRoucairol.Receive(from, m, out)
	if inside {
		s.state = held
	}
}

type scanKeeps struct{ *ricartAgrawalaToken }

func (s *scanKeeps) Release(out *core.Out[ratMessage]) {
	s.ricartAgrawalaToken.Release(out)
	s.token = true
}

type scanStops struct{ *ricartAgrawalaToken }

func (s *scanStops) Release(out *core.Out[ratMessage]) {
	s.state = released
	s.t[s.self] = s.r[s.self]
	for j := s.self + 1; int(j) < len(s.r); j++ {
		if s.r[j] == s.t[j]+1 {
			s.pass(j, out)
			return
		}
	}
}

type scanForgets struct{ *ricartAgrawalaToken }

func (s *scanForgets) Release(out *core.Out[ratMessage]) {
	s.state = released
	s.scan(out)
}

type naimiNoReversal struct{ *naimiTrehel }

func (s *naimiNoReversal) Receive(from core.ID, m *ntMessage, out *core.Out[ntMessage]) {
	last := s.last
	s.naimiTrehel.Receive(from, m, out)
	if last == s.self && s.state != released {
		s.last = last
	}
}

type naimiKeeps struct{ *naimiTrehel }

func (s *naimiKeeps) Release(out *core.Out[ntMessage]) {
	s.naimiTrehel.Release(out)
	s.token = true
}

type naimiEager struct{ *naimiTrehel }

func (s *naimiEager) Receive(from core.ID, m *ntMessage, out *core.Out[ntMessage]) {
	if m.Kind == ntRequest && m.From != s.self && s.last == s.self && s.state == wanted {
		s.last = m.From
		s.pass(m.From, out)
		return
	}
	s.naimiTrehel.Receive(from, m, out)
}
