// Package clock reads the clock by which a process counts its leases: it keeps running
// while the machine is suspended, and cannot be set.
package clock
