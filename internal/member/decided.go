package member

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// heed notes the decisions of a step by which requests wait. It forgets those that may no
// longer stand: about a member that was sent a message since, because of a third member if
// anything was sent, about this member itself after every step, and because it was inside
// when it leaves. A decision that is missing misleads less than one that is out of date.
func (u *use) heed(rules []algorithm.Rule, in host.InputKind, out *host.Output) {
	if len(u.decided) > 0 {
		u.decided = slices.DeleteFunc(u.decided, func(r host.Reason) bool {
			rule := &rules[r.Rule]
			switch {
			case rule.Waits == "self", rule.While == "other" && len(out.Sends) > 0, rule.While == "inside" && in == host.Release:
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
