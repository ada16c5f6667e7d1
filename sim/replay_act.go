package sim

import (
	"cmp"
	"fmt"

	"github.com/stile-lock/stile/internal/world/kernel"
	"github.com/stile-lock/stile/scenario"
)

// act performs one line of the schedule.
func (p *player) act(a *scenario.Action) error {
	p.watched.Line = a.Line
	err := p.w.guard(func() error { return p.try(a) })
	if err == nil || p.w.err == nil && a.Kind != scenario.DeliverAll && p.options.Skip != nil && p.options.Skip(a.Line, err) {
		return nil
	}
	return at(a.Line, fmt.Errorf("%v: %w", a, err))
}

func (p *player) try(a *scenario.Action) error {
	var err error
	switch {
	case a.Kind == scenario.DeliverAll:
		err = p.w.DeliverAll(p.timeUp)
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
func (p *player) do(a *scenario.Action) {
	switch w := p.w; a.Kind {
	case scenario.Start:
		w.start(a.Proc)
	case scenario.Crash, scenario.CrashSite:
		w.crash(a.Proc)
	case scenario.Restart:
		w.restart(a.Proc)
	case scenario.Pause:
		w.Pause(a.Proc)
	case scenario.Resume:
		w.Resume(a.Proc)
	case scenario.Partition:
		w.Partition(a.Parts)
	case scenario.Heal:
		w.Heal()
	case scenario.Suspect, scenario.SuspectSite:
		w.suspect(a.Proc, a.Peer)
	case scenario.Trust:
		w.trust(a.Proc, a.Peer)
	case scenario.Tell:
		w.tell(a.Proc, a.Peer)
	case scenario.Expire, scenario.ExpireSite:
		w.Expire(a.Proc, kernel.Timer{Group: w.group(a.Section).index, ID: a.Timer})
	default:
		p.cast.do(a)
	}
}

// possible returns an error that says why a process cannot do what the line says, or nil.
func (p *player) possible(a *scenario.Action) error {
	w, id := p.w, a.Proc
	if a.Kind == scenario.Take || a.Kind == scenario.Proceed {
		id = p.sc.Homes[id] // the site at which it is done
	}
	if a.Kind == scenario.Partition || a.Kind == scenario.Heal {
		return nil
	}
	switch {
	case a.Kind == scenario.Restart && !w.Crashed(id):
		return fmt.Errorf("%s has not crashed", w.Name(id))
	case a.Kind == scenario.Resume && !w.Paused(id):
		return fmt.Errorf("%s is not paused", w.Name(id))
	case a.Kind == scenario.Restart || a.Kind == scenario.Resume:
		return nil
	case w.Crashed(id):
		return fmt.Errorf("%s has crashed", w.Name(id))
	case w.Paused(id) && a.Kind != scenario.Crash:
		return fmt.Errorf("%s is paused", w.Name(id))
	}
	if peer := a.Peer; a.Kind == scenario.Tell && (w.Crashed(peer) || w.Paused(peer)) {
		return fmt.Errorf("%s cannot hear it: it has crashed or is paused", w.Name(peer))
	}
	if (a.Kind == scenario.Expire || a.Kind == scenario.ExpireSite) && !w.Running(id, kernel.Timer{Group: w.group(a.Section).index, ID: a.Timer}) && w.groups[0].spec.Upset == nil {
		return fmt.Errorf("%s has no timer %d running", w.Name(id), a.Timer)
	}
	return p.cast.may(a)
}
