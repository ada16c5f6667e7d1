package trial

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/trace"
)

func (w *world) event(e trace.Event) {
	if w.Observe != nil {
		e.Step, e.At = w.events, w.now
		w.events++
		w.Observe(e)
	}
}

// lane tells what a process does: it has a lane of its own, after those of the
// sites. It is inside while it has all that it has asked for. The name of an
// Ask is the lock, that of an Enter all locks that it has now, and where it
// does not go on to ask, an Exit is called commits and a Deny aborts.
func (w *world) lane(kind trace.Kind, i int) {
	if w.Observe == nil {
		return
	}
	p, name := &w.procs[i], ""
	switch kind {
	case trace.Ask:
		name = deadlock.LockName(p.locks[p.got])
	case trace.Exit:
		if !p.active {
			name = "commits"
		}
	case trace.Deny:
		name = "aborts"
	case trace.Enter:
		var words []string
		for _, k := range p.locks[:p.got+1] {
			words = append(words, deadlock.LockName(k))
		}
		name = strings.Join(words, " ")
	}
	w.event(trace.Event{Kind: kind, Proc: core.ID(w.Layout.Sites + i), Name: name})
}

func (w *world) note(site core.ID, format string, args ...any) {
	if w.Observe != nil {
		w.event(trace.Event{Kind: trace.Note, Proc: site, Name: fmt.Sprintf(format, args...)})
	}
}

func (w *world) message(kind trace.Kind, at, peer core.ID, n int, name string, bytes []byte) {
	if w.Observe == nil {
		return
	}
	fields, _ := core.DescribeMessage(w.machines[at], w.Layout.Sites, bytes)
	w.event(trace.Event{Kind: kind, Proc: at, Peer: peer, Msg: n, Name: name, Fields: fields})
}
