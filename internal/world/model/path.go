package model

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/world/explore"
	"github.com/stile-lock/stile/internal/world/family"
	"github.com/stile-lock/stile/internal/world/script"
)

// ErrSpurious means that a path exists only among renumbered states: what they leave open
// has no real counterpart.
var ErrSpurious = errors.New("the path exists only in the approximation of logical times")

// A Step is one step of a real run: as lines of a scenario, which are none if time passes
// and several if messages get lost on the way, and in words for the user.
type Step struct {
	Actions []script.Action
	Words   string
}

// A Path is a way through canonical states, from one of the starts.
type Path struct {
	Start  int
	States [][]byte
	Loop   int          // number of the state from which it can be repeated; 0 if it cannot
	Waits  algorithm.ID // with Loop: application that waits all the time, or None
}

// rounds is how often a real run must go around a loop, because a loop may be one only
// for renumbered states.
const rounds = 5

// Run finds a real run along a path: one in which logical times have not been renumbered
// and messages are in the order of sending.
func (m *Model) Run(p Path) ([]Step, error) {
	w := m.worker()
	w.exact, w.telling = true, true
	var at []byte
	start := p.Start
	err := w.Init(func([]byte) bool {
		if start == 0 {
			at = m.pack(nil, w.to)
		}
		start--
		return at == nil
	})
	if err != nil {
		return nil, err
	}
	var steps []Step
	var labels []uint32
	for _, want := range p.States[1:] {
		next, err := w.along(at, func(s explore.Step, canonical []byte) bool {
			if !bytes.Equal(canonical, want) {
				return false
			}
			steps, labels = append(steps, w.describeStep(moveOf(s.Label))), append(labels, s.Label)
			return true
		})
		if err != nil {
			return nil, err
		}
		at = next
	}
	if p.Loop == 0 || m.Form.Times != Spread {
		return steps, nil
	}
	for range rounds - 1 {
		for _, label := range labels[p.Loop:] {
			next, err := w.along(at, func(s explore.Step, _ []byte) bool { return s.Label == label && w.waits(p.Waits) })
			if err != nil {
				return nil, err
			}
			at = next
		}
	}
	return steps, nil
}

// waits reports whether an application waits in w.to, or p is None.
func (w *worker) waits(p algorithm.ID) bool { return p == algorithm.None || w.to.env.Waits(p) }

// Started returns an application's start that is possible in start number start, as a step.
func (m *Model) Started(start int) (Step, bool) {
	w := m.worker()
	var found []family.Act
	err := w.Init(func([]byte) bool {
		if start == 0 {
			w.acts = w.acts[:0]
			w.to.env.Acts(w, w.note)
			found = w.acts
		}
		start--
		return start >= 0
	})
	i := slices.IndexFunc(found, func(a family.Act) bool { return a.Kind == script.Start })
	if err != nil || i < 0 || m.Upset {
		return Step{}, false
	}
	return Step{Actions: []script.Action{w.to.env.Action(found[i])}}, true
}

// along takes the first wanted step from a real state. If there is none, or numbers grow
// beyond what can be distinguished, there is no real run.
func (w *worker) along(at []byte, wanted func(s explore.Step, canonical []byte) bool) (next []byte, err error) {
	anchor := ""
	_, err = w.Next(at, func(s explore.Step, canonical []byte) {
		if next == nil && wanted(s, canonical) {
			next = w.pack(nil, w.to)
			anchor = w.anchorOf(w.to)
		}
	})
	var much TooMuch
	switch {
	case next != nil:
		w.floor = cmp.Or(anchor, w.floor)
		return next, nil // whatever happened to the others
	case err == nil || errors.As(err, &much):
		return nil, ErrSpurious
	}
	return nil, err
}

// describeStep describes the step from w.from that was just made.
func (w *worker) describeStep(m move) Step {
	s := Step{Actions: w.arrivals(m)}
	a := script.Action{Proc: m.p, Peer: m.peer}
	switch m.kind {
	case doAct:
		i := slices.IndexFunc(w.acts, func(a family.Act) bool {
			return int(a.Kind) == m.nth && a.Proc == m.p && a.Peer == m.peer
		})
		a = w.from.env.Action(w.acts[i])
	case doDeliver, doDrop, doKeep:
		a = script.Action{Kind: script.Deliver, Proc: m.peer, Peer: m.p}
		if m.nth > 0 {
			a.Nth = m.nth + 1
		}
		switch m.kind {
		case doDrop:
			a.Kind = script.Drop
		case doKeep:
			s.Actions = append(s.Actions, script.Action{Kind: script.Duplicate, Proc: m.peer, Peer: m.p, Nth: a.Nth})
		}
	case doExpire:
		a = script.Action{Kind: script.Expire, Proc: m.p, Timer: int(w.from.timers[m.nth].id)}
		if w.Sites {
			a.Kind = script.ExpireSite
		}
	case doUpset:
		a = script.Action{Kind: script.Expire, Proc: m.p}
	case doSuspect:
		a.Kind = script.Suspect
		if w.Sites {
			a.Kind = script.SuspectSite
		}
	case doTrust:
		a.Kind = script.Trust
	case doCrash:
		a = script.Action{Kind: script.Crash, Proc: m.p}
		if w.Sites {
			a.Kind = script.CrashSite
		}
	case doReturn:
		a = script.Action{Kind: script.Restart, Proc: m.p}
	case doTick:
		return s
	}
	s.Actions = append(s.Actions, a)
	s.Words = w.words(m)
	return s
}

// arrivals returns the losses of a step as lines of a scenario: in the simulator, too, a
// dead process receives nothing.
func (w *worker) arrivals(m move) []script.Action {
	list := w.from.messages
	set := uint64(0)
	switch {
	case w.Clock != Units || !w.losses:
	case m.kind == doReturn:
		set = w.lost
	case m.kind == doTick, m.kind == doExpire && w.right(&w.from.timers[m.nth]):
		for i := range list {
			if !w.counts(w.from, &list[i]) && (list[i].old || w.Pace == Quick && m.kind == doTick) {
				set |= 1 << i
			}
		}
	}
	var all []script.Action
	nth := map[uint16]int{} // of those left on the link
	for i := range list {
		l := &list[i]
		if set>>i&1 == 0 {
			nth[l.link]++
			continue
		}
		from, to := w.ends(l)
		a := script.Action{Kind: script.Deliver, Proc: from, Peer: to}
		if nth[l.link] > 0 {
			a.Nth = nth[l.link] + 1
		}
		all = append(all, a)
	}
	return all
}

// words describes a step among sites: what happens at them is not what a process does.
func (w *worker) words(m move) string {
	if !w.Sites {
		return ""
	}
	var all []string
	switch m.kind {
	case doDeliver:
		i := slices.IndexFunc(w.from.messages, func(l message) bool { return int(l.link) == int(m.peer)*w.Seats+int(m.p) })
		kind := w.Spec.Kinds[w.infos[w.from.messages[i+m.nth].blob].bytes[0]]
		all = append(all, fmt.Sprintf("%s receives %s from %s", w.name(m.p), kind, w.name(m.peer)))
	case doExpire:
		all = append(all, fmt.Sprintf("a timer of %s expires", w.name(m.p)))
	case doCrash:
		all = append(all, w.name(m.p)+" crashes")
	case doSuspect:
		all = append(all, fmt.Sprintf("%s is notified that %s is dead", w.name(m.p), w.name(m.peer)))
	}
	for _, e := range w.told {
		all = append(all, e.Name)
	}
	return strings.Join(all, "; ")
}

// Settings returns the state of start number start as lines of a scenario, if groups may
// be found in any state.
func (m *Model) Settings(start int) []script.Setting {
	if !m.Upset {
		return nil
	}
	var set []script.Setting
	m.eachStart(func(pick [][]byte) bool {
		if start--; start != -1 {
			return true
		}
		for i, state := range pick {
			machine := m.birth(algorithm.ID(i), m.Starts[0])
			if machine.LoadState(state) != nil {
				return false
			}
			for _, f := range machine.Describe() {
				set = append(set, script.Setting{Proc: algorithm.ID(i), Field: f.Name, Value: f.Value})
			}
		}
		return false
	})
	return set
}
