package gateway

import (
	"context"

	"github.com/stile-lock/stile/internal/console"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/survey"
)

// forConsole is the cluster as the console sees it.
type forConsole struct{ cluster }

// Status implements console.Cluster.
func (g forConsole) Status() node.Status { return g.node.Status() }

// May implements console.Cluster.
func (g forConsole) May(who node.Caller) (console.Rights, error) {
	if err := g.node.May(who, rights.Look, ""); err != nil {
		return console.Rights{}, err
	}
	administers := func(name string) bool { return g.node.May(who, rights.Administer, name) == nil }
	return console.Rights{Reads: g.node.Reads(who), Administers: administers}, nil
}

// Ask implements console.Cluster.
func (g forConsole) Ask(ctx context.Context, who node.Caller, m node.MemberInfo, what uint64, about []byte, to any) error {
	if m.Address == g.node.Address() {
		return g.askFor(ctx, who, what, about, to)
	}
	return g.askOther(ctx, []node.MemberInfo{m}, m.Address, what, about, to)
}

// Locks implements console.Cluster.
func (g forConsole) Locks(ctx context.Context, who node.Caller, q node.LockQuery) (*survey.Locks, string, error) {
	return g.readable(ctx, who, q)
}
