// Package client is a client of the cluster on a real machine: sockets, a clock and
// goroutines around the pure session.Client.
package client
