package viewmodel

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/internal/explain"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// Story returns a shortest way to a violation of one of the properties, step by step in
// words, or nothing if none is violated.
func (m *Model) Story(some explore.Broken, l explore.Limits) ([]string, error) {
	l.Stop = some
	g, err := explore.BuildGraph(m, explore.GraphLimits{Limits: l})
	if err != nil {
		return nil, err
	}
	for bit := explore.Broken(1); bit < 1<<all; bit <<= 1 {
		at, ok := g.Found(bit)
		if !ok || bit&some == 0 {
			continue
		}
		_, states, _, err := g.Along(g.PathTo(at.State), nil)
		if err != nil {
			return nil, err
		}
		return m.tell(states, at.Step, bit)
	}
	return nil, nil
}

// tell describes the way along some states, and the step that ends it.
func (m *Model) tell(states [][]byte, last *explore.Step, bit explore.Broken) ([]string, error) {
	w, ok := m.Worker().(*worker)
	if !ok {
		return nil, errState
	}
	var story []string
	for i, state := range states {
		var line string
		look := func(s explore.Step, next []byte) {
			done := last != nil && s.Label == last.Label
			if i+1 < len(states) {
				done = bytes.Equal(next, states[i+1])
			}
			if line == "" && done && (i+1 < len(states) || last != nil) {
				line = w.describe(s.Label) + w.news()
			}
		}
		if _, err := w.Next(state, look); err != nil {
			return nil, err
		}
		if line != "" {
			story = append(story, line)
		}
	}
	if last == nil {
		story = append(story, "nothing more need happen, and "+w.waiters()+" forever")
	}
	return append(story, "broken: "+strings.Join(Names(bit), ", ")), nil
}

// waiters says which processes wait.
func (w *worker) waiters() string {
	var who []string
	for i := range w.now.procs {
		if p := &w.now.procs[i]; !p.dead && !w.procs[i].ghost && len(p.state.Present.Waiters) > 0 {
			who = append(who, w.procs[i].Name+" waits")
		}
	}
	return strings.Join(who, " and ")
}

// describe says what a step does, in the world before it.
func (w *worker) describe(l uint32) string {
	kind, a, b := Kind(l>>16), int(l>>8&0xff), int(l&0xff)
	if kind == Deliver {
		return w.delivery(a, b>>4, b&0xf)
	}
	name := w.procs[a].Name
	switch kind {
	case More:
		return fmt.Sprintf("%s reports to %s, or asks it", name, w.procs[b].Name)
	case Quit:
		return "the client no longer holds the lock"
	case Install:
		return fmt.Sprintf("%s installs view %d", name, w.Views[b].Epoch)
	case Bury, BuryOld:
		part := w.now.procs[a].state.Present
		if kind == BuryOld {
			part = w.now.procs[a].state.Before
		}
		ghost := w.Views[w.view(part.Epoch)].Ghosts[b].Inc
		return fmt.Sprintf("%s discards what is left of %s in epoch %d", name, w.procs[w.index(ghost)].Name, part.Epoch)
	}
	return name + map[Kind]string{
		Ask: " asks", Unlock: " unlocks", Cancel: " cancels", Again: " unlocks again with its old token", Warn: " is notified that its lease expires for good", End: ": its lease expires for good",
		Crash: " crashes", Lapse: " is notified that its lease expires for a while", Pass: ": its lease expires", Renew: ": its lease is renewed", Leave: " leaves",
		ClientAsk: ": the client asks through it", Claim: ": the client claims the lock through it", Confirmed: ": the client hears in time that it holds the lock through it",
		Word: ": the client says that it no longer holds the lock", SessionEnd: ": the client's session ends", Moved: ": the client closes its session",
		Vacate: ": the client leaves the lock that is delegated to it", Reenter: ": the client enters it again", Recalled: ": its RECALL arrives at the client", Kept: ": the client's KEEP arrives",
		Prove: ": a renewal that it sent after the loss is confirmed", Proof: ": that confirmation arrives",
	}[kind]
}

func (w *worker) delivery(view, from, to int) string {
	frame, _ := first(w.now.links[w.link(view, from, to)])
	s, err := member.Look(frame)
	if err != nil {
		return err.Error()
	}
	text := s.Kind
	if s.Kind == "ALG" {
		text = w.message(view, &s)
	}
	if says := explain.Frame(&s); says != "" {
		text += " (" + says + ")"
	}
	if s.More {
		text += " (not the last part)"
	}
	return fmt.Sprintf("%s receives %s from %s in epoch %d", w.procs[to].Name, text, w.procs[from].Name, w.Views[view].Epoch)
}

// message describes an algorithm's message.
func (w *worker) message(view int, s *member.FrameInfo) string {
	c := w.Views[view].Choices[w.Views[view].Choose(w.Lock)]
	spec, err := w.Spec(c.Algorithm, c.Version)
	if err != nil || len(s.Message) == 0 || int(s.Message[0]) >= len(spec.Kinds) {
		return s.Kind
	}
	text := fmt.Sprintf("%s with count %d", spec.Kinds[s.Message[0]], s.Count)
	if s.Cleared {
		text += ", cleared"
	}
	return text
}

// news says which processes have entered or lost something by a step, and what the homes
// did.
func (w *worker) news() string {
	var all []string
	for i := range w.now.procs {
		was, is := w.now.procs[i].inside, w.next.procs[i].inside
		switch {
		case was == is:
		case is.IsNone():
			all = append(all, w.procs[i].Name+" is outside")
		default:
			all = append(all, fmt.Sprintf("%s is inside with %v", w.procs[i].Name, is))
		}
	}
	if w.now.client.holds == 0 && w.next.client.holds > 0 {
		all = append(all, fmt.Sprintf("the client is inside with %v", w.next.client.token))
	}
	if w.now.client.told&^w.next.client.told == 0 && w.next.client.told != w.now.client.told {
		all = append(all, "its claim is honoured")
	}
	if w.next.opened > w.now.opened {
		all = append(all, fmt.Sprintf("the home of epoch %d grants the lock", w.next.opened))
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(slices.Clip(all), ", ")
}
