// Package peer is one process of a cluster, whole and pure: a member with its
// links, the petitioner that speaks for it to the view service, and, if the
// process is a voter, the clerk. It has no clock, no socket, no disk and no
// goroutine: its host hands in what comes, with readings of the process's clock,
// and gets to hear what is to be done.
//
// The storm hosts peers in simulated time, the node in real time. What must
// happen in which order between the parts is written here, once:
//
//   - What applications are told comes before what other members are sent: a
//     holder that has lost its lock hears so before anybody else can have it.
//   - A view is installed by the member first, then by its links, in one step;
//     what came too early for it is delivered after the member's reports are on
//     their way.
//   - A process is a voter when a record says so, and its store is that voter's
//     alone. It is one no more when a record says that the others can do without
//     it; then its store is emptied.
//   - If its store fails, a process must end at once and say nothing more.
package peer
