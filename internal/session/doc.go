// Package session is the protocol between a client process and a node of the cluster.
// It holds both ends: a Server runs beside the member of a node, and a Client runs in
// the client process. Both are pure: they do no I/O and read no clock. The host passes
// in what arrived and the current time, and carries out what they put into Out.
//
// A client has an attachment: a session with a node. Its requests go there.
//
//   - The session survives broken connections. A new connection that presents the
//     session's secret takes it over, and everything unanswered is repeated, which has
//     no effect if it was received before.
//   - The session does not outlive its deadline. When the client's own clock reaches it,
//     all locks held in the session are lost, whatever arrives later, and a new session
//     begins, possibly with another node.
//
// A client that loses its node, or whose node leaves, attaches to another one before that.
//
//   - Waiting requests are sent again and queue behind those that wait there.
//   - Locks that are held are claimed, with tickets that prove that they were granted. Until a claim is honoured they rest on the former
//     attachment, which goes on reconnecting, and are valid until its deadline. Then they
//     rest on the new one.
//   - A lock is released at every node that may hold it for the client.
//
// The host opens, serves and closes the connections that a Client asks for. There may be
// several at a time.
//
// docs/protocol.md, section 10, lists the rules and what breaks without each of them.
package session
