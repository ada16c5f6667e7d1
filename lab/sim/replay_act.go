package sim

import (
	"cmp"
	"fmt"

	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/script"
)

// act performs one line of the schedule.
func (p *player) act(a *script.Action) error {
	p.watched.Line = a.Line
	err := p.w.guard(func() error { return p.try(a) })
	if err == nil || p.w.err == nil && a.Kind != script.DeliverAll && p.options.Skip != nil && p.options.Skip(a.Line, err) {
		return nil
	}
	return at(a.Line, fmt.Errorf("%v: %w", a, err))
}

func (p *player) try(a *script.Action) error {
	var err error
	switch {
	case a.Kind == script.DeliverAll:
		err = p.w.DeliverAll(p.enough)
	case a.Kind.OnLink():
		err = p.w.Harm(a)
	default:
		if err = p.possible(a); err == nil {
			p.do(a)
		}
	}
	return cmp.Or(err, p.w.err)
}

// do performs a line that is about processes.
func (p *player) do(a *script.Action) {
	switch w := p.w; a.Kind {
	case script.Start:
		w.start(a.Proc)
	case script.Crash, script.CrashSite:
		w.crash(a.Proc)
	case script.Restart:
		w.restart(a.Proc)
	case script.Pause:
		w.Pause(a.Proc)
	case script.Resume:
		w.Resume(a.Proc)
	case script.Partition:
		w.Partition(a.Parts)
	case script.Heal:
		w.Heal()
	case script.Suspect, script.SuspectSite:
		w.suspect(a.Proc, a.Peer)
	case script.Trust:
		w.trust(a.Proc, a.Peer)
	case script.Tell:
		w.tell(a.Proc, a.Peer)
	case script.Expire, script.ExpireSite:
		w.Expire(a.Proc, kernel.Timer{Group: w.group(a.Section).index, ID: a.Timer})
	default:
		p.cast.do(a)
	}
}

// possible returns an error that says why a process cannot do what the line says, or nil.
func (p *player) possible(a *script.Action) error {
	w, id := p.w, a.Proc
	if a.Kind == script.Take || a.Kind == script.Proceed {
		id = p.sc.Homes[id] // the site at which it is done
	}
	if a.Kind == script.Partition || a.Kind == script.Heal {
		return nil
	}
	switch {
	case a.Kind == script.Restart && !w.Crashed(id):
		return fmt.Errorf("%s has not crashed", w.Name(id))
	case a.Kind == script.Resume && !w.Paused(id):
		return fmt.Errorf("%s is not paused", w.Name(id))
	case a.Kind == script.Restart || a.Kind == script.Resume:
		return nil
	case w.Crashed(id):
		return fmt.Errorf("%s has crashed", w.Name(id))
	case w.Paused(id) && a.Kind != script.Crash:
		return fmt.Errorf("%s is paused", w.Name(id))
	}
	if peer := a.Peer; a.Kind == script.Tell && (w.Crashed(peer) || w.Paused(peer)) {
		return fmt.Errorf("%s cannot receive it: it has crashed or is paused", w.Name(peer))
	}
	if (a.Kind == script.Expire || a.Kind == script.ExpireSite) && !w.Running(id, kernel.Timer{Group: w.group(a.Section).index, ID: a.Timer}) && w.groups[0].spec.Upset == nil {
		return fmt.Errorf("%s has no timer %d running", w.Name(id), a.Timer)
	}
	return p.cast.may(a)
}
