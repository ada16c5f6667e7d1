package sections

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// bundled returns the algorithm whose machine at each process is one machine of the given
// algorithm for each section that the process uses.
func (c Config) bundled(of algorithm.Spec, requests int) (algorithm.Spec, error) {
	births := make([]algorithm.Birth, len(c.Sections))
	for i, s := range c.Sections {
		birth, err := of.Birth(len(s.Members))
		if err != nil {
			return of, fmt.Errorf("section %s: %w", s.Name, err)
		}
		births[i] = birth
		if requests == 0 && counts(birth(0, algorithm.View{N: len(s.Members)})) {
			return of, fmt.Errorf("%s has logical times or counters: with several sections the number of requests must be bounded; give a number", of.Name)
		}
	}
	of.Upset = nil
	of.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		b := &bundle{}
		for i, s := range c.Sections {
			seat := slices.Index(s.Members, self)
			m := births[i](algorithm.ID(max(0, seat)), s.View(v.Holder))
			b.parts = append(b.parts, part{m, s.Members})
			if seat >= 0 {
				b.own = append(b.own, i)
			}
		}
		return b
	})
	return of, nil
}

// counts reports whether a machine has logical times or counters.
func counts(m algorithm.Machine) bool {
	var f finder
	m.VisitTimes(&f)
	return f.found
}

// A finder finds out whether there is any number to visit.
type finder struct{ found bool }

// Time implements host.TimeVisitor.
func (f *finder) Time(*uint64) { f.found = true }

// Ticket implements host.TimeVisitor.
func (f *finder) Ticket(*uint64) { f.found = true }

// Seq implements host.TimeVisitor.
func (f *finder) Seq(algorithm.ID, *uint64) { f.found = true }

// Anchor implements host.TimeVisitor.
func (f *finder) Anchor(algorithm.ID, *uint64) { f.found = true }

// A bundle is the machines of one process: one for each section that it uses. A request
// names its section as Arg. A message has the number of its section as its last byte, so
// that its first is still its kind.
type bundle struct {
	parts []part // by section
	own   []int  // sections that the process uses; machines of others only read messages
	out   host.Output
}

// A part is the machine of one section, and the members of that section.
type part struct {
	algorithm.Machine
	members []algorithm.ID
}

// sectionOf returns the section that an input is about.
func sectionOf(in host.Input) int {
	if in.Kind == host.Receive {
		return int(in.Bytes[len(in.Bytes)-1])
	}
	return in.Arg
}

// Parts returns the machines of all sections that the process uses.
func (b *bundle) Parts() []host.Machine {
	all := make([]host.Machine, len(b.own))
	for i, s := range b.own {
		all[i] = b.parts[s].Machine
	}
	return all
}

// Step implements host.Machine.
func (b *bundle) Step(in host.Input, out *host.Output) error {
	out.Reset()
	switch in.Kind {
	case host.Start:
		for _, s := range b.own {
			if err := b.step(s, in, out); err != nil {
				return err
			}
		}
		return nil
	case host.Request, host.Release:
		s := in.Arg
		in.Arg = 0
		return b.step(s, in, out)
	case host.Receive:
		p, inner, err := b.split(in.Bytes)
		if err != nil {
			return err
		}
		s := sectionOf(in)
		in.From, in.Bytes = algorithm.ID(slices.Index(p.members, in.From)), inner
		return b.step(s, in, out)
	}
	return fmt.Errorf("%w: a process with several sections got input %d", host.ErrHost, in.Kind)
}

// step gives an input to the machine of a section, and appends what it wants done to out.
func (b *bundle) step(section int, in host.Input, out *host.Output) error {
	p := b.parts[section]
	if err := p.Step(in, &b.out); err != nil {
		return err
	}
	if slices.ContainsFunc(b.out.Notices, func(n host.Notice) bool { return n.Kind == host.SetTimer }) {
		return errors.New("it sets a timer, and with several sections there are none")
	}
	group := int32(0)
	if n := len(out.Sends); n > 0 {
		group = out.Sends[n-1].Group + 1
	}
	for i, s := range b.out.Sends {
		lo := len(out.Buffer)
		out.Buffer = append(append(out.Buffer, b.out.Bytes(i)...), byte(section))
		s.To, s.Group, s.Lo, s.Hi = p.members[s.To], group+s.Group, int32(lo), int32(len(out.Buffer))
		out.Sends = append(out.Sends, s)
	}
	out.Entered = out.Entered || b.out.Entered
	out.Notices = append(out.Notices, b.out.Notices...)
	return nil
}

// split returns the machine that a message is for, and the message without its section.
func (b *bundle) split(bytes []byte) (p part, inner []byte, err error) {
	last := len(bytes) - 1
	if last < 0 || int(bytes[last]) >= len(b.parts) {
		return p, nil, fmt.Errorf("%w: a message of no section", host.ErrMalformed)
	}
	return b.parts[bytes[last]], bytes[:last], nil
}

// AppendState implements host.Machine.
func (b *bundle) AppendState(to []byte) []byte {
	for _, s := range b.own {
		state := b.parts[s].AppendState(nil)
		to = append(binary.AppendUvarint(to, uint64(len(state))), state...)
	}
	return to
}

// LoadState implements host.Machine.
func (b *bundle) LoadState(bytes []byte) error {
	for _, s := range b.own {
		size, n := binary.Uvarint(bytes)
		if n <= 0 || size > uint64(len(bytes)-n) {
			return fmt.Errorf("%w: the state of a section is cut", host.ErrMalformed)
		}
		if err := b.parts[s].LoadState(bytes[n : n+int(size)]); err != nil {
			return err
		}
		bytes = bytes[n+int(size):]
	}
	return nil
}

// VisitTimes implements host.Machine.
func (b *bundle) VisitTimes(v host.TimeVisitor) {
	for _, s := range b.own {
		b.parts[s].VisitTimes(v)
	}
}

// VisitMessageTimes implements host.Machine.
func (b *bundle) VisitMessageTimes(bytes []byte, v host.TimeVisitor) error {
	p, inner, err := b.split(bytes)
	if err != nil {
		return err
	}
	return p.VisitMessageTimes(inner, v)
}

// RecodeMessage implements host.Machine.
func (b *bundle) RecodeMessage(dst, bytes []byte, v host.TimeVisitor) ([]byte, error) {
	p, inner, err := b.split(bytes)
	if err != nil {
		return dst, err
	}
	dst, err = p.RecodeMessage(dst, inner, v)
	return append(dst, bytes[len(bytes)-1]), err
}

// Describe implements host.Machine.
func (b *bundle) Describe(...algorithm.ID) []host.Field {
	var all []host.Field
	for _, s := range b.own {
		all = append(all, b.parts[s].Describe(b.parts[s].members...)...)
	}
	return all
}

// DescribeMessage implements host.Machine.
func (b *bundle) DescribeMessage(bytes []byte, _ ...algorithm.ID) ([]host.Field, error) {
	p, inner, err := b.split(bytes)
	if err != nil {
		return nil, err
	}
	return p.DescribeMessage(inner, p.members...)
}

// Assign implements host.Machine.
func (b *bundle) Assign(name, _ string, _ ...algorithm.ID) error {
	return fmt.Errorf("field %s cannot be set: there are several sections", name)
}

// Tokens implements host.Machine.
func (b *bundle) Tokens() int {
	n := 0
	for _, s := range b.own {
		n += b.parts[s].Tokens()
	}
	return n
}

// Mark implements host.Machine.
func (b *bundle) Mark(bytes []byte) (host.Mark, error) {
	p, inner, err := b.split(bytes)
	if err != nil {
		return host.Mark{}, err
	}
	return p.Mark(inner)
}

// Clock implements host.Machine: applications send no clock along.
func (b *bundle) Clock() uint64 { return 0 }

// Alibi implements host.Machine: an alibi would be for one section.
func (b *bundle) Alibi(algorithm.ID) bool { return false }
