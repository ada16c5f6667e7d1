// Package viewmodel explores the change of views exhaustively: some members, one
// lock, a few views, and every order in which they can install them, frames can
// arrive, processes ask, cancel and let go, leases end and ghosts be over. What
// runs is internal/live/member itself, put into each state and taken out again.
//
// A [Model] is an [explore.Model]. Links are reliable and first in, first out
// within an epoch; a frame of an older epoch than its receiver's is dropped, of
// a newer one it waits. There is no clock: the lease of whoever is evicted ends
// at any step, and each member counts its ghost as over at any step after that.
// An evicted process never hears of it: it goes on in its last epoch, or
// crashes. With bounded requests every run ends, so whoever starves does so in
// a state in which nothing need happen any more.
package viewmodel
