// Package replay writes down what happened to a node, and replays it.
//
// What a process.Process does follows from what it begins with and from its inputs.
// A recording has both: a header with a process.Begin, whose seed is all the chance
// there is, and an entry for each process.Input. Beside each input is a digest of what
// came of it. Replay makes a process from the header, hands it the inputs, and compares
// digests. It needs no clock, socket or disk: that a save became durable, or failed, is
// an input too.
//
// A host records through the process's Tape:
//
//	w := record.NewWriter(&record.Header{By: version, Wall: now, Begin: config.Begin, ...})
//	config.Tape = a process.Tape that calls w.Took and w.Crashed, and writes w.B to a file
//	...
//	w.End("the node has ended")
//
// A digest has a count and a sum for each class of effects, so that a difference can be
// named without the effects being written down. It leaves out what may differ although
// the process does the same: the words of errors, and effects that only an oracle is
// shown. The reason for which a process failed is the exception: it is compared as text.
//
// A recording is a line of text, the number of its format, and blocks: the header, the
// entries, and a last one that says why the recording ends. A block is its length, a
// check of the length, its bytes, and a checksum that continues the one of the block
// before. So a recording that was cut off, as by a crash, can be told from one that was
// changed or has a gap.
//
// In every format the first field of the header is the version of stile, so that a
// reader of another format can say which version to use.
package replay
