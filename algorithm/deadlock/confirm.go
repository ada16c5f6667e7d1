package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// Inquiries are those of one detector, in the order in which they began.
//
// A detector has only heard of the waits that make up a deadlock, at different times. So
// before it makes a victim abort, it asks the home of each transaction whether that request
// still waits. If all of them confirm it, all waited when the first question was sent, and
// the deadlock existed then. If one does not, nothing is aborted: the request is forgotten,
// and with it what it was part of.
//
// Channels are FIFO, so the answer to the first question about a request comes first.
type Inquiries struct{ all []inquiry }

// An inquiry is about one deadlock.
type inquiry struct {
	victim    Attempt
	cycle     []Attempt
	questions []question
	void      bool // a request did not wait, and only the answers are still to come
}

func (q *inquiry) fields(c *algorithm.Coder) {
	q.victim.fields(c)
	list(c, "cycle", &q.cycle)
	list(c, "questions", &q.questions)
	c.Bool("void", &q.void)
}

// A question asks whether a request waits.
type question struct {
	Attempt
	answered bool
}

func (q *question) fields(c *algorithm.Coder) {
	q.Attempt.fields(c)
	c.Bool("answered", &q.answered)
}

// Open begins an inquiry. The host asks the home of each of d.Behind, in order, whether that
// request still waits.
func (all *Inquiries) Open(d Deadlock) {
	q := inquiry{victim: d.Victim, cycle: d.Cycle}
	for _, a := range d.Behind {
		q.questions = append(q.questions, question{Attempt: a})
	}
	all.all = append(all.all, q)
}

// Answered handles an answer. It returns the deadlock if that has decided about it, and
// whether all have confirmed: then the victim must abort. An answer to a question that was
// not asked is ignored.
func (all *Inquiries) Answered(who Attempt, yes bool) (decided *Deadlock, confirmed bool) {
	for i := range all.all {
		q := &all.all[i]
		at := slices.Index(q.questions, question{Attempt: who})
		if at < 0 {
			continue
		}
		q.questions[at].answered = true
		if !yes && !q.void {
			q.void = true
			decided = q.deadlock()
		}
		if q.closed() {
			if !q.void {
				decided, confirmed = q.deadlock(), true
			}
			all.all = slices.Delete(all.all, i, i+1)
		}
		return decided, confirmed
	}
	return nil, false
}

// About reports whether an attempt is the victim of a deadlock that is being confirmed.
func (all *Inquiries) About(who Attempt) bool {
	return slices.ContainsFunc(all.all, func(q inquiry) bool { return !q.void && q.victim.same(who) })
}

// Drop ends the questions that will not be answered because the home is gone, and returns
// the deadlocks that are not confirmed because of that.
func (all *Inquiries) Drop(gone func(who Attempt) bool) []Deadlock {
	var failed []Deadlock
	for i := range all.all {
		q := &all.all[i]
		for k := range q.questions {
			if ask := &q.questions[k]; !ask.answered && gone(ask.Attempt) {
				if ask.answered = true; !q.void {
					failed = append(failed, *q.deadlock())
				}
				q.void = true
			}
		}
	}
	all.all = slices.DeleteFunc(all.all, func(q inquiry) bool { return q.closed() })
	return failed
}

// deadlock returns what the inquiry is about.
func (q *inquiry) deadlock() *Deadlock {
	d := &Deadlock{Victim: q.victim, Cycle: q.cycle}
	for _, ask := range q.questions {
		d.Behind = append(d.Behind, ask.Attempt)
	}
	return d
}

// closed reports whether there is no answer to come.
func (q *inquiry) closed() bool {
	return !slices.ContainsFunc(q.questions, func(q question) bool { return !q.answered })
}

// ask asks the homes about a deadlock.
func (s *site) ask(d Deadlock, o *out) {
	for _, a := range d.Behind {
		home := s.layout.Home[a.Tx]
		o.Because(findConfirm, facts{Who: algorithm.ID(a.Tx), Site: home})
		s.send(home, message{kind: confirm, from: a}, o)
	}
}

// because names the transactions of a deadlock, and its victim.
func because(d Deadlock, o *out) {
	var cycle algorithm.Set
	for _, a := range d.Cycle {
		cycle.Add(algorithm.ID(a.Tx))
	}
	o.Because(findDeadlock, facts{Who: algorithm.ID(d.Victim.Tx), Set: &cycle})
}

// buried reports whether the home of an attempt is dead.
func (s *site) buried(who Attempt) bool { return s.dead.Has(s.layout.Home[who.Tx]) }
