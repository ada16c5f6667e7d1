package trail

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// A Page is a part of the marks of one lock at one node. The times of marks are those of a
// clock of the node, and have no meaning but by their distance from Now.
type Page struct {
	Node  string         `json:"node"`
	Now   member.Instant `json:"now"`
	Base  *member.Mark   `json:"base,omitempty"` // if not nil: the trail begins here, and nothing known from before leads to it
	Marks []*member.Mark `json:"marks"`
	Next  uint64         `json:"next"`           // From of the next question
	More  bool           `json:"more,omitempty"` // there are more marks already
}

// Bounds of a Tail, and of a Page.
const (
	mostKept = 8192 // marks
	mostPage = 1000
	pageSize = 512 << 10 // approximate, in bytes
)

// A Tail keeps the marks of a lock at a node until they have been read. When it is full, it
// keeps what it has and drops new marks, so that what is read has no gap; a reader who has
// read all then begins anew. The zero value is ready to use.
type Tail struct {
	base   *member.Mark // the state before the first mark; nil before the first one
	tip    *member.Mark // the state after the last one, dropped or not
	marks  []*member.Mark
	first  uint64 // number of the first mark, from 1
	read   uint64 // number of the next mark to read, of the reader who has read most
	missed bool   // marks after those that are kept were dropped
	most   int    // 0: mostKept
}

// Add adds a mark. With a view the trail begins anew.
func (t *Tail) Add(k *member.Mark) {
	switch {
	case k.Kind == member.MarkBegan:
		t.first += uint64(len(t.marks)) + 1
		t.base, t.tip, t.marks, t.missed = k, k, nil, false
		t.read = t.first
		return
	case t.base == nil:
		return
	}
	t.tip = after(t.tip, k)
	if most := t.room(); len(t.marks) >= most {
		t.forget(int(min(t.read-t.first, uint64(most/2))))
	}
	if t.missed = t.missed || len(t.marks) >= t.room(); !t.missed {
		t.marks = append(t.marks, k)
	}
}

func (t *Tail) room() int {
	if t.most == 0 {
		return mostKept
	}
	return t.most
}

// forget drops the first marks.
func (t *Tail) forget(n int) {
	for _, k := range t.marks[:n] {
		t.base = after(t.base, k)
	}
	t.marks = slices.Delete(t.marks, 0, n)
	t.first += uint64(n)
}

// Read returns the marks from a number on; 0 is for a reader who knows none.
func (t *Tail) Read(from uint64) Page {
	p := Page{Marks: []*member.Mark{}}
	if t.base == nil {
		return p
	}
	end := t.first + uint64(len(t.marks))
	if t.missed && from == end {
		t.base, t.marks, t.missed = t.tip, nil, false
		t.first, t.read = end+1, end+1
		end, from = end+1, 0
	}
	if from < t.first || from > end {
		p.Base, from = t.base, t.first
	}
	size := 0
	for _, k := range t.marks[from-t.first:] {
		if size += sizeOf(k); len(p.Marks) > 0 && size > pageSize || len(p.Marks) == mostPage {
			p.More = true
			break
		}
		p.Marks = append(p.Marks, k)
	}
	p.Next = from + uint64(len(p.Marks))
	p.More = p.More || t.missed
	t.read = max(t.read, p.Next)
	return p
}

// sizeOf returns about how many bytes a mark takes in an answer.
func sizeOf(k *member.Mark) int {
	n := len(k.State) + len(k.Message)
	for _, s := range k.Sends {
		n += len(s.Bytes) + 32
	}
	return 128 + 2*n
}

// after returns what a trail begins with if it begins after one more mark.
func after(base, k *member.Mark) *member.Mark {
	b := *base
	b.At = k.At
	if k.Kind != member.MarkStep {
		return &b
	}
	v := *base.View
	if k.Came > 0 {
		v.Came = slices.Clone(v.Came)
		v.Came[k.From] = max(v.Came[k.From], k.Came)
	}
	if len(k.Sends) > 0 {
		v.Sent = slices.Clone(v.Sent)
	}
	for _, s := range k.Sends {
		v.Sent[s.To] = max(v.Sent[s.To], s.Went)
	}
	b.View, b.State = &v, k.State
	return &b
}
