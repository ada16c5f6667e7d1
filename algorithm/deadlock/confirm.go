package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// A detector has only heard of the waits that make up a deadlock, at different times. So
// before it chooses a victim it asks the home of each transaction whether that request
// still waits. If all of them confirm it, all waited when the first question was sent, and
// the deadlock existed then. If one does not, nothing is aborted: the request is forgotten,
// and with it what it was part of.

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

// inquiries are those of one detector, in the order in which they began. Channels are
// FIFO, so the answer to the first question about a request comes first.
type inquiries []inquiry

// open asks all of these, of which cycle is a part, whether they wait.
func (all *inquiries) open(s *site, victim Attempt, cycle, who []Attempt, o *out) {
	q := inquiry{victim: victim, cycle: cycle}
	for _, a := range who {
		q.questions = append(q.questions, question{Attempt: a})
	}
	*all = append(*all, q)
	for _, a := range who {
		s.send(s.layout.Home[a.Tx], message{kind: confirm, from: a}, o)
	}
}

// answered takes an answer. It returns the inquiry if that has decided it, and whether all
// have confirmed: then the victim must abort.
func (all *inquiries) answered(who Attempt, yes bool) (decided *inquiry, confirmed bool) {
	for i := range *all {
		q := &(*all)[i]
		at := slices.Index(q.questions, question{Attempt: who})
		if at < 0 {
			continue
		}
		q.questions[at].answered = true
		if was := *q; !yes && !q.void {
			q.void = true
			decided = &was
		}
		if q.closed() {
			if !q.void {
				was := *q
				decided, confirmed = &was, true
			}
			*all = slices.Delete(*all, i, i+1)
		}
		return decided, confirmed
	}
	return nil, false
}

// about reports whether an attempt is the victim of a deadlock that is being confirmed.
func (all inquiries) about(who Attempt) bool {
	return slices.ContainsFunc(all, func(q inquiry) bool { return !q.void && q.victim.same(who) })
}

// buried ends the questions to dead sites, and returns the inquiries that this has made
// void.
func (all *inquiries) buried(s *site) (failed []inquiry) {
	for i := range *all {
		q := &(*all)[i]
		for k := range q.questions {
			if ask := &q.questions[k]; !ask.answered && s.dead.Has(s.layout.Home[ask.Tx]) {
				if ask.answered = true; !q.void {
					failed = append(failed, *q)
				}
				q.void = true
			}
		}
	}
	*all = slices.DeleteFunc(*all, inquiry.closed)
	return failed
}

// closed reports whether there is no answer to come.
func (q inquiry) closed() bool {
	return !slices.ContainsFunc(q.questions, func(q question) bool { return !q.answered })
}
