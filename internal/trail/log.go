package trail

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/member"
)

// A Log is what a reader has read of a lock's marks at one node, without a gap.
type Log struct {
	Node  string
	Base  *member.Mark // where it begins; nil before the first page
	Marks []*member.Mark
	Next  uint64         // From of the next question
	Ahead member.Instant // what to add to the times of marks, so that those of all logs can be compared
}

// Take adds a page to the log, and reports whether it has begun anew. The argument now is
// when the page was made, by the reader's clock: half of the time that the question took
// before its answer arrived. A page that no correct node makes is refused.
func (l *Log) Take(p *Page, now member.Instant) (anew bool, err error) {
	if l.Node = p.Node; p.Base != nil {
		if err := checkBase(p.Base); err != nil {
			return false, err
		}
		l.Base, l.Marks, anew = p.Base, nil, true
		l.Ahead = now - p.Now
	}
	if l.Base == nil {
		return false, nil
	}
	for _, k := range p.Marks {
		if err := checkMark(k, len(l.Base.View.Members)); err != nil {
			return false, err
		}
	}
	l.Next = p.Next
	l.Marks = append(l.Marks, p.Marks...)
	return anew, nil
}

// Keep forgets the oldest marks, as many as there are more than most.
func (l *Log) Keep(most int) {
	n := len(l.Marks) - most
	for i := range n {
		l.Base = after(l.Base, l.Marks[i])
	}
	if n > 0 {
		l.Marks = append([]*member.Mark(nil), l.Marks[n:]...)
	}
}

// Epoch returns the view that the log is from; 0 before the first page.
func (l *Log) Epoch() uint64 {
	if l.Base == nil {
		return 0
	}
	return l.Base.View.Epoch
}

// Nothing from another node is trusted: Merge relies on these checks.

func checkBase(k *member.Mark) error {
	v := k.View
	if k.Kind != member.MarkBegan || v == nil {
		return fmt.Errorf("a trail that begins with %v: use the same version of stile on all nodes", k.Kind)
	}
	if n := len(v.Members); n == 0 || n > member.MaxMembers || len(v.Sent) != n || len(v.Came) != n || v.Seat < 0 || int(v.Seat) >= n {
		return fmt.Errorf("a trail of seat %d of %d members: use the same version of stile on all nodes", v.Seat+1, n)
	}
	return nil
}

func checkMark(k *member.Mark, n int) error {
	seats := func(id algorithm.ID) bool { return id == algorithm.None || id >= 0 && int(id) < n }
	ok := k != nil && k.Kind != member.MarkBegan && seats(k.From) && seats(k.Peer) && (k.Came == 0 || k.From >= 0)
	for i := 0; ok && i < len(k.Sends); i++ {
		ok = k.Sends[i].To >= 0 && int(k.Sends[i].To) < n
	}
	if !ok {
		return fmt.Errorf("a trail with a mark that is not of its %d members: use the same version of stile on all nodes", n)
	}
	return nil
}
