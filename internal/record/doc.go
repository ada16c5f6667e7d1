// Package record is recordings of nodes: what a station was begun with, each of its
// inputs with what chance drew for it, and a digest of what came of each. Who
// replays one hands the same to a station of today, which needs no machine, and sees
// where it does something else.
//
// A recording is a line of text and the number of the format, and then blocks: the
// header, an entry for each input, and last why it ends. A block is its length, a
// check of that, its bytes and a checksum, which goes over all blocks before as
// well. So what was cut off, as by the death of the process, is told from what was
// changed or is missing in between.
package record
