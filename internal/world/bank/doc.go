// Package bank is the scene that shows why mutual exclusion is needed: cash
// machines deposit money on one account by reading its balance, adding and
// writing the sum back, each over the network.
//
// The machines take turns by an algorithm from the catalog, or by none at all:
// the same code runs in both cases. What a machine does in its critical
// section is a read and a write, each a message to the account and one back.
// The account does what it is told in the order in which messages reach it.
// Money is lost when one machine reads between another's read and write.
//
// A machine may die inside: see Crash. The same scene in other words, with seats,
// ids, files, hours and tasks instead of money, is a Scene.
package bank
