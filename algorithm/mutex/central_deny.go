package mutex

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// CentralDeny returns Central without a queue: a coordinator that cannot let a process in
// answers DENIED, and the process may request again later. It is a try-lock: no process
// waits, and none is promised a turn.
//
// A. S. Tanenbaum, M. van Steen: Distributed Systems: Principles and Paradigms, 2nd
// edition, 2007, section 6.3.2, where the coordinator may answer "permission denied"
// instead of keeping silent.
//
// Channels may reorder: a REQUEST that overtakes the RELEASE before it is denied, which a
// try-lock may always do.
func CentralDeny(coordinator algorithm.ID) algorithm.Spec {
	return algorithm.Spec{
		Name: "central-deny", Title: "Central coordinator that denies", Authors: "folklore", Year: 2007,
		Class:   algorithm.Central,
		Paper:   "In Tanenbaum, van Steen: Distributed Systems: Principles and Paradigms, 2nd edition, 2007, section 6.3.2",
		Version: 1,
		Network: algorithm.Unordered,
		TryLock: true,
		Kinds:   []string{"REQUEST", "GRANT", "DENIED", "RELEASE"},
		Rules:   denyRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Star, Title: "the coordinator denies instead of queueing", Vote: "granted", Answer: "GRANT", Hub: always(coordinator)},
		Theory: algorithm.Theory{
			// Light: less than one DENIED for each entry.
			Messages:   algorithm.Cost{Text: "3, and 2 for each DENIED", Light: between(0, 5)},
			Multicasts: algorithm.Cost{Text: "the same", Light: between(0, 5)},
			Client:     algorithm.Cost{Text: "2T, 0 at the coordinator", Any: between(0, 2)},
			Sync:       algorithm.Cost{Text: "none: no process waits"},
			Order:      "none: the first to ask while it is free",
		},
		Plan: coordinated(coordinator, func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newCentralDeny(self, v, coordinator))
		}),
	}
}

const (
	denyRequest uint8 = iota
	denyGrant
	denyDenied
	denyRelease
)

// The rule beside those of Central.
const denyGiveUp = centralVoid + 1

func denyRules() []algorithm.Rule {
	rules := append(centralRules(), algorithm.Rule{
		ID: "3b", Text: "A process gives up when it receives DENIED.", Why: "{self} gives up, because the coordinator denied it", Notices: []host.NoticeKind{host.Denied},
	})
	rules[centralLetIn].Text = "When no process is inside, the coordinator grants a request."
	rules[centralLetIn].Why = "{self} grants {who}, because no process is inside"
	rules[centralQueue] = algorithm.Rule{ID: "2b", Text: "As long as a process is inside, the coordinator denies requests.", Why: "{self} denies {who}, because it has granted {other}", Sends: "DENIED"}
	rules[centralEnter].ID = "3a"
	return rules
}

type denyMessage struct{ Kind uint8 }

func (m *denyMessage) Fields(c *algorithm.Coder) { c.Kind(&m.Kind, denyRelease) }

type centralDeny struct {
	self, coordinator algorithm.ID

	state   uint8
	granted algorithm.ID // at the coordinator: the process that may be inside, or None
}

func newCentralDeny(self algorithm.ID, v algorithm.View, coordinator algorithm.ID) *centralDeny {
	return &centralDeny{
		self: self, coordinator: coordinator,
		state: born(self, v), granted: grantedAtBirth(self, v, coordinator),
	}
}

func (s *centralDeny) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.When(s.self == s.coordinator)
	c.Maybe("granted", &s.granted)
	c.Always()
}

func (s *centralDeny) Request(out *algorithm.Out[denyMessage]) {
	s.state = wanted
	out.Because(centralAsk, facts{Who: s.coordinator})
	out.Send(s.coordinator, denyMessage{Kind: denyRequest})
}

func (s *centralDeny) Release(out *algorithm.Out[denyMessage]) {
	s.state = released
	out.Because(centralLeave, facts{Who: s.coordinator})
	out.Send(s.coordinator, denyMessage{Kind: denyRelease})
}

func (s *centralDeny) Receive(from algorithm.ID, m *denyMessage, out *algorithm.Out[denyMessage]) {
	answer := m.Kind == denyGrant || m.Kind == denyDenied
	switch {
	case answer && from == s.coordinator && s.state == wanted:
		s.answered(m.Kind == denyGrant, out)
	case m.Kind == denyRequest && s.self == s.coordinator:
		s.answer(from, out)
	case m.Kind == denyRelease && s.self == s.coordinator && s.granted == from:
		out.Because(centralFreed, facts{Who: from})
		s.granted = algorithm.None
	default:
		out.Because(centralVoid, facts{Who: from})
	}
}

func (s *centralDeny) answered(in bool, out *algorithm.Out[denyMessage]) {
	if in {
		s.state = held
		out.Because(centralEnter, facts{})
		out.Enter()
	} else {
		s.state = released
		out.Because(denyGiveUp, facts{})
		out.Deny()
	}
}

// answer answers a REQUEST at the coordinator.
func (s *centralDeny) answer(from algorithm.ID, out *algorithm.Out[denyMessage]) {
	kind := denyDenied
	if s.granted == algorithm.None {
		out.Because(centralLetIn, facts{Who: from})
		s.granted = from
		kind = denyGrant
	} else {
		out.Because(centralQueue, facts{Who: from, Other: s.granted})
	}
	out.Send(from, denyMessage{Kind: kind})
}

// Alibi implements algorithm.Alibier: the coordinator has not let d in, or knows that it
// has left.
func (s *centralDeny) Alibi(d algorithm.ID) bool { return s.self == s.coordinator && s.granted != d }
