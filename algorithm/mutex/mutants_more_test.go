package mutex

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
)

// plant returns spec with another state behind it: the real one with one verb
// or rule replaced.
func plant[M any, P algorithm.Message[M]](bug string, spec algorithm.Spec, state func(self algorithm.ID, v algorithm.View) algorithm.Mutex[M]) mutant {
	return mutant{name: bug, spec: spec, birth: func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New[M, P](self, v, state(self, v))
	}}
}

func moreMutants() []mutant {
	return []mutant{
		plant("grants whoever asks", Central(0), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[centralMessage] {
			return &centralGrantsAll{newCentral(self, v, 0)}
		}),
		plant("forgets who asks while it is busy", Central(0), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[centralMessage] {
			return &centralForgets{newCentral(self, v, 0)}
		}),
		plant("grants whoever asks", CentralDeny(0), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[denyMessage] {
			return &denyGrantsAll{newCentralDeny(self, v, 0)}
		}),
		plant("says nothing instead of DENIED", CentralDeny(0), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[denyMessage] {
			return &denySilent{newCentralDeny(self, v, 0)}
		}),
		plant("does not remember whom it let in", CentralStamped(0), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[stampedMessage] {
			return &stampedForgetsGrant{newCentralStamped(self, v, 0)}
		}),
		plant("keeps the newest request only", CentralStamped(0), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[stampedMessage] {
			return &stampedKeepsOne{newCentralStamped(self, v, 0)}
		}),
		plant("keeps the token it passes on", TokenRing(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[ringMessage] {
			return &ringKeeps{newTokenRing(self, v)}
		}),
		plant("everybody starts with a token", TokenRing(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[ringMessage] {
			return &ringManyTokens{newTokenRing(self, v)}
		}),
		plant("an idle process lets the token lie", TokenRing(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[ringMessage] {
			return &ringLetsLie{newTokenRing(self, v)}
		}),
		plant("keeps the token it passes on", TokenRingLazy(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[lazyMessage] {
			return &lazyKeeps{newTokenRingLazy(self, v)}
		}),
		plant("the goal is forgotten on the way", TokenRingLazy(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[lazyMessage] {
			return &lazyForgets{newTokenRingLazy(self, v)}
		}),
		plant("who is inside swallows wishes", TokenRingLazy(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[lazyMessage] {
			return &lazySwallows{newTokenRingLazy(self, v)}
		}),
		plant("a REPLY counts for any request", Lamport(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[lamMessage] {
			return &lamportBareReply{newLamport(self, v)}
		}),
		plant("the seat does not break ties", Lamport(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[lamMessage] {
			return &lamportTies{newLamport(self, v)}
		}),
		plant("clocks are moved by REQUESTs only", Lamport(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[lamMessage] {
			return &lamportSlowClock{newLamport(self, v)}
		}),
		plant("keeps the permission of those it gives an OK", CarvalhoRoucairol(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[raMessage] {
			return &carvalhoKeeps{newCarvalhoRoucairol(self, v)}
		}),
		plant("gives way but does not ask again", CarvalhoRoucairol(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[raMessage] {
			return &carvalhoSilent{newCarvalhoRoucairol(self, v)}
		}),
		plant("does not defer while inside", CarvalhoRoucairol(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[raMessage] {
			return &carvalhoNoDefer{newCarvalhoRoucairol(self, v)}
		}),
		plant("keeps the token it passes on", RicartAgrawalaToken(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[ratMessage] {
			return &scanKeeps{newRicartAgrawalaToken(self, v)}
		}),
		plant("the scan stops at the last seat", RicartAgrawalaToken(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[ratMessage] {
			return &scanStops{newRicartAgrawalaToken(self, v)}
		}),
		plant("the token does not learn what it granted", RicartAgrawalaToken(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[ratMessage] {
			return &scanForgets{newRicartAgrawalaToken(self, v)}
		}),
		plant("keeps its vote whatever REJECT says", MaekawaReject(quorum.Grid), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[sanMessage] {
			return &rejectKeeps{rejecting(self, v)}
		}),
		plant("gives its vote back while it is inside", MaekawaReject(quorum.Grid), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[sanMessage] {
			return &rejectGivesAll{rejecting(self, v)}
		}),
		plant("the guess is not turned round", NaimiTrehel(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[ntMessage] {
			return &naimiNoReversal{newNaimiTrehel(self, v)}
		}),
		plant("keeps the token it passes on", NaimiTrehel(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[ntMessage] {
			return &naimiKeeps{newNaimiTrehel(self, v)}
		}),
		plant("who waits passes on a token it has not got", NaimiTrehel(), func(self algorithm.ID, v algorithm.View) algorithm.Mutex[ntMessage] {
			return &naimiEager{newNaimiTrehel(self, v)}
		}),
	}
}

// rejecting makes the state of maekawa-reject with the grid.
func rejecting(self algorithm.ID, v algorithm.View) *sanders {
	sets, err := quorum.Grid(v.N)
	if err != nil {
		panic(err)
	}
	return newSanders(self, v, Structure{sets, sets})
}

type rejectKeeps struct{ *sanders }

func (s *rejectKeeps) Receive(from algorithm.ID, m *sanMessage, out *algorithm.Out[sanMessage]) {
	if m.Kind != sanInquire {
		s.sanders.Receive(from, m, out)
	}
}

type rejectGivesAll struct{ *sanders }

func (s *rejectGivesAll) Receive(from algorithm.ID, m *sanMessage, out *algorithm.Out[sanMessage]) {
	if m.Kind == sanInquire && s.state == held && s.asked == m.Time {
		out.Send(from, s.about(sanRelinquish, s.asked))
		return
	}
	s.sanders.Receive(from, m, out)
}

type centralGrantsAll struct{ *central }

func (s *centralGrantsAll) Receive(from algorithm.ID, m *centralMessage, out *algorithm.Out[centralMessage]) {
	if m.Kind == centralRequest {
		s.granted = algorithm.None
	}
	s.central.Receive(from, m, out)
}

type centralForgets struct{ *central }

func (s *centralForgets) Receive(from algorithm.ID, m *centralMessage, out *algorithm.Out[centralMessage]) {
	if m.Kind != centralRequest || s.granted == algorithm.None {
		s.central.Receive(from, m, out)
	}
}

type denyGrantsAll struct{ *centralDeny }

func (s *denyGrantsAll) Receive(from algorithm.ID, m *denyMessage, out *algorithm.Out[denyMessage]) {
	if m.Kind == denyRequest {
		s.granted = algorithm.None
	}
	s.centralDeny.Receive(from, m, out)
}

type denySilent struct{ *centralDeny }

func (s *denySilent) Receive(from algorithm.ID, m *denyMessage, out *algorithm.Out[denyMessage]) {
	if m.Kind != denyRequest || s.granted == algorithm.None {
		s.centralDeny.Receive(from, m, out)
	}
}

type stampedForgetsGrant struct{ *centralStamped }

func (s *stampedForgetsGrant) Receive(from algorithm.ID, m *stampedMessage, out *algorithm.Out[stampedMessage]) {
	s.centralStamped.Receive(from, m, out)
	s.granted = algorithm.None
}

type stampedKeepsOne struct{ *centralStamped }

func (s *stampedKeepsOne) Receive(from algorithm.ID, m *stampedMessage, out *algorithm.Out[stampedMessage]) {
	if m.Kind == centralRequest {
		clear(s.waiting)
	}
	s.centralStamped.Receive(from, m, out)
}

type ringKeeps struct{ *tokenRing }

func (s *ringKeeps) Release(out *algorithm.Out[ringMessage]) {
	s.tokenRing.Release(out)
	s.token = true
}

type ringManyTokens struct{ *tokenRing }

func (s *ringManyTokens) Start(out *algorithm.Out[ringMessage]) {
	s.token = true
	s.tokenRing.Start(out)
}

type ringLetsLie struct{ *tokenRing }

func (s *ringLetsLie) Receive(from algorithm.ID, m *ringMessage, out *algorithm.Out[ringMessage]) {
	if s.state == wanted {
		s.tokenRing.Receive(from, m, out)
		return
	}
	s.token = true
}

type lazyKeeps struct{ *tokenRingLazy }

func (s *lazyKeeps) Release(out *algorithm.Out[lazyMessage]) {
	s.tokenRingLazy.Release(out)
	s.token = true
}

type lazyForgets struct{ *tokenRingLazy }

func (s *lazyForgets) Receive(from algorithm.ID, m *lazyMessage, out *algorithm.Out[lazyMessage]) {
	if m.Kind == lazyToken && s.state == wanted {
		m.Seat = s.self
	}
	s.tokenRingLazy.Receive(from, m, out)
}

type lazySwallows struct{ *tokenRingLazy }

func (s *lazySwallows) Receive(from algorithm.ID, m *lazyMessage, out *algorithm.Out[lazyMessage]) {
	if m.Kind == lazyToken || s.state != held {
		s.tokenRingLazy.Receive(from, m, out)
	}
}

type lamportBareReply struct{ *lamport }

func (s *lamportBareReply) Receive(from algorithm.ID, m *lamMessage, out *algorithm.Out[lamMessage]) {
	if m.Kind == lamReply && s.state == wanted {
		m.Time, m.Clock = s.requests[s.self], s.clock
	}
	s.lamport.Receive(from, m, out)
}

type lamportTies struct{ *lamport }

func (s *lamportTies) Receive(from algorithm.ID, m *lamMessage, out *algorithm.Out[lamMessage]) {
	s.lamport.Receive(from, m, out)
	if s.state == wanted && s.missing.Empty() && oldest(s.requests).Time == s.requests[s.self] {
		s.state = held
		s.requests[s.self] = algorithm.Time{}
		out.Enter()
	}
}

type lamportSlowClock struct{ *lamport }

func (s *lamportSlowClock) Receive(from algorithm.ID, m *lamMessage, out *algorithm.Out[lamMessage]) {
	clock := s.clock
	s.lamport.Receive(from, m, out)
	if m.Kind != lamRequest {
		s.clock = clock
	}
}

type carvalhoKeeps struct{ *carvalhoRoucairol }

func (s *carvalhoKeeps) Receive(from algorithm.ID, m *raMessage, out *algorithm.Out[raMessage]) {
	had := s.have.Has(from)
	s.carvalhoRoucairol.Receive(from, m, out)
	if had {
		s.have.Add(from)
	}
}

type carvalhoSilent struct{ *carvalhoRoucairol }

func (s *carvalhoSilent) Receive(from algorithm.ID, m *raMessage, out *algorithm.Out[raMessage]) {
	if m.Kind == raRequest {
		s.have.Remove(from)
	}
	s.carvalhoRoucairol.Receive(from, m, out)
}

type carvalhoNoDefer struct{ *carvalhoRoucairol }

func (s *carvalhoNoDefer) Receive(from algorithm.ID, m *raMessage, out *algorithm.Out[raMessage]) {
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

func (s *scanKeeps) Release(out *algorithm.Out[ratMessage]) {
	s.ricartAgrawalaToken.Release(out)
	s.token = true
}

type scanStops struct{ *ricartAgrawalaToken }

func (s *scanStops) Release(out *algorithm.Out[ratMessage]) {
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

func (s *scanForgets) Release(out *algorithm.Out[ratMessage]) {
	s.state = released
	if to := s.scan(); to != algorithm.None {
		s.pass(to, out)
	}
}

type naimiNoReversal struct{ *naimiTrehel }

func (s *naimiNoReversal) Receive(from algorithm.ID, m *ntMessage, out *algorithm.Out[ntMessage]) {
	last := s.last
	s.naimiTrehel.Receive(from, m, out)
	if last == s.self && s.state != released {
		s.last = last
	}
}

type naimiKeeps struct{ *naimiTrehel }

func (s *naimiKeeps) Release(out *algorithm.Out[ntMessage]) {
	s.naimiTrehel.Release(out)
	s.token = true
}

type naimiEager struct{ *naimiTrehel }

func (s *naimiEager) Receive(from algorithm.ID, m *ntMessage, out *algorithm.Out[ntMessage]) {
	if m.Kind == ntRequest && m.From != s.self && s.last == s.self && s.state == wanted {
		s.last = m.From
		s.pass(m.From, out)
		return
	}
	s.naimiTrehel.Receive(from, m, out)
}
