package mutex

import "github.com/stile-lock/stile/algorithm"

// RaymondInitialize returns Raymond with the paper's start: only the first holder knows
// where the privilege is, until it has flooded INITIALIZE.
//
// K. Raymond: A Tree-Based Algorithm for Distributed Mutual Exclusion. ACM Transactions
// on Computer Systems 7(1), 1989, pages 61-77.
//
// It is safe and live, but weaker: it costs N-1 messages more, and a process that
// INITIALIZE has not reached has no process to ask.
func RaymondInitialize(tree TreeOf) algorithm.Spec {
	s := Raymond(tree)
	s.Name, s.Title = "raymond-initialize", "Raymond with INITIALIZE"
	s.Weaker = "a request made before INITIALIZE arrives must wait for it, and without a Start it waits forever"
	s.Fixed = "raymond"
	s.Shown = "stile-lab replay lab/scenarios/raymond-initialize-early.stile"
	s.Theory.Sync.Saturated = nil // at first the others cannot request, and the holder enters again
	s.Kinds = []string{"REQUEST", "PRIVILEGE", "INITIALIZE"}
	s.Rules[raymondFlood] = algorithm.Rule{ID: "4a", Text: "At the start INITIALIZE goes from the privilege to all, and shows where it is.", Why: "{self} knows where the privilege is, and sends INITIALIZE to {set}", Sends: "INITIALIZE"}
	s.Rules[raymondUnknown] = algorithm.Rule{ID: "4b", Text: "A process that does not know where the privilege is waits for INITIALIZE.", Why: "{self} waits for INITIALIZE, because it does not know where the privilege is"}
	s.Plan = func(n int) (algorithm.Birth, error) {
		t, err := tree(n)
		if err != nil {
			return nil, err
		}
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newRaymondInitialize(self, v, t))
		}, nil
	}
	return s
}

const raymondInitialise = raymondPrivilege + 1

type raymondInitMessage struct{ Kind uint8 }

func (m *raymondInitMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, raymondInitialise)
	if m.Kind == raymondPrivilege {
		c.Token()
	}
}

type raymondInitialize struct {
	raymond
	initialized bool // whether holder is known
}

func newRaymondInitialize(self algorithm.ID, v algorithm.View, t Tree) *raymondInitialize {
	s := &raymondInitialize{*newRaymond(self, v, t), self == v.Holder}
	if !s.initialized {
		s.holder = 0
	}
	return s
}

func (s *raymondInitialize) Fields(c *algorithm.Coder) {
	c.Bool("initialized", &s.initialized)
	c.Seats("queue", &s.queue)
	c.When(s.initialized)
	c.Seat("holder", &s.holder)
	c.Bool("using", &s.using)
	c.Bool("asked", &s.asked)
	if s.holder == s.self {
		c.Token()
	}
	c.Always()
}

// Start floods INITIALIZE from the holder.
func (s *raymondInitialize) Start(out *algorithm.Out[raymondInitMessage]) {
	if s.initialized && s.holder == s.self {
		s.initializeAllBut(algorithm.None, out)
	}
}

func (s *raymondInitialize) initializeAllBut(from algorithm.ID, out *algorithm.Out[raymondInitMessage]) {
	var to algorithm.Set
	for id, parent := range s.tree {
		if algorithm.ID(id) != from && (parent == s.self || s.tree[s.self] == algorithm.ID(id)) {
			to.Add(algorithm.ID(id))
		}
	}
	out.Because(raymondFlood, facts{Set: &to})
	out.Multicast(&to, raymondInitMessage{Kind: raymondInitialise})
}

func (s *raymondInitialize) Request(out *algorithm.Out[raymondInitMessage]) {
	enqueue(&s.raymond, s.self, out)
	s.proceed(out)
}

func (s *raymondInitialize) Release(out *algorithm.Out[raymondInitMessage]) {
	s.using = false
	s.proceed(out)
}

func (s *raymondInitialize) Receive(from algorithm.ID, m *raymondInitMessage, out *algorithm.Out[raymondInitMessage]) {
	switch {
	case m.Kind == raymondInitialise && !s.initialized:
		s.initialized = true
		s.holder = from
		s.initializeAllBut(from, out)
	case m.Kind == raymondRequest:
		enqueue(&s.raymond, from, out)
	case m.Kind == raymondPrivilege:
		s.initialized = true
		s.holder = s.self
		s.asked = false
	default:
		out.Because(raymondVoid, facts{Who: from})
	}
	s.proceed(out)
}

// proceed calls Raymond's, once the direction of the privilege is known.
func (s *raymondInitialize) proceed(out *algorithm.Out[raymondInitMessage]) {
	if !s.initialized {
		out.Because(raymondUnknown, facts{})
		return
	}
	switch to := assignPrivilege(&s.raymond, out); to {
	case algorithm.None:
	case s.self:
		out.Enter()
	default:
		out.Send(to, raymondInitMessage{Kind: raymondPrivilege})
	}
	if makeRequest(&s.raymond, out) {
		out.Send(s.holder, raymondInitMessage{Kind: raymondRequest})
	}
}

// Alibi implements algorithm.Alibier as Raymond does, once the direction of the privilege
// is known.
func (s *raymondInitialize) Alibi(d algorithm.ID) bool { return s.initialized && s.raymond.Alibi(d) }
