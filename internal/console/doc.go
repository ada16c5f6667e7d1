// Package console serves what the console shows: views of a cluster, as streams of JSON over
// HTTP. docs/console.md is its manual. It changes nothing: actions are calls of the service
// Cluster, which package gateway serves.
//
// A stream shows one view. Its poller looks at the cluster about once a second, through the
// node, and makes a document; the stream sends it, and then merge patches (RFC 7386):
//
//	full   the document
//	delta  a patch of the document after the event before
//	error  why the document may be out of date, or why the stream ends
//
// Streams of the same caller with the same view and parameters share a poller, so that pages
// that are open several times cost little. A reader that falls behind is sent the whole
// document instead of what it has missed.
//
// Each caller sees the names that it may read, by the rules of this node and of each node
// that is asked. The rules are asked again at each look.
//
// Nodes answer with durations, because their clocks differ. Documents have moments instead,
// on the clock of this machine, so that they do not change while time passes. A moment that
// was computed again keeps its first value: see moments.
package console
