// Package explain says in words what members of a cluster know: why a lock is held or waited
// for, what an algorithm needs and has decided, and what a frame says. It reads what package
// member shows, changes nothing, and nothing is decided by its words.
package explain
