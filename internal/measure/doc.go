// Package measure measures whole members in simulated time: what an entry costs
// with each algorithm that runs live, and what a death, a join and a leave cost
// those who are left. It makes docs/live.md.
//
// Members are on the event kernel, on reliable links that keep their order. A
// message takes T, which is a millisecond, or varies around it; computing takes
// no time. For most of it the view service is somewhere else: it confirms a
// renewal after a round trip, and what members tell it is not counted. What an
// outage costs is measured of whole processes, with that service among them: its
// voters keep a real log, on disks that whoever measures hands in. A seed gives
// the same numbers on every machine.
package measure
