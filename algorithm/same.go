package algorithm

import (
	"bytes"
	"slices"
)

// Equal reports whether two outputs want the same done: the same messages to the same
// seats in the same groups, the same entry and the same notices. If alike is not nil it
// compares the bytes of messages, those of o first.
func (o *Output) Equal(p *Output, alike func(a, b []byte) bool) bool {
	if o.Entered != p.Entered || len(o.Sends) != len(p.Sends) || !slices.EqualFunc(o.Notices, p.Notices, Notice.equal) {
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

func (n Notice) equal(m Notice) bool {
	return n.Kind == m.Kind && n.Who == m.Who && n.Timer == m.Timer && n.After == m.After && n.Attempt == m.Attempt && slices.Equal(n.Cycle, m.Cycle)
}
