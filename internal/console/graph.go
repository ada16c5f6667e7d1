package console

import (
	"context"
	"fmt"
	"net/url"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
)

// maxGraph bounds the locks that are waited for, of which the view shows the graph.
const maxGraph = 500

// A graphDoc shows which transactions and requests wait for which.
type graphDoc struct {
	Vertices  map[string]vertex `json:"vertices"`
	Edges     map[string]edge   `json:"edges"`
	Deadlocks [][]string        `json:"deadlocks"`
	Possible  [][]string        `json:"possible"`
	Cut       bool              `json:"cut"`
	Victims   map[string]victim `json:"victims"`
	Silent    silence           `json:"silent"`
}

// A vertex is a transaction, or a request for a lock outside of transactions. Of what it holds,
// it shows the locks that are waited for.
type vertex struct {
	party
	Tx    uint64   `json:"tx,omitempty"`
	Holds []string `json:"holds"`
}

// An edge says that a vertex waits for another one.
type edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Lock string `json:"lock"`
}

// A graphSight looks at the wait-for graph.
type graphSight struct {
	cluster Cluster
	may     func() (Rights, error)
	who     node.Caller
	moments moments
}

func beginGraph(c *Console, who node.Caller, _ url.Values) look {
	return (&graphSight{cluster: c.cluster, may: func() (Rights, error) { return c.cluster.May(who) }, who: who}).look
}

func (v *graphSight) look(ctx context.Context) (any, bool, error) {
	d := &graphDoc{Vertices: map[string]vertex{}, Edges: map[string]edge{}, Deadlocks: [][]string{}, Possible: [][]string{}, Victims: map[string]victim{}, Silent: silence{}}
	s, err := membersOf(v.cluster)
	if err != nil {
		return nil, false, err
	}
	// Homes know the edges, and holders may be anywhere: so first which locks are waited for.
	names, more, err := listed(ctx, v.cluster, v.who, node.LockQuery{Only: node.OnlyAwaited, Most: maxGraph}, maxGraph, &d.Silent)
	if err != nil {
		return nil, false, err
	}
	all, err := named(ctx, v.cluster, v.who, names, node.LockQuery{Graph: true}, &d.Silent)
	if err != nil {
		return nil, false, err
	}
	pulses, err := askAll[node.Pulse](ctx, v.cluster, v.who, s.Members, node.AskPulse, node.PulseQuery{For: v.who.Path()})
	if err != nil {
		return nil, false, err
	}
	addReplies(&d.Silent, pulses)
	may, err := v.may()
	if err != nil {
		return nil, false, err
	}
	v.moments.begin()
	d.draw((&survey.Locks{Locks: all}).Graph())
	d.Cut = d.Cut || more
	for i := range pulses {
		if r := &pulses[i]; r.err == nil {
			v.moments.victims(d.Victims, &r.answer, r.at, may.Reads)
		}
	}
	lastVictims(d.Victims)
	return d, false, nil
}

// draw shows a graph. Vertices have names that stay the same from look to look.
func (d *graphDoc) draw(g *survey.Graph) {
	ids := make([]string, len(g.Vertices))
	lock := make([]string, len(g.Vertices)) // that a vertex waits for
	for _, e := range g.Edges {
		lock[e.From] = e.Lock
	}
	for i, v := range g.Vertices {
		id := fmt.Sprintf("%s/tx %d", v.Node, v.Tx)
		if v.Tx == 0 {
			what := "waits for " + lock[i]
			if len(v.Holds) > 0 {
				what = "holds " + v.Holds[0]
			}
			id = fmt.Sprintf("%s/%s %s", v.Node, sessionOf(v.Session), what)
		}
		ids[i] = free(d.Vertices, id)
		d.Vertices[ids[i]] = vertex{partyOf(&v.Party, v.Node), v.Tx, append([]string{}, v.Holds...)}
	}
	for _, e := range g.Edges {
		key := free(d.Edges, fmt.Sprintf("%s > %s: %s", ids[e.From], ids[e.To], e.Lock))
		d.Edges[key] = edge{ids[e.From], ids[e.To], e.Lock}
	}
	cycles := func(all [][]int) [][]string {
		out := [][]string{}
		for _, cycle := range all {
			var names []string
			for _, i := range cycle {
				names = append(names, ids[i])
			}
			out = append(out, names)
		}
		return out
	}
	d.Deadlocks, d.Possible, d.Cut = cycles(g.Deadlocks), cycles(g.Possible), g.Cut
}

// free returns a key that is not taken yet.
func free[V any](taken map[string]V, key string) string {
	for n, k := 2, key; ; n++ {
		if _, is := taken[k]; !is {
			return k
		}
		k = fmt.Sprintf("%s #%d", key, n)
	}
}
