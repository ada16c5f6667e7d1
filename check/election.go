package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// The properties of an election.
const (
	OneLeader = scenario.OneLeader // at most one process wins in each round
	Agreement = scenario.Agreement // in the end all who are alive follow the highest of them
)

// An Election says what to check of an election.
//
// A round is the time between two changes of who is alive: a crash, a comeback,
// or an error of the failure detector corrected. An election belongs to the
// round in which somebody noticed or came back, and so does what follows from
// it. Who leads when a round begins counts as its winner.
type Election struct {
	Spec    core.Spec
	Nodes   int
	Crashes int  // how many processes crash at most, at any step
	Returns int  // how many of them come back at most, at any step
	Quick   bool // messages take no time, compared with timeouts
	Slow    bool // every message takes the longest time
	Wrong   bool // once a timeout is too short, or a live process is taken for dead
	Network core.Network
	Options core.Options   // that Spec was made with, for counterexamples
	Found   func(Property) // as in Config
	Limits
}

// maxEvents bounds crashes and comebacks: they are kept in four bits.
const maxEvents = 15

// RunElection checks c.
func RunElection(c Election) (*Report, error) {
	if c.Spec.Family != core.Election {
		return nil, fmt.Errorf("cannot check %s as an election: it is none", c.Spec.Name)
	}
	if c.Crashes < 0 || c.Crashes > maxEvents || c.Returns < 0 || c.Returns > maxEvents {
		return nil, fmt.Errorf("cannot check %s: %d crashes and %d comebacks: want 0 to %d of each", c.Spec.Name, c.Crashes, c.Returns, maxEvents)
	}
	m, err := newElectorate(c)
	if err != nil {
		return nil, fmt.Errorf("cannot check %s: %w", c.Spec.Name, err)
	}
	r := &ballotRun{Election: c, model: m, started: time.Now(), report: &Report{
		Algorithm: c.Spec.Name, Nodes: c.Nodes, Network: c.Network.String(), Verdict: Holds,
	}}
	if err := r.run(); err != nil {
		return nil, fmt.Errorf("cannot check %s: %w", c.Spec.Name, err)
	}
	return r.report, nil
}

type ballotRun struct {
	Election
	model   *electorate
	report  *Report
	started time.Time
}

func (r *ballotRun) run() error {
	one := Property{Name: OneLeader, Verdict: Holds}
	all := Property{Name: Agreement, Verdict: Holds}
	g, err := r.graph(&one)
	if err != nil {
		return err
	}
	if g.Unfinished == "" {
		if err := r.agreement(g, &all); err != nil {
			return err
		}
	}
	r.cutShort(g, &one, &all)
	r.sum(one, all)
	return nil
}

// twoLeaders reports the shortest way to two winners of one round.
func (r *ballotRun) twoLeaders(g *explore.Graph, at explore.Place, p *Property) error {
	_, states, err := g.Along(g.PathTo(at.State))
	if err != nil {
		return err
	}
	var next []byte
	_, err = g.Worker().Next(states[len(states)-1], func(s explore.Step, b []byte) {
		if next == nil && s.Label == at.Step.Label && s.Broken != 0 {
			next = slices.Clone(b)
		}
	})
	if err != nil {
		return err
	}
	return r.tell(g, p, append(states, next))
}

// agreement looks for a run that ends, or goes on for ever, without agreement:
// a component of the graph in which a fair run can stay, and in which there is
// a state without agreement.
func (r *ballotRun) agreement(g *explore.Graph, p *Property) error {
	c := g.Cut(1)
	for id := c.Parts() - 1; id >= 0 && g.Unfinished == ""; id-- {
		members := c.Members(id)
		i := slices.IndexFunc(members, func(s uint32) bool { return g.Waiting(s)&1 != 0 })
		if i < 0 || !c.Bad(members) {
			continue
		}
		path := g.PathTo(members[i])
		_, states, err := g.Along(path)
		if err != nil {
			return err
		}
		p.Loop = len(path) - 1
		return r.tell(g, p, states)
	}
	return nil
}

// tell makes a story of a path of states.
func (r *ballotRun) tell(g *explore.Graph, p *Property, states [][]byte) error {
	sc := scenario.Scenario{Options: r.Options}
	sc.Algorithm, sc.Processes, sc.Network, sc.Steps = r.Spec.Name, r.Nodes, r.Network, true
	if !r.model.lock {
		sc.Holder, sc.Busy = core.ID(r.Nodes-1), true
	}
	sc.Title = fmt.Sprintf("%s among %d: %s violated", r.Spec.Name, r.Nodes, p.Name)
	for i, want := range states[1:] {
		told := false
		t := g.Worker().(*teller)
		_, err := t.Next(states[i], func(s explore.Step, b []byte) {
			if !told && slices.Equal(b, want) {
				told = true
				sc.Actions = append(sc.Actions, t.arrivals(s.Label)...)
				if a, ok := voteAction(s.Label); ok {
					sc.Actions = append(sc.Actions, a)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	for _, a := range sc.Actions {
		p.Trace = append(p.Trace, a.String())
	}
	p.Verdict = Violated
	p.Note = fmt.Sprintf("after %d steps", len(sc.Actions))
	sc.Expect = expected(p.Name)
	p.Counterexample, p.spec = &sc, r.Spec
	if r.Found != nil {
		r.Found(*p)
	}
	return nil
}

// voteAction returns a step as a line of a scenario. That time passes is none.
func voteAction(label uint32) (scenario.Action, bool) {
	m := moveOf(label)
	a := scenario.Action{Proc: m.p}
	switch m.kind {
	case voteNotice:
		a.Kind = scenario.Ask
	case voteLeave:
		a.Kind = scenario.Leave
	case voteDeliver:
		a.Kind, a.Proc, a.Peer = scenario.Deliver, m.peer, m.p
		if m.nth > 0 {
			a.Nth = m.nth + 1
		}
	case voteExpire:
		a.Kind = scenario.Expire
	case voteSuspect:
		a.Kind, a.Peer = scenario.Suspect, m.peer
	case voteTrust:
		a.Kind, a.Peer = scenario.Trust, m.peer
	case voteCrash:
		a.Kind = scenario.Crash
	case voteReturn:
		a.Kind = scenario.Restart
	default:
		return a, false
	}
	return a, true
}
