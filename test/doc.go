// Package test is a module of tests that need more than the library does: a browser
// (page), network namespaces and a judge of histories (cluster), a PostgreSQL (postgres).
// Their dependencies stay out of the library's go.mod.
package test
