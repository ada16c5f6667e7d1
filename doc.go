// Package stile gives a group of processes mutual exclusion by messages alone,
// without a lock server.
//
// A process is a member of a cluster, by Open, or a client of one, by Dial. Both
// are Lockers: they take locks by name.
//
//	node, err := stile.Open(ctx, stile.Config{})
//	lock, err := node.Lock(ctx, "orders/42") // err == nil if and only if it is held
//	defer lock.Unlock()
//
// A lock is held until it is let go or lost. It is lost when the process has not
// heard of most of the cluster for the length of a lease: then Lock.Context ends and
// Lock.Err says why, before anybody else can have it. A process that stands still
// for longer than its lease cannot be told in time; what such a one does with a
// resource is kept out by a fencing token: see Lock.Token and docs/fencing.md.
package stile
