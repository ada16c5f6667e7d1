package catalog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A reasoned step is one step of a machine, with what is needed to judge its reasons.
type reasoned struct {
	spec     algorithm.Spec
	n        int // number of seats
	self     algorithm.ID
	in       host.Input
	out      *host.Output
	times    map[uint64]bool // of the state before and after, and of all messages
	messages []bool          // by index into out.Sends: whether a reason names it
	notices  []bool
	faults   []string
}

// judge compares the reasons of a step with what the step did, and returns what is wrong
// with them.
func (s *reasoned) judge() []string {
	s.messages, s.notices = make([]bool, len(s.out.Sends)), make([]bool, len(s.out.Notices))
	entered := false
	for i := range s.out.Reasons {
		r := &s.out.Reasons[i]
		rule := &s.spec.Rules[r.Rule]
		entered = entered || rule.Enters
		s.stamps(r, rule)
		s.effects(r, rule)
	}
	for i := range s.out.Reasons {
		s.silence(&s.out.Reasons[i])
	}
	switch {
	case entered && !s.out.Entered:
		s.fault("it says that it enters, but does not")
	case !entered && s.out.Entered:
		s.fault("it enters without a reason")
	}
	for i, named := range s.messages {
		if m := s.out.Sends[i]; !named {
			s.fault("it sends %s to %v without a reason", s.spec.Kinds[m.Kind], m.To)
		}
	}
	for i, named := range s.notices {
		switch n := s.out.Notices[i]; {
		case named || n.Kind == host.SetTimer || n.Kind == host.Heard || n.Kind == host.Doomed:
		default:
			s.fault("it gives a notice of kind %d about %v without a reason", n.Kind, n.Who)
		}
	}
	if len(s.out.Reasons) == 0 && (s.in.Kind == host.Receive || s.in.Kind == host.Request || s.in.Kind == host.Release) {
		s.fault("there is no reason at all")
	}
	return s.faults
}

func (s *reasoned) fault(format string, args ...any) {
	var said []string
	for _, r := range s.out.Reasons {
		said = append(said, s.spec.Rules[r.Rule].ID+" "+s.spec.Say(s.self, r))
	}
	s.faults = append(s.faults, fmt.Sprintf("%s, %v of %d %s: %s; it says: %s", s.spec.Name, s.self, s.n, s.spec.When(s.in),
		fmt.Sprintf(format, args...), strings.Join(said, "; ")))
}

// says reports whether the sentence of a rule names something.
func says(rule *algorithm.Rule, word string) bool { return strings.Contains(rule.Why, "{"+word+"}") }

// stamps checks the stamps that a reason names.
func (s *reasoned) stamps(r *host.Reason, rule *algorithm.Rule) {
	for _, x := range []struct {
		word  string
		stamp host.Stamp
	}{{"a", r.A}, {"b", r.B}} {
		known := s.times[x.stamp.Time] || s.spec.Detects && s.times[x.stamp.Time+1] // the clock of a new view may have ticked
		if says(rule, x.word) && (x.stamp.Time == 0 || !known) {
			s.fault("the stamp %v of rule %s is in no state and no message", x.stamp, rule.ID)
		}
	}
	if strings.Contains(rule.Why, "{a} comes before {b}") && (r.A.Time > r.B.Time || r.A.Time == r.B.Time && r.A.ID >= r.B.ID) {
		s.fault("%v does not come before %v", r.A, r.B)
	}
}

// recipients returns the processes that a reason is about.
func (s *reasoned) recipients(r *host.Reason, rule *algorithm.Rule) []algorithm.ID {
	switch {
	case says(rule, "site"):
		return []algorithm.ID{r.Site}
	case says(rule, "who"):
		return []algorithm.ID{r.Who}
	case says(rule, "set"):
		return r.Set
	}
	var all []algorithm.ID
	for id := range algorithm.ID(s.n) {
		sent := slices.ContainsFunc(s.out.Sends, func(m host.Send) bool { return m.To == id && s.spec.Kinds[m.Kind] == rule.Sends })
		if sent || !s.spec.Detects { // all members of a view
			all = append(all, id)
		}
	}
	return all
}

// effects checks that messages and notices are as the reason says.
func (s *reasoned) effects(r *host.Reason, rule *algorithm.Rule) {
	for _, to := range s.recipients(r, rule) {
		if rule.Sends == "" || to == s.self {
			continue
		}
		sent := false
		for i, m := range s.out.Sends {
			if m.To == to && s.spec.Kinds[m.Kind] == rule.Sends {
				s.messages[i], sent = true, true
			}
		}
		if !sent {
			s.fault("rule %s sends %s to %v, but the step does not", rule.ID, rule.Sends, to)
		}
	}
	for _, kind := range rule.Notices {
		given := false
		for i, n := range s.out.Notices {
			if n.Kind == kind && (!says(rule, "who") || n.Who == r.Who) {
				s.notices[i], given = true, true
			}
		}
		if !given {
			s.fault("rule %s gives a notice of kind %d, but the step does not", rule.ID, kind)
		}
	}
}

// silence checks that a process that is deferred, queued or ignored gets no message, unless
// another reason names it.
func (s *reasoned) silence(r *host.Reason) {
	rule := &s.spec.Rules[r.Rule]
	if !rule.Silent {
		return
	}
	for _, m := range s.out.Sends {
		named := slices.ContainsFunc(s.out.Reasons, func(o host.Reason) bool {
			other := &s.spec.Rules[o.Rule]
			return other.Sends == s.spec.Kinds[m.Kind] && slices.Contains(s.recipients(&o, other), m.To)
		})
		if m.To == r.Who && !named {
			s.fault("rule %s sends nothing to %v, but the step sends %s", rule.ID, r.Who, s.spec.Kinds[m.Kind])
		}
	}
}

// Notes are the times and counters of states and messages.
type notes map[uint64]bool

func (n notes) Time(v *uint64)                   { n[*v] = true }
func (n notes) Ticket(v *uint64)                 { n[*v] = true }
func (n notes) Seq(_ algorithm.ID, v *uint64)    { n[*v] = true }
func (n notes) Anchor(_ algorithm.ID, v *uint64) { n[*v] = true }

// message notes those of a message. Those of a message that another carries are only in
// its description.
func (n notes) message(m algorithm.Machine, b []byte, carries bool) {
	_ = m.VisitMessageTimes(b, n)
	if !carries {
		return
	}
	fields, _ := m.DescribeMessage(b)
	for _, f := range fields {
		var t, id uint64
		if c, _ := fmt.Sscanf(strings.Trim(f.Value, "<>"), "%d,%d", &t, &id); c > 0 {
			n[t] = true
		}
	}
}

// A bench runs machines and judges the reasons of every step.
type bench struct {
	spec   algorithm.Spec
	ms     []algorithm.Machine
	twins  []algorithm.Machine // given the same inputs, with nobody listening
	flight []letter
	timers []alarm
	dead   algorithm.Set
	dice   dice
	fired  map[int]bool
	phases []phase // of applications of locks
	faults []string
	out    host.Output
}

// An alarm is a timer that was set.
type alarm struct {
	at    algorithm.ID
	timer int
}

func newBench(spec algorithm.Spec, n int, seed uint64, fired map[int]bool) (*bench, error) {
	b := &bench{spec: spec, phases: make([]phase, n), dice: dice(seed + 1), fired: fired, out: host.Output{Listen: true}}
	v := algorithm.View{N: n, Holder: algorithm.ID(b.dice.below(n))}
	if spec.Family == algorithm.Election {
		v.Holder, v.Busy = algorithm.ID(n-1), true
	}
	var err error
	if b.ms, err = spec.Group(v); err != nil {
		return nil, err
	}
	b.twins, err = spec.Group(v)
	return b, err
}

// step gives an input, judges the reasons, and compares the outcome with that of a machine
// to which no host listens.
func (b *bench) step(self algorithm.ID, in host.Input) error {
	m, noted := b.ms[self], notes{}
	m.VisitTimes(noted)
	if in.Kind == host.Receive {
		noted.message(m, in.Bytes, b.spec.Detects)
	}
	if err := m.Step(in, &b.out); err != nil {
		return fmt.Errorf("%v %s: %w", self, b.spec.When(in), err)
	}
	m.VisitTimes(noted)
	for i := range b.out.Sends {
		noted.message(m, b.out.Bytes(i), b.spec.Detects)
	}
	s := reasoned{spec: b.spec, n: len(b.ms), self: self, in: in, out: &b.out, times: noted}
	b.faults = append(b.faults, s.judge()...)
	for _, r := range b.out.Reasons {
		b.fired[r.Rule] = true
	}
	var deaf host.Output
	if err := b.twins[self].Step(in, &deaf); err != nil {
		return fmt.Errorf("%v %s, with no host listening: %w", self, b.spec.When(in), err)
	}
	if len(deaf.Reasons) > 0 || deaf.Entered != b.out.Entered || !slices.Equal(deaf.Sends, b.out.Sends) || !bytes.Equal(deaf.Buffer, b.out.Buffer) ||
		fmt.Sprint(deaf.Notices) != fmt.Sprint(b.out.Notices) || !bytes.Equal(m.AppendState(nil), b.twins[self].AppendState(nil)) {
		return fmt.Errorf("%v %s: with a host that listens it does something else", self, b.spec.When(in))
	}
	if b.out.Entered {
		b.phases[self] = inside
	}
	for i, send := range b.out.Sends {
		if !b.dead.Has(send.To) {
			b.flight = append(b.flight, letter{self, send.To, bytes.Clone(b.out.Bytes(i))})
		}
	}
	for _, n := range b.out.Notices {
		if n.Kind == host.Denied && b.spec.Family == algorithm.MutualExclusion {
			b.phases[self] = idle
		}
		if n.Kind == host.SetTimer {
			b.timers = slices.DeleteFunc(b.timers, func(a alarm) bool { return a == alarm{self, n.Timer} })
			if n.After > 0 {
				b.timers = append(b.timers, alarm{self, n.Timer})
			}
		}
	}
	return nil
}

// next takes a message off the network: the first of a channel, or any if channels may
// reorder.
func (b *bench) next() letter {
	i := b.dice.below(len(b.flight))
	switch b.spec.Network {
	case algorithm.Unordered, algorithm.Duplicating:
		i = max(i, b.dice.below(len(b.flight)), b.dice.below(len(b.flight))) // some are late
	default:
		i = slices.IndexFunc(b.flight, func(l letter) bool { return l.from == b.flight[i].from && l.to == b.flight[i].to })
	}
	l := b.flight[i]
	b.flight = slices.Delete(b.flight, i, i+1)
	return l
}
