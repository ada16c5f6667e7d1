// Package cert makes and loads the certificates of a cluster's nodes: one small authority
// signs one certificate for each node, which names the node and its hosts. Every
// certificate is for both roles, because every node both dials and accepts connections.
//
// A node's name is in the certificate as a URI, stile://node/NAME, and not as a host name:
// a process reachable at host db1 is not thereby node db1.
package cert
