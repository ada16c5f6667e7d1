package script

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/spell"
)

// isAction reports whether an action can begin with the word w: P2, or drop.
func isAction(w string) bool {
	for _, o := range orders {
		if o.word == w {
			return true
		}
	}
	return len(w) > 1 && w[0] == 'P' && w[1] >= '0' && w[1] <= '9'
}

// action reads an action that happens at a time.
func (p *parser) action(at int64) {
	a := Action{At: at, Line: p.line}
	first := p.take()
	if strings.HasPrefix(first.text, "P") {
		a.Proc = p.asProcess(first)
		p.deed(&a)
	} else {
		p.order(first, &a)
	}
	p.end()
	if p.err == nil {
		p.s.Actions = append(p.s.Actions, a)
	}
}

// deed reads the action of a process.
func (p *parser) deed(a *Action) {
	verb := p.take()
	switch {
	case p.s.Transacts():
		p.takes(verb, a)
		return
	case verb.text == "takes" || verb.text == "goes":
		p.failAt(verb, fmt.Sprintf("found %q: a transaction takes locks at sites; add lines such as site 1 P1 L1", verb.text))
		return
	}
	var words []string
	found := false
	for _, v := range verbs {
		words = append(words, v.word)
		if v.word == verb.text {
			a.Kind, found = v.kind, true
		}
	}
	if !found {
		p.fail(verb, "%s%s", spell.Either(words...), didYouMean(verb.text, words...))
		return
	}
	switch a.Kind {
	case Ask:
		a.Section = p.within(a.Proc)
		p.hold(a)
	case Leave:
		a.Section = p.within(a.Proc)
		if w := p.here(); p.has("now") {
			if a.Now = true; p.s.Steps {
				p.failAt(w, `found "now": steps take no time, and a process leaves only by such a line; remove the word`)
			}
		}
	case Suspect, Trust, Tell:
		w := p.here()
		if a.Peer = p.process(); a.Peer == a.Proc {
			p.failAt(w, fmt.Sprintf("%v %s itself: want another process", a.Proc, verb.text))
		}
	case Expire:
		a.Timer = p.number(0, 1<<30)
		if w := p.take(); w.text != "expires" {
			p.fail(w, "expires, as in P1 timer 2 expires")
		}
		a.Section = p.within(a.Proc)
	}
}

// hold reads the length of the stay of a process that asks.
func (p *parser) hold(a *Action) {
	w := p.take()
	switch {
	case w.text == "":
	case w.text != "for":
		p.fail(w, "nothing, or for and the length of its stay, such as P2 asks for 5")
	case p.s.Steps:
		p.failAt(w, `found "for": steps take no time; let the process leave by a separate line, such as P2 leaves`)
	default:
		d := p.dist()
		a.Hold = &d
	}
}

// order reads an action on a process, link or group.
func (p *parser) order(first word, a *Action) {
	if p.s.Transacts() {
		p.siteOrder(first, a)
		return
	}
	var words []string
	found := false
	for _, o := range orders {
		words = append(words, o.word)
		if o.word == first.text {
			a.Kind, found = o.kind, true
		}
	}
	switch {
	case a.Kind == Crash && p.peek() == "site":
		p.failAt(p.here(), `found "site": there are no sites here; add lines such as site 1 P1 L1, or crash a process`)
	case !found:
		hint := didYouMean(first.text, words...)
		if isNumber(first.text) {
			hint = "; did you mean P" + first.text + "?"
		}
		p.fail(first, "a process such as P2, or %s%s%s", spell.Either(words...), hint, smallP(first.text))
	case a.Kind == Deliver && p.has("all"):
		a.Kind = DeliverAll
	case a.Kind.OnLink():
		p.onLink(a)
	case a.Kind == Partition:
		p.partition(a)
	case a.Kind != Heal:
		a.Proc = p.process()
	}
}

// onLink reads the message meant and, for a delay, its length.
func (p *parser) onLink(a *Action) {
	a.Proc, a.Peer = p.link()
	if next := p.peek(); next != "" && next != "by" && next != "overtaking" && (next[0] < '0' || next[0] > '9') {
		a.Message = p.take().text
	}
	a.Nth = p.nth()
	if a.Kind == Deliver {
		a.Overtakes = p.has("overtaking")
	}
	if a.Kind != Delay {
		return
	}
	if p.s.Steps {
		p.failAt(p.here(), "steps take no time, so a message cannot be delayed: deliver other messages first")
		return
	}
	if w := p.take(); w.text != "by" {
		p.fail(w, "by and the extra time, such as delay 1 -> 3 REQUEST by 2")
	}
	w := p.here()
	if a.By = p.time(); a.By == 0 {
		p.fail(w, "a time above 0")
	}
}

// partition reads parts such as 1,2 | 3.
func (p *parser) partition(a *Action) {
	var seen algorithm.Set
	for {
		w := p.here()
		part := p.list()
		if len(part) == 0 {
			p.fail(w, "the processes of a part, such as partition 1,2 | 3")
		}
		for _, id := range part {
			if seen.Has(id) && p.err == nil {
				p.failAt(w, fmt.Sprintf("%v is named twice: want it in one part", id))
			}
			seen.Add(id)
		}
		a.Parts = append(a.Parts, part)
		if p.err != nil || !p.has("|") {
			return
		}
	}
}
