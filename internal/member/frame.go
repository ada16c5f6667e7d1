package member

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/codec"
)

// The kinds of frames that members send each other within an epoch.
type frameKind uint8

const (
	algFrame       frameKind = iota // a message of the lock's algorithm
	touchFrame                      // the sender uses the lock: its home must know
	reportFrame                     // locks that the sender holds and waits for, of those whose home is the receiver
	releasedFrame                   // a holder from an older epoch has released the lock
	queryFrame                      // which processes may be inside these locks, by the receiver's knowledge of the previous epoch?
	answerFrame                     // these processes may
	lendFrame                       // the receiver may enter while its waiters precede a stamp
	returnFrame                     // the borrower has finished; with the next waiter there
	doneFrame                       // the home has released the lock: ask through the algorithm
	probeFrame                      // a try for the lock: is the receiver inside, or does it wait?
	busyFrame                       // yes; or the lock is not usable yet
	freeFrame                       // no
	claimFrame                      // a client of the sender holds the lock by an older epoch, through other members
	claimedFrame                    // the home is inside on behalf of the claiming member, or refuses, and why
	wantFrame                       // a transaction requests a kept lock of its home
	grantFrame                      // the home has granted it
	refuseFrame                     // the home refuses it, and why
	endFrame                        // the request, or the hold, has ended
	waitsFrame                      // a transaction that holds a kept lock of the receiver waits for this one
	waitedFrame                     // it no longer does
	pathFrame                       // transactions that wait, each for the next, and the last for this lock
	moveFrame                       // a client of the sender holds a kept lock by an older epoch, through another member
	movedFrame                      // the home honours that, or refuses
	doomFrame                       // the transaction must abort, and why
	demandFrame                     // to the coordinator: look for deadlocks
	collectFrame                    // from the coordinator: send the graph of the kept locks whose home the receiver is
	graphFrame                      // this is it
	confirmFrame                    // from a detector: does this request still wait?
	confirmedFrame                  // whether it does
	frameKinds
)

// A frame is one message between members. Most fields are used by one or two kinds.
type frame struct {
	kind  frameKind
	clock uint64 // the sender's logical clock: all kinds
	name  []byte // those about one lock: see named

	cleared bool   // alg: the home is known to have released the lock
	count   uint64 // alg, lend, return: of the last known entry
	bytes   []byte // alg: the message

	until Stamp // lend
	next  Stamp // return; the zero Stamp if no request waits any more

	held  []holding // report
	waits []wanted  // report
	more  bool      // report: another part follows
	names []string  // query
	may   []mayBe   // answer
	try   uint64    // probe, busy, free: which try; claim, claimed: which claim
	again bool      // busy: not in use, but recovering

	token   Token    // claim, move
	through []uint64 // claim, move: incarnations through which the client was confirmed to hold the lock, last the one that it rests on
	verdict verdict  // claimed, moved
	claimer string   // claim, move: identity of the client

	who     deadlock.Attempt   // want, grant, refuse, end, move, moved, doom, confirm, confirmed
	mode    deadlock.Mode      // want, move
	units   int                // want, move: of the semaphore; again says whether it is a try
	ext     bool               // want: as in deadlock.Request; confirm, confirmed: the detector is that of paths
	refusal refusal            // refuse
	victim  *Victim            // doom
	round   uint64             // collect, graph; end: number of the transaction's last request
	arcs    []arc              // graph
	path    []deadlock.Attempt // path
	lock    string             // confirmed: name of the lock that it waits for; empty if it does not wait
	kept    []keptLine         // report
}

// named reports whether frames of this kind are about one lock.
func (k frameKind) named() bool {
	return k != reportFrame && k != queryFrame && k != answerFrame && k < doomFrame
}

// A holding is a lock that is held by an older epoch.
type holding struct {
	name string
	olderHold
}

// A wanted is a lock with waiters.
type wanted struct {
	name  string
	stamp Stamp
}

// A mayBe is the set of processes that may be inside a lock.
type mayBe struct {
	name string
	who  set
}

// Errors of frames. They end the link, and operators read them.
var (
	errFrame      = errors.New("malformed frame")
	errUnexpected = errors.New("unexpected frame") // well formed, but no correct member sends it now

	errOptional = errors.New("unknown frame of an optional kind") // ignored
)

// A writer appends the elements of a frame.
type writer []byte

func (w *writer) number(v uint64) { *w = binary.AppendUvarint(*w, v) }
func (w *writer) text(s string)   { w.number(uint64(len(s))); *w = append(*w, s...) }
func (w *writer) blob(b []byte)   { w.number(uint64(len(b))); *w = append(*w, b...) }
func (w *writer) token(t Token)   { w.number(t.Epoch); w.number(t.Count) }
func (w *writer) stamp(s Stamp)   { w.number(s.Epoch); w.number(s.Clock); w.number(s.Inc) }
func (w *writer) set(s set) {
	for _, x := range s {
		w.number(x)
	}
}

func (w *writer) incs(all []uint64) {
	w.number(uint64(len(all)))
	for _, inc := range all {
		w.number(inc)
	}
}

func (w *writer) bool(v bool) {
	if v {
		w.number(1)
	} else {
		w.number(0)
	}
}

// A scanner reads them back. After an error it returns only zeros.
type scanner struct {
	b   []byte
	err error
}

func (s *scanner) fail(what string) {
	if s.err == nil {
		s.err = errors.New(what)
	}
	s.b = nil
}

func (s *scanner) number() uint64 {
	v, n := binary.Uvarint(s.b)
	if n <= 0 {
		s.fail("number missing or above 64 bits")
		return 0
	}
	s.b = s.b[n:]
	return v
}

func (s *scanner) bool() bool {
	v := s.number()
	if v > 1 {
		s.fail("flag is neither 0 nor 1")
	}
	return v == 1
}

func (s *scanner) verdict() verdict {
	v := s.number()
	if v > uint64(disputed) {
		s.fail("answer to a claim is not 0 to 3")
	}
	return verdict(v)
}

func (s *scanner) blob() []byte {
	n := s.number()
	if n > uint64(len(s.b)) {
		s.fail("text or blob longer than its frame")
		return nil
	}
	b := s.b[:n]
	s.b = s.b[n:]
	return b
}

func (s *scanner) text() string {
	b := s.blob()
	if len(b) > MaxName {
		s.fail("name exceeds 512 bytes")
		return ""
	}
	return string(b)
}

func (s *scanner) token() Token { return Token{s.number(), s.number()} }
func (s *scanner) stamp() Stamp { return Stamp{s.number(), s.number(), s.number()} }

func (s *scanner) incs() (all []uint64) {
	for range s.many() {
		all = append(all, s.number())
	}
	return all
}

func (s *scanner) set() (x set) {
	for i := range x {
		x[i] = s.number()
	}
	return x
}

// many reads the length of a list whose elements take at least a byte each.
func (s *scanner) many() int {
	n := s.number()
	if n > uint64(len(s.b)) {
		s.fail("list longer than its frame")
		return 0
	}
	return int(n)
}

// append writes a frame.
func (f *frame) append(b []byte) []byte {
	w := writer(append(b, byte(f.kind)))
	w.number(f.clock)
	switch f.kind {
	case reportFrame:
		w.bool(f.more)
		w.number(uint64(len(f.held)))
		for _, x := range f.held {
			w.text(x.name)
			w.token(x.token)
			w.number(x.last)
			w.bool(x.client)
			w.text(x.who)
			w.bool(x.byClaim)
		}
		w.number(uint64(len(f.waits)))
		for _, x := range f.waits {
			w.text(x.name)
			w.stamp(x.stamp)
		}
		w.number(uint64(len(f.kept)))
		for i := range f.kept {
			w.line(&f.kept[i])
		}
	case queryFrame:
		w.number(uint64(len(f.names)))
		for _, name := range f.names {
			w.text(name)
		}
	case answerFrame:
		w.number(uint64(len(f.may)))
		for _, x := range f.may {
			w.text(x.name)
			w.set(x.who)
		}
	default:
		if f.kind.named() {
			w.blob(f.name)
		}
		f.appendOne(&w)
	}
	return w
}

// appendOne writes the fields of a frame about one lock.
func (f *frame) appendOne(w *writer) {
	switch f.kind {
	case algFrame:
		w.bool(f.cleared)
		w.number(f.count)
		w.blob(f.bytes)
	case lendFrame:
		w.number(f.count)
		w.stamp(f.until)
	case returnFrame:
		w.number(f.count)
		w.stamp(f.next)
	case probeFrame, freeFrame:
		w.number(f.try)
	case busyFrame:
		w.number(f.try)
		w.bool(f.again)
	case claimedFrame:
		w.number(f.try)
		w.number(uint64(f.verdict))
		w.token(f.token)
	case claimFrame:
		w.number(f.try)
		w.token(f.token)
		w.incs(f.through)
		w.text(f.claimer)
	case touchFrame, releasedFrame, doneFrame:
	default:
		f.appendKept(w)
	}
}

// parse reads a frame. It refers to b.
func (f *frame) parse(b []byte) error {
	if len(b) == 0 || frameKind(b[0]) >= frameKinds {
		return noFrame(b)
	}
	s := scanner{b: b[1:]}
	*f = frame{kind: frameKind(b[0]), clock: s.number()}
	switch f.kind {
	case reportFrame:
		f.more = s.bool()
		for range s.many() {
			f.held = append(f.held, holding{s.text(), olderHold{s.token(), s.number(), owner{s.bool(), s.text()}, s.bool()}})
		}
		for range s.many() {
			f.waits = append(f.waits, wanted{s.text(), s.stamp()})
		}
		for range s.many() {
			f.kept = append(f.kept, s.line())
		}
	case queryFrame:
		for range s.many() {
			f.names = append(f.names, s.text())
		}
	case answerFrame:
		for range s.many() {
			f.may = append(f.may, mayBe{s.text(), s.set()})
		}
	default:
		if f.kind.named() {
			f.name = s.blob()
		}
		f.parseOne(&s)
	}
	switch {
	case s.err != nil:
	case len(s.b) > 0:
		s.fail("bytes follow the last field")
	case f.clock|f.count >= 1<<62:
		s.fail("clock or count exceeds 2^62")
	}
	if s.err != nil {
		return fmt.Errorf("%w: %v: %w", errFrame, f.kind, s.err)
	}
	return nil
}

// noFrame returns the error for a frame that has no kind, or an unknown one.
func noFrame(b []byte) error {
	switch {
	case len(b) == 0:
		return fmt.Errorf("%w: empty", errFrame)
	case codec.Optional(b[0]):
		return errOptional
	}
	return fmt.Errorf("unknown frame kind 0x%02x: the other node runs a newer version", b[0])
}

func (f *frame) parseOne(s *scanner) {
	switch f.kind {
	case algFrame:
		f.cleared, f.count, f.bytes = s.bool(), s.number(), s.blob()
	case lendFrame:
		f.count, f.until = s.number(), s.stamp()
	case returnFrame:
		f.count, f.next = s.number(), s.stamp()
	case probeFrame, freeFrame:
		f.try = s.number()
	case busyFrame:
		f.try, f.again = s.number(), s.bool()
	case claimedFrame:
		f.try, f.verdict, f.token = s.number(), s.verdict(), s.token()
	case claimFrame:
		f.try, f.token, f.through, f.claimer = s.number(), s.token(), s.incs(), s.text()
	case touchFrame, releasedFrame, doneFrame:
	default:
		f.parseKept(s)
	}
}
