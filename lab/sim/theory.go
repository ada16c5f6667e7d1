package sim

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// A Theory is what theory says about the same run; nil where it says nothing.
type Theory struct {
	Messages   *algorithm.Range `json:"messages_per_entry"`
	Multicasts *algorithm.Range `json:"multicasts_per_entry"`
	Client     *algorithm.Range `json:"client_delay"`
	Sync       *algorithm.Range `json:"sync_delay"`
	Wait       *float64         `json:"longest_wait"` // no process waits longer
	Order      string           `json:"order"`
	Bypass     *int             `json:"-"` // no process sees more entries of others once its request has arrived everywhere

	// The condition, in a few words, under which theory speaks of messages, and of
	// delays, if the run does not meet it.
	IfCounts string `json:"-"`
	IfDelays string `json:"-"`
}

// load returns what theory may assume about a run.
func (c Config) load() algorithm.Load {
	all := c.Requesters == nil || len(c.Requesters) == c.Nodes
	if c.Think.Max() == 0 && all && c.Nodes > 1 {
		return algorithm.Saturated
	}
	return algorithm.AnyLoad
}

// theory returns what theory says about a run. Costs are those of entries that were
// requested, granted and released, on a network that does what the algorithm relies on,
// and delays are counted in messages that all take T. About any other run theory says
// nothing.
func theory(c Config, l *lock, s setting) Theory {
	t := Theory{Wait: c.longestWait(), Order: c.Spec.Theory.Order}
	counts, delays := s.counts(c, l), s.delays(c, l)
	at := func(cost algorithm.Cost, unless string) *algorithm.Range {
		r, ok := cost.At(c.Nodes, c.load())
		if !ok || unless != "" {
			return nil
		}
		return &r
	}
	says := c.Spec.Theory
	t.Messages, t.Multicasts = at(says.Messages, counts), at(says.Multicasts, counts)
	t.Client, t.Sync = at(says.Client, delays), at(says.Sync, delays)
	t.IfCounts, t.IfDelays = counts, delays
	if !s.calm || !s.prompt {
		t.Wait = nil
	}
	if s.calm && says.Bypass != nil {
		most := says.Bypass(c.Nodes)
		t.Bypass = &most
	}
	return t
}

// A setting holds the conditions of a run that matter to theory.
type setting struct {
	calm   bool // no message was lost or copied, or overtook one that it must not, and no process died
	prompt bool // no process paused, and messages took the time that the latency says
	over   bool // nothing more comes of any request
}

// The conditions of theory, in the order in which they are reported as missing.
const (
	ifCalm  = "undisturbed"
	ifView  = "in one view"
	ifOver  = "when all requests are done"
	ifAsked = "if all processes had asked"
	ifUnit  = "if all messages take T"
)

// counts returns the condition that a run fails to meet for theory to say how many
// messages there are, or nothing.
func (s setting) counts(c Config, l *lock) string {
	waiting, in := l.env.Count()
	switch {
	case !s.calm:
		return ifCalm
	case l.meter.beyond(c.Spec.Theory.Kinds):
		return ifView
	case !s.over || waiting+in > 0 || l.meter.exits == 0:
		return ifOver
	case l.view.Busy:
		return ifAsked // the process inside at the start had requested before
	}
	return ""
}

// delays returns the same for how long things take.
func (s setting) delays(c Config, l *lock) string {
	switch {
	case !s.calm:
		return ifCalm
	case l.meter.beyond(c.Spec.Theory.Kinds):
		return ifView
	case !s.prompt || !c.unit():
		return ifUnit
	}
	return ""
}

// unit reports whether every message takes T.
func (c Config) unit() bool {
	return c.Latency == scenario.Always(scenario.T) && !slices.ContainsFunc(c.Links, func(l script.Link) bool { return l.Latency != c.Latency })
}

// setting returns the conditions of a run of c; stopped says whether it was stopped
// before its end. Where chance reorders messages it varies how long they take.
func (c Config) setting(stopped bool) setting {
	return setting{
		calm:   len(c.Crashes) == 0 && (c.Network == algorithm.FIFO || c.Network == algorithm.Unordered && reorders(c.Spec)),
		prompt: c.Network == algorithm.FIFO,
		over:   !stopped,
	}
}

// reorders reports whether an algorithm tolerates messages that overtake others.
func reorders(spec algorithm.Spec) bool {
	return spec.Network != algorithm.FIFO && spec.Network != algorithm.Lossy
}

// longestWait returns the longest wait according to theory, or nil if theory says
// nothing, or messages or entries may take any time.
func (c Config) longestWait() *float64 {
	bound := c.Spec.Theory.Wait
	if bound == nil || c.Work != nil || c.Hold.Shape == script.Exponential {
		return nil
	}
	latency := int64(0)
	for _, l := range append(slices.Clone(c.Links), script.Link{Latency: c.Latency}) {
		if l.Latency.Shape == script.Exponential {
			return nil
		}
		latency = max(latency, l.Latency.Max())
	}
	w := bound(c.Nodes, units(latency), units(c.Hold.Max()))
	return &w
}
