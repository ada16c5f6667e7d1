package sim

import (
	"fmt"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// act does one line of the schedule.
func (p *player) act(a *scenario.Action) error {
	if err := p.try(a); err != nil {
		return at(a.Line, fmt.Errorf("%v: %w", a, err))
	}
	return nil
}

func (p *player) try(a *scenario.Action) error {
	w := p.w
	switch {
	case a.Kind == scenario.DeliverAll:
		return p.deliverAll()
	case a.Kind.OnLink():
		return w.harm(a)
	}
	if err := p.possible(a); err != nil {
		return err
	}
	switch a.Kind {
	case scenario.Ask:
		p.hold[a.Proc] = a.Hold
		return w.ask(a.Proc)
	case scenario.Leave:
		p.leaves[a.Proc]--
		return p.leave(a.Proc)
	case scenario.Start:
		return w.step(a.Proc, core.Input{Kind: core.Start})
	case scenario.Crash:
		p.stay[a.Proc] = 0
		w.crash(a.Proc)
	case scenario.Restart:
		return w.restart(a.Proc)
	case scenario.Pause:
		w.pause(a.Proc)
	case scenario.Resume:
		w.resume(a.Proc)
	case scenario.Partition:
		w.partition(a.Parts)
	case scenario.Heal:
		w.heal()
	case scenario.Suspect:
		return w.suspect(a.Proc, a.Peer)
	case scenario.Trust:
		return w.trust(a.Proc, a.Peer)
	case scenario.Tell:
		return w.tell(a.Proc, a.Peer)
	case scenario.Expire:
		return w.expired(a.Proc, a.Timer)
	}
	return nil
}

// possible reports why a process cannot do what the line says.
func (p *player) possible(a *scenario.Action) error {
	w, id := p.w, a.Proc
	if a.Kind == scenario.Partition || a.Kind == scenario.Heal {
		return nil
	}
	switch f := w.faults; {
	case a.Kind == scenario.Restart && !f.crashed[id]:
		return fmt.Errorf("%v has not crashed", id)
	case a.Kind == scenario.Resume && !f.paused[id]:
		return fmt.Errorf("%v is not paused", id)
	case a.Kind == scenario.Restart || a.Kind == scenario.Resume:
		return nil
	case f.crashed[id]:
		return fmt.Errorf("%v has crashed", id)
	case f.paused[id] && a.Kind != scenario.Crash:
		return fmt.Errorf("%v is paused", id)
	}
	if peer := a.Peer; a.Kind == scenario.Tell && (w.faults.crashed[peer] || w.faults.paused[peer]) {
		return fmt.Errorf("%v cannot hear it: it has crashed or is paused", peer)
	}
	now := w.oracle.procs[id].phase
	if a.Kind == scenario.Ask && now != idle {
		return fmt.Errorf("%v cannot ask: it %s", id, phaseWords(now))
	}
	if a.Kind == scenario.Leave && now != inside {
		return fmt.Errorf("%v cannot leave: it %s", id, phaseWords(now))
	}
	if a.Kind == scenario.Expire && w.net.timers[timer{id, a.Timer}] == 0 && w.spec.Upset == nil {
		return fmt.Errorf("%v has no timer %d running", id, a.Timer)
	}
	return nil
}

func phaseWords(p phase) string {
	return [...]string{"is idle", "waits", "is inside"}[p]
}

// deliverAll empties the network in order of sending. What cannot arrive stays
// under way.
func (p *player) deliverAll() error {
	w := p.w
	for limit := 1000 * (p.sc.Processes + 10); ; limit-- {
		first, any := event{}, false
		for _, e := range w.underWay(nil) {
			from, to := core.ID(e.arg), core.ID(e.proc)
			if (w.faults.crashed[to] || !w.faults.cut(from, to)) && (!any || e.seq < first.seq) {
				first, any = e, true
			}
		}
		if !any {
			return nil
		}
		if limit == 0 {
			return fmt.Errorf("the network does not get empty: the algorithm goes on sending for ever")
		}
		if err := w.deliver(w.remove(w.ahead(first).seq)); err != nil {
			return err
		}
	}
}

// ahead returns the first message on the link of e: after a reordering it may
// be one that was sent later.
func (w *world) ahead(e event) event {
	if !w.fifo {
		return e
	}
	return w.underWay(&link{core.ID(e.arg), core.ID(e.proc)})[0]
}
