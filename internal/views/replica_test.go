package views

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A script is a log that follows instructions, and notes the calls.
type script struct {
	t        *testing.T
	record   Record
	lead     Lead
	next     []LogOut // what the next flushes return; then nothing happens
	machine  Machine
	tickErr  error
	flushErr error
	stepErr  error
	savedErr error
	saved    []uint64
	refuse   error
	reads    []uint64
	proposed [][]byte
	revotes  [][]uint64
	handed   []uint64
	stepped  []uint64
}

func (s *script) Voter(state []byte) (cluster, voter uint64, err error) { return 9, 64, nil }
func (s *script) Found(cluster, voter uint64, machine []byte) ([]byte, error) {
	return machine, nil
}
func (s *script) Join(cluster, voter uint64) ([]byte, error) { return nil, nil }
func (s *script) Start(state []byte, m Machine, seed uint64) (Log, error) {
	s.machine = m
	return s, m.Restore(1, s.record.AppendTo(nil))
}
func (s *script) Saved(number uint64) error { s.saved = append(s.saved, number); return s.savedErr }

func (s *script) Tick() error { return s.tickErr }
func (s *script) Rest() int   { return 0 }
func (s *script) Step(from uint64, letter []byte) error {
	s.stepped = append(s.stepped, from)
	return s.stepErr
}
func (s *script) Propose(entry []byte) error {
	s.proposed = append(s.proposed, slices.Clone(entry))
	return s.refuse
}
func (s *script) Read(number uint64) error   { s.reads = append(s.reads, number); return s.refuse }
func (s *script) Revote(want []uint64) error { s.revotes = append(s.revotes, want); return s.refuse }
func (s *script) HandOver(to uint64) error   { s.handed = append(s.handed, to); return s.refuse }
func (s *script) Flush() (LogOut, error) {
	out := LogOut{}
	if len(s.next) > 0 {
		out, s.next = s.next[0], s.next[1:]
	}
	out.Lead = s.lead
	return out, s.flushErr
}

// leadingReplica returns one that leads three members, with itself as the only voter, and
// its log.
func leadingReplica(t *testing.T) (*Replica, *script) {
	t.Helper()
	s := &script{t: t, record: born(t, 3, 1), lead: Lead{Leader: 64, Term: 1, Serves: true, Voters: []uint64{64}, Settled: true}}
	c, err := OpenReplica(ReplicaConfig{Logs: s})
	if err != nil {
		t.Fatal(err)
	}
	c.Tick(100 * second)
	c.Out.Reset()
	return c, s
}

// hears brings a message to a replica.
func (c *Replica) hears(t *testing.T, now member.Instant, from string, m Message) {
	t.Helper()
	m.Cluster = 9
	if err := c.Receive(now, from, m.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
}

// A renewal, and a question for the record, are answered when a read that began
// after they came is confirmed, and not before.
func TestReplicaReads(t *testing.T) {
	c, s := leadingReplica(t)
	c.hears(t, 100*second, "b", Message{Kind: Renew, Inc: 65, Number: 3, Epoch: 1})
	c.hears(t, 100*second, "x", Message{Kind: Status, Number: 8})
	if len(c.Out.Send)+len(s.reads) > 0 {
		t.Fatalf("%d answers, %d reads before a tick", len(c.Out.Send), len(s.reads))
	}
	c.Tick(101 * second)
	if len(s.reads) != 1 || len(c.Out.Send) > 0 {
		t.Fatalf("reads %d, %d answers", s.reads, len(c.Out.Send))
	}
	s.next = []LogOut{{Reads: s.reads}}
	c.Tick(101 * second)
	var got []Message
	for _, l := range c.Out.Send {
		m, err := ParseMessage(l.Bytes)
		if err != nil || (l.To == "b") != (m.Kind == Renewed) || (l.To == "x") != (m.Kind == State) {
			t.Errorf("%s to %s: %v", m.Kind, l.To, err)
		}
		got = append(got, m)
	}
	if len(got) != 2 || got[0].Number != 3 || got[1].Number != 8 {
		t.Errorf("%+v", got)
	}
}

// A voter that no longer leads answers nothing, even if an old read is confirmed.
func TestReplicaStopsLeading(t *testing.T) {
	c, s := leadingReplica(t)
	c.hears(t, 100*second, "b", Message{Kind: Renew, Inc: 65, Number: 3, Epoch: 1})
	c.Tick(101 * second)
	s.lead = Lead{Leader: 77, Term: 2, Voters: []uint64{64, 77, 78}}
	s.next = []LogOut{{Reads: s.reads}}
	if c.Tick(101 * second); len(c.Out.Send) > 0 {
		t.Errorf("%d answers", len(c.Out.Send))
	}
	c.hears(t, 102*second, "b", Message{Kind: Renew, Inc: 65, Number: 4, Epoch: 1})
	if m, err := ParseMessage(c.Out.Send[0].Bytes); err != nil || m.Kind != NotLeader {
		t.Errorf("%+v, %v", m, err)
	}
}

// A log that fails leaves an error and no output, whatever was about to be sent,
// and whatever comes then.
func TestReplicaFails(t *testing.T) {
	planted := errors.New("planted")
	for what, fail := range map[string]func(s *script){
		"flush": func(s *script) { s.flushErr = planted },
		"tick":  func(s *script) { s.tickErr = planted },
	} {
		c, s := leadingReplica(t)
		s.lead.Serves, s.lead.Leader = false, 0
		c.Tick(100 * second)
		if what == "flush" { // there is an answer, and it must not go out
			c.hears(t, 100*second, "b", Message{Kind: Renew, Inc: 65, Number: 3, Epoch: 1})
			if len(c.Out.Send) != 1 {
				t.Fatalf("%+v", c.Out)
			}
		}
		fail(s)
		s.next = []LogOut{{Saves: []Save{{Number: 1}}, Send: []Post{{To: 64, Bytes: []byte("x")}}}}
		c.Tick(101 * second)
		if !errors.Is(c.Err, planted) || len(c.Out.Send)+len(c.Out.Post)+len(c.Out.Saves) > 0 {
			t.Errorf("%s: %v, %+v", what, c.Err, c.Out)
		}
		s.flushErr, s.tickErr = nil, nil
		s.next = []LogOut{{Send: []Post{{To: 64, Bytes: []byte("x")}}}}
		c.Tick(102 * second)
		err := c.Receive(102*second, "b", (&Message{Kind: Fetch, Cluster: 9, Inc: 65}).AppendTo(nil))
		if err2 := c.Step(102*second, "b", letterTo(64, 65, "x")); err == nil || err2 == nil || len(c.Out.Send)+len(c.Out.Post)+len(s.stepped) > 0 {
			t.Errorf("%s: the dead go on: %v, %v, %+v", what, err, err2, c.Out)
		}
	}
}

func letterTo(to, from uint64, s string) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, to), from), 1), s...)
}

// The address of a voter is known from its own messages before any record has it; refused
// messages do not count, and no sender can make a voter remember more and more.
func TestReplicaAddresses(t *testing.T) {
	c, s := leadingReplica(t)
	posts := func(to uint64) string {
		t.Helper()
		c.Out.Reset()
		s.next = []LogOut{{Send: []Post{{To: to, Bytes: []byte("hello")}}}}
		c.Tick(100 * second)
		if len(c.Out.Post) == 0 {
			return ""
		}
		l := c.Out.Post[0]
		if !slices.Equal(l.Bytes, letterTo(to, 64, "hello")) {
			t.Errorf("% x", l.Bytes)
		}
		return l.To
	}
	if at := posts(777); at != "" {
		t.Errorf("voter 777 is at %q", at)
	}
	s.stepErr = errors.New("refused")
	if err := c.Step(100*second, "evil", letterTo(64, 777, "x")); err == nil || posts(777) != "" {
		t.Errorf("what is refused says where a voter is: %v", err)
	}
	s.stepErr = nil
	if err := c.Step(100*second, "there", letterTo(65, 777, "x")); err != nil || len(s.stepped) != 1 || posts(777) != "" {
		t.Errorf("a letter for another voter is taken: %v", err)
	}
	if err := c.Step(100*second, "there", letterTo(64, 777, "x")); err != nil || posts(777) != "there" {
		t.Errorf("voter 777 is at %q, %v", posts(777), err)
	}
	_ = c.Step(100*second, "moved", letterTo(64, 777, "x"))
	if at := posts(777); at != "moved" {
		t.Errorf("voter 777 is at %q", at)
	}
	for id := range uint64(100) {
		_ = c.Step(100*second, "crowd", letterTo(64, 1<<63+id*0x1234567, "x"))
	}
	if len(c.seen) > maxSeen {
		t.Errorf("%d places", len(c.seen))
	}
	for _, b := range [][]byte{nil, {64}, {255, 255}, {64, 65}, {64, 65, 255}} {
		if err := c.Step(100*second, "x", b); err == nil {
			t.Errorf("% x is taken", b)
		}
	}
}

// What the leader wants reaches the log, is wanted again if it is refused, and members are
// notified of what is then applied.
func TestReplicaProposes(t *testing.T) {
	c, s := leadingReplica(t)
	s.refuse = errors.New("busy")
	if err := c.Leader().Choose(central()); err != nil {
		t.Fatal(err)
	}
	for now := 102 * second; now < 110*second && len(s.proposed) < 2; now += second / 2 {
		for inc := range uint64(3) {
			c.hears(t, now, "m", Message{Kind: Renew, Inc: 64 + inc, Number: uint64(now), Epoch: 1})
		}
		c.Tick(now)
	}
	if len(s.proposed) < 2 || !slices.Equal(s.proposed[0], s.proposed[1]) {
		t.Fatalf("%d proposals", len(s.proposed))
	}
	s.refuse = nil
	for now := 110 * second; now < 140*second; now += second / 2 { // the log's disk is slow
		c.Tick(now)
	}
	if len(s.proposed) != 3 || !slices.Equal(s.proposed[0], s.proposed[2]) {
		t.Fatalf("%d proposals, 2 of them refused: want one more", len(s.proposed))
	}
	c.Out.Reset()
	s.machine.Apply(2, 1, s.proposed[0])
	c.Tick(141 * second)
	views := 0
	for _, l := range c.Out.Send {
		if m, err := ParseMessage(l.Bytes); err == nil && m.Kind == View {
			views++
		}
	}
	if views != 3 || c.Record().Epoch != 2 {
		t.Errorf("%d of 3 members hear of epoch %d", views, c.Record().Epoch)
	}
}

// A voter needs a state.
func TestReplicaWithoutState(t *testing.T) {
	if _, err := OpenReplica(ReplicaConfig{Logs: &stateless{}}); err == nil {
		t.Error("a voter starts without a state")
	}
	if _, err := OpenReplica(ReplicaConfig{Logs: &stateless{err: errors.New("rotten")}}); err == nil {
		t.Error("a voter starts from a damaged state")
	}
}

// stateless is logs whose state is empty, or cannot be read.
type stateless struct {
	script
	err error
}

func (s *stateless) Voter(state []byte) (cluster, voter uint64, err error) { return 0, 0, s.err }

// Saves come out in their order, and are acknowledged to the log. What waits for one is
// sent when it is durable, unless the log has failed.
func TestReplicaSaves(t *testing.T) {
	c, s := leadingReplica(t)
	s.next = []LogOut{{Saves: []Save{{Number: 1, Record: []byte("a")}, {Number: 2, Record: []byte("b")}}}}
	c.Tick(101 * second)
	if len(c.Out.Saves) != 2 || c.Out.Saves[1].Number != 2 {
		t.Fatalf("saves %v", c.Out.Saves)
	}
	post := []LogOut{{Send: []Post{{To: 64, Bytes: []byte("x")}}}}
	s.next = post
	c.Saved(101*second, 1)
	if !slices.Equal(s.saved, []uint64{1}) || c.Err != nil || len(c.Out.Post) != 1 {
		t.Errorf("saved %v, %v, %d posts", s.saved, c.Err, len(c.Out.Post))
	}
	s.savedErr, s.next = errors.New("the machine is damaged"), post
	c.Saved(101*second, 2)
	if c.Err == nil || len(c.Out.Post) != 1 {
		t.Errorf("a log that has failed: %v, %d posts", c.Err, len(c.Out.Post))
	}
	c.Saved(101*second, 3)
	if len(s.saved) != 2 {
		t.Error("a dead voter goes on")
	}
}

// A voter is removed when a record that can know of it does not have it.
func TestOver(t *testing.T) {
	r := born(t, 3, 3)
	r.Epoch = 5
	leaves := r
	leaves.Voters = slices.Clone(r.Voters)
	leaves.Voters[0].Leaves = true
	for _, x := range []struct {
		what string
		r    Record
		id   uint64
		want bool
	}{
		{"one that votes", r, 64, false},
		{"one that leaves: the others may need it still", leaves, 64, false},
		{"one that was forgotten", r, 67, true},
		{"one of this epoch that is not there", r, 5*64 + 1, true},
		{"one of the future", r, 6 * 64, false},
		{"one, by no record", Record{}, 64, false},
	} {
		if got := x.r.Over(x.id); got != x.want {
			t.Errorf("%s: %v", x.what, got)
		}
	}
}

// What a message from another voter says of the epochs that its process has seen counts,
// unless the log refuses the message.
func TestReplicaHearsOfEpochs(t *testing.T) {
	c, s := leadingReplica(t)
	letter := append(binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 64), 777), 50), 'x')
	for _, refused := range []error{errors.New("refused"), nil} {
		s.stepErr = refused
		if err := c.Step(102*second, "there", letter); err != refused {
			t.Fatal(err)
		}
		c.Tick(102 * second)
		if refused != nil {
			if len(s.proposed) > 0 {
				t.Error("a refused message is believed")
			}
			continue
		}
		if len(s.proposed) != 1 {
			t.Fatalf("%d proposals", len(s.proposed))
		}
		if x, err := ParseChange(s.proposed[0]); err != nil || x.Above != 50 {
			t.Errorf("%+v, %v", x, err)
		}
	}
}

// An epoch that the process has seen counts for the next view, and other voters are told of
// the highest one.
func TestReplicaRaises(t *testing.T) {
	c, s := leadingReplica(t)
	c.Raise(50)
	c.Raise(40)
	s.next = []LogOut{{Send: []Post{{To: 64, Bytes: []byte("x")}}}}
	c.Tick(102 * second)
	if x, err := ParseChange(s.proposed[0]); err != nil || x.Above != 50 {
		t.Errorf("%+v, %v", x, err)
	}
	want := append(binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 64), 64), 50), 'x')
	if len(c.Out.Post) != 1 || !slices.Equal(c.Out.Post[0].Bytes, want) {
		t.Errorf("%v, want % x", c.Out.Post, want)
	}
}
