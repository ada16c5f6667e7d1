package model

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// Spurious is the error of a path that exists only among renumbered states: what they
// leave open has no real counterpart, or none is known.
type Spurious struct{ why string }

func (e Spurious) Error() string { return e.why }

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
	Labels []uint32 // what is done in the last steps: other steps may lead to the same states
	Loop   int      // number of steps at the end that can be repeated; 0 if it ends
	Fair   bool     // repeating them must be fair
}

// Run finds a real run along a path: one in which logical times have not been renumbered
// and messages are in the order of sending. It can be repeated without end from step
// number loop on, if the path can; otherwise loop is the number of steps.
func (m *Model) Run(p Path) (steps []Step, loop int, err error) {
	r := &realRun{worker: m.worker(), path: p, scratch: newState(m.Seats, m.Env)}
	r.exact, r.telling = true, true
	start := p.Start
	err = r.Init(func([]byte) bool {
		if start == 0 {
			r.at = m.pack(nil, r.to)
		}
		start--
		return r.at == nil
	})
	begin := len(p.States) - 1 - p.Loop
	for i := 0; i < begin && err == nil; i++ {
		err = r.step(i)
	}
	if err == nil && p.Loop > 0 {
		begin, err = r.repeat()
	}
	if err != nil {
		return nil, 0, err
	}
	return r.steps, begin, nil
}

// A realRun is a real run along a path.
type realRun struct {
	*worker
	path    Path
	at      []byte // real state
	steps   []Step
	taken   uint32 // fair action of the last step, or none
	narrow  bool   // some step has put a time into a gap of exactly 2
	scratch *state // for unpacking
}

// none is no class.
const none = ^uint32(0)

// step takes the step from state number i of the path.
func (r *realRun) step(i int) error {
	does := func(uint32) bool { return true }
	if unknown := len(r.path.States) - 1 - len(r.path.Labels); i >= unknown {
		does = r.doing(r.path.States[i], r.path.Labels[i-unknown])
	}
	next, err := r.along(r.at, func(s explore.Step, canonical []byte) bool {
		if !bytes.Equal(canonical, r.path.States[i+1]) || !does(s.Label) {
			return false
		}
		if r.taken = none; s.Fair {
			r.taken = s.Class
		}
		r.steps = append(r.steps, r.describeStep(moveOf(s.Label)))
		r.narrow = r.narrow || shrunk(r.old, r.timesOf(r.to))&(r.old<<2) != 0
		return true
	})
	r.at = next
	return err
}

// doing returns whether a step out of the real state does what a labelled step out of its
// canonical state does. On unordered networks the messages of a link are in another order
// there.
func (r *realRun) doing(canonical []byte, l uint32) func(label uint32) bool {
	want := moveOf(l)
	if r.ordered() || want.kind != doDeliver && want.kind != doKeep && want.kind != doDrop {
		return func(label uint32) bool { return label == l }
	}
	link := uint16(int(want.peer)*r.Seats + int(want.p))
	onLink := func(g *state) []message {
		first := slices.IndexFunc(g.messages, func(m message) bool { return m.link == link })
		return g.messages[max(first, 0):]
	}
	r.unpack(canonical, r.scratch)
	message := onLink(r.scratch)[want.nth]
	r.unpack(r.at, r.scratch)
	r.know(r.scratch)
	if r.Form != (Form{}) {
		r.renumber(r.scratch, r.mapping(r.ruleOf(r.scratch)))
	}
	here := slices.Clone(onLink(r.scratch))
	return func(label uint32) bool {
		got := moveOf(label)
		return got.kind == want.kind && got.p == want.p && got.peer == want.peer && here[got.nth] == message
	}
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
		return nil, Spurious{"the path exists only in the approximation of logical times"}
	}
	return nil, err
}

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
	case !w.losses:
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
