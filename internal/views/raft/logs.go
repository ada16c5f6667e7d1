package raft

import (
	"fmt"

	"github.com/stile-lock/stile/internal/views"
)

// Logs implements views.Logs with Raft. Its fields configure the voters; see Config.
type Logs struct {
	Election, Heartbeat, MaxLog int
	Log                         func(line string)
}

var _ views.Logs = Logs{}

// Voter returns the group and the number of the voter whose state this is.
func (l Logs) Voter(state []byte) (group, id uint64, err error) {
	s, err := ParseState(state)
	if err != nil {
		return 0, 0, fmt.Errorf("read a voter's state: %w", err)
	}
	return s.Group, s.ID, nil
}

// Found returns the first record of the only voter of a new group. No two groups may
// have the same number.
func (l Logs) Found(group, id uint64, machine []byte) ([]byte, error) {
	return born(Batch{
		Group: group, ID: id, Hard: Hard{Term: 1, Commit: 1},
		Snapshot: &Snapshot{Index: 1, Term: 1, Electorate: Electorate{Voters: []uint64{id}}, Data: machine},
	})
}

// Join returns the first record of a voter that a group has admitted under this number.
// It is for the process that the number was assigned to, and once: a voter that has
// lost its disk has lost its votes, and must return under another number.
func (l Logs) Join(group, id uint64) ([]byte, error) {
	return born(Batch{Group: group, ID: id})
}

func born(b Batch) ([]byte, error) {
	if b.Group == 0 || !validID(b.ID) {
		return nil, fmt.Errorf("voter %d of group %d: want numbers above 0", b.ID, b.Group)
	}
	return b.AppendTo(nil), nil
}

// Start starts the voter.
func (l Logs) Start(state []byte, m views.Machine, seed uint64) (views.Log, error) {
	s, err := ParseState(state)
	if err != nil {
		return nil, fmt.Errorf("start a voter: %w", err)
	}
	n, err := New(Config{
		State: s, Machine: m, Seed: seed,
		Election: l.Election, Heartbeat: l.Heartbeat, MaxLog: l.MaxLog, Log: l.Log,
	})
	if err != nil {
		return nil, err
	}
	return n, nil
}
