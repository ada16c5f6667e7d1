// Package station is a node without its machine: a peer, the desk of its clients,
// and what the applications of its own process ask for, joined and still pure.
//
// All that can happen to a node is an input here, and each goes through one method:
// a message, a connection that is there or has broken, a frame of a client, an
// application that locks or unlocks, and that time has passed. What an input needs
// of chance is drawn from the host. So whoever hands in the same inputs and draws
// to a station that was begun with the same gets the same out of it; a Tape is shown
// both, and package record writes them down.
package station
