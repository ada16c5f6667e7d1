// Package replay records what happened to a node, and replays it.
//
// What a process.Process does follows from its initial state and its inputs. A recording
// has both: a header with a process.Begin, whose seed is the only source of randomness, and
// an entry for each process.Input. Each input comes with a digest of its outcome. Replay
// creates a process from the header, hands it the inputs, and compares digests. It needs no
// clock, socket or disk, because the completion or failure of a save is an input too.
//
// A host records through the process's Tape:
//
//	w := replay.NewWriter(&replay.Header{By: version, Wall: now, Begin: config.Begin, ...})
//	config.Tape = a process.Tape that calls w.Took and w.Crashed, and writes w.B to a file
//	...
//	w.End("the node has ended")
//
// A digest has a count and a checksum for each class of effects, so that a difference can
// be named although the effects are not recorded. It leaves out what may differ although
// the process does the same: the texts of errors, and effects that only an oracle sees. The
// exception is the reason why a process failed, which is compared as text.
//
// With Options.Steps a replay also returns what the machine of each lock did in each view.
// Recordings of all nodes together can then be compared with the model of the algorithm,
// which this package knows nothing of: 'stile-lab replay --check' does that.
//
// A recording is a line of text, the number of its format, and blocks: the header, the
// entries, and a last one that says why the recording ends. A block is its length, a check
// of the length, its bytes, and a checksum that continues the one of the previous block. So
// a recording that was cut off, for example by a crash, can be distinguished from one that
// was changed or has a gap.
//
// In every format the first field of the header is the version of stile, so that a reader
// of another format can report which version to use.
package replay
