package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// Deaths says what to check of a lock that survives deaths: one whose Spec has
// Detects. Everything is as in an Election, but nobody comes back.
type Deaths struct {
	Spec     core.Spec
	Nodes    int
	Requests int  // of each process
	Crashes  int  // how many processes crash at most, at any step
	Quick    bool // messages take no time, compared with timeouts
	Slow     bool // every message takes the longest time
	Wrong    bool // once a timeout is too short, or a live process is taken for dead
	Network  core.Network
	Options  core.Options   // that Spec was made with, for counterexamples
	Found    func(Property) // as in Config
	Limits
}

// RunDeaths checks that never two are inside, and that nobody alive waits for
// ever.
func RunDeaths(c Deaths) (*Report, error) {
	if !c.Spec.Detects || c.Spec.Family != core.MutualExclusion {
		return nil, fmt.Errorf("cannot check %s with deaths: it does not survive them", c.Spec.Name)
	}
	if c.Requests < 1 || c.Requests > maxEvents || c.Crashes < 0 || c.Crashes > maxEvents {
		return nil, fmt.Errorf("cannot check %s: %d requests and %d crashes: want 1 to %d, and 0 to %d", c.Spec.Name, c.Requests, c.Crashes, maxEvents, maxEvents)
	}
	e := Election{Spec: c.Spec, Nodes: c.Nodes, Crashes: c.Crashes, Quick: c.Quick, Slow: c.Slow, Wrong: c.Wrong, Network: c.Network, Options: c.Options, Found: c.Found, Limits: c.Limits}
	m, err := newElectorate(e)
	if err != nil {
		return nil, fmt.Errorf("cannot check %s: %w", c.Spec.Name, err)
	}
	m.lock, m.asks = true, c.Requests
	r := &ballotRun{Election: e, model: m, started: time.Now(), report: &Report{
		Algorithm: c.Spec.Name, Nodes: c.Nodes, Requests: Bound(c.Requests), Network: c.Network.String(), Verdict: HoldsBounded,
	}}
	if err := r.runLock(); err != nil {
		return nil, fmt.Errorf("cannot check %s: %w", c.Spec.Name, err)
	}
	return r.report, nil
}

func (r *ballotRun) runLock() error {
	safe := Property{Name: MutualExclusion, Verdict: HoldsBounded}
	live := Property{Name: Starvation, Verdict: HoldsBounded}
	g, err := r.graph(&safe)
	if err != nil {
		return err
	}
	for _, p := range g.Waiters() {
		if g.Unfinished != "" {
			break
		}
		c := g.Cut(p)
		if bad := c.Starves(); bad != nil {
			_, states, err := g.Along(g.PathTo(bad[len(bad)-1]))
			if err == nil {
				err = r.tell(g, &live, states)
			}
			if err != nil {
				return err
			}
			break
		}
	}
	r.cutShort(g, &safe, &live)
	r.sum(safe, live)
	return nil
}

// graph builds the whole state graph. Where two are inside, or win one round,
// that is told as soon as it is seen.
func (r *ballotRun) graph(safe *Property) (*explore.Graph, error) {
	l := explore.GraphLimits{Limits: r.Limits, Edges: true, Seen: func(g *explore.Graph, _ explore.Broken) error {
		at, ok := g.Found(brokenExclusion)
		if !ok || safe.Verdict == Violated {
			return nil
		}
		return r.twoLeaders(g, at, safe)
	}}
	l.Pass = safe.Name + "..."
	g, err := explore.BuildGraph(r.model, l)
	if err != nil {
		return nil, err
	}
	rep := r.report
	rep.States, rep.Transitions = g.States(), g.Transitions()
	rep.Depth = g.Levels()
	return g, nil
}

// sum completes the report.
func (r *ballotRun) sum(properties ...Property) {
	rep := r.report
	rep.Properties = properties
	for _, p := range properties {
		if p.Verdict.rank() > rep.Verdict.rank() {
			rep.Verdict = p.Verdict
		}
	}
	rep.Seconds = time.Since(r.started).Seconds()
	rep.Rate = float64(rep.States) / rep.Seconds
	rep.Collision = explore.Collision(rep.States)
}

// cutShort says of what is not violated why it is unfinished, if it is.
func (r *ballotRun) cutShort(g *explore.Graph, safe, live *Property) {
	if g.Unfinished == "" {
		return
	}
	if safe.Verdict != Violated {
		safe.Verdict, safe.Note = Unfinished, g.Unfinished+sound(g.Whole())
	}
	if live.Verdict != Violated {
		live.Verdict, live.Note = Unfinished, g.Unfinished
	}
}

// initLock emits the one state in which a lock begins: free, and with process
// 1 if that means anything.
func (t *teller) initLock(emit func(state []byte) bool) error {
	v := t.to
	*v = vote{voters: v.voters, ballots: v.ballots[:0], winner: core.None, crashes: uint8(t.Crashes)}
	if t.Wrong {
		v.errors = 1
	}
	for p := range core.ID(t.Nodes) {
		b, err := t.blob(p, t.birth(p, core.View{N: t.Nodes}).AppendState(nil))
		if err != nil {
			return err
		}
		v.voters[p] = voter{blob: b, leader: core.None, left: uint8(t.asks)}
		done, err := t.turn(p, b, core.Start, core.None, 0)
		if err != nil {
			return err
		}
		t.do(p, done, false)
	}
	emit(t.pack(nil, v))
	return nil
}

// use lets p's application ask, or leave.
func (t *teller) use(p core.ID) {
	me := &t.from.voters[p]
	kind, s := core.Request, explore.Step{Label: label(voteNotice, p, 0, 0)}
	switch {
	case me.phase == inside:
		kind, s = core.Release, explore.Step{Label: label(voteLeave, p, 0, 0), Fair: true}
	case me.phase != idle || me.left == 0:
		return
	}
	done, err := t.turn(p, me.blob, kind, core.None, 0)
	if err != nil {
		t.err = err
		return
	}
	t.to.copyFrom(t.from)
	if you := &t.to.voters[p]; kind == core.Request {
		you.phase = waits
		you.left--
	} else {
		you.phase = idle
	}
	t.apply(p, done, false, s)
}

// enter notes what a machine says of its lock.
func (t *teller) enter(me *voter, done turn) (broken explore.Broken) {
	if done.denied {
		me.phase = idle
	}
	if !done.entered {
		return 0
	}
	if slices.ContainsFunc(t.to.voters, func(o voter) bool { return !o.dead && o.phase == inside }) {
		broken = brokenExclusion
	}
	me.phase = inside
	return broken
}

// waiting returns who is alive and waits, one bit for each.
func (v *vote) waiting() (all uint32) {
	for p := range v.voters {
		if me := &v.voters[p]; !me.dead && me.phase == waits {
			all |= 1 << p
		}
	}
	return all
}

// expected returns what a scenario expects that shows a property broken.
func expected(property string) []scenario.Expectation {
	switch property {
	case OneLeader, MutualExclusion:
		return []scenario.Expectation{{Kind: scenario.Violated, Name: property}}
	}
	return nil
}
