// Package meter measures a process from what goes in and what comes out: its inputs and
// effects. It is pure, and nothing in the process depends on it. The host shows it every
// step:
//
//	p.Step(&in)
//	m.Took(&in, &p.Out)
//
// Times are those of the inputs, so that measuring reads no clock: a request waits from
// the input that made it to the one that granted it. A request that is granted in the
// step that made it has waited for 0.
//
// Every acquisition passes through here, so a step costs a few dozen nanoseconds and
// allocates nothing. What the meter keeps is bounded, whatever the names of locks are:
//
//   - Locks are counted by their prefix, which ends with the first slash. There are at
//     most MaxPrefixes; names with other prefixes, or without a slash, count as Other.
//   - The busiest locks are found with a table of fixed size. See Busiest.
//   - Each place of that table also keeps the last holds of its names that have ended, so
//     that a busy lock does not replace the holds of all others. See Past.
package meter
