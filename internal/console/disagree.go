package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/words"
)

// disagreements returns what members see differently from this node, in sentences. What was
// not so at the look before may only be on its way.
func (v *overview) disagreements(s *node.Status, all []reply[node.Pulse]) []string {
	own := slices.IndexFunc(all, func(r reply[node.Pulse]) bool { return r.member.Name == s.Node })
	if own < 0 || all[own].err != nil {
		return []string{}
	}
	here, doubts, out := &all[own].answer.Status, map[string]bool{}, []string{}
	for i := range all {
		if r := &all[i]; r.err == nil && i != own {
			for _, d := range differences(here, &r.answer.Status) {
				key := d.what + "\x00" + r.member.Name
				doubts[key] = true
				if v.doubts[key] {
					out = append(out, d.text)
				}
			}
		}
	}
	v.doubts = doubts
	return out
}

// A difference is what two nodes see differently.
type difference struct{ what, text string }

func differences(a, b *node.Status) (all []difference) {
	at, there := words.Quoted(a.Node), words.Quoted(b.Node)
	add := func(what, format string, args ...any) {
		all = append(all, difference{what, fmt.Sprintf(format, args...)})
	}
	if a.Cluster != b.Cluster {
		add("cluster", "%s belongs to cluster %s, and %s to cluster %s", there, b.Cluster, at, a.Cluster)
		return all
	}
	if a.Leader != b.Leader && a.Leader != "" && b.Leader != "" {
		add("leader", "%s sees %s as the leader, and %s sees %s", there, words.Quoted(b.Leader), at, words.Quoted(a.Leader))
	}
	if a.Epoch != b.Epoch {
		add("epoch", "%s sees epoch %d, and %s epoch %d", there, b.Epoch, at, a.Epoch)
		return all // the members of an older view may differ
	}
	if x, y := membersIn(a), membersIn(b); x != y {
		add("members", "%s sees the members %s, and %s sees %s", there, y, at, x)
	}
	return all
}

// membersIn lists the members that a node sees.
func membersIn(s *node.Status) string {
	var all []string
	for _, m := range s.Members {
		text := fmt.Sprintf("%s (%d)", words.Quoted(m.Name), m.Incarnation)
		if m.Voter {
			text = fmt.Sprintf("%s (%d, voter)", words.Quoted(m.Name), m.Incarnation)
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
