package raft

import (
	"errors"
	"fmt"
	"slices"

	etcd "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// A Kind is the recipient of an entry.
type Kind byte

// The kinds of entries.
const (
	Normal Kind = iota // for the machine; ignored if it is empty
	Change             // for Raft: a change of voters
)

// An Entry is one position of the log.
type Entry struct {
	Index, Term uint64
	Kind        Kind
	Data        []byte
}

// A Hard is what a voter must remember about terms.
type Hard struct {
	Term   uint64
	Vote   uint64 // the voter it voted for in this term, or 0
	Commit uint64 // the log is known to be committed up to here; it may be further
}

// A Snapshot is the machine's state after an index, and the electorate at that index.
type Snapshot struct {
	Index, Term uint64
	Electorate  Electorate
	Data        []byte // the machine's
}

// An Electorate is the set of voters. A decision needs a majority of the voters and,
// while a joint change is under way, a majority of the outgoing ones as well. Learners
// get the log and do not vote. All three are ascending.
type Electorate struct {
	Voters, Outgoing, Learners []uint64
}

// Joint reports whether a change of several voters or learners is under way.
func (c Electorate) Joint() bool { return len(c.Outgoing) > 0 }

// Has reports whether a node votes, in the old or in the new group.
func (c Electorate) Has(id uint64) bool {
	return slices.Contains(c.Voters, id) || slices.Contains(c.Outgoing, id)
}

func (c Electorate) clone() Electorate {
	return Electorate{slices.Clone(c.Voters), slices.Clone(c.Outgoing), slices.Clone(c.Learners)}
}

// A State is everything that a voter stores. Its entries begin after its snapshot.
type State struct {
	Group, ID uint64
	Hard      Hard
	Snapshot  Snapshot
	Entries   []Entry
}

// A Batch changes a State, entirely or not at all.
type Batch struct {
	Group, ID uint64    // only in the first batch
	Hard      Hard      // always complete
	Snapshot  *Snapshot // replaces the previous one, and the entries up to it
	Entries   []Entry   // replace all from the first of them on
}

// Last is the index of the last entry.
func (s *State) Last() uint64 { return s.Snapshot.Index + uint64(len(s.Entries)) }

// Apply applies a batch to the state. After an error, the state must no longer be used.
func (s *State) Apply(b Batch) error {
	if b.Group != 0 || b.ID != 0 {
		if s.Group != 0 || s.ID != 0 {
			return fmt.Errorf("second identity, as voter %d of group %d", b.ID, b.Group)
		}
		s.Group, s.ID = b.Group, b.ID
	}
	if b.Snapshot != nil {
		if err := s.rebase(*b.Snapshot); err != nil {
			return err
		}
	}
	if len(b.Entries) > 0 {
		first := b.Entries[0].Index
		if first <= s.Snapshot.Index || first > s.Last()+1 {
			return fmt.Errorf("entries starting at %d do not continue a log from %d to %d", first, s.Snapshot.Index+1, s.Last())
		}
		s.Entries = append(s.Entries[:first-s.Snapshot.Index-1], b.Entries...)
	}
	s.Hard = b.Hard
	return nil
}

// rebase puts a snapshot under the log. Entries after it stay only if the log has the
// entry it was made of; otherwise they belong to another history.
func (s *State) rebase(snap Snapshot) error {
	if snap.Index <= s.Snapshot.Index {
		return fmt.Errorf("snapshot of index %d after one of index %d", snap.Index, s.Snapshot.Index)
	}
	k := snap.Index - s.Snapshot.Index
	if k <= uint64(len(s.Entries)) && s.Entries[k-1].Term == snap.Term {
		s.Entries = slices.Clone(s.Entries[k:])
	} else {
		s.Entries = nil
	}
	s.Snapshot = snap
	return nil
}

// Whole returns the batch that turns an empty state into this one.
func (s *State) Whole() Batch {
	b := Batch{Group: s.Group, ID: s.ID, Hard: s.Hard, Entries: s.Entries}
	if s.Snapshot.Index > 0 {
		b.Snapshot = &s.Snapshot
	}
	return b
}

// State returns the state that a batch makes of an empty one, or why that is
// impossible.
func (b Batch) State() (State, error) {
	var s State
	if err := s.Apply(b); err != nil {
		return State{}, err
	}
	if s.ID == 0 && s.Group == 0 && s.Last() == 0 && s.Hard == (Hard{}) {
		return s, nil
	}
	if err := s.Check(); err != nil {
		return State{}, err
	}
	return s, nil
}

// Check reports what is wrong with a state: Raft assumes a sound one.
func (s *State) Check() error {
	switch {
	case s.Group == 0 || !validID(s.ID):
		return fmt.Errorf("invalid identity: voter %d of group %d", s.ID, s.Group)
	case s.Snapshot.Index == 0 && (len(s.Entries) > 0 || s.Hard.Commit > 0):
		return errors.New("entries without the snapshot before them")
	case s.Snapshot.Index > 0 && s.Snapshot.Term == 0:
		return errors.New("snapshot without a term")
	case s.Hard.Commit < s.Snapshot.Index || s.Hard.Commit > s.Last():
		return fmt.Errorf("committed to index %d, but the log goes from %d to %d", s.Hard.Commit, s.Snapshot.Index, s.Last())
	}
	if s.Snapshot.Index > 0 {
		if err := s.Snapshot.Electorate.check(); err != nil {
			return err
		}
	}
	term := s.Snapshot.Term
	for i, e := range s.Entries {
		if err := e.check(s.Snapshot.Index+1+uint64(i), term); err != nil {
			return err
		}
		term = e.Term
	}
	if term > s.Hard.Term {
		return fmt.Errorf("the log ends in term %d, but the term is %d", term, s.Hard.Term)
	}
	return nil
}

// check checks an entry that belongs at an index, after one of a term.
func (e *Entry) check(index, term uint64) error {
	if e.Index != index || e.Term < term || e.Term == 0 {
		return fmt.Errorf("got entry %d of term %d, want entry %d of term %d or later", e.Index, e.Term, index, term)
	}
	switch e.Kind {
	case Normal:
		return nil
	case Change:
		if err := proto.Unmarshal(e.Data, new(pb.ConfChangeV2)); err != nil {
			return fmt.Errorf("entry %d is not a change of voters: %w", e.Index, err)
		}
		return nil
	}
	return fmt.Errorf("entry %d has unknown kind %d", e.Index, e.Kind)
}

func (c Electorate) check() error {
	if len(c.Voters) == 0 {
		return errors.New("group without voters")
	}
	for _, ids := range [...][]uint64{c.Voters, c.Outgoing, c.Learners} {
		for i, id := range ids {
			if !validID(id) || i > 0 && ids[i-1] >= id {
				return fmt.Errorf("voters %d are not ascending numbers", ids)
			}
		}
	}
	if slices.ContainsFunc(c.Learners, c.Has) {
		return fmt.Errorf("learners %d are among the voters %d and %d", c.Learners, c.Voters, c.Outgoing)
	}
	return nil
}

// validID reports whether a number can be a voter's: Raft reserves some.
func validID(id uint64) bool { return id != 0 && !etcd.IsLocalMsgTarget(id) }
