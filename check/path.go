package check

import (
	"bytes"
	"errors"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// errSpurious means that a path exists only among renumbered states: what they
// leave open has no real counterpart.
var errSpurious = errors.New("the path exists only in the approximation of logical times")

// A move is one step of a real run.
type move struct {
	kind    int
	p, peer core.ID
	nth     int
}

func moveOf(label uint32) move {
	return move{int(label & 15), core.ID(label >> 4 & 15), core.ID(label >> 8 & 15), int(label >> 12)}
}

// concrete finds a real run along canonical states: one in which logical times
// have not been renumbered and letters are in the order of sending. It begins
// with start number start.
func (h *host) concrete(start int, path [][]byte) ([]move, error) {
	one := &host{group: h.group, birth: h.birth, blobs: h.blobs, omega: h.omega}
	one.mayAsk.Copy(&h.mayAsk)
	w := one.Worker().(*worker)
	w.exact = true
	var at []byte
	if err := w.Init(func([]byte) bool {
		if start == 0 {
			at = h.pack(nil, w.to)
		}
		start--
		return at == nil
	}); err != nil {
		return nil, err
	}
	var moves []move
	for _, want := range path[1:] {
		var next []byte
		_, err := w.Next(at, func(s explore.Step, canonical []byte) {
			if next == nil && bytes.Equal(canonical, want) {
				next = h.pack(nil, w.to)
				moves = append(moves, moveOf(s.Label))
			}
		})
		if err != nil {
			return nil, err
		}
		if next == nil {
			return nil, errSpurious
		}
		at = next
	}
	return moves, nil
}

// actions returns moves as lines of a scenario.
func actions(moves []move) []scenario.Action {
	var list []scenario.Action
	for _, m := range moves {
		a := scenario.Action{Proc: m.p}
		switch m.kind {
		case doAsk:
			a.Kind = scenario.Ask
		case doLeave:
			a.Kind = scenario.Leave
		case doStart:
			a.Kind = scenario.Start
		case doExpire:
			a.Kind = scenario.Expire
		case doTell:
			a.Kind, a.Proc, a.Peer = scenario.Tell, m.peer, m.p
		default:
			a.Kind, a.Proc, a.Peer = scenario.Deliver, m.peer, m.p
			if m.nth > 0 {
				a.Nth = m.nth + 1
			}
			switch m.kind {
			case doDrop:
				a.Kind = scenario.Drop
			case doKeep:
				list = append(list, scenario.Action{Kind: scenario.Duplicate, Proc: m.peer, Peer: m.p, Nth: a.Nth})
			}
		}
		list = append(list, a)
	}
	return list
}

// started returns moves with at least one start, if anybody could have started:
// of a scenario that says nothing of it, all begin with it.
func (h *host) started(start int, moves []move) []move {
	for _, m := range moves {
		if m.kind == doStart {
			return moves
		}
	}
	if h.Upset {
		return moves
	}
	w := h.Worker().(*worker)
	for i := range core.ID(h.Nodes) {
		b, err := w.blob(i, h.birth(i, h.Starts[start]).AppendState(nil))
		if err != nil {
			return moves
		}
		if yes, err := w.moves(b.id); yes && err == nil {
			return append(moves, move{kind: doStart, p: i})
		}
	}
	return moves
}
