package document

import (
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// A clerk decides whose sentence is written anew. In a run that is not too long
// that is everybody who waits, after each step; in a long one only who has
// changed, and the sentence is about it alone, so that it stays true.
type clerk struct {
	all     bool // everybody's
	written int  // how many were written
	bytes   int  // of those that differed
	short   bool
}

// How many sentences are written in full, and how many bytes they may have.
const (
	fullSentences = 20_000
	fullBytes     = 1 << 20
)

// touch notes that a lane has changed.
func (r *recorder) touch(i int) {
	r.lanes[i].stale = true
	if !r.clerk.short {
		r.clerk.all = true
	}
}

// mail notes that another message is under way, or one less, which sentences in
// full speak of.
func (r *recorder) mail() {
	if !r.clerk.short {
		r.clerk.all = true
	}
}

// waits reports whether a lane may wait for something.
func (r *recorder) waits(l *lane) bool {
	return l.waits() || len(r.spec.Shape.Waits) > 0 && l.status != Crashed
}

// why writes the sentences of those who wait.
func (r *recorder) why() {
	if !r.clerk.short && (r.clerk.written > fullSentences || r.clerk.bytes > fullBytes) {
		r.clerk.short, r.clerk.all = true, true
	}
	for i := range r.lanes {
		l := &r.lanes[i]
		if !r.waits(l) || !l.stale && !r.clerk.all {
			continue
		}
		l.stale = false
		r.clerk.written++
		if s := r.still(l, r.sentence(i)); s != l.wait {
			l.wait = s
			r.clerk.bytes += len(s)
			r.delta(Delta{Event: r.seen, Proc: i, Wait: &s})
		}
	}
	r.clerk.all = false
}

// sentence says why a lane waits; nothing if it does not.
func (r *recorder) sentence(i int) string {
	p := algorithm.ID(i)
	switch {
	case r.sites > 0:
		return r.whyLocked(i)
	case len(r.spec.Shape.Waits) > 0:
		return r.whyShaped(p)
	case len(r.sc.Sections) == 0:
		return (&room{recorder: r}).why(p)
	}
	var all []string
	for _, x := range r.sc.Sections {
		if o := (&room{r, x.Name, x.Members}); o.phase(p).is == Waiting {
			all = append(all, x.Name+": "+o.why(p))
		}
	}
	return strings.Join(all, "; ")
}

// still says of who waits that it is paused, too, if it is.
func (r *recorder) still(l *lane, why string) string {
	switch {
	case why == "" || l.status != Paused:
		return why
	case len(r.sc.Sections) > 0: // their names come first
		return "stands still; " + why
	}
	return "stands still, and " + why
}

// whyShaped says what a process waits for by the shape of its algorithm.
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
		if len(r.wire.letters) == 0 {
			return w.Why + "; nothing is on its way any more"
		}
		return w.Why
	}
	return ""
}
