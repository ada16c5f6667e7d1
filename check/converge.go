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
	if n := r.starts(); r.byDefault && n > manyStarts {
		r.add(Property{Name: Convergence, Verdict: NotChecked, Note: fmt.Sprintf("from %d states: this takes long; ask for it by name", n)})
		return nil
	}
	g := r.group()
	g.Upset, g.Network = true, core.FIFO
	h, err := newHost(g)
	if err != nil {
		return err
	}
	p := r.passed(&explore.Exploration{}, Convergence)
	graph, err := explore.BuildGraph(upset{h}, explore.GraphLimits{Limits: r.remaining(), Edges: true})
	if err != nil {
		return err
	}
	if graph.Unfinished != "" {
		p.Verdict, p.Note = Unfinished, fmt.Sprintf("%s after %d states", graph.Unfinished, graph.States())
		r.add(p)
		return nil
	}
	if rep := r.report; rep.States == 0 {
		rep.States, rep.Transitions, rep.Depth = graph.States(), graph.Transitions(), graph.Levels()
	}
	graph.MarkBefore(inside2, wrong)
	c := graph.Cut(wrong)
	bad := c.Starves()
	if bad != nil {
		err = r.lasso(&p, h, c, bad, "it never comes right", nil)
	}
	for proc := 0; proc < r.Nodes && bad == nil && err == nil; proc++ {
		c = graph.Cut(proc)
		if bad = c.Starves(); bad != nil {
			err = r.starves(&p, h, c, bad, core.ID(proc))
		}
	}
	r.add(p)
	return err
}

// manyStarts is from how many states on convergence is only checked if asked
// for.
const manyStarts = 500

// starts returns how many states of the group there are to start from.
func (r *run) starts() int {
	n := 1
	for i := range core.ID(r.Nodes) {
		if n *= len(r.Spec.Upset(i, r.Nodes)); n > 1<<30 {
			break
		}
	}
	return n
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
	blobs := make([][]uint32, w.Nodes)
	moves := map[uint32]bool{}
	for i := range blobs {
		for _, state := range w.Spec.Upset(core.ID(i), w.Nodes) {
			b, err := w.blob(core.ID(i), state)
			if err != nil {
				return err
			}
			if moves[b.id], err = w.moves(b.id); err != nil {
				return err
			}
			blobs[i] = append(blobs[i], b.id)
		}
	}
	each(blobs, func(pick []uint32) bool {
		for i, id := range pick {
			g.procs[i] = proc{blob: id, seen: w.Fence, left: uint8(w.Requests), start: moves[id]}
		}
		g.letters = g.letters[:0]
		on := true
		w.settle(0, explore.Step{}, func(_ explore.Step, state []byte) { on = on && emit(state) })
		return on && w.err == nil
	})
	return w.err
}

// each calls f with every way to pick one of each list, as long as it says to
// go on.
func each(lists [][]uint32, f func(pick []uint32) bool) {
	pick := make([]uint32, len(lists))
	var rec func(i int) bool
	rec = func(i int) bool {
		if i == len(lists) {
			return f(pick)
		}
		for _, id := range lists[i] {
			pick[i] = id
			if !rec(i + 1) {
				return false
			}
		}
		return true
	}
	rec(0)
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
	var lists [][]uint32
	states := make([][][]byte, h.Nodes)
	for i := range states {
		states[i] = h.Spec.Upset(core.ID(i), h.Nodes)
		var list []uint32
		for n := range states[i] {
			list = append(list, uint32(n))
		}
		lists = append(lists, list)
	}
	var set []scenario.Setting
	each(lists, func(pick []uint32) bool {
		if start--; start != -1 {
			return true
		}
		for i, n := range pick {
			m := h.birth(core.ID(i), h.Starts[0])
			if m.LoadState(states[i][n]) != nil {
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
