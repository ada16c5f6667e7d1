package wire

import (
	"io"
	"slices"
	"sync"
)

// A pending is the connections that have not said yet who they are. There is room
// for so many; one more closes the oldest, so that those who say nothing cannot
// keep out those who do.
type pending struct {
	mu    sync.Mutex
	most  int
	conns []io.Closer
}

func (p *pending) enter(c io.Closer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.conns) >= p.most {
		p.conns[0].Close()
		p.conns = slices.Delete(p.conns, 0, 1)
	}
	p.conns = append(p.conns, c)
}

// leave reports whether c was still there.
func (p *pending) leave(c io.Closer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.conns, c)
	if i >= 0 {
		p.conns = slices.Delete(p.conns, i, i+1)
	}
	return i >= 0
}
