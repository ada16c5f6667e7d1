// Race measures stile beside other lock services: real servers on this machine, in one run
// of one harness. 'make race' runs it. It is a module of its own, so that the clients of the
// others are no dependencies of stile.
//
// # How it runs
//
// The program builds stile and etcd, makes certificates, and starts all servers in a
// temporary folder. The clients of an entrant are in a process of their own, a worker, which
// is this program started again. It carries out orders that arrive on its standard input and
// answers on its standard output. Embedded nodes are three such workers.
//
// A workload says what clients do. In every round each entrant is measured once, in turns,
// with another one first. While a measurement runs, the harness adds up the CPU time of the
// entrant's servers and workers. The CPU time that processes of others take is the background
// load. If there is too much of it the measurement is repeated, up to a limit.
//
// The servers are started anew for each round of the workload that measures memory, because
// a process that has freed memory does not grow again, and for the failover workloads, which
// need short leases.
//
// # What comes out
//
// A [Result], as a table, as JSON, and as docs/performance.md.
package main
