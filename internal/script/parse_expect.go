package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/internal/spell"
)

// expectation reads the part after the word expect.
func (p *parser) expectation() {
	p.take()
	e := Expectation{Line: p.line}
	w := p.take()
	switch {
	case w.text == "messages":
		p.messages(&e)
	case p.s.Transacts():
		p.ofTransactions(w, &e)
	case slices.Contains(transacting[:], w.text):
		p.failAt(w, fmt.Sprintf("found %q: transactions run at sites; add lines such as site 1 P1 L1", w.text))
	case w.text == "entries":
		p.entries(&e)
	case w.text == "bypass":
		e.Kind, e.Section = Bypass, p.perhapsWithin()
		e.N = p.number(0, 1<<40)
	case w.text == "violation":
		e.Kind = Violated
		e.Name = p.property(p.take())
	case w.text == "no":
		p.no(&e)
	case w.text == "deadlock":
		e.Kind = Deadlock
	default:
		p.state(w, &e)
	}
	p.end()
	if p.err == nil {
		p.s.Expect = append(p.s.Expect, e)
	}
}

func (p *parser) messages(e *Expectation) {
	e.Kind, e.Section = Messages, p.perhapsWithin()
	if next := p.peek(); next != "" && (next[0] < '0' || next[0] > '9') {
		e.Name = p.take().text
	}
	e.N = p.number(0, 1<<40)
}

func (p *parser) entries(e *Expectation) {
	e.Kind, e.Section = Entries, p.within()
	if p.has("none") {
		return
	}
	p.processes(e, "the processes in the order of their entries, such as entries 5 4 2, or none")
}

// processes reads one or more processes, to the end of the line.
func (r *reader) processes(e *Expectation, want string) {
	for first := true; first || len(r.words) > 0 && r.err == nil; first = false {
		w := r.take()
		w.text = strings.TrimSuffix(w.text, ",")
		if w.text == "" {
			r.fail(w, "%s", want)
		}
		e.Procs = append(e.Procs, r.asProcess(w))
	}
}

func (p *parser) no(e *Expectation) {
	e.Kind = NotViolated
	if w := p.take(); w.text != "violation" {
		p.fail(w, "violation%s", didYouMean(w.text, "violation"))
	}
	if len(p.words) > 0 {
		e.Name = p.property(p.take())
	}
}

func (p *parser) property(w word) string {
	if all := Properties(); !slices.Contains(all, w.text) {
		p.fail(w, "%s%s", spell.Either(all...), didYouMean(w.text, all...))
	}
	return w.text
}

// state reads an expectation about one process, at a moment.
func (p *parser) state(w word, e *Expectation) {
	switch {
	case w.text == "at" && p.s.Steps:
		p.failAt(w, `found "at": steps have no times; put the line between the actions, where it must hold`)
	case w.text == "at":
		e.When = Moment{Kind: AtTime, At: p.time()}
		w = p.take()
	case w.text == "when":
		e.When = p.entry("enters, as in when P5 enters P3 queue 4 1")
		w = p.take()
	case p.s.Steps:
		e.When = Moment{Kind: AfterActions, Count: len(p.s.Actions)}
	}
	if !strings.HasPrefix(w.text, "P") {
		words := []string{"entries", "messages", "bypass", "violation", "no", "deadlock", "at", "when"}
		p.fail(w, "a process such as P2, or %s%s%s", spell.Either(words...), didYouMean(w.text, words...), smallP(w.text))
		return
	}
	e.Proc = p.asProcess(w)
	if len(p.words) == 2 || len(p.words) == 3 && len(p.s.Sections) > 0 {
		p.has("is") // P2 is inside
	}
	p.about(e)
}

// about reads an expectation about the process e.Proc.
func (p *parser) about(e *Expectation) {
	if p.s.section(p.peek()) != nil {
		e.Section = p.within(e.Proc)
		field := p.name("a field and its value, such as queue 4 1")
		e.Kind, e.Name, e.Value = FieldIs, field, p.rest("a value")
		return
	}
	field := p.take()
	alone := len(p.words) == 0 || len(p.s.Sections) > 0
	switch {
	case field.text == "":
		p.fail(field, "waits, inside, idle, enters at a time, or a field and its value such as queue 4 1")
	case field.text == "enters" && e.When.Kind == OnEntry || field.text == "enters" && e.When.Kind == AtTime:
		p.fail(field, "a field, waits, inside or idle; for the time of an entry write expect %v enters at 4", e.Proc)
	case field.text == "enters":
		p.entersAt(field, e)
	case alone && field.text == Waits.String():
		e.Kind, e.Phase, e.Section = PhaseIs, Waits, p.within(e.Proc)
	case alone && field.text == Inside.String():
		e.Kind, e.Phase, e.Section = PhaseIs, Inside, p.within(e.Proc)
	case alone && field.text == Idle.String():
		e.Kind, e.Phase, e.Section = PhaseIs, Idle, p.within(e.Proc)
	case len(p.s.Sections) > 0:
		p.fail(field, "waits, inside or idle and a section, or a section, a field and its value such as seats queue 4 1%s", didYouMean(field.text, "waits", "inside", "idle"))
	case alone:
		p.fail(field, "waits, inside or idle, or a field and its value such as queue 4 1%s", didYouMean(field.text, "waits", "inside", "idle"))
	default:
		e.Kind, e.Name, e.Value = FieldIs, field.text, p.rest("a value")
	}
}

func (p *parser) entersAt(verb word, e *Expectation) {
	e.Kind, e.When = EntersAt, Moment{}
	if p.s.Steps {
		p.failAt(verb, "steps have no times: use expect entries for the order of entries")
		return
	}
	e.Section = p.within(e.Proc)
	if w := p.take(); w.text != "at" {
		p.fail(w, "at and the time of the entry")
	}
	e.At = p.time()
}
