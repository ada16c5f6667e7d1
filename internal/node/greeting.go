package node

import (
	"errors"
	"slices"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/codec"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/views"
)

// A hello is what nodes send each other before anything else: their cluster, 0 if they do
// not know it yet, the clusters that it was recovered from, the highest epoch they know, and
// the algorithms they run.
type hello struct {
	cluster uint64
	earlier []uint64
	epoch   uint64
	runs    []runnable
}

// A runnable is an algorithm that a node can run.
type runnable struct {
	name    string
	version int
}

// fields writes or reads it: the algorithms continue to the end.
func (g *hello) fields(c *codec.Coder) {
	c.Number(&g.cluster)
	c.Numbers(&g.earlier, maxEarlier)
	c.Number(&g.epoch)
	for i := 0; i < len(g.runs) || c.Reads() && len(c.B) > 0; i++ {
		if c.Reads() {
			g.runs = append(g.runs, runnable{})
		}
		c.Text(&g.runs[i].name, transport.MaxExtra)
		codec.Within(c, &g.runs[i].version, 0, 1<<30)
	}
}

// maxEarlier is above the number of clusters that a record names.
const maxEarlier = 256

// greeting returns the bytes of this node's hello.
func greeting(cluster uint64, r *views.Record) []byte {
	g := hello{cluster: cluster, earlier: r.Earlier, epoch: r.Epoch}
	for _, s := range catalog.Live() {
		g.runs = append(g.runs, runnable{s.Name, s.Version})
	}
	for _, m := range member.KeptMethods() {
		g.runs = append(g.runs, runnable{member.Kept(m), 1})
	}
	var c codec.Coder
	g.fields(&c)
	return c.B
}

var errGreeting = errors.New("malformed greeting")

// readGreeting reads a hello.
func readGreeting(b []byte) (g hello, err error) {
	c := codec.Coder{B: b, Bad: errGreeting}
	g.fields(&c)
	return g, c.End()
}

func (g *hello) knows(name string, version int) bool {
	return slices.Contains(g.runs, runnable{name, version})
}
