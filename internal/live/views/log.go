package views

// A Log is the replicated log of a group of voters, as one of them keeps it. What
// is handed in is done by the next Flush. Nothing of it waits, and nothing has a
// clock: a tick is as long as whoever calls it says.
type Log interface {
	// Tick lets a tick pass.
	Tick() error
	// Rest returns how many of the next ticks nothing comes of, if nothing else
	// happens before: nobody needs to be woken for them.
	Rest() int
	// Step takes what another voter has sent. An error says that it was refused.
	Step(from uint64, letter []byte) error
	// Propose asks for an entry. That it is committed is known when it is applied. An
	// error says that it was refused: for a while, if voters go or the leader changes.
	Propose(entry []byte) error
	// Read begins a round of the voters: LogOut.Reads has its number when a majority
	// has taken this voter for the leader after the round began, and all that was
	// committed before it is applied. If the leader changes, or voters go, that may
	// never be: another round is begun then.
	Read(number uint64) error
	// Revote makes these voters, and no others, those of the log, or takes a step
	// towards it. It is asked for again until Lead says that it is so. Those who are
	// new are Learners first, and their processes must run for them to become
	// Voters. A leader does not remove itself: it has others come and go, and is
	// removed by the next one, after HandOver.
	Revote(want []uint64) error
	// HandOver asks another voter to lead.
	HandOver(to uint64) error
	// Saved tells that a save, and all before it, are durable. What has waited for
	// that is part of the next Flush.
	Saved(number uint64) error
	// Flush applies what is committed and returns what is to be saved and sent. What
	// is sent depends on no save that is still to be acknowledged. After an error the
	// voter is dead, and its process must end.
	Flush() (LogOut, error)
}

// A LogOut is what a log wants done.
type LogOut struct {
	Saves []Save // to be made durable, in this order
	Send  []Post
	Reads []uint64 // numbers of reads that are confirmed
	Lead  Lead     // as of now
}

// A Save is a record that must become durable, whole or not at all. Saved
// acknowledges it, in the order of the numbers.
type Save struct {
	Number uint64
	Record []byte
}

// A Post is for another voter. It may get lost, come late or come twice.
type Post struct {
	To    uint64
	Bytes []byte
}

// A Lead says who leads, and who votes.
type Lead struct {
	Leader uint64 // or 0 if that is not known
	Term   uint64
	Serves bool // this voter leads, and has applied an entry of its term

	Voters   []uint64 // as applied here, ascending; those of both groups while a change is under way
	Learners []uint64 // who hear all and do not vote, since they are to vote soon
	// Settled says that this voter serves, that no change of voters or learners is
	// under way, and that voters who were removed by the last one may end. A learner
	// that was removed may end as soon as one who serves says that it is none.
	Settled bool
}

// A Machine is what a log is for. It is the same on all voters that have applied
// the same entries.
type Machine interface {
	// Apply hands over a committed entry, one after the other. It must not change
	// the bytes, nor keep them.
	Apply(index, term uint64, entry []byte)
	// Snapshot returns the state after all that was applied.
	Snapshot() []byte
	// Restore replaces the state by that of a snapshot.
	Restore(index uint64, data []byte) error
}

// Logs starts the logs of voters. It keeps nothing itself: what a voter has to
// remember is records, which the host makes durable one after the other, and of
// which it makes one when the process starts again: the state.
type Logs interface {
	// Voter returns the cluster and the number of the voter whose state this is, both
	// 0 if it is empty, or an error if it cannot be trusted.
	Voter(state []byte) (cluster, voter uint64, err error)
	// Found returns the first record of the only voter of a new cluster, whose machine
	// begins with these bytes.
	Found(cluster, voter uint64, machine []byte) ([]byte, error)
	// Join returns the first record of a voter that a cluster has taken in under this
	// number.
	Join(cluster, voter uint64) ([]byte, error)
	// Start starts a voter from its state. Chance, where the log needs it, is drawn
	// from the seed.
	Start(state []byte, m Machine, seed uint64) (Log, error)
}
