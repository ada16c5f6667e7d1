// Package cert makes and loads the certificates of a cluster: one small authority signs a
// certificate for each node, client and administrator, which names its owner.
//
// The owner is in the certificate as a URI, stile://node/NAME, stile://client/NAME or
// stile://admin/NAME, and not as a host name: a process reachable at host db1 is not thereby
// node db1. Only nodes have certificates for accepting connections, and what dials accepts
// only that of a node, because an authority may give such certificates to others, too. A
// certificate made elsewhere, without such a URI, is that of a client, whose name is the
// common name, or whatever package rights makes of its SPIFFE id.
//
// Files are read again before each handshake, and used if their contents have changed.
package cert
