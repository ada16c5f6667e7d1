package mistake

import (
	"bytes"
	"slices"

	"github.com/stile-lock/stile/algorithm/host"
)

// Equal reports whether two outputs want the same done: the same messages to the same
// seats in the same groups, the same entry and the same notices. If alike is not nil it
// compares the bytes of messages, those of o first.
func Equal(o, p *host.Output, alike func(a, b []byte) bool) bool {
	if o.Entered != p.Entered || len(o.Sends) != len(p.Sends) || !slices.EqualFunc(o.Notices, p.Notices, equalNotices) {
		return false
	}
	if alike == nil {
		alike = bytes.Equal
	}
	for i, s := range o.Sends {
		t := p.Sends[i]
		if s.To != t.To || s.Kind != t.Kind || s.Group != t.Group || !alike(o.Bytes(i), p.Bytes(i)) {
			return false
		}
	}
	return true
}

func equalNotices(n, m host.Notice) bool {
	return n.Kind == m.Kind && n.Who == m.Who && n.Timer == m.Timer && n.After == m.After && n.Attempt == m.Attempt && slices.Equal(n.Cycle, m.Cycle)
}
