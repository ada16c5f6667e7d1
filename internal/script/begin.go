package script

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// A Beginning is a part of the state in which a run begins that has no beginning of its own,
// because it is part of a longer one: what a process is doing, or a message in flight.
// Processes of which nothing is said are idle, and in their initial state; lines that set
// fields come after what a Beginning says.
type Beginning struct {
	Proc  algorithm.ID
	Phase Phase
	State []byte // of its machine, as algorithm.Machine encodes it; nil: its initial one

	// A message in flight from Proc to Peer, behind those of the lines before; then Phase and
	// State are not in use.
	Message string // its kind; empty if this is no message
	Peer    algorithm.ID
	Bytes   []byte

	Line int // line in the file; 0 if there is none
}

// String returns it as it is written in a file.
func (b Beginning) String() string {
	if b.Message != "" {
		return fmt.Sprintf("begin %d -> %d %s %x", b.Proc+1, b.Peer+1, b.Message, b.Bytes)
	}
	s := fmt.Sprintf("begin %v %v", b.Proc, b.Phase)
	if b.State != nil {
		s += fmt.Sprintf(" %x", b.State)
	}
	return s
}

// beginning reads the rest of a line that begins with begin.
func (p *parser) beginning() {
	b := Beginning{Line: p.line}
	if slices.ContainsFunc(p.words, func(w word) bool { return w.text == "->" }) {
		b.Proc, b.Peer = p.link()
		b.Message = p.name("the kind of the message and its bytes, such as begin 1 -> 2 REQUEST 00290101")
		b.Bytes = p.hex("the bytes of the message in hexadecimal digits, such as begin 1 -> 2 REQUEST 00290101")
	} else {
		at := p.here()
		b.Proc = p.process()
		if slices.ContainsFunc(p.s.Begin, func(o Beginning) bool { return o.Message == "" && o.Proc == b.Proc }) && p.err == nil {
			p.failAt(at, fmt.Sprintf("another line says how %v begins: remove one of the two", b.Proc))
		}
		b.Phase = p.phase()
		if p.peek() != "" {
			b.State = p.hex("the bytes of its state in hexadecimal digits, or nothing")
		}
	}
	p.end()
	p.s.Begin = append(p.s.Begin, b)
}

// phase reads what a process is doing.
func (p *parser) phase() Phase {
	w := p.take()
	for _, x := range [...]Phase{Idle, Waits, Inside} {
		if w.text == x.String() {
			return x
		}
	}
	p.fail(w, "idle, waits or inside, such as begin P2 waits%s", didYouMean(w.text, "idle", "waits", "inside"))
	return Idle
}

// hex reads bytes.
func (p *parser) hex(what string) []byte {
	w := p.take()
	b, err := hex.DecodeString(w.text)
	if err != nil || len(b) == 0 {
		p.fail(w, "%s", what)
	}
	return b
}

// checkBegin refuses a beginning where there is not one lock.
func (s *Scenario) checkBegin() error {
	if len(s.Begin) == 0 {
		return nil
	}
	if s.Busy || len(s.Sections) > 0 || s.Transacts() {
		return fmt.Errorf("begin lines cannot be combined with sites, sections or a busy holder")
	}
	for i, b := range s.Begin {
		switch {
		case b.Proc < 0 || int(b.Proc) >= s.Processes || b.Peer < 0 || int(b.Peer) >= s.Processes:
			return fmt.Errorf("%q: there are processes 1 to %d", b, s.Processes)
		case b.Message != "" && (b.Proc == b.Peer || len(b.Bytes) == 0):
			return fmt.Errorf("%q: want a message from one process to another", b)
		case b.Message == "" && slices.ContainsFunc(s.Begin[:i], func(o Beginning) bool { return o.Message == "" && o.Proc == b.Proc }):
			return fmt.Errorf("%q: another line says how %v begins: remove one of the two", b, b.Proc)
		}
	}
	return nil
}
