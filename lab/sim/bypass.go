package sim

import "github.com/stile-lock/stile/algorithm"

// A bypass finds how often, at most, one process overtook a waiting one: requested later
// than it, and entered before it.
//
// It need not count for every pair. A process that enters now, or still waits at the end,
// was overtaken more than most times if there is a process whose entry number most+1,
// counted from the last one back, has a later request. So it is enough to know, for each
// process, which entry that is, and of them the one with the latest request.
type bypass struct {
	most    int
	entries []bypassEntry
	procs   []bypasser
	latest  int // latest request of all marks; 0 if there is none
}

// A bypassEntry is an entry by request number ask, with the entries of the same process
// before and after it, or -1.
type bypassEntry struct {
	ask          int
	before, next int
}

// A bypasser is the record of one process.
type bypasser struct {
	count       int // number of its entries
	first, last int // its first and last entries
	mark        int // its entry number most+1, from the last one back; -1 if there are fewer
}

func newBypass(n int) bypass {
	b := bypass{procs: make([]bypasser, n)}
	for i := range b.procs {
		b.procs[i] = bypasser{first: -1, last: -1, mark: -1}
	}
	return b
}

// entered records that p enters by request number ask; requests are numbered from 1.
func (b *bypass) entered(p algorithm.ID, ask int) {
	b.passed(ask)
	me, at := &b.procs[p], len(b.entries)
	b.entries = append(b.entries, bypassEntry{ask, me.last, -1})
	if me.count++; me.count == 1 {
		me.first = at
	} else {
		b.entries[me.last].next = at
	}
	me.last = at
	switch {
	case me.mark >= 0:
		me.mark = b.entries[me.mark].next
	case me.count == b.most+1:
		me.mark = me.first
	default:
		return
	}
	b.latest = max(b.latest, b.entries[me.mark].ask)
}

// passed counts how often the process that made request number ask has been overtaken,
// even if it still waits.
func (b *bypass) passed(ask int) {
	for b.latest > ask {
		b.more()
	}
}

// more increments most, and moves all marks back.
func (b *bypass) more() {
	b.most++
	b.latest = 0
	for i := range b.procs {
		if p := &b.procs[i]; p.mark >= 0 {
			if p.mark = b.entries[p.mark].before; p.mark >= 0 {
				b.latest = max(b.latest, b.entries[p.mark].ask)
			}
		}
	}
}
