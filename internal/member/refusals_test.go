package member

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
)

// A member refuses frames that no correct member sends, each with an error that says
// what is wrong with it.
func TestFramesAreRefused(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next(3)
	v.Members = append(v.Members, Who{"m4", 4})
	mine, other := away(f.view, v, 0, 0), away(f.view, v, 1, 1)
	lone, err := New(f.members[0].Config)
	if err != nil {
		t.Fatal(err)
	}
	if err := lone.Deliver(0, 2, (&frame{kind: touchFrame, name: []byte(mine)}).append(nil)); !errors.Is(err, errUnexpected) {
		t.Errorf("before the first view: %v", err)
	}
	m := f.members[0]
	if err := m.Install(0, v); err != nil {
		t.Fatal(err)
	}
	old, now := Stamp{1, 1, 2}, Stamp{2, 1, 2}
	for _, x := range []struct {
		what string
		from uint64
		f    frame
		want error // nil if it is taken
	}{
		{"from itself", 1, frame{kind: touchFrame, name: []byte(mine)}, errUnexpected},
		{"from a process that is not a member", 3, frame{kind: touchFrame, name: []byte(mine)}, errUnexpected},
		{"without a name", 2, frame{kind: touchFrame}, errFrame},
		{"algorithm without a name", 2, frame{kind: algFrame}, errFrame},
		{"algorithm with bytes that are no message", 2, frame{kind: algFrame, name: []byte(mine), bytes: []byte("rubbish")}, errFrame},
		{"held lock of another home", 2, frame{kind: reportFrame, held: []holding{{other, olderHold{token: Token{1, 1}, last: 1}}}}, errUnexpected},
		{"held lock with a token of this epoch", 2, frame{kind: reportFrame, held: []holding{{mine, olderHold{token: Token{v.Epoch, 1}, last: 1}}}}, errUnexpected},
		{"held lock without a token", 2, frame{kind: reportFrame, held: []holding{{mine, olderHold{}}}}, errUnexpected},
		{"held lock with a last count below its own", 2, frame{kind: reportFrame, held: []holding{{mine, olderHold{token: Token{1, 2}, last: 1}}}}, errUnexpected},
		{"held lock without a name", 2, frame{kind: reportFrame, held: []holding{{"", olderHold{token: Token{1, 1}, last: 1}}}}, errFrame},
		{"waiter of another home", 2, frame{kind: reportFrame, waits: []wanted{{other, old}}}, errUnexpected},
		{"waiter for a lock without a name", 2, frame{kind: reportFrame, waits: []wanted{{"", old}}}, errFrame},
		{"waiter of another process", 2, frame{kind: reportFrame, waits: []wanted{{mine, Stamp{1, 1, 3}}}}, errUnexpected},
		{"waiter of this epoch", 2, frame{kind: reportFrame, waits: []wanted{{mine, now}}}, errUnexpected},
		{"report of one that was not there", 4, frame{kind: reportFrame}, errUnexpected},
		{"query without a name", 2, frame{kind: queryFrame, names: []string{""}}, errFrame},
		{"answer that was not asked for", 2, frame{kind: answerFrame, may: []mayBe{{name: "unheard of"}}}, errUnexpected},
		{"loan from another than the home", 2, frame{kind: lendFrame, name: []byte(mine)}, errUnexpected},
		{"return of what is not lent", 2, frame{kind: returnFrame, name: []byte(mine)}, errUnexpected},
		{"done from another than the home", 2, frame{kind: doneFrame, name: []byte(mine)}, errUnexpected},
		{"answer to a claim from another than the home", 2, frame{kind: claimedFrame, name: []byte(mine)}, errUnexpected},
		{"report", 2, frame{kind: reportFrame, waits: []wanted{{mine, old}}}, nil},
		{"report for the second time", 2, frame{kind: reportFrame}, errUnexpected},
		{"loan", 2, frame{kind: lendFrame, name: []byte(other), until: old}, nil},
	} {
		if err := m.Deliver(0, x.from, x.f.append(nil)); !errors.Is(err, x.want) || err != nil && x.want == nil {
			t.Errorf("%s: %v, want %v", x.what, err, x.want)
		}
	}
	m.Gone(0)
	if err := m.Deliver(0, 3, nil); err != nil {
		t.Errorf("a member that was evicted hears: %v", err)
	}
}

// A list that is longer than its frame is refused before anything of it is read.
func TestEndlessLists(t *testing.T) {
	for _, k := range []frameKind{reportFrame, queryFrame, answerFrame} {
		b := []byte{byte(k), 1}
		if k == reportFrame {
			b = append(b, 0)
		}
		var f frame
		if err := f.parse(append(b, 255, 255, 255, 255, 255, 255, 127)); !errors.Is(err, errFrame) || len(f.held)+len(f.names)+len(f.may) > 0 {
			t.Errorf("%v: %v", k, err)
		}
	}
}

// A flag is 0 or 1.
func TestFlags(t *testing.T) {
	for flag, ok := range map[byte]bool{0: true, 1: true, 2: false} {
		var f frame
		if err := f.parse([]byte{byte(reportFrame), 1, flag, 0, 0, 0}); (err == nil) != ok || f.more != (flag == 1) {
			t.Errorf("flag %d: %v, %v", flag, f.more, err)
		}
	}
}

// An evil machine changes its state and then finds that the message is malformed.
type evil struct{ algorithm.Machine }

func (x *evil) Step(in host.Input, out *host.Output) error {
	err := x.Machine.Step(in, out)
	if in.Kind == host.Receive {
		return errors.New("malformed, after all")
	}
	return err
}

// A malformed message of an algorithm is as if it had not come, for the first lock of a
// member as for any other.
func TestMalformedMessage(t *testing.T) {
	for before := range 2 {
		f := newFleet(t, "central", 3)
		m, names := f.members[0], homed(f.view, 0, before+1, 10)
		name := names[before]
		for _, other := range names[:before] {
			lockOf(m.epoch, other)
		}
		f.lock(1, name)
		f.settle()
		f.lock(2, name)
		request := f.mail[0]
		if request.to != 1 || frameKind(request.bytes[0]) != algFrame {
			t.Fatalf("the first frame is %v to %d", frameKind(request.bytes[0]), request.to)
		}
		n := lockOf(m.epoch, name)
		state := func() []byte {
			machine, err := m.epoch.machine(n)
			if err != nil {
				t.Fatal(err)
			}
			return machine.AppendState(nil)
		}
		was := state()
		all, seat := m.epoch.schools[0].machines, m.epoch.seat(m.epoch.table.lock(n))
		machine := all[seat]
		all[seat] = &evil{machine}
		if err := m.Deliver(0, 3, request.bytes); !errors.Is(err, errFrame) {
			t.Errorf("%v", err)
		}
		all[seat] = machine
		if is := state(); !slices.Equal(is, was) {
			t.Errorf("lock %d is in state %x, want %x", n, is, was)
		}
		f.settle()
		f.unlock(1, name)
		f.settle()
		if !f.holds(2, name) {
			t.Error("the same message, whole, is not taken afterwards")
		}
	}
}

// What Look shows of frames.
func TestLook(t *testing.T) {
	stamp, token := Stamp{1, 2, 3}, Token{3, 4}
	who := deadlock.Attempt{Origin: 3, Tx: 7, Number: 1, Seq: 1}
	a := []byte("a")
	victim := &Victim{How: TimedOut}
	for _, x := range []struct {
		f    frame
		want FrameInfo
	}{
		{frame{kind: reportFrame, held: []holding{{"a", olderHold{token: Token{1, 1}, last: 1}}, {"b", olderHold{token: Token{1, 2}, last: 2}}}}, FrameInfo{Held: []string{"a", "b"}}},
		{frame{kind: reportFrame, waits: []wanted{{"c", stamp}, {"d", stamp}}, more: true}, FrameInfo{Waits: []string{"c", "d"}, More: true}},
		{frame{kind: queryFrame, names: []string{"a", "b"}}, FrameInfo{Asked: []string{"a", "b"}}},
		{frame{kind: answerFrame, may: []mayBe{{"a", set{3, 0, 1}}, {"b", set{}}}}, FrameInfo{May: []MayBe{{"a", 3}, {"b", 0}}}},
		{frame{kind: lendFrame, name: a, until: lastStamp()}, FrameInfo{Name: "a", Until: lastStamp()}},
		{frame{kind: returnFrame, name: a, next: stamp}, FrameInfo{Name: "a", Next: stamp}},
		{frame{kind: busyFrame, name: a, again: true}, FrameInfo{Name: "a", Again: true}},
		{frame{kind: claimFrame, name: a, token: token}, FrameInfo{Name: "a", Token: token}},
		{frame{kind: claimedFrame, name: a}, FrameInfo{Name: "a"}},
		{frame{kind: claimedFrame, name: a, verdict: refused}, FrameInfo{Name: "a", Refused: true}},
		{frame{kind: movedFrame, name: a, who: who, verdict: passedOn}, FrameInfo{Name: "a", Who: who, Passed: true}},
		{frame{kind: wantFrame, name: a, who: who, mode: deadlock.Shared}, FrameInfo{Name: "a", Who: who, Mode: deadlock.Shared}},
		{frame{kind: grantFrame, name: a, who: who, token: token}, FrameInfo{Name: "a", Who: who, Token: token}},
		{frame{kind: doomFrame, who: who, victim: victim}, FrameInfo{Who: who, Victim: victim}},
		{frame{kind: pathFrame, name: a, path: []deadlock.Attempt{who, who}}, FrameInfo{Name: "a", Path: 2}},
		{frame{kind: graphFrame, arcs: []arc{{who, who, "a", 1, 0}}}, FrameInfo{Arcs: 1}},
	} {
		x.f.clock = 9
		x.want.Kind, x.want.Clock = x.f.kind.String(), 9
		if got, err := Look(x.f.append(nil)); err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", x.want) {
			t.Errorf("%v: %+v, want %+v (%v)", x.f.kind, got, x.want, err)
		}
	}
	got, err := Look((&frame{kind: algFrame, name: []byte("a"), cleared: true, count: 4, bytes: []byte("m")}).append(nil))
	if err != nil || !got.Cleared || got.Count != 4 || string(got.Message) != "m" {
		t.Errorf("%+v, %v", got, err)
	}
	if got := frameKinds.String(); got != "0x1d" {
		t.Errorf("the first unknown kind is %s", got)
	}
	if got, err := Look([]byte{0x40}); err != nil || got.Kind != "0x40" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Look([]byte{0x20}); err == nil || !strings.Contains(err.Error(), "0x20") {
		t.Errorf("%v", err)
	}
}

// Sets have places in all of their words.
func TestSet(t *testing.T) {
	places := []int{0, 1, 63, 64, 127, 128, 191, 192, 255}
	var all, none set
	for i, p := range places {
		all.add(p)
		if !all.has(p) || all.len() != i+1 || !slices.Equal(all.list(), places[:i+1]) {
			t.Errorf("%v after %d was added", all.list(), p)
		}
		var one set
		one.add(p)
		if all.and(one) != one || one.and(all) != one || none.or(one) != one || one.or(none) != one || one.empty() || !none.and(one).empty() {
			t.Errorf("place %d: and, or, empty", p)
		}
		if firstOf(p+1) != firstOf(p).or(one) || firstOf(p).len() != p {
			t.Errorf("the first %d are %v", p, firstOf(p).list())
		}
	}
	for i, p := range places {
		if all.drop(p); all.has(p) || !slices.Equal(all.list(), places[i+1:]) {
			t.Errorf("%v after %d was dropped", all.list(), p)
		}
	}
	if !all.empty() {
		t.Errorf("%v are left", all.list())
	}
}

// The usual settings are those that docs/protocol.md and operators know.
func TestUsualSettings(t *testing.T) {
	want := Settings{Lease: 10_000_000_000, Renew: 2_000_000_000, Drift: 10_000, Act: 10, Handover: 16, ViewLife: 1_000_000_000, Replace: 600_000_000_000}
	if got := Usual(); got != want {
		t.Errorf("%+v", got)
	}
}

// Places of requests are used again, and tickets are not.
func TestTicketsAreNotReused(t *testing.T) {
	f := newFleet(t, "central", 1)
	m := f.members[0]
	seen := map[Ticket]bool{}
	for range 10 {
		k := f.lock(0, "a")
		if seen[k] || m.waiter(k) == nil {
			t.Errorf("ticket %d, seen before: %v", k, seen[k])
		}
		seen[k] = true
		f.unlock(0, "a")
		if m.waiter(k) != nil {
			t.Errorf("ticket %d still means something", k)
		}
	}
	if len(m.waiters) != 1 || len(m.spare) != 1 || m.waiter(1<<32+1) != nil {
		t.Errorf("%d places, %d of them free", len(m.waiters), len(m.spare))
	}
}
