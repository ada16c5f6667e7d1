package console

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/survey"
)

// Bounds of what the view of a lock shows.
const (
	maxWaiters = 1000
	maxHolders = 200
	maxPast    = 20 // holds that have ended
)

// A lockDoc shows one lock.
type lockDoc struct {
	Name      string              `json:"name"`
	Algorithm string              `json:"algorithm"`
	Kept      bool                `json:"kept"`
	Home      string              `json:"home"`
	Holders   map[string]holder   `json:"holders"`
	Waiters   map[string]waiter   `json:"waiters"`
	Order     []string            `json:"order"`              // keys of waiters, the one that has waited longest first
	Unlisted  int                 `json:"unlisted,omitempty"` // number of other holders and waiters
	Rate      *float64            `json:"rate,omitempty"`
	Acquired  uint64              `json:"acquired,omitempty"`
	History   map[string]pastHold `json:"history"`
	Yours     bool                `json:"yours"` // the caller administers it
	Silent    silence             `json:"silent"`
}

// A pastHold is a hold that has ended, at the node through which it was.
type pastHold struct {
	party
	Token string `json:"token"`
	From  int64  `json:"from_ms"`
	To    int64  `json:"to_ms"`
	End   string `json:"end"` // released, moved, forced, or lost: and why
}

func checkName(q url.Values) error {
	if err := member.CheckName(q.Get("name")); err != nil {
		return badParameter("name: %w", err)
	}
	return nil
}

// A lockSight looks at one lock.
type lockSight struct {
	cluster Cluster
	who     node.Caller
	name    string

	moments moments
	counter counter
}

func beginLock(c *Console, who node.Caller, q url.Values) look {
	return (&lockSight{cluster: c.cluster, who: who, name: q.Get("name")}).look
}

func (v *lockSight) look(ctx context.Context) (any, bool, error) {
	d := &lockDoc{Name: v.name, Holders: map[string]holder{}, Waiters: map[string]waiter{}, Order: []string{}, History: map[string]pastHold{}, Silent: silence{}}
	s, err := membersOf(v.cluster)
	if err != nil {
		return nil, false, err
	}
	all, err := named(ctx, v.cluster, v.who, []string{v.name}, node.LockQuery{Prefix: v.name}, &d.Silent)
	if err != nil {
		return nil, false, err
	}
	past, err := askAll[node.PastPage](ctx, v.cluster, v.who, s.Members, node.AskPast, node.PastQuery{Name: v.name, For: v.who.Path()})
	if err != nil {
		return nil, false, err
	}
	addReplies(&d.Silent, past)
	may, err := v.cluster.May(v.who)
	if err != nil {
		return nil, false, err
	}
	d.Yours = may.Administers(v.name)
	v.moments.begin()
	v.counter.count(all)
	for i := range all {
		v.describe(d, &all[i])
	}
	v.history(d, past)
	return d, false, nil
}

func (v *lockSight) describe(d *lockDoc, l *survey.Lock) {
	d.Algorithm, d.Home, d.Unlisted, d.Acquired, d.Rate = l.Algorithm, l.Home, l.Unlisted, l.Acquired, v.counter.rate(l.Name)
	_, d.Kept = member.IsKept(l.Algorithm)
	for i, h := range holdersOf(l) {
		if i == maxHolders {
			d.Unlisted += 1 + len(l.Shared) - i
			break
		}
		key := h.Token
		if _, taken := d.Holders[key]; taken {
			key += "@" + h.Node
		}
		d.Holders[key] = v.moments.holder(l.Name, &h)
	}
	k := keys{}
	for i := range l.Waiters {
		if i == maxWaiters {
			d.Unlisted += len(l.Waiters) - i
			break
		}
		w := &l.Waiters[i]
		key := k.of(w)
		d.Waiters[key] = v.moments.waiter(l.Name, key, w)
		d.Order = append(d.Order, key)
	}
}

// history shows the last holds that have ended. A client that uses another node keeps its hold:
// what is the same entry ends where it ended last, and has moved from elsewhere.
func (v *lockSight) history(d *lockDoc, past []reply[node.PastPage]) {
	type ended struct {
		key string
		pastHold
	}
	var all []ended
	last := map[string]string{} // by token: key of the hold that ended last
	for i := range past {
		for _, h := range past[i].answer.Holds {
			at := past[i].answer.Node
			x := ended{h.Token + "@" + at, pastHold{party: partyOf(&h.Party, at), Token: h.Token, End: h.End}}
			if why := cmp.Or(h.Why, h.Cause); h.End == node.EndLost && why != "" {
				x.End += ": " + why
			}
			x.From, x.To = v.moments.ago("from\x00"+x.key, h.Acquired), v.moments.ago("to\x00"+x.key, h.Ended)
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b ended) int { return cmp.Or(cmp.Compare(b.To, a.To), cmp.Compare(a.key, b.key)) })
	for key, h := range d.Holders {
		last[h.Token] = key
	}
	for i := range all {
		x := &all[i]
		if last[x.Token] != "" {
			x.End = node.EndMoved
		}
		last[x.Token] = x.key
		if i < maxPast {
			d.History[x.key] = x.pastHold
		}
	}
}
