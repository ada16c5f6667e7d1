package peer

import "github.com/stile-lock/stile/internal/engine"

// A Watcher sees what goes on inside a process, for whoever judges it. It must
// change nothing.
type Watcher interface {
	// Sent sees a frame that the member has sent.
	Sent(to uint64, frame []byte)
	// Delivering sees a frame before the member does, and Delivered after all that
	// came of it was done.
	Delivering(from uint64, frame []byte)
	Delivered(from uint64, frame []byte)
	// LinkEnded sees that a link has ended before its view, and why.
	LinkEnded(peer uint64, why error)
	// Renewing sees the number of a renewal that is sent, Confirming that of one
	// that is confirmed, before the member knows; and Confirmed after it does.
	Renewing(number uint64)
	Confirming(number uint64)
	Confirmed(number uint64)
	// Applied sees the record after each entry that the process's voter applies.
	Applied(index uint64, r *engine.Record)
}
