package node

import (
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/boot"
)

// clock reads the process's clock.
func (n *Node) clock() member.Instant {
	if n.c.clock != nil {
		return n.c.clock()
	}
	return boot.Now()
}

// until returns how long it is, by the process's clock, until an instant.
func until(now, then member.Instant) time.Duration {
	if then == member.Never {
		return time.Duration(1<<63 - 1)
	}
	return time.Duration(then - now)
}
