// Package bench measures a cluster as its users run it: three nodes in three processes on
// this machine, over TLS, with their view logs on disk. It compares the results with a raw
// exchange over TLS between two of the processes, in the same run, so that the figures are
// meaningful on any machine.
//
// The processes are the program itself, started again: see Worker.
package bench
