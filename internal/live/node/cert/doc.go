// Package cert makes and loads the certificates of a lock cluster's nodes: one
// small authority signs one certificate for each node, which names the node and its
// hosts. Every certificate is for both roles, since every node is dialled and dials.
//
// A node's name is in the certificate as a URI, stile://node/NAME, and not as the
// name of a host: who may be reached at host db1 is not thereby node db1.
package cert
