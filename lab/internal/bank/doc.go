// Package bank is the scene that shows why mutual exclusion is needed: cash machines
// deposit money into one account by reading its balance, adding to it and writing the sum
// back, each over the network.
//
// The machines take turns by an algorithm from the catalog, or by none at all: the same
// code runs in both cases. In its critical section a machine does a read and a write,
// each a message to the account and one back. The account carries out requests in the
// order in which messages reach it. Money is lost when one machine reads between
// another's read and write.
//
// A machine may die inside: see Crash.
package bank
