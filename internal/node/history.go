package node

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile/internal/meter"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/words"
)

// maxHistory is how many views a node remembers.
const maxHistory = 50

// A ViewChange is the beginning of a view at a node.
type ViewChange struct {
	Epoch   uint64   `json:"epoch"`
	At      int64    `json:"at_ms"`   // Unix time, by the clock of the node's machine
	Cause   string   `json:"cause"`   // evict, leave, join, vote, refresh or found; the first of these if there are several
	Members []string `json:"members"` // of the view
	Text    string   `json:"text"`    // what has changed, and why if the node knows
	Known   bool     `json:"known"`   // Text leaves nothing open: of members that have gone it says why
}

// noteView notes the beginning of a view, before lastView is replaced.
func (n *Node) noteView(r *views.Record) {
	c := n.change(r)
	c.Epoch, c.At = r.Epoch, time.Now().UnixMilli()
	for _, m := range r.Members {
		c.Members = append(c.Members, m.Name)
	}
	if len(n.history) == maxHistory {
		n.history = slices.Delete(n.history, 0, 1)
	}
	n.history = append(n.history, c)
	n.choices = chosen(r)
}

// change says what a view changes, compared with the one before, even if this node was not a
// member of that.
func (n *Node) change(r *views.Record) ViewChange {
	recovers := n.folder != nil && n.folder.recovers != nil
	switch first := len(n.history) == 0; {
	case first && recovers:
		return ViewChange{Cause: "found", Text: n.c.Name + " recovered the cluster", Known: true}
	case r.Before == 0:
		return ViewChange{Cause: "found", Text: n.c.Name + " founded the cluster", Known: true}
	}
	d := r.Since(n.former(r))
	c := ViewChange{Known: true}
	gone := slices.Concat(d.Evicted, d.Left)
	d.Evicted, d.Left = nil, nil
	var all []string
	for _, m := range gone {
		text, evicted, known := n.parted(r, &m)
		all, c.Known = append(all, text), c.Known && known
		if evicted {
			d.Evicted = append(d.Evicted, m)
		} else {
			d.Left = append(d.Left, m)
		}
	}
	for _, m := range d.Joined {
		all = append(all, m.Name+" joined")
	}
	for _, m := range d.Promoted {
		all = append(all, m.Name+" votes")
	}
	for _, m := range d.Retired {
		all = append(all, m.Name+" no longer votes")
	}
	if now := chosen(r); n.choices != "" && now != n.choices {
		all = append(all, "algorithms are now "+now)
	}
	if len(all) == 0 {
		all = []string{"the members are the same"}
	}
	c.Cause, c.Text = meter.CauseOf(&d).String(), strings.Join(all, "; ")
	return c
}

// former returns the members of the previous view. Of those that this node has not met, only
// the incarnations are known.
func (n *Node) former(r *views.Record) (all []views.Member) {
	for _, inc := range r.Formers {
		is := func(m views.Member) bool { return m.Inc == inc }
		m := views.Member{Inc: inc}
		if i := slices.IndexFunc(n.lastView, is); i >= 0 {
			m = n.lastView[i]
		} else if i := slices.IndexFunc(r.Members, is); i >= 0 {
			m = r.Members[i]
		}
		all = append(all, m)
	}
	return all
}

// parted says why a member has gone, whether it was evicted, and whether all of that is known.
// Only the leader that has decided it knows why, if it still leads.
func (n *Node) parted(r *views.Record, m *views.Member) (text string, evicted, known bool) {
	name := m.Name
	if name == "" {
		name = fmt.Sprintf("a member (incarnation %d)", m.Inc)
	}
	var p views.Parting
	if v := n.p.Voter(); v != nil {
		p, known = v.Leader().Parted(m.Inc)
	}
	if !known {
		switch {
		case slices.ContainsFunc(r.Ghosts, func(g views.Ghost) bool { return g.Inc == m.Inc }):
			return name + " was evicted", true, false
		case m.Voter != 0 && votes(r, m.Voter):
			return name + " stopped", false, false
		}
		return name + " left", false, false
	}
	silent := fmt.Sprintf("had not renewed its lease for %.1f s", time.Duration(p.Silent).Seconds())
	switch {
	case p.Why == views.Silent && p.Rival:
		return name + " was evicted: another process with its name wants to join, and it " + silent, true, true
	case p.Why == views.Silent:
		return name + " was evicted: it " + silent, true, true
	case p.Why == views.Ordered:
		return name + " was evicted by an operator", true, true
	case p.Why == views.Accused:
		return name + " was evicted: " + words.List(p.By) + " could not reach it", true, true
	case p.Why == views.Pauses:
		return name + " stopped and keeps its place", false, true
	}
	return name + " left", false, true
}
