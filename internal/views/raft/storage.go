package raft

import (
	"errors"
	"fmt"
	"slices"
)

// A Storage stores the State of one voter.
type Storage interface {
	// Load returns the stored State, an empty one if there is none, or an error if it
	// cannot be trusted. What it returns is durable. It comes before any Save of a
	// process.
	Load() (State, error)
	// Save adds a batch to the stored state: entirely or not at all, and durably when
	// it returns nil. After an error it is unknown which, and the process must end:
	// what Load then finds decides.
	Save(Batch) error
	// Erase empties the storage: the whole state stays, or nothing, and it is nothing
	// for good when Erase returns nil. It works on what Load refuses too.
	Erase() error
}

// ErrUnborn is the error of a voter that is started without a state.
var ErrUnborn = errors.New("the voter has no state: found a group, or join one with a new number")

// Write makes a record durable in a storage.
func Write(s Storage, record []byte) error {
	b, err := ParseBatch(record)
	if err != nil {
		return err
	}
	return s.Save(b)
}

// Read returns the state that a storage holds, as one record, which is empty if it
// holds nothing; or an error if Raft could not work with it.
func Read(s Storage) ([]byte, error) {
	state, err := s.Load()
	if err != nil || state.ID == 0 {
		return nil, err
	}
	if err := state.Check(); err != nil {
		return nil, fmt.Errorf("invalid state of voter %d: %w; %w", state.ID, err, ErrDamaged)
	}
	whole := state.Whole()
	return whole.AppendTo(nil), nil
}

// ParseState reads what Read has returned.
func ParseState(b []byte) (State, error) {
	if len(b) == 0 {
		return State{}, nil
	}
	whole, err := ParseBatch(b)
	if err != nil {
		return State{}, err
	}
	return whole.State()
}

// A Memory is a Storage that lasts as long as the process.
type Memory struct {
	state State
	Saves int // number of saves
}

// Load returns what was saved.
func (m *Memory) Load() (State, error) {
	s := m.state
	s.Entries = slices.Clone(s.Entries)
	return s, nil
}

// Save stores a batch.
func (m *Memory) Save(b Batch) error {
	m.Saves++
	return m.state.Apply(b)
}

// Erase forgets everything.
func (m *Memory) Erase() error {
	m.Saves++
	m.state = State{}
	return nil
}
