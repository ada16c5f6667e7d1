package document

import (
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// A rewriter decides which sentences are rewritten. In a run that is not too long, these are
// the sentences of all waiting lanes, after each step. In a long one, only lanes that have
// changed get a new sentence, which mentions no other lane's state so that it stays true.
type rewriter struct {
	all     bool // rewrite all sentences
	written int  // number of sentences written
	bytes   int  // size of those that differed
	short   bool
}

// Limits on full sentences: how many are written, and their total size in bytes.
const (
	fullSentences = 20_000
	fullBytes     = 1 << 20
)

// touch notes that a lane has changed.
func (r *recorder) touch(i int) {
	r.lanes[i].stale = true
	if !r.rewriter.short {
		r.rewriter.all = true
	}
}

// mail notes that the messages in flight have changed, because full sentences mention them.
func (r *recorder) mail() {
	if !r.rewriter.short {
		r.rewriter.all = true
	}
}

// waits reports whether a lane may wait for something.
func (r *recorder) waits(l *lane) bool {
	return l.waits() || len(r.spec.Shape.Waits) > 0 && l.status != Crashed
}

// why writes the sentences of waiting lanes.
func (r *recorder) why() {
	if !r.rewriter.short && (r.rewriter.written > fullSentences || r.rewriter.bytes > fullBytes) {
		r.rewriter.short, r.rewriter.all = true, true
	}
	for i := range r.lanes {
		l := &r.lanes[i]
		if !r.waits(l) || !l.stale && !r.rewriter.all {
			continue
		}
		l.stale = false
		r.rewriter.written++
		if s := r.still(l, r.sentence(i)); s != l.wait {
			l.wait = s
			r.rewriter.bytes += len(s)
			r.delta(Delta{Event: r.seen, Proc: i, Wait: &s})
		}
	}
	r.rewriter.all = false
}

// sentence says why a lane waits; it is empty if the lane does not.
func (r *recorder) sentence(i int) string {
	p := algorithm.ID(i)
	switch {
	case r.sites > 0:
		return r.whyLocked(i)
	case len(r.spec.Shape.Waits) > 0:
		return r.whyShaped(p)
	case len(r.sc.Sections) == 0:
		o := &room{recorder: r}
		return o.why(p) + o.reasons(p) + o.whyLost(p)
	}
	var all []string
	for _, x := range r.sc.Sections {
		if o := (&room{r, x.Name, x.Members}); o.phase(p).is == Waiting {
			all = append(all, x.Name+": "+o.why(p)+o.reasons(p)+o.whyLost(p))
		}
	}
	return strings.Join(all, "; ")
}

// still adds to the sentence of a waiting lane that it is paused, if it is.
func (r *recorder) still(l *lane, why string) string {
	switch {
	case why == "" || l.status != Paused:
		return why
	case len(r.sc.Sections) > 0: // section names come first
		return "is paused; " + why
	}
	return "is paused, and " + why
}

// whyShaped says what a process waits for, according to the shape of its algorithm.
func (r *recorder) whyShaped(p algorithm.ID) string {
	o := &room{recorder: r}
	for _, w := range r.spec.Shape.Waits {
		if r.lanes[p].field(w.Field) != w.Value {
			continue
		}
		var higher []algorithm.ID
		for q := p + 1; int(q) < len(r.lanes); q++ {
			higher = append(higher, q)
		}
		switch w.Whom {
		case algorithm.Higher:
			return strings.Replace(w.Why, "%s", o.names(p, higher), 1)
		case algorithm.Highest:
			best := algorithm.ID(len(r.lanes) - 1)
			for _, q := range higher {
				if r.lanes[q].status != Crashed {
					best = q
				}
			}
			return strings.Replace(w.Why, "%s", o.aside(best), 1)
		}
		if len(r.wire.messages) == 0 {
			return w.Why + "; no message is in flight"
		}
		return w.Why
	}
	return ""
}
