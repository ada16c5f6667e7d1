// Package trace records the events of a run, and shows them.
//
// All hosts record the same Event. A Trace is a list of events with what is needed to
// show them:
//
//	t := trace.Trace{N: 3, Title: "Ricart-Agrawala", Kinds: spec.Kinds, Unit: scenario.T}
//	config.Observe = func(e trace.Event) { t.Events = append(t.Events, e) }
//
// From it are made
//
//   - [Trace.Causality]: vector clocks and happened-before;
//   - [Trace.Text]: a space-time diagram for the terminal, time running down;
//   - [Trace.Story]: the same as plain sentences, one for each event;
//   - [Trace.Layout]: a space-time diagram as numbers, time running right, for a
//     renderer; [Trace.SVG] renders it for the browser;
//   - [Trace.JSON] and [ReadJSON]: for programs;
//   - [Trace.ShiViz]: a log for the ShiViz viewer.
//
// With Options.Clocks or TextOptions.Clocks a diagram shows logical clocks beside the
// events. There a row is one event: what a process does at one moment, with all that it
// sends. In Causality and ShiViz each send is an event of its own.
//
// All of them are pure functions of the trace: the same trace gives the same bytes
// everywhere.
//
// # Where an event belongs
//
// What a process does, or what is done to it, is an event of that process, and follows
// all its earlier ones. The loss of a message is not, because no process knows of it. A
// Drop happens after its Send and before nothing. Partition and Heal belong to no
// process, and are not ordered with any event.
//
// A message is matched by its number: a Receive follows the Send of the same number. A
// Duplicate announces the copy of a message under a number of its own; the Send that
// follows it, or else the Duplicate itself, is where the copy begins.
package trace
