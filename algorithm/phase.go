package algorithm

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm/host"
)

// PhaseOf returns what the application of a lock's machine is doing, as its host has driven
// it. It reports false for a machine that is not a lock.
func PhaseOf(m Machine) (p host.Phase, ok bool) {
	x, ok := inmost(m).(*machine)
	if !ok || !x.lock {
		return host.Idle, false
	}
	switch x.phase {
	case idle:
		return host.Idle, true
	case waiting:
		return host.Waiting, true
	}
	return host.Inside, true
}

// SetPhase sets what the application of a lock's machine is doing: it is a part of the
// state, beside the fields that Assign sets.
func SetPhase(m Machine, p host.Phase) error {
	x, ok := inmost(m).(*machine)
	if !ok || !x.lock {
		return fmt.Errorf("%w: it is not a lock, whose application enters and leaves", host.ErrHost)
	}
	switch p {
	case host.Idle:
		x.phase = idle
	case host.Waiting:
		x.phase = waiting
	case host.Inside:
		x.phase = inside
	default:
		return fmt.Errorf("%w: phase %d", host.ErrHost, p)
	}
	return nil
}
