package storm

import (
	"fmt"

	"github.com/stile-lock/stile/internal/member"
)

// An oracle sees true time, and judges.
type oracle struct {
	w       *world
	holders map[string][]*hold
	last    map[string]member.Token
}

type hold struct {
	q     *proc
	token member.Token
}

func newOracle(w *world) oracle {
	return oracle{w: w, holders: map[string][]*hold{}, last: map[string]member.Token{}}
}

// entered judges an entry.
func (o *oracle) entered(q *proc, name string, t member.Token, asked int64) {
	w := o.w
	w.result.Entries++
	for _, h := range o.holders[name] {
		if h.q.valid() {
			w.broken("%s: m%d enters with %v while m%d is inside with %v", name, q.inc, t, h.q.inc, h.token)
		}
	}
	if !q.valid() {
		w.broken("%s: m%d enters without a lease", name, q.inc)
	}
	if l := o.last[name]; !l.Less(t) {
		w.broken("%s: token %v after %v", name, t, l)
	} else if l.Epoch == t.Epoch && l.Count+1 != t.Count {
		w.broken("%s: token %v after %v: it is not the next", name, t, l)
	}
	o.last[name] = t
	o.holders[name] = append(o.holders[name], &hold{q, t})
	if w.healed && asked > w.Length+8*int64(w.Settings.Lease) {
		w.result.Longest = max(w.result.Longest, w.Now()-asked)
	}
}

// valid reports whether a process sees its locks as valid now.
func (q *proc) valid() bool { return q.m.Usable(q.clock()) }

// left notes that somebody is inside no more.
func (o *oracle) left(q *proc, name string) {
	all := o.holders[name]
	for i, h := range all {
		if h.q == q {
			o.holders[name] = append(all[:i:i], all[i+1:]...)
			return
		}
	}
}

// died notes that a process is no more.
func (o *oracle) died(q *proc) {
	if q == nil {
		return
	}
	for i := range o.w.Locks {
		o.left(q, fmt.Sprint("lock", i))
	}
}

func (o *oracle) isHolder(q *proc, t member.Ticket) bool { return q.m.Holds(t) }

// final judges the end: whoever waits must have waited for a short time only.
func (o *oracle) final() {
	for _, q := range o.w.procs {
		if q == nil || q.gone || q.epoch == 0 {
			continue
		}
		for _, k := range tickets(q.apps) {
			if since := o.w.Now() - q.asked[k]; since > o.w.Length/2 && !q.m.Holds(k) {
				o.w.broken("%s: m%d waits for %d ms, in epoch %d of %d", q.apps[k], q.inc, since/ms, q.epoch, o.w.service.view.Epoch)
			}
		}
	}
}
