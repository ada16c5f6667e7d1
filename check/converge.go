package check

import (
	"fmt"

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
	p := r.passed(&Exploration{}, Convergence)
	graph, err := buildGraph(upset{h}, graphLimit{edges: true, memory: r.Memory, quit: r.quit})
	if err != nil {
		return err
	}
	if !graph.full {
		p.Verdict, p.Note = Unfinished, fmt.Sprintf("out of time or memory after %d states", len(graph.prints))
		r.add(p)
		return nil
	}
	if rep := r.report; rep.States == 0 {
		last := uint32(len(graph.prints) - 1)
		rep.States, rep.Transitions, rep.Depth = int64(len(graph.prints)), int64(len(graph.to)), len(graph.pathTo(last))
	}
	graph.markWrong()
	c := newCut(graph, wrong)
	bad := c.starves()
	if bad != nil {
		err = r.lasso(&p, h, c, bad, "it never comes right", nil)
	}
	for proc := 0; proc < r.Nodes && bad == nil && err == nil; proc++ {
		c = newCut(graph, proc)
		if bad = c.starves(); bad != nil {
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

func (u upset) Worker() Worker { return upsetWorker{u.host.Worker().(*worker)} }

type upsetWorker struct{ *worker }

func (w upsetWorker) Waiting(state []byte) (waiting, calm uint32) {
	waiting, calm = w.worker.Waiting(state)
	if w.look(w.from)&brokenExclusion != 0 {
		waiting |= 1 << inside2
	}
	return waiting, calm
}

// markWrong marks the states from which one with two inside can be reached.
func (g *graph) markWrong() {
	first := make([]uint64, len(g.waiting)+1)
	for _, t := range g.to {
		first[t+1]++
	}
	for s := range g.waiting {
		first[s+1] += first[s]
	}
	from := make([]uint32, len(g.to))
	at := make([]uint64, len(g.waiting))
	copy(at, first)
	for s := range g.waiting {
		for _, t := range g.to[g.first[s]:g.first[s+1]] {
			from[at[t]] = uint32(s)
			at[t]++
		}
	}
	var queue []uint32
	for s, w := range g.waiting {
		if w>>inside2&1 == 1 {
			g.waiting[s] |= 1 << wrong
			queue = append(queue, uint32(s))
		}
	}
	for len(queue) > 0 {
		t := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, s := range from[first[t]:first[t+1]] {
			if g.waiting[s]>>wrong&1 == 0 {
				g.waiting[s] |= 1 << wrong
				queue = append(queue, s)
			}
		}
	}
}

// initUpset emits every combination of the states that machines may be found
// in.
func (w *worker) initUpset(emit func(state []byte)) error {
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
	each(blobs, func(pick []uint32) {
		for i, id := range pick {
			g.procs[i] = proc{blob: id, seen: w.Fence, left: uint8(w.Requests), start: moves[id]}
		}
		g.letters = g.letters[:0]
		w.settle(0, Step{}, func(_ Step, state []byte) { emit(state) })
	})
	return w.err
}

// each calls f with every way to pick one of each list.
func each(lists [][]uint32, f func(pick []uint32)) {
	pick := make([]uint32, len(lists))
	var rec func(i int)
	rec = func(i int) {
		if i == len(lists) {
			f(pick)
			return
		}
		for _, id := range lists[i] {
			pick[i] = id
			rec(i + 1)
		}
	}
	rec(0)
}

// expire lets timers run out.
func (w *worker) expire(old uint64, emit func(Step, []byte)) {
	const class = 2*maxSeats + maxSeats*maxSeats // after those of deliveries
	for p := range core.ID(w.Nodes) {
		g := w.begin()
		w.finish(g, p, core.Expire, core.None, 0, Step{Label: label(doExpire, p, 0, 0), Fair: true, Class: class + uint32(p)}, old, emit)
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
	each(lists, func(pick []uint32) {
		if start--; start != -1 {
			return
		}
		for i, n := range pick {
			m := h.birth(core.ID(i), h.Starts[0])
			if m.LoadState(states[i][n]) != nil {
				return
			}
			for _, f := range core.Describe(m, h.Nodes) {
				set = append(set, scenario.Setting{Proc: core.ID(i), Field: f.Name, Value: f.Value})
			}
		}
	})
	return set
}
