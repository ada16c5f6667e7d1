package document

import (
	"fmt"
	"math"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// verbs maps the verbs of calls to scenario actions.
var verbs = [...]struct {
	word string
	kind script.ActionKind
}{
	{"ask", script.Ask}, {"leave", script.Leave}, {"start", script.Start}, {"crash", script.Crash}, {"restart", script.Restart},
	{"pause", script.Pause}, {"resume", script.Resume}, {"suspect", script.Suspect}, {"trust", script.Trust}, {"tell", script.Tell},
	{"expire", script.Expire}, {"deliver", script.Deliver}, {"overtake", script.Deliver}, {"drop", script.Drop}, {"duplicate", script.Duplicate},
	{"delay", script.Delay}, {"reorder", script.Reorder}, {"partition", script.Partition}, {"heal", script.Heal},
	{"take", script.Take}, {"go", script.Proceed},
}

// choose finds the scenario action for the user action.
func (a *actor) choose() error {
	d, x := &a.user, &a.action
	var words []string
	at := -1
	for i, v := range verbs {
		if words = append(words, v.word); v.word == d.Verb {
			at = i
		}
	}
	if at < 0 {
		return fmt.Errorf("unknown verb %q: want %s%s", d.Verb, spell.Either(words...), spell.DidYouMean(d.Verb, words...))
	}
	if err := a.section(); err != nil {
		return err
	}
	x.Kind, x.Section = verbs[at].kind, d.Section
	switch {
	case x.Kind.OnLink():
		return a.message()
	case x.Kind == script.Heal:
		return nil
	case x.Kind == script.Partition:
		return a.parts()
	}
	if d.Proc < 0 || d.Proc >= a.sc.Sites+a.sc.Processes {
		return fmt.Errorf("%s of lane %d: there are lanes 0 to %d", d.Verb, d.Proc, a.sc.Sites+a.sc.Processes-1)
	}
	x.Proc = algorithm.ID(d.Proc)
	if a.sc.Transacts() {
		return a.atSites()
	}
	switch x.Kind {
	case script.Take, script.Proceed:
		return fmt.Errorf("%s: there are no transactions here: let a process ask", d.Verb)
	case script.Suspect, script.Trust, script.Tell:
		if d.To < 0 || d.To >= a.sc.Processes || d.To == d.Proc {
			return fmt.Errorf("%s of lane %d: want another process, a lane from 0 to %d", d.Verb, d.Proc, a.sc.Processes-1)
		}
		x.Peer = algorithm.ID(d.To)
	case script.Expire:
		return a.timer()
	}
	return a.stay()
}

// section rejects an unknown section, because its name goes into the text.
func (a *actor) section() error {
	var names []string
	for _, s := range a.sc.Sections {
		names = append(names, s.Name)
	}
	switch name := a.user.Section; {
	case name == "" || slices.Contains(names, name):
		return nil
	case names == nil:
		return fmt.Errorf("section %q: the only critical section here has no name", name)
	default:
		return fmt.Errorf("unknown section %q: want %s%s", name, spell.Either(names...), spell.DidYouMean(name, names...))
	}
}

// stay sets how long the process that asks will stay.
func (a *actor) stay() error {
	if a.user.For == 0 || a.action.Kind != script.Ask && a.action.Kind != script.Take {
		return nil
	}
	hold, err := ticks(a.user.For)
	if err != nil || a.sc.Steps {
		return fmt.Errorf("a stay of %g: want a time of at least 0.000001, and none in steps", a.user.For)
	}
	dist := scenario.Always(hold)
	a.action.Hold = &dist
	return nil
}

// ticks converts units of time to ticks.
func ticks(units float64) (int64, error) {
	t := math.Round(units * scenario.T)
	if !(t >= 1 && t <= 1e15) {
		return 0, fmt.Errorf("a time of %g: want 0.000001 to %g", units, 1e9)
	}
	return int64(t), nil
}

// atSites finds the action of a site, or of a process at one.
func (a *actor) atSites() error {
	d, x := &a.user, &a.action
	site := d.Proc < a.sc.Sites
	switch {
	case site && x.Kind == script.Crash:
		x.Kind = script.CrashSite
	case site && x.Kind == script.Expire:
		x.Kind = script.ExpireSite
		return a.timer()
	case site && x.Kind == script.Suspect:
		if x.Kind = script.SuspectSite; d.To < 0 || d.To >= a.sc.Sites || d.To == d.Proc {
			return fmt.Errorf("suspect of lane %d: want another site, a lane from 0 to %d", d.Proc, a.sc.Sites-1)
		}
		x.Peer = algorithm.ID(d.To)
	case !site && x.Kind == script.Take:
		if len(d.Locks) == 0 {
			return fmt.Errorf("take: want locks, from 0 to %d", len(a.sc.Locks)-1)
		}
		for _, k := range d.Locks {
			if k < 0 || k >= len(a.sc.Locks) {
				return fmt.Errorf("take of lock %d: want 0 to %d", k, len(a.sc.Locks)-1)
			}
		}
		x.Locks = d.Locks
		x.Proc -= algorithm.ID(a.sc.Sites)
		return a.stay()
	case !site && x.Kind == script.Proceed:
		x.Proc -= algorithm.ID(a.sc.Sites)
	case site:
		return fmt.Errorf("%s of a site: want crash, expire or suspect", d.Verb)
	default:
		return fmt.Errorf("%s of a process that runs transactions: want take or go; it crashes with its site", d.Verb)
	}
	return nil
}

// timer finds the timer that expires.
func (a *actor) timer() error {
	if t := a.user.Timer; t != nil {
		if *t < 0 {
			return fmt.Errorf("timer %d: want a number from 0", *t)
		}
		a.action.Timer = *t
		return nil
	}
	i := slices.IndexFunc(a.now.timers, func(t sim.Alarm) bool {
		return t.Proc == a.action.Proc && (a.user.Section == "" || t.Section == a.user.Section)
	})
	if i < 0 {
		return fmt.Errorf("no timer is running there now")
	}
	a.action.Timer, a.action.Section = a.now.timers[i].Timer, a.now.timers[i].Section
	return nil
}

// parts reads the parts of a partition.
func (a *actor) parts() error {
	if a.sc.Transacts() {
		return fmt.Errorf("partition: not possible with transactions")
	}
	seen := make([]bool, a.sc.Processes)
	for _, part := range a.user.Parts {
		var ids []algorithm.ID
		for _, p := range part {
			if p < 0 || p >= a.sc.Processes || seen[p] {
				return fmt.Errorf("partition: want each process at most once, from 0 to %d", a.sc.Processes-1)
			}
			seen[p] = true
			ids = append(ids, algorithm.ID(p))
		}
		if len(ids) > 0 {
			a.action.Parts = append(a.action.Parts, ids)
		}
	}
	if len(a.action.Parts) == 0 {
		return fmt.Errorf("partition: name the processes of a part")
	}
	return nil
}

// message finds the message on its link.
func (a *actor) message() error {
	d, x := &a.user, &a.action
	numbers, under := renumber(a.past), a.now.underWay
	at := slices.IndexFunc(under, func(p sim.Passage) bool { return numbers[p.Msg] == d.Msg && d.Msg > 0 })
	switch {
	case at < 0 && a.now.events > a.event:
		return fmt.Errorf("message %d is no longer in flight when this could happen: no line can come between events of the same time or line; step back to before them", d.Msg)
	case at < 0:
		return fmt.Errorf("message %d is not in flight now: step to where it is", d.Msg)
	}
	m := under[at]
	x.Proc, x.Peer, x.Message = m.From, m.To, m.Name
	ahead := 0
	for _, p := range under[:at+1] {
		if p.From == m.From && p.To == m.To {
			if ahead++; p.Name == m.Name {
				x.Nth++
			}
		}
	}
	if x.Nth == 1 {
		x.Nth = 0
	}
	ordered := a.sc.Network == algorithm.FIFO || a.sc.Network == algorithm.Lossy
	x.Overtakes = x.Kind == script.Deliver && ordered && ahead > 1
	if x.Kind == script.Delay {
		if a.sc.Steps {
			return fmt.Errorf("steps take no time, so a message cannot be delayed: deliver other messages first")
		}
		if d.By == 0 {
			d.By = 1
		}
		var err error
		x.By, err = ticks(d.By)
		return err
	}
	return nil
}
