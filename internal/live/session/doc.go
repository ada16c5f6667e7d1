// Package session is the protocol between a client process and a node of the cluster.
// It holds both ends: a Server runs beside the member of a node, and a Client runs in
// the client process. Both are pure: they do no I/O and read no clock. The host passes
// in what arrived and the current time, and carries out what they put into Out.
//
// A client has one session with one node at a time.
//
//   - The session survives broken connections. A new connection that presents the
//     session's secret takes it over, and everything unanswered is repeated, which has
//     no effect if it was received before.
//   - The session does not outlive its deadline. When the client's own clock reaches it,
//     all locks held in the session are lost, whatever arrives later, and a new session
//     begins, possibly with another node. Waiting requests are then sent again and queue
//     behind those that wait there.
//
// docs/protocol.md, section 10, lists the rules and what breaks without each of them.
package session
