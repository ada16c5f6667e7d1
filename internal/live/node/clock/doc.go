// Package clock reads the clock that a process counts its leases by: one that goes on
// while the machine is suspended, and that nobody sets.
package clock
