// Package trace records what happened in a run, and shows it.
//
// All hosts record the same Event. A Trace is a list of them with what is
// needed to show it:
//
//	t := trace.Trace{N: 3, Title: "Ricart-Agrawala", Kinds: spec.Kinds, Unit: scenario.T}
//	config.Observe = func(e trace.Event) { t.Events = append(t.Events, e) }
//
// From it come
//
//   - [Trace.Causality]: vector clocks and happened-before;
//   - [Trace.Text]: a space-time diagram for the terminal, time running down;
//   - [Trace.Story]: the same as plain sentences, one for each event;
//   - [Trace.Layout]: a space-time diagram as numbers, time running right, for
//     whoever paints it; [Trace.SVG] paints it for the browser;
//   - [Trace.JSON] and [ReadJSON]: for programs;
//   - [Trace.ShiViz]: a log for the ShiViz viewer.
//
// With Options.Clocks or TextOptions.Clocks a diagram has logical clocks beside
// what happens. There a row is one event: what a process does at one moment, with
// all that it sends. In Causality and ShiViz each sending is one of its own.
//
// All of them are pure functions of the trace: the same trace gives the same
// bytes everywhere.
//
// # Whose event is it?
//
// What a process does, or has done to it, is an event of that process, and
// follows all its earlier ones. The loss of a message is not: nobody knows of
// it. A Drop happens after its Send and before nothing. Partition and Heal
// belong to nobody, and are ordered with nothing.
//
// A message is matched by its number: a Receive follows the Send of the same
// number. A Duplicate announces the copy of a message under a number of its
// own; the Send that follows it, or else the Duplicate itself, is where the
// copy begins.
package trace
