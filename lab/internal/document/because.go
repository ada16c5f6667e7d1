package document

import (
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/trace"
)

// A because is a decision by which a process waits, in the words of the algorithm.
type because struct {
	by    algorithm.ID // process that decided
	text  string
	cause int  // number of the event after which it decided
	own   bool // about itself: it decides anew in each of its steps
	other bool // because of a third process, until that changes
	timed bool // because of what it is doing itself, until that changes
}

// mostBecause is the maximum number of decisions that a sentence names.
const mostBecause = 2

// decide notes by which decisions processes wait, and which of them no longer stand: the
// process that made them has sent the other one a message since, or has changed.
func (r *recorder) decide(e *trace.Event) {
	if r.sites > 0 || e.Proc < 0 || int(e.Proc) >= len(r.lanes) {
		return
	}
	switch e.Kind {
	case trace.Ask, trace.Exit, trace.Receive, trace.Expire, trace.Suspect, trace.Trust, trace.Note, trace.Abort:
		r.lanes[e.Proc].cause = r.seen
	}
	for i := range r.lanes {
		for k := range r.lanes[i].phases {
			x := &r.lanes[i].phases[k]
			n := len(x.because)
			if n == 0 {
				continue
			}
			x.because = slices.DeleteFunc(x.because, func(b because) bool {
				return b.by == e.Proc && (e.Kind == trace.Crash || x.section == e.Section && r.revokes(e, i, b))
			})
			if len(x.because) < n {
				r.touch(i)
			}
		}
	}
	for _, y := range e.Why[:explained(r.seen, e)] {
		if y.Waits > 0 {
			r.because(e, y)
		}
	}
}

// revokes reports whether, after an event, a decision that its process made no longer stands.
func (r *recorder) revokes(e *trace.Event, waiter int, b because) bool {
	switch e.Kind {
	case trace.Send:
		answers := int(e.Peer) == waiter || b.other && e.Name == r.spec.Shape.Answer
		return answers && b.cause != r.lanes[e.Proc].cause
	case trace.Exit:
		return b.other || b.timed
	}
	return b.own && len(e.Why) > 0
}

// because notes a decision.
func (r *recorder) because(e *trace.Event, y trace.Why) {
	at := slices.IndexFunc(r.spec.Rules, func(rule algorithm.Rule) bool { return rule.ID == y.Rule })
	if at < 0 || y.Waits > len(r.lanes) {
		return
	}
	x := r.lanes[y.Waits-1].at(e.Section)
	if x == nil || x.is != Waiting {
		return // its request was granted without this process
	}
	rule := &r.spec.Rules[at]
	other := strings.Contains(rule.Why, "{other}")
	x.because = slices.DeleteFunc(x.because, func(b because) bool { return b.by == e.Proc })
	x.because = append(x.because, because{e.Proc, y.Text, r.seen, rule.Waits == "self", other, !other && !strings.Contains(rule.Why, "{a}")})
	r.touch(y.Waits - 1)
}

// tells reports whether it is a process's own decision that, because of what it is doing,
// another one waits: it need not be said again what that is.
func (o *room) tells(q, p algorithm.ID) bool {
	return !o.rewriter.short && slices.ContainsFunc(o.phase(p).because, func(b because) bool { return b.by == q && b.timed })
}

// reasons says by which decisions a process waits, if there are any.
func (o *room) reasons(p algorithm.ID) string {
	if o.rewriter.short {
		return ""
	}
	s, all := "", o.phase(p).because
	for _, b := range all[:min(mostBecause, len(all))] {
		s += "; " + b.text
	}
	return s
}
