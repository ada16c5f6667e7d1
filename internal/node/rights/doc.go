// Package rights decides who may do what at a node, and who the owner of a bearer token, of a
// JWT, or of a certificate with a SPIFFE id is.
// It reads no files and no clock: it is given their contents and the time.
//
// Rules say which identities may lock, read and administer which locks, and how much of a
// node they may use. Without rules, clients lock and read all locks, and only administrators
// administer. Once there is a rule, nothing is allowed that no rule allows. Nodes are not
// subject to rules: they may always lock and read, because a node that cannot join acts as a
// client, and never administer.
package rights
