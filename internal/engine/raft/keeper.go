package raft

import (
	"fmt"

	"github.com/stile-lock/stile/internal/engine"
)

// A Keeper is an engine.Store on a Storage, and says how its voters are run; see
// Config.
type Keeper struct {
	Storage                     Storage
	Election, Heartbeat, MaxLog int
	Log                         func(line string)
}

var _ engine.Store = (*Keeper)(nil)

// Identity returns the group and the number of the voter whose storage this is,
// both 0 if it is empty.
func (k *Keeper) Identity() (group, id uint64, err error) {
	s, err := load(k.Storage)
	if err != nil {
		return 0, 0, fmt.Errorf("look whose storage this is: %w", err)
	}
	return s.Group, s.ID, nil
}

// Found is Bootstrap.
func (k *Keeper) Found(group, id uint64, machine []byte) error {
	return Bootstrap(k.Storage, group, id, machine)
}

// Join is the function of that name.
func (k *Keeper) Join(group, id uint64) error { return Join(k.Storage, group, id) }

// Open starts the voter.
func (k *Keeper) Open(m engine.Machine, seed uint64) (engine.Log, error) {
	n, err := New(Config{
		Storage: k.Storage, Machine: m, Seed: seed,
		Election: k.Election, Heartbeat: k.Heartbeat, MaxLog: k.MaxLog, Log: k.Log,
	})
	if err != nil {
		return nil, err
	}
	return n, nil
}

// Erase empties the storage.
func (k *Keeper) Erase() error {
	if err := k.Storage.Erase(); err != nil {
		return fmt.Errorf("empty the storage of a voter: %w", err)
	}
	return nil
}
