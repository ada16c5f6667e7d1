// Package disk keeps the State of a voter in a folder: a raft.Storage in one bbolt file,
// for one process at a time.
//
// What it promises:
//
//   - A Save is one transaction, and is on the disk when it returns nil. Whatever
//     ends the process or the machine in between leaves the last one intact.
//   - What Load returns is what was saved last, and is on the disk. Anything else
//     is an error, usually raft.ErrDamaged, and the voter must not start: it may
//     have voted for or acknowledged something it has forgotten.
//   - After the first error the Store is dead and keeps returning that error.
//     It is unknown how much of the last Save is on the disk, so the process
//     must end, and what the next one finds decides.
//   - Two processes cannot have the same folder open.
//   - In steady state the file stops growing: it is a few times the size of its
//     contents.
//
// What it does not promise: anything on a disk that reports writes it has not done, on a
// disk with torn sectors, or on a network file system, whose locks and syncs mean less; nor
// protection if an older copy of the folder is put in its place. Erase forgets but does not
// wipe: old bytes stay on the disk. Bytes that rot while the process runs are found at the
// next start, or end the process.
//
// # How damage is found
//
// Neither bbolt's pages nor its records have checksums. It reacts to damage with panics,
// also in goroutines of its own, with infinite loops and with faults of its memory map,
// none of which a caller can catch reliably. If the newer of its two meta pages has rotted,
// it uses the older one and silently forgets the last transaction. Therefore bbolt never
// opens a file that has not been read first by code of this package, which trusts nothing:
// see tree.go for the pages and record.go for the records. Load uses only that reader;
// bbolt only writes. Nor is bbolt's list of free pages stored: it is computed anew at the
// start, so that it cannot be wrong.
//
// # The file
//
// The file voter.db has one bucket. Its records are the identity, the hard state, the
// snapshot, each entry under its index, and the manifest; each is the bytes of a raft.Batch
// that holds only this. Each record begins with a checksum of its key and its bytes. The
// manifest has the format number, the transaction number, which must match the meta page,
// the number of records and the sum of their checksums: so no record can be missing or stem
// from another time.
package disk
