// Package cluster tries real processes on a broken network: nodes and clients in
// network namespaces of their own are killed, stopped, cut off and robbed of their
// disks while they take locks and use what the locks protect. What they saw is
// recorded and judged, and recordings of the nodes are checked against the model of
// their locks. All of it is tests; 'make check-cluster' runs the long form.
//
// The processes are the test binary itself. All are on one machine and read its
// one clock, so that their times can be compared. What the locks protect is a
// server in the test's process, reached by a socket file that no fault cuts.
//
// The network is broken by routes that lead nowhere, which is one way, and by links
// that are down; delay and silence are those of a proxy. These tests need Linux,
// root and iproute2, and say so where they are left out.
package cluster
