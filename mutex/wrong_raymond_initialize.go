package mutex

import "github.com/stile-lock/stile/core"

// RaymondInitialize is Raymond with the paper's start: nobody but the first
// holder knows where the privilege is, until it has flooded INITIALIZE.
//
// K. Raymond: A Tree-Based Algorithm for Distributed Mutual Exclusion. ACM
// Transactions on Computer Systems 7(1), 1989, pages 61-77.
//
// It is safe and live, but weaker: it costs N-1 messages more, and a process
// that INITIALIZE has not reached can ask nobody.
func RaymondInitialize(tree TreeOf) core.Spec {
	s := Raymond(tree)
	s.Name, s.Title = "raymond-initialize", "Raymond with INITIALIZE"
	s.Weaker = "a request made before INITIALIZE has come must wait for it, and without a Start for ever"
	s.Fixed = "raymond"
	s.Shown = "stile replay scenarios/raymond-initialize-early.stile"
	s.Theory.Sync.Saturated = nil // at first others cannot ask, and the holder enters again
	s.Kinds = []string{"REQUEST", "PRIVILEGE", "INITIALIZE"}
	s.Plan = func(n int) (core.Birth, error) {
		t, err := tree(n)
		if err != nil {
			return nil, err
		}
		return func(self core.ID, v core.View) core.Machine {
			return core.New(self, v, newRaymondInitialize(self, v, t))
		}, nil
	}
	return s
}

const raymondInitialise = raymondPrivilege + 1

type raymondInitMessage struct{ Kind uint8 }

func (m *raymondInitMessage) Fields(c *core.Coder) {
	c.Kind(&m.Kind, raymondInitialise)
	if m.Kind == raymondPrivilege {
		c.Token()
	}
}

type raymondInitialize struct {
	raymond
	initialized bool // holder is known
}

func newRaymondInitialize(self core.ID, v core.View, t Tree) *raymondInitialize {
	s := &raymondInitialize{*newRaymond(self, v, t), self == v.Holder}
	if !s.initialized {
		s.holder = 0
	}
	return s
}

func (s *raymondInitialize) Fields(c *core.Coder) {
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
func (s *raymondInitialize) Start(out *core.Out[raymondInitMessage]) {
	if s.initialized && s.holder == s.self {
		s.initializeAllBut(core.None, out)
	}
}

func (s *raymondInitialize) initializeAllBut(from core.ID, out *core.Out[raymondInitMessage]) {
	var to core.Set
	for id, parent := range s.tree {
		if core.ID(id) != from && (parent == s.self || s.tree[s.self] == core.ID(id)) {
			to.Add(core.ID(id))
		}
	}
	out.Multicast(&to, raymondInitMessage{Kind: raymondInitialise})
}

func (s *raymondInitialize) Request(out *core.Out[raymondInitMessage]) {
	s.enqueue(s.self)
	s.proceed(out)
}

func (s *raymondInitialize) Release(out *core.Out[raymondInitMessage]) {
	s.using = false
	s.proceed(out)
}

func (s *raymondInitialize) Receive(from core.ID, m *raymondInitMessage, out *core.Out[raymondInitMessage]) {
	switch {
	case m.Kind == raymondInitialise && !s.initialized:
		s.initialized = true
		s.holder = from
		s.initializeAllBut(from, out)
	case m.Kind == raymondRequest:
		s.enqueue(from)
	case m.Kind == raymondPrivilege:
		s.initialized = true
		s.holder = s.self
		s.asked = false
	}
	s.proceed(out)
}

// proceed is Raymond's, once it is known where the privilege is.
func (s *raymondInitialize) proceed(out *core.Out[raymondInitMessage]) {
	if !s.initialized {
		return
	}
	switch to := s.assignPrivilege(); to {
	case core.None:
	case s.self:
		out.Enter()
	default:
		out.Send(to, raymondInitMessage{Kind: raymondPrivilege})
	}
	if s.makeRequest() {
		out.Send(s.holder, raymondInitMessage{Kind: raymondRequest})
	}
}

// Alibi is Raymond's, once it is known where the privilege is.
func (s *raymondInitialize) Alibi(d core.ID) bool { return s.initialized && s.raymond.Alibi(d) }
