// Package ticket makes what a client holds a capability. A node that grants a lock to a client
// gives it a ticket: bytes that only nodes of the cluster can make, over everything that a claim
// asserts. A client that has lost its node shows the ticket to another one, which then knows
// that the cluster has granted the hold, to whom, and through which members.
//
// The code of a ticket is an AES-256-CMAC (RFC 4493, NIST SP 800-38B) under a key that the members
// share: see Key. An HMAC would take ten times as long for so few bytes. It covers the cluster, the client's identity and the name of the lock, which
// the ticket does not contain, because the node that checks it knows them; and the rest of the
// ticket: the token or the block of tokens, the mode, the units and the transaction of a kept
// lock, and the incarnations through which the client was told that it holds the lock.
//
// A ticket says that a lock was granted, not that it still is: what has happened since is for
// the home of the lock to judge.
package ticket
