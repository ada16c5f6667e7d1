// Package gateway serves the API of proto/stile/v1 over HTTP: gRPC, gRPC-Web and plain JSON
// requests reach the same handlers. docs/http.md is its manual.
//
// A session over HTTP is a client.Client in this process, which is connected to the node as
// every other client is: rights, quotas, lists and audits do not know the difference. The
// client renews its session with the node by itself. What the caller of the API may count
// on is never more than what this client may, and ends before the gateway releases
// anything that the caller did not release:
//
//   - An answer to a unary call grants time from the moment the call was received, and its
//     caller counts from before it sent the call.
//   - A message of a stream grants half of the time that the client has left, and its reader
//     counts from when it received the message. The message may be delayed by as much as it
//     grants.
//
// promise.go has this arithmetic.
//
// Every request passes the door (door.go) before a handler sees it: it authenticates, checks
// revocation, rights and shares, and audits what it refuses. Handlers are mounted at declared
// routes only (routes.go), each of which says what its callers need. The door also ends calls
// and closes connections when a certificate, a token or a right is withdrawn.
//
// The same address serves measurements, probes, profiles and the console. A HealthServer serves
// probes at an address of their own.
package gateway
