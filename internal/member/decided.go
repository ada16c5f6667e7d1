package member

import (
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A Decision is why the requests of a member wait, as the algorithm decided at a member.
type Decision struct {
	Who  Who    // member whose requests wait
	Text string // in the words of the algorithm, with the names of members
}

// heed notes the decisions of a step by which requests wait. It forgets those that may no
// longer stand: about a member that was sent a message since, because of a third member if
// anything was sent, about this member itself after every step, and because it was inside
// when it leaves. A decision that is missing misleads less than one that is out of date.
func (u *use) heed(rules []algorithm.Rule, in host.InputKind, out *host.Output) {
	if len(u.decided) > 0 {
		u.decided = slices.DeleteFunc(u.decided, func(r host.Reason) bool {
			rule := &rules[r.Rule]
			other := strings.Contains(rule.Why, "{other}")
			switch {
			case rule.Waits == "self", other && len(out.Sends) > 0:
				return true
			case in == host.Release && !other && !strings.Contains(rule.Why, "{a}"):
				return true
			}
			return slices.ContainsFunc(out.Sends, func(s host.Send) bool { return s.To == r.Who })
		})
	}
	for _, r := range out.Reasons {
		same := func(o host.Reason) bool { return o.Who == r.Who && rules[o.Rule].Waits == rules[r.Rule].Waits }
		if i := slices.IndexFunc(u.decided, same); i >= 0 {
			u.decided[i] = r
		} else {
			u.decided = append(u.decided, r)
		}
	}
}

// explainDecided says by which decisions of the algorithm here requests wait.
func (e *epoch) explainDecided(u *use, y *Why) {
	l := e.table.lock(u.lock)
	spec := &e.schools[l.alg].spec
	who := func(seat algorithm.ID) Who { return e.view.Members[e.view.rankOf(seat, int(l.home))] }
	for _, r := range u.decided {
		d := Decision{who(r.Who), spec.SayWith(e.seat(l), r, func(seat algorithm.ID) string { return who(seat).Name })}
		if spec.Rules[r.Rule].Waits == "self" {
			d.Who = who(e.seat(l))
		}
		y.Decided = append(y.Decided, d)
	}
}
