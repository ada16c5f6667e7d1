// Package session is the protocol between a client process and a node of the
// cluster, both ends of it, pure: a Server beside the member of a node, and a Client
// in the process of the client. Neither does I/O nor reads a clock: whoever hosts
// them hands in what came and what time it is, and does what they want done.
//
// A guest has one session with one node. It survives broken connections: a new
// connection that knows the session's secret takes it over, and all that is not
// answered yet is said again, which changes nothing if it was heard before. It does
// not survive its time: when the guest's own clock says so, all that is held is
// lost, whatever comes later, and a new session begins, maybe with another node.
// What waits is then asked for again, behind those who wait there.
//
// docs/protocol.md, section 10, has the rules, and what breaks without each.
package session
