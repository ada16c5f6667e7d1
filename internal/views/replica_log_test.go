package views

import (
	"errors"
	"slices"
	"testing"
)

// Applied entries are shown with their index, and so are restored ones.
func TestReplicaShows(t *testing.T) {
	var indexes, epochs []uint64
	s := &script{t: t, record: born(t, 3, 1)}
	c, err := OpenReplica(ReplicaConfig{Logs: s, Seen: func(index uint64, r *Record) {
		indexes, epochs = append(indexes, index), append(epochs, r.Epoch)
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.machine.Apply(7, 0, (&Change{Base: 1, Left: []uint64{66}}).AppendTo(nil))
	s.machine.Apply(8, 0, []byte("void"))
	if !slices.Equal(indexes, []uint64{1, 7, 8}) || !slices.Equal(epochs, []uint64{1, 2, 2}) {
		t.Errorf("indexes %v, epochs %v", indexes, epochs)
	}
	if s.machine.Restore(9, []byte("no record")) == nil || c.Record().Epoch != 2 {
		t.Error("bytes that are no record are restored")
	}
	if err := s.machine.Restore(9, s.machine.Snapshot()); err != nil || c.Record().Epoch != 2 {
		t.Errorf("a snapshot is not restored: %v", err)
	}
}

// Members hear of a changed record, also if a void entry follows before the leader looks,
// and if it was restored.
func TestReplicaNotices(t *testing.T) {
	for _, restored := range []bool{false, true} {
		c, s := leadingReplica(t)
		x := Change{Base: 1, Term: 1, Left: []uint64{66}}
		if restored {
			r := must(t, *c.Record(), x)
			if err := s.machine.Restore(5, r.AppendTo(nil)); err != nil {
				t.Fatal(err)
			}
		} else {
			s.machine.Apply(2, 1, x.AppendTo(nil))
			s.machine.Apply(3, 1, []byte("void"))
		}
		c.Tick(101 * second)
		if len(c.Out.Send) != 3 || c.Leader().Record().Epoch != 2 {
			t.Errorf("restored %v: %d messages, epoch %d", restored, len(c.Out.Send), c.Leader().Record().Epoch)
		}
	}
}

// A voter does not start from a state that cannot be read.
func TestReplicaIsNotOpened(t *testing.T) {
	planted := errors.New("planted")
	good := script{t: t, record: born(t, 1, 1)}
	for what, s := range map[string]Logs{
		"it is empty":            &failing{script: good},
		"it does not know whose": &failing{script: good, id: 64, identity: planted},
		"it cannot be opened":    &failing{script: good, id: 64, open: planted},
	} {
		if c, err := OpenReplica(ReplicaConfig{Logs: s}); err == nil || c != nil {
			t.Errorf("%s: opened", what)
		}
	}
	if _, err := OpenReplica(ReplicaConfig{Logs: &failing{script: good, id: 64}}); err != nil {
		t.Error(err)
	}
}

// failing is logs with errors.
type failing struct {
	script
	id             uint64
	identity, open error
}

func (s *failing) Voter([]byte) (cluster, voter uint64, err error) { return 9, s.id, s.identity }
func (s *failing) Start(state []byte, m Machine, seed uint64) (Log, error) {
	if s.open != nil {
		return nil, s.open
	}
	return s.script.Start(state, m, seed)
}

// A messageLog is a log that notes the messages it gets, refuses some of them, and has a fixed
// rest.
type messageLog struct {
	*script
	got             []string
	noRead, noOrder bool
}

func (l *messageLog) Step(from uint64, message []byte) error {
	l.got = append(l.got, string(message))
	return nil
}
func (l *messageLog) Rest() int { return 7 }
func (l *messageLog) Revote(want []uint64) error {
	if l.noOrder {
		return errors.New("busy")
	}
	return l.script.Revote(want)
}
func (l *messageLog) HandOver(to uint64) error {
	if l.noOrder {
		return errors.New("busy")
	}
	return l.script.HandOver(to)
}
func (l *messageLog) Read(number uint64) error {
	if l.noRead {
		return errors.New("busy")
	}
	return l.script.Read(number)
}

// A message from another voter reaches the log as it was sent, and what the log has to say
// to it goes out at once.
func TestReplicaSteps(t *testing.T) {
	c, s := leadingReplica(t)
	l := &messageLog{script: s}
	c.log = l
	s.next = []LogOut{{Send: []Post{{To: 5, Bytes: []byte("answer")}}}}
	if err := c.Step(100*second, "there", letterTo(64, 5, "hello")); err != nil || !slices.Equal(l.got, []string{"hello"}) {
		t.Errorf("the log gets %q, %v", l.got, err)
	}
	if len(c.Out.Post) != 1 || c.Out.Post[0].To != "there" {
		t.Errorf("%+v", c.Out.Post)
	}
	c.Out.Reset()
	s.next = []LogOut{{Send: []Post{{To: 999, Bytes: []byte("x")}}}}
	if c.Tick(100 * second); len(c.Out.Post) > 0 {
		t.Errorf("posts to a voter that is nowhere: %+v", c.Out.Post)
	}
	over := slices.Repeat([]byte{255}, 11)
	for _, b := range [][]byte{over, append([]byte{64}, over...)} {
		if err := c.Step(100*second, "x", b); err == nil || len(l.got) > 1 {
			t.Errorf("% x is taken", b)
		}
	}
	if err := c.Receive(100*second, "x", []byte{255}); err == nil {
		t.Error("bytes that are no message are taken")
	}
	if c.Rest() != 7 {
		t.Errorf("it rests for %d ticks", c.Rest())
	}
	if c.Err = errors.New("planted"); c.Rest() != 0 {
		t.Error("it rests though it has failed")
	}
}

// When too many voters were heard of, the last one is known at the cost of another.
func TestReplicaKnowsTheLast(t *testing.T) {
	c, s := leadingReplica(t)
	for id := range uint64(3 * maxSeen) {
		_ = c.Step(100*second, "crowd", letterTo(64, 1000+id, "x"))
	}
	_ = c.Step(100*second, "last", letterTo(64, 5, "x"))
	s.next = []LogOut{{Send: []Post{{To: 5, Bytes: []byte("x")}}}}
	if c.Tick(100 * second); len(c.Out.Post) != 1 || c.Out.Post[0].To != "last" || len(c.seen) != maxSeen {
		t.Errorf("%+v, %d places", c.Out.Post, len(c.seen))
	}
}

// What the log has applied by a tick is known before the leader decides: it does not
// propose again what has already happened.
func TestReplicaLooksFirst(t *testing.T) {
	c, s := leadingReplica(t)
	_ = c.Leader().Choose(central())
	for now := 101 * second; len(s.proposed) == 0; now += second / 10 {
		c.Tick(now)
	}
	s.machine.Apply(2, 1, s.proposed[0])
	if c.Tick(c.leader.now + 5*second); len(s.proposed) != 1 {
		t.Errorf("proposed %d times", len(s.proposed))
	}
}

// The leader knows which voters the log has, and asks for others, or that another one
// leads, when the record wants that. If the log has something to do it is asked at once
// what comes of it, also if it refuses something else.
func TestReplicaRevotes(t *testing.T) {
	c, s := leadingReplica(t)
	s.lead.Learners = []uint64{70}
	c.Tick(101 * second)
	if w := c.Leader(); !slices.Equal(w.list, []uint64{64}) || !w.growing || !w.steady {
		t.Errorf("voters %v, growing %v, steady %v", w.list, w.growing, w.steady)
	}
	s.lead.Learners, s.lead.Settled = nil, false
	c.Tick(102 * second)
	if w := c.Leader(); w.growing || w.steady {
		t.Errorf("growing %v, steady %v", w.growing, w.steady)
	}
	s.lead.Settled = true
	grown := must(t, *c.Record(), Change{Base: 1, Wanted: 3, Promote: []uint64{102, 103}})
	if err := s.machine.Restore(5, grown.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	s.next, s.revotes = []LogOut{{}, {}, {}}, nil
	c.Tick(103 * second)
	if len(s.revotes) != 1 || !slices.Equal(s.revotes[0], grown.staying()) || len(s.next) > 0 {
		t.Errorf("revotes %v, %d outputs of the log are left", s.revotes, len(s.next))
	}
	s.lead.Voters = grown.staying()
	gone := must(t, grown, Change{Base: 2, Left: []uint64{64, 65}, Retire: grown.staying()[:2]})
	if err := s.machine.Restore(6, gone.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	s.lead.Voters = []uint64{64, gone.staying()[0]}
	s.next = []LogOut{{}, {}, {}}
	if c.Tick(110 * second); len(s.next) > 0 || len(s.handed) != 1 || s.handed[0] != gone.staying()[0] {
		t.Errorf("handed over to %v, want %v", s.handed, gone.staying())
	}
}

// A log that has taken something is asked what comes of it, though it refuses something
// else.
func TestReplicaAsksAgain(t *testing.T) {
	for _, out := range []LeaderOut{{Read: 1}, {Read: 1, Revote: []uint64{1}}, {Read: 1, HandOver: 1}} {
		c, s := leadingReplica(t)
		c.log = &messageLog{script: s, noOrder: true}
		if !c.ask(&out) {
			t.Errorf("%+v: nothing comes of it", out)
		}
	}
	c, s := leadingReplica(t)
	c.log = &messageLog{script: s, noRead: true}
	_ = c.Leader().Choose(central())
	c.hears(t, 101*second, "b", Message{Kind: Renew, Inc: 65, Number: 3, Epoch: 1})
	s.next = []LogOut{{}, {}, {}}
	if c.Tick(102 * second); len(s.proposed) != 1 || len(s.next) > 0 {
		t.Errorf("proposed %d times, %d outputs of the log are left", len(s.proposed), len(s.next))
	}
}

// A small number is not that of a removed voter, as long as there is no record.
func TestOverWithoutRecord(t *testing.T) {
	if (&Record{}).Over(5) {
		t.Error("a voter is over by no record")
	}
}
