package raft

import (
	"errors"
	"fmt"
	"slices"
)

// A Storage keeps the State of one voter.
type Storage interface {
	// Load returns what is kept, an empty State if that is nothing, or an
	// error if it cannot be trusted. What it returns is durable. It comes
	// before any Save of a process.
	Load() (State, error)
	// Save makes a batch part of what is kept: all of it or nothing, and
	// durable when it returns nil. After an error nobody knows which, and
	// the process must end: what Load then finds decides.
	Save(Batch) error
	// Erase makes it empty: all that is kept stays, or nothing, and it is
	// nothing for good when it returns nil. It works on what Load refuses too.
	Erase() error
}

// Errors that a voter is not started with.
var (
	ErrUnborn = errors.New("the storage is empty: found a group with Bootstrap, or enter one under a number of its own with Join")
	ErrBorn   = errors.New("the storage is in use: a voter keeps its number and its group for life; take an empty storage")
)

// Bootstrap makes an empty storage that of the only voter of a new group, whose
// machine begins with these bytes. No two groups may have the same number.
func Bootstrap(s Storage, group, id uint64, machine []byte) error {
	return bear(s, Batch{
		Group: group, ID: id, Hard: Hard{Term: 1, Commit: 1},
		Snapshot: &Snapshot{Index: 1, Term: 1, Electorate: Electorate{Voters: []uint64{id}}, Data: machine},
	})
}

// Join makes an empty storage that of a voter that a group has taken in under
// this number. It is for the process that the number was given to, and once:
// whoever has lost the storage of a voter has lost its votes, and must come
// back under another number.
func Join(s Storage, group, id uint64) error {
	return bear(s, Batch{Group: group, ID: id})
}

func bear(s Storage, b Batch) error {
	if b.Group == 0 || !validID(b.ID) {
		return fmt.Errorf("voter %d of group %d cannot be: both must be numbers above 0", b.ID, b.Group)
	}
	was, err := s.Load()
	if err != nil {
		return err
	}
	if was.ID != 0 {
		return fmt.Errorf("voter %d of group %d: %w", was.ID, was.Group, ErrBorn)
	}
	return s.Save(b)
}

// load returns a state that Raft can live with.
func load(s Storage) (State, error) {
	state, err := s.Load()
	if err != nil {
		return State{}, err
	}
	if state.ID != 0 {
		if err := state.Check(); err != nil {
			return State{}, fmt.Errorf("voter %d has %w; %w", state.ID, err, ErrDamaged)
		}
	}
	return state, nil
}

// A Memory is a Storage that lasts as long as the process.
type Memory struct {
	state State
	Saves int // how often something was saved
}

// Recall returns a Memory of what a Storage has held, by the bytes of State.Whole.
func Recall(b []byte) (*Memory, error) {
	whole, err := ParseBatch(b)
	if err != nil {
		return nil, err
	}
	s, err := whole.State()
	if err != nil {
		return nil, err
	}
	return &Memory{state: s}, nil
}

// Load returns what was saved.
func (m *Memory) Load() (State, error) {
	s := m.state
	s.Entries = slices.Clone(s.Entries)
	return s, nil
}

// Save keeps a batch.
func (m *Memory) Save(b Batch) error {
	m.Saves++
	return m.state.Apply(b)
}

// Erase forgets it all.
func (m *Memory) Erase() error {
	m.Saves++
	m.state = State{}
	return nil
}
