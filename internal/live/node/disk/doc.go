// Package disk keeps the State of a voter in a folder: a raft.Storage of one
// bbolt file, for one process at a time.
//
// What is promised:
//
//   - A Save is one transaction, and on the disk when it returns nil. Whatever
//     ends the process or the machine in between leaves the last one whole.
//   - What Load returns is what was saved last, and on the disk. Anything else
//     is an error, raft.ErrDamaged in general, and the voter must not start: it
//     may have voted or acknowledged what it has forgotten.
//   - After the first error the Store is dead and says the same error again and
//     again: nobody knows what of the last Save is on the disk, so the process
//     must end, and what the next one finds decides.
//   - Two processes cannot have the same folder open.
//   - In steady state the file stops growing: it is a few times what is kept.
//
// What is not promised: anything on a disk that says that it has written and
// has not; on one whose sectors can be half written; on a file system of the
// network, whose locks and syncs mean less; nor against somebody who puts an
// older copy of the folder in its place. Erase forgets, but does not wipe: old
// bytes stay on the disk. Bytes that rot while the process runs are found when
// it starts next, or end it.
//
// # How damage is found
//
// Neither bbolt's pages nor its records have checksums, and it meets damage with
// panics, in goroutines of its own too, with loops without end and with faults
// of its memory map, none of which a caller can catch for sure. If the newer one
// of its two meta pages has rotted, it takes the older one and forgets the last
// transaction in silence. Therefore it is never let near a file that was not
// read first, by code of this package that believes nothing: see tree.go for the
// pages and record.go for the records. Load uses that reader alone; bbolt only
// writes. Nor is its list of free pages kept: it is found anew at the start, so
// that it cannot be wrong.
//
// # The file
//
// The file voter.db has one bucket. Its records are the identity, the hard state,
// the snapshot, each entry under its index, and the manifest; each is the bytes
// of a raft.Batch that holds this alone. Each record begins with a checksum of
// its key and its bytes. The manifest has the number of the format, the number
// of the transaction, which the meta page must have too, and how many records
// there are and the sum of their checksums: so no record can be missing, or be
// one of another time.
package disk
