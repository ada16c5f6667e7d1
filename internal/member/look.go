package member

import (
	"errors"
	"fmt"
	"strings"
)

// A FrameInfo is what can be seen of a frame from outside: for traces, diagrams and
// oracles.
type FrameInfo struct {
	Kind    string // ALG, TOUCH, REPORT and so on
	Clock   uint64 // the sender's logical clock
	Name    string // of the lock, if it is about one
	Cleared bool   // ALG: its home is known to have released it
	Count   uint64 // ALG, LEND, RETURN: of the last entry that its sender knows of
	Message []byte // ALG: the algorithm's message
	Held    []string
	Waits   []string
	More    bool   // REPORT: another part follows
	Text    string // its other fields, as text
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
	s := FrameInfo{Kind: f.kind.String(), Clock: f.clock, Name: string(f.name), Cleared: f.cleared, Count: f.count, Message: f.bytes, More: f.more}
	for _, x := range f.held {
		s.Held = append(s.Held, x.name)
	}
	for _, x := range f.waits {
		s.Waits = append(s.Waits, x.name)
	}
	switch f.kind {
	case reportFrame:
		s.Text = fmt.Sprintf("holds %s, waits for %s", list(s.Held), list(s.Waits))
	case queryFrame:
		s.Text = list(f.names)
	case answerFrame:
		var all []string
		for _, x := range f.may {
			all = append(all, fmt.Sprintf("%s: %d may be inside", x.name, x.who.len()))
		}
		s.Text = list(all)
	case lendFrame:
		s.Text = "until " + f.until.String()
	case returnFrame:
		if f.next != (Stamp{}) {
			s.Text = "next " + f.next.String()
		}
	case busyFrame:
		if f.again {
			s.Text = "recovering"
		}
	case claimFrame:
		s.Text = "token " + f.token.String()
	case claimedFrame:
		switch f.verdict {
		case refused:
			s.Text = "refused"
		case passedOn:
			s.Text = "refused: passed on"
		}
	default:
		s.Text = f.keptText()
	}
	return s, nil
}

func list(all []string) string {
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}

// keptText describes a frame about a kept lock or its transactions.
func (f *frame) keptText() string {
	if f.kind < wantFrame {
		return ""
	}
	tx := fmt.Sprintf("transaction %d of member %d", f.who.Tx, f.who.Origin)
	request := fmt.Sprintf("request %d of %s", f.who.Seq, tx)
	switch f.kind {
	case wantFrame:
		return request + ", " + f.mode.String()
	case grantFrame:
		return request + ", token " + f.token.String()
	case moveFrame:
		return request + ", " + f.mode.String() + ", token " + f.token.String()
	case movedFrame:
		switch f.verdict {
		case passedOn:
			return request + ", refused: passed on"
		case refused:
			return request + ", refused"
		}
	case doomFrame:
		return tx + ": " + f.victim.String()
	case pathFrame:
		return fmt.Sprintf("%d transactions", len(f.path))
	case graphFrame:
		return fmt.Sprintf("%d edges", len(f.arcs))
	case demandFrame, collectFrame:
		return ""
	}
	return request
}
