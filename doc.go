// Package stile provides distributed locks: mutual exclusion between processes on
// different machines, with leases and fencing tokens.
//
// A group of nodes passes locks on among its members by messages. No server owns the
// locks, and acquiring one costs no consensus write; consensus (Raft) is used only to
// agree on who the members are. A program either embeds a node or connects to one as a
// client:
//
//	node, err := stile.Open(ctx, stile.Config{})           // this process is a node
//	client, err := stile.Dial(ctx, stile.DialConfig{})     // this process uses a node
//
// Both are a [Locker], and the rest of the program need not know which one it has. Dial
// fails if no node opens a session before the deadline of the context, or within
// [DialConfig.Timeout] if it has none; the error names each address with the reason.
//
// # A complete example
//
//	package main
//
//	import (
//		"context"
//		"log"
//
//		"github.com/stile-lock/stile"
//	)
//
//	func main() {
//		ctx := context.Background()
//		client, err := stile.Dial(ctx, stile.DialConfig{Nodes: []string{"127.0.0.1:7420"}})
//		if err != nil {
//			log.Fatal(err)
//		}
//		defer client.Close()
//		err = client.Do(ctx, "reports/daily", func(ctx context.Context, token stile.Token) error {
//			// Only one process in the cluster is here at a time. If the lock is lost,
//			// ctx is canceled: stop, and do not write.
//			return writeReport(ctx, token)
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//	}
//
// 'stile serve' starts a node for it to connect to.
//
// # Holding and losing a lock
//
// [Locker.Lock] waits until the lock is held; its error is nil if and only if it is.
// [Locker.TryLock] does not wait. A lock is held until [Lock.Unlock], or until it is lost.
//
// A lock is lost if its process does not hear from the cluster for the length of a lease
// (10 seconds by default), if an operator releases it by force, or if its node is closed.
// The holder is then notified, before any other process can acquire the lock:
// [Lock.Context] ends, with the reason as its cause, and [Lock.Err] returns [ErrLost].
// Err, Deadline and Context never wait for anything; long operations should check them,
// or use the context.
//
// A lock is not reentrant: a goroutine that locks what it already holds waits for itself.
// Within [Locker.Do] that is noticed if the context is the one of Do: see [ErrReentrant].
//
// A process that is paused for longer than its lease, by the operating system or a
// debugger, cannot be notified in time. It may go on as if it still held the lock. No
// lock service can prevent that; the resource can.
//
// # Fencing tokens
//
// Every hold has a [Token], which is greater than the tokens of all earlier holds of
// that lock. Send it along with every write, and have the resource refuse tokens lower than
// the highest it has seen. [Fence] does that in memory, and [FenceTx] in an SQL
// transaction. See docs/fencing.md.
//
// # Shared locks and transactions
//
// Locks whose names begin with "kept/" can be shared: [Locker.RLock] acquires one for
// reading, and [Locker.TryRLock] does not wait, while [Locker.Lock] excludes all others.
// [Locker.Semaphore] has a number of units, of which each holder acquires some.
// [Locker.Transact] runs a function that acquires several locks one after the other, in any
// order. If transactions wait for each other in a cycle, one
// of them gets [ErrDeadlock], and is run again. Which names are kept, and how deadlocks are
// found or prevented, is chosen by prefix with [Config.Algorithm]. See docs/kept.md.
//
// # Listing locks
//
// Node.Locks and Client.Locks list the locks in use, with holders and waiters, Watch yields
// changes of them, and Members lists the members of the cluster. A holder can attach a
// small value to its lock with [Lock.SetValue], such as the number of a job, which lists
// show. These are for people and for monitoring: a list is out of date as soon as it is
// made, so a program must not conclude from it that a lock is free.
//
// # Elections
//
// An [Election] is a lock with a value. [Election.Campaign] waits until this process leads;
// the [Leadership] lasts until [Leadership.Resign] or until it is lost, and its term is the
// fencing token of the lock. [Election.Leader] returns the present leader, and
// [Election.Observe] yields every change. Node.Election and Client.Election return elections.
// See docs/elections-live.md.
//
// # Nodes
//
// The first node founds a cluster; other nodes join it with [Config.Join]. With three or
// five nodes the cluster tolerates the failure of a minority of its voters. A node with
// [Config.Data] remembers its cluster across restarts. Between machines, use TLS:
// 'stile cert' makes the certificates, and stile refuses plain TCP to other machines unless
// [Config.Insecure] is set.
//
// [Node.Close] waits for holders, up to [Config.Drain], and then stops the node, so that
// other nodes do not have to wait for its lease. If locks are still held then, its error
// names them. A node with [Config.Data] keeps its place in the cluster; one without leaves
// it.
//
// A tour is in docs/tour.md, what is guaranteed and under which assumptions in
// docs/guarantees.md, how to run a cluster in docs/operating.md, and how it works in
// docs/protocol.md. docs/coming-from.md translates from other lock services.
package stile
