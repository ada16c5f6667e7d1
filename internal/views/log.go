package views

import "errors"

// ErrRolledBack ends a log whose voter has acknowledged entries that its disk does not have.
var ErrRolledBack = errors.New("the disk has lost saved entries; start the node with an empty data directory, and let it join again")

// A Log is the replicated log of a group of voters, as one of them keeps it. The next
// Flush carries out what is passed in. Nothing in it waits, and nothing has a clock:
// the caller decides how long a tick is.
type Log interface {
	// Tick advances the log by one tick.
	Tick() error
	// Rest returns how many of the next ticks have no effect, if nothing else happens
	// before: the voter need not be woken for them.
	Rest() int
	// Step handles a message from another voter. An error means that it was refused.
	Step(from uint64, message []byte) error
	// Propose proposes an entry. Without an error, the log has it: it is applied, sooner
	// or later, if this voter goes on leading in its term, and need not be proposed again.
	// After the term it may be applied or lost. An error means that it was refused: for a
	// while, if voters fail or the leader changes.
	Propose(entry []byte) error
	// Read begins a round of the voters. LogOut.Reads has its number when a majority
	// has recognized this voter as the leader after the round began, and everything
	// committed before it is applied. If the leader changes, or voters fail, that may
	// never happen; begin another round then.
	Read(number uint64) error
	// Revote makes these voters, and no others, those of the log, or takes a step
	// towards that. Callers repeat it until Lead shows the result. New voters are
	// Learners first, and their processes must run for them to become Voters. A leader
	// does not remove itself: it adds and removes others, and the next leader removes
	// it, after HandOver.
	Revote(want []uint64) error
	// HandOver asks another voter to lead.
	HandOver(to uint64) error
	// Saved reports that a save, and all before it, are durable. What has waited for
	// that is part of the next Flush.
	Saved(number uint64) error
	// Flush applies what is committed and returns what must be saved and sent. What is
	// sent depends on no unacknowledged save. After an error the voter is dead, and its
	// process must end.
	Flush() (LogOut, error)
}

// A LogOut holds the effects that a log wants.
type LogOut struct {
	Saves []Save // to make durable, in this order
	Send  []Post
	Reads []uint64 // numbers of confirmed reads
	Lead  Lead     // as of now
}

// A Save is a record that must become durable, entirely or not at all. Saved
// acknowledges saves in the order of their numbers.
type Save struct {
	Number uint64
	Record []byte
}

// A Post is a message for another voter. It may get lost, arrive late or arrive twice.
type Post struct {
	To    uint64
	Bytes []byte
}

// A Lead says which voter leads, and which nodes vote.
type Lead struct {
	Leader uint64 // 0 if not known
	Term   uint64
	Serves bool // this voter leads, and has applied an entry of its term

	Voters   []uint64 // as applied here, ascending; those of both groups while a change is under way
	Learners []uint64 // nodes that receive everything and do not vote yet, but will soon
	// Settled means that this voter serves, that no change of voters or learners is
	// under way, and that voters removed by the last change may end. A removed learner
	// may end as soon as a voter that serves reports that it is not one.
	Settled bool
}

// A Machine is the state that a log replicates. It is the same on all voters that have
// applied the same entries.
type Machine interface {
	// Apply passes in committed entries, one after the other. It must not change the
	// bytes, nor keep them.
	Apply(index, term uint64, entry []byte)
	// Snapshot returns the state after everything that was applied.
	Snapshot() []byte
	// Restore replaces the state by that of a snapshot.
	Restore(index uint64, data []byte) error
}

// Logs starts the logs of voters. It stores nothing itself. What a voter must remember
// is records, which the host makes durable one after the other. When the process starts
// again, the host combines them into one: the state.
type Logs interface {
	// Voter returns the cluster and the number of the voter whose state this is, both 0
	// if it is empty, or an error if it cannot be trusted.
	Voter(state []byte) (cluster, voter uint64, err error)
	// Found returns the first record of the only voter of a new cluster, whose machine
	// begins with these bytes.
	Found(cluster, voter uint64, machine []byte) ([]byte, error)
	// Join returns the first record of a voter that a cluster has admitted under this
	// number.
	Join(cluster, voter uint64) ([]byte, error)
	// Start starts a voter from its state. Randomness that the log needs is drawn from
	// the seed.
	Start(state []byte, m Machine, seed uint64) (Log, error)
}
