package check

import (
	"fmt"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// Convergence: an algorithm that stabilises may be found in any state at all.
// A state is right if from it on never two are inside, whatever happens. From
// every state, every fair run must come to a right one, and nobody may wait
// for ever. Deliveries, exits and timers are fair. Links are FIFO: an old
// message that comes late would upset the group again and again.

// converge is the pass from every state.
func (r *run) converge() error {
	if !r.wants(Convergence) {
		return nil
	}
	if r.Spec.Upset == nil {
		r.add(Property{Name: Convergence, Verdict: NotChecked, Note: "it does not claim to stabilise"})
		return nil
	}
	if r.byDefault {
		if n, more := r.starts(); n > manyStarts {
			note := fmt.Sprintf("from %d states%s: this takes long; ask for it by name", n, more)
			r.add(Property{Name: Convergence, Verdict: NotChecked, Note: note})
			return nil
		}
	}
	g := r.group()
	g.Upset, g.Network = true, core.FIFO
	h, err := newHost(g)
	if err != nil {
		return err
	}
	p := r.passed(&explore.Exploration{}, Convergence)
	graph, err := explore.BuildGraph(upset{h}, explore.GraphLimits{Limits: r.remaining(Convergence), Edges: true})
	if beyond(err) {
		p.Verdict, p.Note = Unfinished, err.Error()
		r.add(p)
		return nil
	}
	if err != nil {
		return err
	}
	r.count(graph.States())
	if rep := r.report; rep.States == 0 {
		rep.States, rep.Transitions, rep.Depth = graph.States(), graph.Transitions(), graph.Levels()
	}
	if err := r.comesRight(&p, h, graph); err != nil {
		return err
	}
	if p.Verdict != Violated && graph.Unfinished != "" {
		p.Verdict, p.Note = Unfinished, fmt.Sprintf("%s after %d states", graph.Unfinished, graph.States())
	}
	r.add(p)
	return nil
}

// comesRight looks for a run that never comes right, or in which somebody waits
// for ever.
func (r *run) comesRight(p *Property, h *host, g *explore.Graph) error {
	if g.Unfinished != "" {
		return nil
	}
	g.MarkBefore(inside2, wrong)
	c := g.Cut(wrong)
	if bad := c.Starves(); bad != nil {
		return r.lasso(p, h, g, c.Loop(bad), "it never comes right", nil)
	}
	for proc := 0; proc < r.Nodes && g.Unfinished == ""; proc++ {
		c = g.Cut(proc)
		if bad := c.Starves(); bad != nil {
			return r.starves(p, h, g, c.Loop(bad), core.ID(proc))
		}
	}
	return nil
}

// manyStarts is from how many states on convergence is only checked if asked
// for.
const manyStarts = 500

// starts returns how many states of the group there are to start from, and if
// it gave up counting that there are more.
func (r *run) starts() (n int, more string) {
	const enough = 1 << 20
	n = 1
	for i := range core.ID(r.Nodes) {
		of := 0
		for range r.Spec.Upset(i, r.Nodes) {
			if of++; of*n > enough {
				return enough, " or more"
			}
		}
		n *= of
	}
	return n, ""
}

// Bits of graph.waiting beside those of the processes.
const (
	wrong   = 30 // there may be two inside, now or later
	inside2 = 31 // there are two inside
)

// upset is a host whose states also tell whether two are inside.
type upset struct{ *host }

func (u upset) Worker() explore.Worker { return upsetWorker{u.host.Worker().(*worker)} }

type upsetWorker struct{ *worker }

func (w upsetWorker) Waiting(state []byte) (waiting, calm uint32) {
	waiting, calm = w.worker.Waiting(state)
	if w.look(w.from)&brokenExclusion != 0 {
		waiting |= 1 << inside2
	}
	return waiting, calm
}

// initUpset emits every combination of the states that machines may be found
// in.
func (w *worker) initUpset(emit func(state []byte) bool) error {
	g := w.to
	w.eachStart(func(pick [][]byte) bool {
		for i, state := range pick {
			b, err := w.blob(core.ID(i), state)
			if err != nil {
				w.err = err
				return false
			}
			g.procs[i] = proc{blob: b.id, seen: w.Fence, left: uint8(w.Requests)}
			if g.procs[i].start, w.err = w.moves(b.id); w.err != nil {
				return false
			}
		}
		g.letters = g.letters[:0]
		on := true
		w.settle(0, explore.Step{}, func(_ explore.Step, state []byte) { on = on && emit(state) })
		return on && w.err == nil
	})
	return w.err
}

// eachStart calls f with every combination of the states that machines may be
// found in, as long as it says to go on. There may be very many: none is kept.
func (h *host) eachStart(f func(pick [][]byte) bool) {
	pick := make([][]byte, h.Nodes)
	var choose func(i int) bool
	choose = func(i int) bool {
		if i == len(pick) {
			return f(pick)
		}
		for state := range h.Spec.Upset(core.ID(i), h.Nodes) {
			pick[i] = state
			if !choose(i + 1) {
				return false
			}
		}
		return true
	}
	choose(0)
}

// expire lets timers run out.
func (w *worker) expire(old uint64, emit func(explore.Step, []byte)) {
	const class = 2*maxSeats + maxSeats*maxSeats // after those of deliveries
	for p := range core.ID(w.Nodes) {
		g := w.begin()
		w.finish(g, p, core.Expire, core.None, 0, explore.Step{Label: label(doExpire, p, 0, 0), Fair: true, Class: class + uint32(p)}, old, emit)
	}
}

// settings returns the state of start number start as lines of a scenario.
func (h *host) settings(start int) []scenario.Setting {
	var set []scenario.Setting
	h.eachStart(func(pick [][]byte) bool {
		if start--; start != -1 {
			return true
		}
		for i, state := range pick {
			m := h.birth(core.ID(i), h.Starts[0])
			if m.LoadState(state) != nil {
				return false
			}
			for _, f := range core.Describe(m, h.Nodes) {
				set = append(set, scenario.Setting{Proc: core.ID(i), Field: f.Name, Value: f.Value})
			}
		}
		return false
	})
	return set
}
