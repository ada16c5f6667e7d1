package script

import (
	"fmt"
	"strings"
)

// A Caption is text for the audience from a moment of the run on, until the next one.
type Caption struct {
	When Moment
	Text string
	Line int // line in the file; 0 if there is none
}

// String returns the caption as it is written in a file.
func (c Caption) String() string { return c.When.String() + `say "` + c.Text + `"` }

// check refuses a text that cannot be written as a line.
func (c Caption) check() error {
	if c.Text == "" || strings.ContainsAny(c.Text, "\n\r") || stripComment(c.Text) != c.Text {
		return fmt.Errorf("caption %q: want some words on one line, without # after a space", c.Text)
	}
	return nil
}

// place returns where a caption is written: all that are not tied to a place come first.
func (m Moment) place() int {
	if m.Kind == AfterActions {
		return 1 + m.Count
	}
	return 0
}

// caption reads the rest of a line that begins with say, at a moment.
func (p *parser) caption(when Moment) {
	say := p.take()
	rest := trim(p.text[say.at+len(say.text):])
	p.words = nil
	if len(rest) < 2 || rest[0] != '"' || rest[len(rest)-1] != '"' {
		p.failAt(say, `say needs its text in quotes, without # after a space, such as say "P2 asks first."`)
		return
	}
	c := Caption{when, rest[1 : len(rest)-1], p.line}
	if err := c.check(); err != nil {
		p.failAt(say, err.Error())
		return
	}
	p.s.Captions = append(p.s.Captions, c)
}

// captionWhen reads a caption that begins with when: when P5 enters say "P5 is inside."
func (p *parser) captionWhen() {
	if w := p.take(); p.s.Transacts() {
		p.failAt(w, `found "when": transactions enter nothing; give a time, such as at 3 say "P1 waits for P2."`)
		return
	}
	when := p.entry(`enters, as in when P5 enters say "P5 is inside."`)
	if w := p.here(); w.text != "say" {
		p.fail(w, `say and a text in quotes, such as when P5 enters say "P5 is inside."`)
		return
	}
	p.caption(when)
}

// entry reads the moment at which a process enters.
func (p *parser) entry(want string) Moment {
	m := Moment{Kind: OnEntry, Proc: p.process()}
	if w := p.take(); w.text != "enters" {
		p.fail(w, "%s", want)
	}
	m.Section = p.within(m.Proc)
	m.Nth = p.nth()
	return m
}
