// Package cert makes and loads the certificates of a cluster: one small authority signs a
// certificate for each node, client and administrator, which names its owner.
//
// The owner is in the certificate as a URI, stile://node/NAME, stile://client/NAME or
// stile://admin/NAME, and not as a host name: a process reachable at host db1 is not thereby
// node db1. Only nodes have certificates for accepting connections. A certificate made
// elsewhere, without such a URI, is that of a client, whose name is the common name.
package cert
