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
package viewmodel
