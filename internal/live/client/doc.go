// Package client is a client of the cluster on a real machine: the pure guest of
// package client, with sockets, a clock and goroutines around it.
package client
