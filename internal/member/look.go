package member

import (
	"errors"
	"fmt"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// A FrameInfo is what can be seen of a frame from outside: for traces, diagrams and
// oracles. Package explain says in words what a frame says.
type FrameInfo struct {
	Kind    string // ALG, TOUCH, REPORT and so on
	Clock   uint64 // the sender's logical clock
	Name    string // of the lock, if it is about one
	Cleared bool   // ALG: its home is known to have released it
	Count   uint64 // ALG, LEND, RETURN: of the last entry that its sender knows of
	Message []byte // ALG: the algorithm's message
	Held    []string
	Waits   []string
	More    bool     // REPORT: another part follows
	Asked   []string // QUERY: locks
	May     []MayBe  // ANSWER
	Until   Stamp    // LEND
	Next    Stamp    // RETURN: of the next waiter there
	Again   bool     // BUSY: the lock is recovering
	Refused bool     // CLAIMED, MOVED
	Passed  bool     // CLAIMED, MOVED: refused, because it was passed on
	Token   Token    // CLAIM, GRANT, MOVE

	Who    deadlock.Attempt // frames about kept locks and transactions
	Mode   deadlock.Mode    // WANT, MOVE
	Victim *Victim          // DOOM
	Path   int              // PATH: number of transactions
	Arcs   int              // GRAPH: number of edges
}

// FrameKinds is the number of kinds of frames. A frame's first byte is its kind.
const FrameKinds = int(frameKinds)

// FrameNames returns the names of the kinds of frames.
func FrameNames() [FrameKinds]string {
	return [...]string{
		"ALG", "TOUCH", "REPORT", "RELEASED", "QUERY", "ANSWER", "LEND", "RETURN", "DONE", "PROBE", "BUSY", "FREE", "CLAIM", "CLAIMED",
		"WANT", "GRANT", "REFUSE", "END", "WAITS", "WAITED", "PATH", "MOVE", "MOVED", "DOOM", "DEMAND", "COLLECT", "GRAPH", "CONFIRM", "CONFIRMED",
	}
}

func (k frameKind) String() string {
	if k >= frameKinds {
		return fmt.Sprintf("0x%02x", uint8(k))
	}
	return FrameNames()[k]
}

// Look reads a frame. For an unknown frame that members ignore it returns only the
// kind.
func Look(b []byte) (FrameInfo, error) {
	var f frame
	if err := f.parse(b); errors.Is(err, errOptional) {
		return FrameInfo{Kind: frameKind(b[0]).String()}, nil
	} else if err != nil {
		return FrameInfo{}, err
	}
	s := FrameInfo{
		Kind: f.kind.String(), Clock: f.clock, Name: string(f.name), Cleared: f.cleared, Count: f.count, Message: f.bytes, More: f.more,
		Asked: f.names, Until: f.until, Next: f.next, Again: f.again, Refused: f.verdict == refused, Passed: f.verdict == passedOn, Token: f.token,
		Who: f.who, Mode: f.mode, Victim: f.victim, Path: len(f.path), Arcs: len(f.arcs),
	}
	for _, x := range f.held {
		s.Held = append(s.Held, x.name)
	}
	for _, x := range f.waits {
		s.Waits = append(s.Waits, x.name)
	}
	for _, x := range f.may {
		s.May = append(s.May, MayBe{x.name, x.who.len()})
	}
	return s, nil
}

// A MayBe is how many processes may be inside a lock by an older view.
type MayBe struct {
	Name   string
	Inside int
}
