// Package teller runs a bank on a real cluster: worker processes transfer money between
// accounts in a database, under locks of three nodes, while nodes are killed, processes are
// paused, and nodes are cut off from each other. At the end it counts the money.
//
// A transfer locks its two accounts, reads both balances, and writes both back. The read
// and the write are separate transactions of the database, as between a form and its
// submission, so the database alone does not prevent lost updates: the lock does. The write
// is one transaction, so that a crash leaves no half transfer, and it records the transfer.
// The records are the truth that the balances are compared with.
//
// With the fence on, both transactions begin by presenting the fencing tokens of both locks.
// The write must, so that the store refuses the write of a worker that was paused until its
// lease expired. The read must too: a late write that arrives between the next holder's read
// and write would otherwise pass, because the store has not seen the newer token yet, and
// then be overwritten.
//
// # Processes
//
// [Run] starts all processes. They are the program itself, started again: nodes as
// 'stile serve', and under names of their own workers and a guard, see [Child]. All are in
// the process group of the guard, which reads a pipe from this process. When that ends, for
// whatever reason, the guard removes the folder of the run and kills the group, including
// processes that are paused.
//
// # Partitions
//
// No root is needed to cut a node off. If the run has partitions, each node advertises the
// address of a proxy in this process, and all connections between nodes pass through one.
// The proxy reads the name of the node that has dialled from the first frame. During a
// partition it keeps what the two sides send, new connections too, as a network would that
// delivers it later.
package teller
