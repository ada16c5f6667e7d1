package views

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// A Replica is a running voter: a log that it keeps with other voters, and a Leader
// that decides what goes into it. Its methods must be called one at a time, with
// readings of the voter's own clock. What must be sent is in Out; take it after each
// call. If Receive, Step or Tick has left an error in Err, the voter is dead and its
// process must end: nothing may be sent.
type Replica struct {
	Out    ReplicaOut
	Err    error
	id     uint64
	log    Log
	leader *Leader
	m      *machine
	lead   Lead
	seen   []place // where other voters are, as far as they have announced it themselves
	epoch  uint64  // highest epoch that its process has seen
}

// ReplicaOut holds what a voter wants saved and sent. The host that takes it resets it.
type ReplicaOut struct {
	Saves []Save     // each is acknowledged by Saved
	Send  []Envelope // to members and joiners
	Post  []Envelope // to other voters
}

// Reset empties it.
func (o *ReplicaOut) Reset() { *o = ReplicaOut{o.Saves[:0], o.Send[:0], o.Post[:0]} }

// A place is the address of a voter.
type place struct {
	id      uint64
	address string
}

// maxSeen bounds the number of places kept.
const maxSeen = 4 * MaxVoters

// A machine is the record, as the log's entries make it.
type machine struct {
	record Record
	index  uint64 // index of the last entry
	fresh  bool   // changed since it was last read
	seen   func(index uint64, r *Record)
}

func (m *machine) Apply(index, term uint64, entry []byte) {
	var changed bool
	m.record, changed = Apply(m.record, term, entry)
	m.index, m.fresh = index, m.fresh || changed
	m.tell()
}

func (m *machine) tell() {
	if m.seen != nil {
		m.seen(m.index, &m.record)
	}
}

func (m *machine) Snapshot() []byte { return m.record.AppendTo(nil) }

func (m *machine) Restore(index uint64, data []byte) error {
	r, err := ParseRecord(data)
	if err != nil {
		return err
	}
	m.record, m.index, m.fresh = r, index, true
	m.tell()
	return nil
}

// A ReplicaConfig configures a Replica.
type ReplicaConfig struct {
	Logs  Logs
	State []byte // saved state of the voter
	Seed  uint64 // seed of the log's randomness
	// Draw draws the secrets of keys for tickets; nil if the key is never replaced.
	Draw func() [32]byte
	// Seen is shown the record after each applied entry, so that an oracle can judge;
	// it may be nil.
	Seen func(index uint64, r *Record)
}

// OpenReplica starts the voter with this state.
func OpenReplica(from ReplicaConfig) (*Replica, error) {
	_, id, err := from.Logs.Voter(from.State)
	if err != nil {
		return nil, err
	}
	if id == 0 {
		return nil, errors.New("start a voter: it has no state")
	}
	c := &Replica{id: id, m: &machine{seen: from.Seen}}
	if c.log, err = from.Logs.Start(from.State, c.m, from.Seed); err != nil {
		return nil, err
	}
	c.m.fresh = false
	c.leader = NewLeader(id, c.m.record)
	c.leader.draw = from.Draw
	return c, nil
}

// Found returns the first state of the only voter of a new or restored cluster, by the
// entry that Birth or Restored made; and the record that it begins with.
func Found(logs Logs, old Record, first Change) (Record, []byte, error) {
	r, ok := Apply(old, first.Term, first.AppendTo(nil))
	if !ok || first.Start == nil || len(r.Voters) != 1 {
		return r, nil, errors.New("found a cluster: want a name, valid settings, and one voter")
	}
	state, err := logs.Found(r.Cluster, r.Voters[0].ID, r.AppendTo(nil))
	return r, state, err
}

// ID returns its number.
func (c *Replica) ID() uint64 { return c.id }

// Record returns the record, as it was last applied here.
func (c *Replica) Record() *Record { return &c.m.record }

// Lead returns which voter leads.
func (c *Replica) Lead() Lead { return c.lead }

// Leader returns the voter's Leader, for requests of an operator: Evict, Choose,
// Forget, Want.
func (c *Replica) Leader() *Leader { return c.leader }

// Over reports whether, by a record, a voter of this number is no longer needed: it was
// one, and the others can do without its vote.
func (r *Record) Over(voter uint64) bool {
	return r.Cluster != 0 && r.voter(voter) < 0 && voter/places <= r.Epoch
}

// Receive handles a message for a voter.
func (c *Replica) Receive(now member.Instant, from string, b []byte) error {
	if c.Err != nil {
		return c.Err
	}
	err := c.leader.Receive(now, from, b)
	c.settle(now)
	return err
}

// Step handles a message from another voter.
func (c *Replica) Step(now member.Instant, from string, b []byte) error {
	if c.Err != nil {
		return c.Err
	}
	to, n := binary.Uvarint(b)
	sender, k := binary.Uvarint(b[max(n, 0):])
	epoch, l := binary.Uvarint(b[max(n, 0)+max(k, 0):])
	if n <= 0 || k <= 0 || l <= 0 {
		return fmt.Errorf("%w: message between voters without sender, receiver and epoch", errBytes)
	}
	if to != c.id {
		return nil // for an earlier voter
	}
	err := c.log.Step(sender, b[n+k+l:])
	if err == nil {
		c.note(sender, from)
		c.leader.Spoke(now, sender, epoch)
	}
	c.settle(now)
	return err
}

// Raise reports an epoch of its cluster that its process has seen.
func (c *Replica) Raise(epoch uint64) {
	c.epoch = max(c.epoch, epoch)
	c.leader.Raise(epoch)
}

// note notes the address of a voter, because the record with it may not have arrived
// yet.
func (c *Replica) note(id uint64, address string) {
	i := slices.IndexFunc(c.seen, func(p place) bool { return p.id == id })
	switch {
	case i >= 0:
		c.seen[i].address = address
	case len(c.seen) < maxSeen:
		c.seen = append(c.seen, place{id, address})
	default:
		c.seen[id%maxSeen] = place{id, address}
	}
}

// Saved reports that a save of Out.Saves is durable.
func (c *Replica) Saved(now member.Instant, number uint64) {
	if c.Err != nil {
		return
	}
	if c.Err = c.log.Saved(number); c.Err == nil {
		c.settle(now)
	}
}

// Tick advances the log by a tick, and makes the Leader do what is due.
func (c *Replica) Tick(now member.Instant) {
	if c.Err != nil {
		return
	}
	if c.Err = c.log.Tick(); c.Err == nil {
		c.settle(now)
	}
	if c.Err == nil {
		c.leader.Tick(now)
		c.settle(now)
	}
}

// Rest returns how many of the next ticks have no effect, if nothing else happens
// before: the Leader of a voter that does not lead only notes the time.
func (c *Replica) Rest() int {
	if c.Err != nil {
		return 0
	}
	return c.log.Rest()
}

// settle lets the log and the Leader do what each asks of the other.
func (c *Replica) settle(now member.Instant) {
	for again := true; again; {
		out, err := c.log.Flush()
		if err != nil {
			c.Err = err
			c.Out, c.leader.Out = ReplicaOut{}, LeaderOut{}
			return
		}
		c.Out.Saves = append(c.Out.Saves, out.Saves...)
		c.post(out.Send)
		c.lead = out.Lead
		c.leader.Voters(c.lead.Voters, len(c.lead.Learners) > 0, c.lead.Settled)
		if c.lead.Serves {
			c.leader.Lead(now, c.lead.Term, c.m.record)
		} else {
			c.leader.Follow(now, c.lead.Leader)
		}
		if c.m.fresh {
			c.m.fresh = false
			c.leader.Applied(now, c.m.record)
		}
		for _, n := range out.Reads {
			c.leader.Confirmed(now, n)
		}
		again = c.ask(&c.leader.Out)
		c.Out.Send = append(c.Out.Send, c.leader.Out.Send...)
		c.leader.Out.Reset()
	}
}

// ask passes the Leader's requests to the log. The Leader repeats what the log refuses.
// It reports whether the log has something to do.
func (c *Replica) ask(out *LeaderOut) (busy bool) {
	if out.Propose != nil && c.log.Propose(out.Propose) == nil {
		c.leader.Appended()
		busy = true
	}
	if out.Read != 0 {
		busy = c.log.Read(out.Read) == nil || busy
	}
	if out.Revote != nil {
		busy = c.log.Revote(out.Revote) == nil || busy
	}
	if out.HandOver != 0 {
		busy = c.log.HandOver(out.HandOver) == nil || busy
	}
	return busy
}

// post addresses the log's messages to other voters.
func (c *Replica) post(all []Post) {
	for _, p := range all {
		address := c.m.record.Address(p.To)
		if i := slices.IndexFunc(c.seen, func(o place) bool { return o.id == p.To }); i >= 0 {
			address = c.seen[i].address
		}
		if address == "" {
			continue
		}
		b := binary.AppendUvarint(binary.AppendUvarint(make([]byte, 0, len(p.Bytes)+30), p.To), c.id)
		b = binary.AppendUvarint(b, max(c.epoch, c.m.record.Epoch))
		c.Out.Post = append(c.Out.Post, Envelope{address, append(b, p.Bytes...)})
	}
}

// ForVoter reports whether a message is for a voter rather than for a member.
func ForVoter(b []byte) bool { return len(b) > 0 && Kind(b[0]) < Wait }
