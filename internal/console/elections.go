package console

import (
	"context"
	"net/url"

	"github.com/stile-lock/stile/internal/node"
)

// maxElections bounds the elections that the view shows.
const maxElections = 300

// An electionsDoc shows elections: locks whose holders have attached values.
type electionsDoc struct {
	Rows   map[string]electionRow `json:"rows"`
	Order  []string               `json:"order"`
	Cut    bool                   `json:"cut"` // there are more
	Silent silence                `json:"silent"`
}

// An electionRow is an election with a leader.
type electionRow struct {
	party             // the leader
	Name       string `json:"name"`
	Value      string `json:"value"`
	Term       string `json:"term"`
	Since      int64  `json:"since_ms"`
	Candidates int    `json:"candidates"` // that wait
}

func beginElections(c *Console, who node.Caller, _ url.Values) look {
	var m moments
	return func(ctx context.Context) (any, bool, error) {
		d := &electionsDoc{Rows: map[string]electionRow{}, Order: []string{}, Silent: silence{}}
		if _, err := membersOf(c.cluster); err != nil {
			return nil, false, err
		}
		names, more, err := listed(ctx, c.cluster, who, node.LockQuery{Only: node.OnlyLed, Most: maxElections}, maxElections, &d.Silent)
		if err != nil {
			return nil, false, err
		}
		d.Cut = more
		all, err := named(ctx, c.cluster, who, names, node.LockQuery{Most: maxNames}, &d.Silent)
		if err != nil {
			return nil, false, err
		}
		m.begin()
		for i := range all {
			l := &all[i]
			if h := l.Holder; h != nil {
				d.Order = append(d.Order, l.Name)
				d.Rows[l.Name] = electionRow{partyOf(&h.Party, h.Node), l.Name, h.Value, h.Token, m.ago(l.Name+"\x00"+h.Token, h.Held), len(l.Waiters) + l.Unlisted}
			}
		}
		return d, false, nil
	}
}
