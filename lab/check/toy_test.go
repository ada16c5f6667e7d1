package check

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// toy is a coordinator with a queue, into which a bug can be planted.
func toy(bug string) algorithm.Spec {
	spec := algorithm.Spec{
		Name: "toy", Kinds: []string{"REQUEST", "GRANT", "RELEASE", "NOTE"},
		TryLock: bug == "drop" || bug == "try",
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			s := &toyState{self: self, n: v.N, bug: bug, busy: algorithm.None}
			if v.Busy {
				s.busy = v.Holder
				if self == v.Holder {
					s.state = inside
				}
				if bug == "perjury" {
					s.jumps = 3
				}
				if bug == "birth" && v.Holder != 0 {
					s.busy = algorithm.None
				}
			}
			return algorithm.New(self, v, s)
		}),
	}
	if !spec.TryLock {
		spec.Theory.Bypass = func(n int) int { return n - 1 }
	}
	return spec
}

// What an application does.
const (
	idle uint8 = iota
	waits
	inside
)

const (
	toyRequest uint8 = iota
	toyGrant
	toyRelease
	toyNote
)

type toyMessage struct{ Kind uint8 }

func (m *toyMessage) Fields(c *algorithm.Coder) { c.Kind(&m.Kind, toyNote) }

type toyState struct {
	self algorithm.ID
	n    int
	bug  string

	state  uint8
	busy   algorithm.ID   // at the coordinator: who has been let in
	queue  []algorithm.ID // at the coordinator
	closed bool           // lets nobody in any more
	ghost  bool           // a token that nobody uses
	jumps  int            // how often the queue has been overtaken
}

func (s *toyState) Fields(c *algorithm.Coder) {
	c.Uint8("state", &s.state, "idle", "waits", "inside")
	c.Maybe("busy", &s.busy)
	c.Seats("queue", &s.queue)
	c.Bool("closed", &s.closed)
	c.Bool("ghost", &s.ghost)
	c.Int("jumps", &s.jumps, 3)
	if s.bug == "early" || s.bug == "unmarked" {
		return
	}
	if s.state == inside || s.self == 0 && s.busy == algorithm.None {
		c.Token()
	}
	if s.ghost {
		c.Token()
	}
}

func (s *toyState) Request(out *algorithm.Out[toyMessage]) {
	s.state = waits
	if s.bug == "astray" {
		out.Send(s.self+1, toyMessage{toyGrant})
	}
	out.Send(0, toyMessage{toyRequest})
}

func (s *toyState) Release(out *algorithm.Out[toyMessage]) {
	s.state = idle
	if s.bug == "note" && s.self == 0 && s.n > 1 {
		out.Send(1, toyMessage{toyNote})
	}
	if s.bug != "early" {
		out.Send(0, toyMessage{toyRelease})
	}
}

func (s *toyState) Receive(from algorithm.ID, m *toyMessage, out *algorithm.Out[toyMessage]) {
	switch {
	case m.Kind == toyGrant:
		s.state = inside
		out.Enter()
		if s.bug == "early" {
			out.Send(0, toyMessage{toyRelease})
		}
	case m.Kind == toyNote && s.bug == "bounce":
		out.Send(from, toyMessage{toyNote})
	case s.self != 0 || m.Kind == toyNote:
	case m.Kind == toyRequest:
		s.asked(from, out)
	case m.Kind == toyRelease:
		s.busy = algorithm.None
		s.ghost = s.bug == "ghost" && len(s.queue) > 0
		s.grant(out)
	}
}

// asked is a request at the coordinator.
func (s *toyState) asked(from algorithm.ID, out *algorithm.Out[toyMessage]) {
	switch {
	case s.busy == algorithm.None && len(s.queue) == 0 && !s.closed:
		s.queue = append(s.queue, from)
		s.grant(out)
	case s.bug == "drop":
	case s.bug == "bounce" && from != 0:
		s.closed = true
		out.Send(from, toyMessage{toyNote})
	case slices.Contains(s.queue, from):
	case s.bug == "jump" && len(s.queue) == 1 && s.jumps < 3:
		s.jumps++
		s.queue = slices.Insert(s.queue, 0, from)
	default:
		s.queue = append(s.queue, from)
	}
}

func (s *toyState) grant(out *algorithm.Out[toyMessage]) {
	if len(s.queue) == 0 || s.closed {
		return
	}
	s.busy = s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	if len(s.queue) == 0 {
		s.jumps = 0
	}
	out.Send(s.busy, toyMessage{toyGrant})
}

// Alibi: the coordinator knows whom it has let in.
func (s *toyState) Alibi(d algorithm.ID) bool {
	switch s.bug {
	case "early", "unmarked":
		return false
	case "liar":
		return s.self == 0
	case "perjury": // only born into a view that is busy
		return s.self == 0 && (s.busy != d || s.jumps == 3)
	}
	return s.self == 0 && s.busy != d
}
