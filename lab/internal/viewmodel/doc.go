// Package viewmodel explores view changes exhaustively: some members, one lock, a few
// views, and every order in which members can install views, frames can arrive, processes
// ask, cancel and release, leases expire, and ghosts' leases count as expired. The code
// that runs is internal/member itself, loaded with each state and saved again.
//
// A [Model] is an [explore.Model]. Links are reliable and first in, first out within an
// epoch; a frame of an older epoch than its receiver's is dropped, one of a newer epoch
// waits. There is no clock: the lease of an evicted process expires at any step, and each
// member counts its ghost as expired at any step after that. An evicted process never
// learns of its eviction: it continues in its last epoch, or crashes. With bounded
// requests every run ends, so a process can starve only in a state in which nothing more
// need happen.
//
// There may be one [Client], which acquires the lock through a member and claims it
// through others.
//
// In every setting of the tests these properties hold: no two processes are inside at once,
// where a process whose lease is lost counts as inside until the lease has expired; tokens
// rise, within an epoch by one per entry; when a home gives the lock away or enters, no
// process is inside by an older epoch; no process enters without a lease, and holders are
// notified before it expires; a home with all reports keeps the order of waiting processes;
// no valid frame is refused; and no process waits when nothing more need happen. Not in the
// model: several locks, tries, deadlines, several clients, drift, and faults of links.
//
// 'go test' explores the shorter settings, and 'make proofs-view' all of them. The rules that
// internal/controls breaks have a smallest setting each, with the number of steps after
// which their property is violated.
package viewmodel
