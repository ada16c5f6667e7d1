package sim

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/trace"
)

// because reports the reasons for a step. They belong to the event that made the process
// take the step; if there was none, because the process has just started, to the first
// event of the step.
func (g *group) because(seat algorithm.ID, reasons []host.Reason) {
	w := g.w
	var why []trace.Why
	for _, r := range reasons {
		if r.Rule < 0 || r.Rule >= len(g.spec.Rules) {
			continue // a machine that package algorithm did not make
		}
		rule := &g.spec.Rules[r.Rule]
		y := trace.Why{Rule: rule.ID, Text: g.spec.Say(seat, r, g.members...)}
		switch rule.Waits {
		case "self":
			y.Waits = int(g.proc(seat)) + 1
		case "who":
			y.Waits = int(g.proc(r.Who)) + 1
		}
		why = append(why, y)
	}
	causes := []trace.Kind{trace.Ask, trace.Exit, trace.Receive, trace.Expire, trace.Suspect, trace.Trust, trace.Note, trace.Abort}
	here := w.last.Proc == g.proc(seat) || g.spec.Family == algorithm.Transactions // whose applications have lanes of their own
	if slices.Contains(causes, w.last.Kind) && here && w.last.At == w.Now() && w.last.Step >= 0 {
		w.explain(why)
		return
	}
	w.pending = why
}

// noted handles an event that was observed.
func (w *world) noted(e trace.Event) {
	w.last = e
	if len(w.pending) > 0 {
		why := w.pending
		w.pending = nil
		w.explain(why)
	}
}
