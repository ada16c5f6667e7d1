package node

import (
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/clock"
)

// clock reads the process's clock.
func (n *Node) clock() member.Instant {
	if n.c.clock != nil {
		return n.c.clock()
	}
	return clock.Now()
}

// until returns the time from now to an instant by the process's clock.
func until(now, then member.Instant) time.Duration {
	if then == member.Never {
		return time.Duration(1<<63 - 1)
	}
	return time.Duration(then - now)
}
