package raft

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	etcd "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"

	"github.com/stile-lock/stile/internal/views"
)

// A Config configures a voter. Times are in ticks.
type Config struct {
	State     State // saved state of the voter
	Machine   views.Machine
	Seed      uint64            // voters of a group may have the same one
	Election  int               // silence after which a leader is doubted; a follower waits for up to twice as long
	Heartbeat int               // interval between a leader's heartbeats; less than Election
	MaxLog    int               // number of entries after which a snapshot replaces them
	Log       func(line string) // receives Raft's log lines; may be nil
}

// Bounds of what is proposed and sent.
const (
	MaxEntry    = 1 << 20 // bytes of a proposal
	maxMessage  = 1 << 18 // bytes of entries in one message, if there are several
	maxPending  = 4 << 20 // bytes of entries that are not committed yet
	maxInflight = 64      // messages with entries in flight to one voter
)

// Why a request is refused, besides views.ErrNotLeader. None of these harms the node.
var (
	ErrNotReady = errors.New("this leader has not applied an entry of its term yet: try again")
	ErrBusy     = errors.New("a change of voters or of the leader is in progress: try again later")
	ErrBehind   = errors.New("the new voters do not have the log yet: try again, or choose others")
	ErrDropped  = errors.New("the proposal was dropped, because too many are pending or the leader is changing: try again")
)

// A Node is a voter: a views.Log. It is not safe for concurrent use.
type Node struct {
	group, id uint64
	machine   views.Machine
	election  int
	maxLog    uint64

	core  *etcd.RawNode // accessed through raw, if that may change its state
	now   etcd.BasicStatus
	known bool // now is up to date
	log   *view
	rng   *rand.Rand
	hard  Hard   // as Raft has it; what is saved may lack the latest commit
	last  uint64 // index of the last entry, durable or not
	err   error
	out   views.LogOut
	quiet int // ticks since a leader was heard, or a vote given
	bears int // number of quiet ticks to wait

	saves   uint64        // number of saves emitted
	writes  []write       // not acknowledged yet
	kept    uint64        // durable commit index
	applies []*pb.Message // committed entries that are not applied yet
	cutting bool          // a snapshot that shortens the log is being saved
	stalled int           // ticks for which this leader has waited for a save

	reads   []read
	snaps   []sentSnapshot
	pending pending
	goal    goal
	ticks   uint64  // number of ticks so far
	odd     uint64  // tick before which it does not campaign: see conflicts
	heard   []heard // learners, and when
	settle  settling
}

var _ views.Log = (*Node)(nil)

// A read is confirmed, and waits for an index to be applied.
type read struct {
	number, index uint64
}

// A sentSnapshot is in flight, or lost: the sender must notify Raft.
type sentSnapshot struct {
	to  uint64
	age int
}

// New starts a voter from its state: it applies what is known to be committed, and
// refuses a state that Raft could not work with.
func New(c Config) (*Node, error) {
	if c.Machine == nil || c.Heartbeat < 1 || c.Election <= c.Heartbeat || c.MaxLog < 1 {
		return nil, fmt.Errorf("start a voter with heartbeat %d, election %d, log %d: want a machine, 1 <= heartbeat < election, and a log of at least 1 entry", c.Heartbeat, c.Election, c.MaxLog)
	}
	s := c.State
	if s.ID == 0 {
		return nil, fmt.Errorf("start a voter: %w", ErrUnborn)
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("start voter %d: %w; %w", s.ID, err, ErrDamaged)
	}
	n := &Node{
		group: s.Group, id: s.ID, machine: c.Machine, election: c.Election, maxLog: uint64(c.MaxLog),
		rng: rand.New(rand.NewPCG(c.Seed, s.ID)), hard: s.Hard, kept: s.Hard.Commit, last: s.Last(),
	}
	if err := n.start(s, c); err != nil {
		return nil, fmt.Errorf("start voter %d: %w", s.ID, err)
	}
	return n, nil
}

func (n *Node) start(s State, c Config) (err error) {
	defer n.guard(&err)
	n.log = newView(n, s)
	if s.Snapshot.Index > 0 {
		if err := n.machine.Restore(s.Snapshot.Index, s.Snapshot.Data); err != nil {
			return fmt.Errorf("restore the snapshot of index %d: %w", s.Snapshot.Index, err)
		}
	}
	n.core, err = etcd.NewRawNode(&etcd.Config{
		ID: n.id, Storage: n.log, Applied: s.Snapshot.Index, ElectionTick: c.Election, HeartbeatTick: c.Heartbeat,
		MaxSizePerMsg: maxMessage, MaxCommittedSizePerReady: math.MaxUint64, MaxUncommittedEntriesSize: maxPending, MaxInflightMsgs: maxInflight,
		CheckQuorum: true, PreVote: true, ReadOnlyOption: etcd.ReadOnlySafe, AsyncStorageWrites: true,
		DisableProposalForwarding: true, StepDownOnRemoval: true, Logger: logger{c.Log},
	})
	if err != nil {
		return err
	}
	if err := n.drain(); err != nil {
		return err
	}
	n.calm()
	return nil
}

// guard turns a panic of Raft into an error, by which the node is dead. Raft panics if
// it detects that it cannot continue safely.
func (n *Node) guard(err *error) {
	if p := recover(); p != nil {
		n.die(fmt.Errorf("raft: %v", p))
	}
	if n.err != nil {
		*err = n.err
	}
}

// die ends the node: nothing is sent any more.
func (n *Node) die(err error) {
	if n.err == nil {
		n.err = fmt.Errorf("voter %d must stop: %w", n.id, err)
	}
	n.out = views.LogOut{}
}

// calm restarts the count of quiet ticks. A single voter need not wait for any other.
func (n *Node) calm() {
	n.quiet, n.bears = 0, 1
	if !n.alone() {
		n.bears = n.election + n.rng.IntN(n.election)
	}
}

// Tick advances the voter by one tick.
func (n *Node) Tick() (err error) {
	defer n.guard(&err)
	if n.err != nil {
		return n.err
	}
	n.ticks++
	if n.leads() {
		n.raw().Tick()
		n.ageSnapshots()
		n.unload()
		n.leaveJoint()
		return nil
	}
	n.snaps = nil
	n.raw().TickQuiesced()
	if n.quiet++; n.quiet < n.bears {
		return nil
	}
	n.calm()
	if len(n.writes) > 0 || n.ticks < n.odd { // another campaign would void the vote that is being saved
		return nil
	}
	return n.raw().Campaign()
}

// unload hands over from a leader whose disk has not acknowledged anything for as long
// as a silent leader is tolerated. It could continue to confirm reads, but would learn of
// no entry that is committed. It hands over only to a voter that has saved more: if the
// others are as slow, the next leader, which must save its vote and an entry first, would
// hand over too, and nothing would ever be committed.
func (n *Node) unload() {
	if len(n.writes) == 0 {
		n.stalled = 0
		return
	}
	if n.stalled++; n.stalled < n.election || n.alone() || n.status().LeadTransferee != 0 {
		return
	}
	n.stalled = 0
	to, most := uint64(0), uint64(0)
	if i := slices.IndexFunc(n.writes, func(w write) bool { return len(w.entries) > 0 }); i >= 0 {
		most = n.writes[i].entries[0].GetIndex() - 1 // what its own disk has
	}
	n.core.WithProgress(func(id uint64, t etcd.ProgressType, p tracker.Progress) {
		if id != n.id && t == etcd.ProgressTypePeer && p.RecentActive && p.Match > most {
			to, most = id, p.Match
		}
	})
	if to != 0 {
		n.raw().TransferLeader(to)
	}
}

// leaveJoint ends a change of voters whose end Raft has not proposed. Raft does so by
// itself as soon as the change is applied, but not while it hands over. And if no voter
// takes over, no entry arrives that would trigger it, because none may be proposed
// before the end.
func (n *Node) leaveJoint() {
	if n.log.conf.Joint() && n.log.applied == n.last && n.status().LeadTransferee == 0 {
		_ = n.raw().ProposeConfChange(&pb.ConfChangeV2{}) // if it is dropped, the next tick proposes it again
	}
}

// Rest returns how many of the next ticks have no effect but to pass.
func (n *Node) Rest() int {
	if n.err != nil || n.leads() {
		return 0
	}
	return max(n.bears-n.quiet-1, 0)
}

// Step handles a message from another voter. An error means that it was refused; it has
// ended the node only if Flush returns one too.
func (n *Node) Step(from uint64, message []byte) (err error) {
	defer n.guard(&err)
	if n.err != nil {
		return n.err
	}
	m, err := unpack(n.group, from, n.id, message)
	if err != nil {
		return fmt.Errorf("refuse a message from voter %d: %w", from, err)
	}
	term, vote := n.status().GetTerm(), n.status().GetVote()
	if m.GetTerm() >= term {
		if n.trust(m); n.err != nil {
			return n.err
		}
	}
	n.hears(from)
	if m.GetTerm() >= term && n.conflicts(m) {
		n.odd = n.ticks + oddElections*uint64(n.election)
		return nil
	}
	if n.ahead(m) {
		return nil
	}
	err = n.raw().Step(m)
	if errors.Is(err, etcd.ErrStepPeerNotFound) {
		return nil // a late answer of a removed voter
	}
	now := n.status()
	heard := now.Lead == from && now.GetTerm() == m.GetTerm() && fromLeader(m.GetType())
	if heard || now.GetVote() == from && (vote != from || term != now.GetTerm()) {
		n.calm()
	}
	return err
}

// trust compares a current message with the log. A leader that counts on entries that
// this voter lacks has this voter's acknowledgement of them: the disk has lost what was
// promised, and this voter must not vote again.
func (n *Node) trust(m *pb.Message) {
	if last := n.log.last(); m.GetType() == pb.MsgHeartbeat && m.GetCommit() > last {
		n.die(fmt.Errorf("voter %d knows that index %d was stored here, but the log ends at %d: %w", m.GetFrom(), m.GetCommit(), last, views.ErrRolledBack))
	}
}

// conflicts reports whether a leader sends other entries than those that this voter knows
// to be committed: the disks of most voters were replaced by older copies. It must not
// count on this voter's. Nor should this voter campaign for a while: its log is longer, so
// it would be elected, and the others could not follow it.
func (n *Node) conflicts(m *pb.Message) bool {
	if m.GetType() != pb.MsgApp {
		return false
	}
	differs := func(index, term uint64) bool {
		mine, err := n.log.Term(index)
		return err == nil && mine != term && index <= n.status().GetCommit()
	}
	return differs(m.GetIndex(), m.GetLogTerm()) || slices.ContainsFunc(m.GetEntries(), func(e *pb.Entry) bool {
		return differs(e.GetIndex(), e.GetTerm())
	})
}

// oddElections is how long a voter whose log conflicts with that of a leader does not
// campaign, in election times.
const oddElections = 20

// ahead reports whether a voter confirms entries that this one, which leads, has not sent.
// Either this one crashed before its own disk had them, or the disks of most voters were
// replaced by older copies, and the sender's was not. The entries are not those that this
// voter will send, so they must not count.
func (n *Node) ahead(m *pb.Message) bool {
	return m.GetType() == pb.MsgAppResp && n.leads() && m.GetTerm() == n.status().GetTerm() && !m.GetReject() && m.GetIndex() > n.last
}

func fromLeader(t pb.MessageType) bool {
	return t == pb.MsgApp || t == pb.MsgHeartbeat || t == pb.MsgSnap
}

// Propose appends an entry to the log of this leader. Its commitment is known when it is
// applied, which may take as long as the disks do. If another voter leads before that,
// the entry may be lost, or not: its machine must be able to distinguish a second one from
// the first. While a change of voters ends the vote of a voter, the error is ErrBusy.
func (n *Node) Propose(entry []byte) (err error) {
	defer n.guard(&err)
	if err := n.serves(); err != nil {
		return err
	}
	if len(entry) == 0 || len(entry) > MaxEntry {
		return fmt.Errorf("propose an entry of %d bytes: want 1 to %d", len(entry), MaxEntry)
	}
	if n.parting() {
		return ErrBusy
	}
	return dropped(n.raw().Propose(entry))
}

// Read begins a round of the voters. LogOut.Reads has its number when a majority has
// confirmed that this voter still led after the round had begun, and everything
// committed before it is applied. If the leader changes, or voters are removed so that
// one is left, it may never be confirmed: begin another one.
func (n *Node) Read(number uint64) (err error) {
	defer n.guard(&err)
	if err := n.serves(); err != nil {
		return err
	}
	n.raw().ReadIndex(binary.BigEndian.AppendUint64(nil, number))
	return nil
}

// HandOver asks another voter to lead. Until it does, or does not in time, nothing can
// be proposed; so the end of a change of voters must come first.
func (n *Node) HandOver(to uint64) (err error) {
	defer n.guard(&err)
	if err := n.serves(); err != nil {
		return err
	}
	if to == n.id || !n.log.conf.Has(to) {
		return fmt.Errorf("hand over to %d: want another voter of %d", to, n.log.conf.Voters)
	}
	if n.changing() {
		return ErrBusy
	}
	n.raw().TransferLeader(to)
	return nil
}

func dropped(err error) error {
	if errors.Is(err, etcd.ErrProposalDropped) {
		return ErrDropped
	}
	return err
}
