// Package measure measures whole members in simulated time: what an entry costs
// with each algorithm that runs live, and what a death, a join and a leave cost
// those who are left. It makes docs/live.md.
//
// Members are on the event kernel, on reliable links that keep their order. A
// message takes T, which is a millisecond, or varies around it; computing takes
// no time. The view service is somewhere else: it confirms a renewal after a
// round trip, and what members tell it is not counted. A seed gives the same
// numbers on every machine.
package measure
