package check

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family/locks"
	"github.com/stile-lock/stile/internal/nightly"
)

// A bearer is a process of a broadcast token algorithm whose requests are numbered: the one
// that releases the token passes it on to the next process around the circle that has
// requested. A slip is planted into what it does with the token or with a request.
type bearer struct {
	self  algorithm.ID
	state uint8
	rn    []uint64
	token bool
	ln    []uint64
	late  int    // late requests that arrived inside, if it counts them
	memo  uint64 // with the token: what rn was for the next process when it arrived
	slip  slip
}

// A slip is called when the token arrives, when a request does, when the section is left,
// and when the token is passed on. It returns true to end the step, or to send no token.
type slip struct {
	token, request, leave, pass func(s *bearer, from algorithm.ID, n uint64) bool
	kind                        uint8 // of requests
}

type bearerMessage struct {
	Kind uint8 // the last one is a request whose second copy counts
	From algorithm.ID
	N    uint64
	LN   []uint64
}

func (m *bearerMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, 2)
	if m.Kind != 1 {
		c.Seat("from", &m.From)
		c.Seq("n", m.From, &m.N)
		if m.Kind == 0 {
			c.Idempotent()
		}
		return
	}
	c.Anchors("LN", &m.LN)
	c.Token()
}

func (s *bearer) Fields(c *algorithm.Coder) {
	c.Uint8("state", &s.state, "idle", "waits", "inside")
	c.Seqs("RN", &s.rn)
	c.Bool("token", &s.token)
	c.Int("late", &s.late, 2)
	c.When(s.token)
	c.Anchors("LN", &s.ln)
	c.Seq("memo", s.next(), &s.memo)
	c.Token()
	c.Always()
}

func (s *bearer) next() algorithm.ID { return (s.self + 1) % algorithm.ID(len(s.rn)) }

func (s *bearer) Request(out *algorithm.Out[bearerMessage]) {
	if s.token {
		s.state = inside
		out.Enter()
		return
	}
	s.state = waits
	s.rn[s.self]++
	out.Broadcast(bearerMessage{Kind: s.slip.kind, From: s.self, N: s.rn[s.self]})
}

func (s *bearer) Receive(from algorithm.ID, m *bearerMessage, out *algorithm.Out[bearerMessage]) {
	if m.Kind != 1 {
		if s.slip.request != nil && s.slip.request(s, from, m.N) {
			return
		}
		s.rn[from] = max(s.rn[from], m.N)
		if s.token && s.state == idle {
			s.pass(out)
		}
		return
	}
	s.token = true
	copy(s.ln, m.LN)
	s.memo = s.rn[s.next()]
	if s.slip.token != nil && s.slip.token(s, from, 0) {
		return
	}
	if s.state == waits {
		s.state = inside
		out.Enter()
	}
}

func (s *bearer) Release(out *algorithm.Out[bearerMessage]) {
	s.state = idle
	s.ln[s.self] = s.rn[s.self]
	if s.slip.leave != nil && s.slip.leave(s, algorithm.None, 0) {
		return
	}
	s.pass(out)
}

func (s *bearer) pass(out *algorithm.Out[bearerMessage]) {
	n := algorithm.ID(len(s.rn))
	for d := algorithm.ID(1); d < n; d++ {
		if j := (s.self + d) % n; s.rn[j] == s.ln[j]+1 {
			if s.slip.pass == nil || !s.slip.pass(s, j, 0) {
				out.Send(j, bearerMessage{Kind: 1, LN: s.ln})
			}
			s.lose()
			return
		}
	}
}

func (s *bearer) lose() {
	s.token, s.memo = false, 0
	clear(s.ln)
}

// lags reports whether some request number is more than by behind what the token says.
func (s *bearer) lags(by uint64) bool {
	for j := range s.rn {
		if s.rn[j]+by < s.ln[j] {
			return true
		}
	}
	return false
}

func bearers(x slip) algorithm.Spec {
	return algorithm.Spec{
		Name: "bearers", Kinds: []string{"REQUEST", "TOKEN", "UNMARKED"}, Network: algorithm.Unordered,
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &bearer{
				self: self, token: self == v.Holder, rn: make([]uint64, v.N), ln: make([]uint64, v.N), slip: x,
			})
		}),
	}
}

// Counters that lag behind their anchor are taken for equal to it. That they may be is
// tested: an algorithm that cares by how much is not said to hold, whatever it does then
// and wherever it looks.
func TestAnchorsAreTested(t *testing.T) {
	type when = func(s *bearer, from algorithm.ID, n uint64) bool
	drop := func(ok func(s *bearer, from algorithm.ID, n uint64) bool) when {
		return func(s *bearer, from algorithm.ID, n uint64) bool {
			if !s.token || !ok(s, from, n) {
				return false
			}
			s.lose()
			return true
		}
	}
	for name, c := range map[string]struct {
		slip slip
		bad  bool
	}{
		"none":                            {},
		"drops a token if RN < LN":        {slip{token: drop(func(s *bearer, _ algorithm.ID, _ uint64) bool { return s.lags(0) })}, true},
		"drops a token if RN + 1 < LN":    {slip{token: drop(func(s *bearer, _ algorithm.ID, _ uint64) bool { return s.lags(1) })}, true},
		"keeps a token if RN < LN":        {slip{leave: func(s *bearer, _ algorithm.ID, _ uint64) bool { return s.lags(0) }}, true},
		"sends none if RN < LN":           {slip{pass: func(s *bearer, _ algorithm.ID, _ uint64) bool { return s.lags(0) }}, true},
		"drops it if RN is still 0":       {slip{token: drop(func(s *bearer, _ algorithm.ID, _ uint64) bool { return slices.Min(s.rn) == 0 && slices.Max(s.ln) > 1 })}, true},
		"drops it if a REQUEST is late":   {slip{request: drop(func(s *bearer, from algorithm.ID, n uint64) bool { return n < s.ln[from] })}, true},
		"drops it if RN is 0 and LN is 1": {slip{token: drop(func(s *bearer, _ algorithm.ID, _ uint64) bool { return s.self != 0 && s.rn[0] == 0 && s.ln[0] == 1 })}, true},
		"drops it if only one lags": {slip{token: drop(func(s *bearer, _ algorithm.ID, _ uint64) bool {
			a, b := (s.self+1)%3, (s.self+2)%3
			return s.rn[a] < s.ln[a] && s.rn[b] == s.ln[b]
		})}, true},
		"drops it if a copy of RN < LN": {slip{leave: drop(func(s *bearer, _ algorithm.ID, _ uint64) bool { return s.memo < s.ln[s.next()] })}, true},
		"drops it if both are still 0": {slip{token: drop(func(s *bearer, _ algorithm.ID, _ uint64) bool {
			a, b := (s.self+1)%3, (s.self+2)%3
			return s.rn[a]+s.rn[b] == 0 && s.ln[a] > 0 && s.ln[b] > 0
		})}, true},
		"drops it if two lag alike": {slip{token: drop(func(s *bearer, _ algorithm.ID, _ uint64) bool {
			a, b := (s.self+1)%3, (s.self+2)%3
			return s.rn[a] < s.ln[a] && s.ln[a]-s.rn[a] == s.ln[b]-s.rn[b]
		})}, true},
		"drops it if two lag unequally": {slip{token: drop(func(s *bearer, _ algorithm.ID, _ uint64) bool {
			a, b := (s.self+1)%3, (s.self+2)%3
			return s.rn[a] < s.ln[a] && s.rn[b] < s.ln[b] && s.ln[a]-s.rn[a] != s.ln[b]-s.rn[b]
		})}, true},
	} {
		if !nightly.On() && c.bad && !strings.Contains(name, "token") {
			continue
		}
		spec := bearers(c.slip)
		r := mustRun(t, Config{Spec: spec, Nodes: 3, Requests: 2, Network: spec.Network, Properties: []string{MutualExclusion, Deadlock}})
		for _, p := range r.Properties {
			if c.bad != strings.Contains(p.Note, "Coder.Anchors") || c.bad == (p.Verdict == HoldsBounded) {
				t.Errorf("%s: %s is %s: %s", name, p.Name, p.Verdict, p.Note)
			}
		}
	}
}

// Second copies are left out only of messages that are marked: one that counts two late
// requests loses the token, though they are equal when they are measured from the token.
func TestUnmarkedCopiesCount(t *testing.T) {
	count := slip{
		request: func(s *bearer, from algorithm.ID, n uint64) bool {
			if s.state == inside && n <= s.ln[from] && s.late < 2 {
				s.late++
			}
			return false
		},
		leave: func(s *bearer, _ algorithm.ID, _ uint64) bool {
			lost := s.late == 2
			if s.late = 0; lost {
				s.lose()
			}
			return lost
		},
		kind: 2,
	}
	for _, network := range []algorithm.Network{algorithm.FIFO, algorithm.Unordered} {
		r := mustRun(t, Config{Spec: bearers(count), Nodes: 3, Requests: 2, Network: network, Properties: []string{Deadlock}})
		if p := r.Properties[0]; p.Verdict != Violated {
			t.Errorf("%v: %s is %s, want violated: %s", network, p.Name, p.Verdict, p.Note)
		}
	}
}

// An eager lock grants requests at process 1. On the first request, process 1 also sends
// every other process two equal NOTEs, which a correct process ignores. A slip says how a
// process wrongly takes the second NOTE as permission to enter.
type eager struct {
	self  algorithm.ID
	n     int
	state uint8
	heard int
	busy  bool // at process 1: one is inside
	told  uint8
	slip  string
	note  uint8 // kind of notes
}

type eagerMessage struct{ Kind uint8 }

const (
	eagerAsk uint8 = iota
	eagerNote
	eagerGrant
	eagerDone
	eagerUnmarked // a note
)

func (m *eagerMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, eagerUnmarked)
	if m.Kind == eagerNote {
		c.Idempotent()
	}
}

func (s *eager) Fields(c *algorithm.Coder) {
	c.Uint8("state", &s.state, "idle", "waits", "inside")
	c.Int("heard", &s.heard, 2)
	c.Bool("busy", &s.busy)
	c.Uint8("told", &s.told, "no", "yes")
}

func (s *eager) Request(out *algorithm.Out[eagerMessage]) {
	s.state = waits
	if s.slip == "asks" && s.heard == 1 {
		s.heard = 2
	}
	out.Send(0, eagerMessage{Kind: eagerAsk})
}

func (s *eager) Release(out *algorithm.Out[eagerMessage]) {
	s.state = idle
	out.Send(0, eagerMessage{Kind: eagerDone})
}

func (s *eager) Receive(from algorithm.ID, m *eagerMessage, out *algorithm.Out[eagerMessage]) {
	switch m.Kind {
	case eagerAsk:
		if s.told == 0 {
			s.told = 1
			for p := range algorithm.ID(s.n - 1) {
				out.Send(p+1, eagerMessage{Kind: s.note})
				out.Send(p+1, eagerMessage{Kind: s.note})
			}
		}
		if !s.busy {
			s.busy = true
			out.Send(from, eagerMessage{Kind: eagerGrant})
		}
	case eagerNote, eagerUnmarked:
		second := s.heard == 2 || s.slip == "at once" && s.heard == 1
		switch {
		case s.heard == 0:
			s.heard = 1
		case s.slip == "counts":
			second, s.heard = true, 2
		}
		if second && s.slip != "" && s.state == waits {
			s.state = inside
			out.Enter()
		}
	case eagerGrant:
		if s.state == waits {
			s.state = inside
			out.Enter()
		}
	case eagerDone:
		s.busy = false
	}
}

// That a second copy changes nothing is tested, where it arrives right after the first and
// where the receiver has done something in between. Without the mark, two enter.
func TestIdempotentIsTested(t *testing.T) {
	for _, slip := range []string{"", "counts", "at once", "asks"} {
		for _, network := range []algorithm.Network{algorithm.FIFO, algorithm.Unordered} {
			for note, bad := range map[uint8]Verdict{eagerNote: Unfinished, eagerUnmarked: Violated} {
				spec := algorithm.Spec{Name: "eager", Kinds: []string{"ASK", "NOTE", "GRANT", "DONE", "UNMARKED"}, TryLock: true, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
					return algorithm.New(self, v, &eager{self: self, n: v.N, slip: slip, note: note})
				})}
				r := mustRun(t, Config{Spec: spec, Nodes: 3, Requests: 1, Network: network, Properties: []string{MutualExclusion}})
				want := HoldsBounded
				if slip != "" {
					want = bad
				}
				if p := r.Properties[0]; p.Verdict != want || (want == Unfinished) != strings.Contains(p.Note, "Coder.Idempotent") {
					t.Errorf("%q, %v: %s is %s, want %s: %s", slip, network, p.Name, p.Verdict, want, p.Note)
				}
			}
		}
	}
}

// A hoarder is a coordinator that keeps something outside its bytes and, when there is
// enough of it, grants while another process is inside.
type hoarder struct {
	toyState
	hoard func() bool // counts, and reports whether there is enough
	tidy  func(s *hoarder, c *algorithm.Coder)
	set   algorithm.Set
}

func (s *hoarder) Fields(c *algorithm.Coder) {
	s.toyState.Fields(c)
	c.Set("set", &s.set)
	if s.tidy != nil {
		s.tidy(s, c)
	}
}

func (s *hoarder) Receive(from algorithm.ID, m *toyMessage, out *algorithm.Out[toyMessage]) {
	if s.self == 0 && m.Kind == toyRequest && s.hoard() {
		s.busy, s.queue = algorithm.None, s.queue[:0]
	}
	s.toyState.Receive(from, m, out)
}

// What a machine keeps outside its bytes, wherever that is, is found by machines that are
// kept alive: as a mistake that names the process, the step, and what to do.
func TestStateOutsideTheBytes(t *testing.T) {
	for name, hide := range map[string]func(s *hoarder, enough int){
		"nothing": func(s *hoarder, _ int) { s.hoard = func() bool { return false } },
		"a pointer": func(s *hoarder, enough int) {
			count := new(int)
			s.hoard = func() bool { *count++; return *count%enough == 0 }
		},
		"a slice": func(s *hoarder, enough int) {
			count := make([]int, 1)
			s.hoard = func() bool { count[0]++; return count[0]%enough == 0 }
		},
		"a map": func(s *hoarder, enough int) {
			count := map[string]int{}
			s.hoard = func() bool { count["it"]++; return count["it"]%enough == 0 }
		},
		"a closure": func(s *hoarder, enough int) {
			count := 0
			s.hoard = func() bool { count++; return count%enough == 0 }
		},
		"a set": func(s *hoarder, enough int) {
			s.hoard = func() bool {
				for id := range algorithm.ID(enough) {
					if id += 8; !s.set.Has(id) { // beyond the byte that the view fills
						s.set.Add(id)
						return false
					}
				}
				return true
			}
		},
		"a list that is tidied": func(s *hoarder, _ int) {
			s.hoard = func() bool { return false }
			s.tidy = func(s *hoarder, _ *algorithm.Coder) { slices.Sort(s.queue) }
		},
	} {
		for _, enough := range []int{2, 7, 60} {
			spec := toy("")
			spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				s := &hoarder{toyState: toyState{self: self, n: v.N, bug: "unmarked", busy: algorithm.None}}
				hide(s, enough)
				return algorithm.New(self, v, s)
			})
			_, err := Run(Config{Spec: spec, Nodes: 3, Properties: []string{MutualExclusion}})
			if name == "nothing" && err != nil || name != "nothing" && (!errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), "P1")) {
				t.Errorf("%s, %d: %v", name, enough, err)
			}
		}
	}
}

// A hasty machine advances its clock on one more kind of input.
type hasty struct {
	algorithm.Machine
	on   host.InputKind
	kind byte // Receive: the only kind of message; 255 for all
}

func (h hasty) Step(in host.Input, out *host.Output) error {
	if err := h.Machine.Step(in, out); err != nil || in.Kind != h.on || in.Kind == host.Request {
		return err
	}
	if in.Kind == host.Receive && h.kind != 255 && in.Bytes[0] != h.kind {
		return nil
	}
	return h.Machine.Step(host.Input{Kind: host.Hear, From: algorithm.None, Time: h.Clock() + 1}, new(host.Output))
}

// Applications are assumed to talk only right before a request. That rests on clocks that
// only a request advances, which is tested where they talk.
func TestOnlyARequestTicks(t *testing.T) {
	ok := byte(slices.Index(mutex.RicartAgrawala().Kinds, "OK"))
	for _, c := range []hasty{{on: host.Request}, {on: host.Receive, kind: 255}, {on: host.Receive, kind: ok}, {on: host.Release}, {on: host.Hear}} {
		for _, property := range []string{Order, OrderOpen} {
			spec := mutex.RicartAgrawala()
			plan := spec.Plan
			spec.Plan = func(n int) (algorithm.Birth, error) {
				birth, err := plan(n)
				return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
					return hasty{birth(self, v), c.on, c.kind}
				}, err
			}
			r := mustRun(t, Config{Spec: spec, Nodes: 2, Requests: 2, Properties: []string{property}})
			p := r.Properties[0]
			if bad := c.on != host.Request && property == OrderOpen; bad != strings.Contains(p.Note, "right before") || bad == (p.Verdict == HoldsBounded) {
				t.Errorf("%v %d, %s: %s, %s", c.on, c.kind, property, p.Verdict, p.Note)
			}
		}
	}
}

// A liar gives one process an alibi that it does not have.
type liar struct {
	toyState
	of algorithm.ID
}

func (s *liar) Alibi(d algorithm.ID) bool { return d == s.of }

// Alibis are checked for every pair of processes.
func TestEveryAlibi(t *testing.T) {
	for by := range algorithm.ID(3) {
		for of := range algorithm.ID(3) {
			if of == by {
				continue // no machine is asked about itself
			}
			spec := toy("")
			spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				s := toyState{self: self, n: v.N, busy: algorithm.None}
				if self == by {
					return algorithm.New(self, v, &liar{s, of})
				}
				return algorithm.New(self, v, &liar{s, algorithm.None})
			})
			r := mustRun(t, Config{Spec: spec, Nodes: 3, Requests: 1, Properties: []string{Alibi}})
			if p := r.Properties[0]; p.Verdict != Violated {
				t.Errorf("an alibi of %v by %v: %s, %s", of, by, p.Verdict, p.Note)
			}
		}
	}
}

// A persistent process asks another for permission several times, and enters with the first
// answer.
type persistent struct{ state uint8 }

const tries = 4

func (s *persistent) Fields(c *algorithm.Coder) {
	c.Uint8("state", &s.state, "idle", "waits", "inside")
}

func (s *persistent) Request(out *algorithm.Out[toyMessage]) {
	s.state = waits
	for range tries {
		out.Send(1, toyMessage{toyRequest})
	}
}

func (s *persistent) Release(*algorithm.Out[toyMessage]) { s.state = idle }

func (s *persistent) Receive(from algorithm.ID, m *toyMessage, out *algorithm.Out[toyMessage]) {
	switch {
	case m.Kind == toyRequest:
		out.Send(from, toyMessage{toyGrant})
	case s.state == waits:
		s.state = inside
		out.Enter()
	}
}

// At most as many messages are lost as the Config allows.
func TestLossesAreCounted(t *testing.T) {
	f := locks.Family()
	f.Loses = true
	for losses := range tries + 2 {
		spec := toy("")
		spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &persistent{})
		})
		want := HoldsBounded
		if losses >= tries {
			want = Violated
		}
		r := mustRun(t, Config{Spec: spec, Family: f, Nodes: 2, Requests: 1, Requesters: []algorithm.ID{0}, Losses: losses, Properties: []string{Deadlock}})
		if p := r.Properties[0]; p.Verdict != want {
			t.Errorf("%d losses: %s is %s, want %s: %s", losses, p.Name, p.Verdict, want, p.Note)
		}
	}
}
