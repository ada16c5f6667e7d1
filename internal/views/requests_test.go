package views

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// joins returns a membership that wants to join and has not been answered, at time 1,
// and asks every 300 ms.
func joins(t *testing.T, c MembershipConfig) *Membership {
	t.Helper()
	c.Name, c.Address, c.Nonce, c.Retry = "X", "x", 500, 300*member.Millisecond
	p, err := NewMembership(c)
	if err != nil {
		t.Fatal(err)
	}
	p.Join(1)
	p.sent(t)
	return p
}

// asks wakes a joining process so many times, and returns which processes it asks.
func (p *Membership) asks(t *testing.T, times int) (all []string) {
	t.Helper()
	for range times {
		p.Wake(p.Out.Wake)
		_, to := p.sent(t)
		all = append(all, to...)
	}
	return all
}

// Invalid configurations are refused, at the bounds too.
func TestMembershipConfig(t *testing.T) {
	long := string(make([]byte, maxName))
	far := string(make([]byte, member.MaxAddress))
	good := MembershipConfig{Name: long, Address: far, Nonce: 1, Voters: []string{"A"}}
	if p, err := NewMembership(good); err != nil || p.config.Retry != member.Second/2 || p.Out.Wake != member.Never {
		t.Errorf("%+v, %v", p, err)
	}
	for what, spoil := range map[string]func(c *MembershipConfig){
		"no name":          func(c *MembershipConfig) { c.Name = "" },
		"a long name":      func(c *MembershipConfig) { c.Name += "x" },
		"a long address":   func(c *MembershipConfig) { c.Address += "x" },
		"no nonce":         func(c *MembershipConfig) { c.Nonce = 0 },
		"nobody to ask":    func(c *MembershipConfig) { c.Voters = nil },
		"an empty list":    func(c *MembershipConfig) { c.Voters = []string{} },
		"name and address": func(c *MembershipConfig) { c.Name, c.Address = "", far+"x" },
	} {
		c := good
		if spoil(&c); refused(c) == nil {
			t.Errorf("%s: not refused", what)
		}
	}
}

func refused(c MembershipConfig) error {
	_, err := NewMembership(c)
	return err
}

// Bytes that no voter sends are an error, and change nothing.
func TestMembershipRefuses(t *testing.T) {
	p, r := joined(t)
	broken := r.Clone()
	broken.Epoch, broken.Wanted = 9, 2
	joining := joins(t, MembershipConfig{Voters: []string{"A"}})
	for what, x := range map[string]struct {
		to *Membership
		b  []byte
	}{
		"no message":              {p, []byte{255}},
		"nothing":                 {p, nil},
		"a message for voters":    {p, (&Message{Kind: Join, Cluster: 9, Nonce: 1, Name: "Y"}).AppendTo(nil)},
		"a STATE":                 {p, (&Message{Kind: State, Cluster: 9}).AppendTo(nil)},
		"a broken record":         {p, (&Message{Kind: View, Cluster: 9, Record: broken.AppendTo(nil)}).AppendTo(nil)},
		"a WAIT with no record":   {joining, (&Message{Kind: Wait, Cluster: 9, Nonce: 500, Record: []byte{7}}).AppendTo(nil)},
		"a WAIT with a bad one":   {joining, (&Message{Kind: Wait, Cluster: 9, Nonce: 500, Record: broken.AppendTo(nil)}).AppendTo(nil)},
		"a VIEW without a record": {joining, (&Message{Kind: View, Cluster: 9}).AppendTo(nil)},
	} {
		if err := x.to.Receive(second, "A", x.b); !errors.Is(err, errBytes) {
			t.Errorf("%s: %v", what, err)
		}
		if len(x.to.Out.Send) > 0 || x.to.Out.View || x.to.Out.Ending != Running {
			t.Errorf("%s: %+v", what, x.to.Out)
		}
	}
	if err := p.Refer(second, "Y", []byte{255}); err == nil {
		t.Error("bytes that are no message are referred")
	}
}

// A message of an unknown kind that a later version may send to any process is ignored,
// whatever it contains.
func TestOptionalMessages(t *testing.T) {
	for _, b := range [][]byte{{0x40}, {0x7f}, {0x40, 0, 9}} {
		p, _ := joined(t)
		if _, err := ParseMessage(b); err != errOptional {
			t.Errorf("% x is read: %v", b, err)
		}
		if err := p.Receive(3, "A", b); err != nil || len(p.Out.Send) > 0 || p.Out.View || p.Out.Ending != Running {
			t.Errorf("% x: %v, %+v", b, err, p.Out)
		}
	}
	for _, b := range [][]byte{{0x3f}, {0x80}} {
		if _, err := ParseMessage(b); !errors.Is(err, errBytes) {
			t.Errorf("% x is read: %v", b, err)
		}
	}
}

// Answers to others, and to what was asked before, have no effect.
func TestMembershipIgnores(t *testing.T) {
	member2, r := joined(t)
	later := must(t, r, Change{Base: 2, Join: []Joiner{{"Y", "y", 501, 0}}})
	fresh := joins(t, MembershipConfig{Voters: []string{"A", "B"}})
	joining := joins(t, MembershipConfig{Voters: []string{"A", "B"}})
	one := born(t, 1, 1)
	joining.told(t, 2, "A", Message{Kind: Wait, Nonce: 500, Record: one.AppendTo(nil)})
	left, _ := joined(t)
	left.Leave(3)
	left.told(t, 4, "A", Message{Kind: Gone, Inc: 128})
	left.Out = MembershipOut{}
	for what, x := range map[string]struct {
		to *Membership
		m  Message
	}{
		"WAIT with another nonce":      {joining, Message{Kind: Wait, Nonce: 501, Record: later.AppendTo(nil)}},
		"WAIT to a member":             {member2, Message{Kind: Wait, Nonce: 500, Record: later.AppendTo(nil)}},
		"RENEWED of another":           {member2, Message{Kind: Renewed, Inc: 64, Number: 1, Epoch: 7}},
		"GONE with no incarnation":     {member2, Message{Kind: Gone, Inc: 0, Nonce: 500}},
		"GONE of another incarnation":  {joining, Message{Kind: Gone, Inc: 0, Nonce: 501}},
		"NOTLEADER to another":         {member2, Message{Kind: NotLeader, Inc: 64, Address: "B"}},
		"PROBE before it is a member":  {joining, Message{Kind: Probe, Nonce: 7}},
		"CALL before it is a member":   {joining, Message{Kind: Call, Inc: 0, Number: 1}},
		"PROBED to a member":           {member2, Message{Kind: Probed, Nonce: 500, Inc: 64}},
		"PROBED with another nonce":    {joining, Message{Kind: Probed, Nonce: 501, Inc: 64}},
		"PROBED by a stranger":         {joining, Message{Kind: Probed, Nonce: 500, Inc: 99}},
		"OTHER to one that knows none": {fresh, Message{Kind: Other, Cluster: 7}},
		"OTHER to another":             {member2, Message{Kind: Other, Cluster: 7, Inc: 64}},
		"a VIEW to one that has ended": {left, Message{Kind: View, Record: later.AppendTo(nil)}},
		"a PROBE to one that has left": {left, Message{Kind: Probe, Nonce: 7}},
	} {
		x.to.Out.Wake = 77
		target, epoch := x.to.target, x.to.record.Epoch
		x.to.told(t, 100*second, "A", x.m)
		if o := x.to.Out; len(o.Send)+len(o.Renewed) > 0 || o.View || o.Ending != Running || o.Wake != 77 || x.to.target != target || x.to.record.Epoch != epoch || len(x.to.reached) > 0 {
			t.Errorf("%s: %+v", what, o)
		}
	}
}

// It asks again after the time of its config, or of a quarter renewal once it knows the
// settings, and four times as late if the answer was to wait.
func TestMembershipWaits(t *testing.T) {
	p := joins(t, MembershipConfig{Voters: []string{"A"}})
	const ms = member.Instant(member.Millisecond)
	wake := func(want member.Instant) {
		t.Helper()
		if p.Out.Wake != want {
			t.Errorf("it asks at %d, want %d", p.Out.Wake, want)
		}
	}
	wake(1 + 300*ms)
	p.told(t, second, "A", Message{Kind: Wait, Nonce: 500, Reason: Full})
	wake(second + 1200*ms)
	if len(p.Out.Send) > 0 {
		t.Errorf("it sends %v, though it reaches all", p.Out.Send)
	}
	r := born(t, 2, 1)
	p.told(t, second, "A", Message{Kind: Wait, Nonce: 500, Reason: Full, Record: r.AppendTo(nil)})
	wake(3 * second)
	p.Wake(3 * second)
	wake(3*second + second/2)
	r = must(t, r, Change{Base: 1, Join: []Joiner{{"X", "x", 500, 0}}})
	p.told(t, 4*second, "A", Message{Kind: Wait, Nonce: 500, Reason: Reach, Record: r.AppendTo(nil)})
	if wake(member.Never); p.Inc() != 128 || !p.Out.View || len(p.Out.Send) != 1 {
		t.Errorf("it is a member by the record, and it is %d: %+v", p.Inc(), p.Out)
	}
}

// It asks the voters of the record in turn, and between two rounds one other process: the
// configured contacts, then the members. Without a record the first contact stands for the
// voters.
func TestMembershipRotates(t *testing.T) {
	p := joins(t, MembershipConfig{Voters: []string{"N", "M", "A"}})
	if got, want := p.asks(t, 5), []string{"M", "N", "A", "N", "M"}; !slices.Equal(got, want) {
		t.Errorf("without a record it asks %v, want %v", got, want)
	}
	r := born(t, 3, 3)
	r.Voters[1].Address, r.Voters[2].Leaves = "V", true
	r.Voters = append(r.Voters, Voter{ID: 67, Address: "W"})
	p.record = r
	p.target, p.others = "A", 0
	got := p.asks(t, 18)
	want := []string{"V", "W", "N", "A", "V", "W", "M", "A", "V", "W", "B", "A", "V", "W", "C", "A", "V", "W"}
	if !slices.Equal(got, want) {
		t.Errorf("it asks %v, want %v", got, want)
	}
	if got, want := p.voters(), []string{"A", "V", "W", "N", "M", "B", "C"}; !slices.Equal(got, want) {
		t.Errorf("it can ask %v, want %v", got, want)
	}
	p.config.Address = "C"
	if slices.Contains(p.voters(), "C") {
		t.Error("it asks itself")
	}
}

// A voter that has answered since is asked again; an answer from another does not count,
// and neither does one that names no voter.
func TestMembershipStays(t *testing.T) {
	p := joins(t, MembershipConfig{Voters: []string{"A", "B"}})
	p.told(t, 2, "A", Message{Kind: Wait, Nonce: 500})
	p.told(t, 3, "B", Message{Kind: Wait, Nonce: 500})
	if got := p.asks(t, 1); got[0] != "A" {
		t.Errorf("it asks %v, though A has answered", got)
	}
	p.told(t, 3, "A", Message{Kind: Wait, Nonce: 501})
	if got := p.asks(t, 1); got[0] != "A" {
		t.Errorf("it asks %v, though A has answered another process", got)
	}
	p.told(t, 2, "B", Message{Kind: Wait, Nonce: 500})
	if got := p.asks(t, 1); got[0] != "B" {
		t.Errorf("it asks %v, though A has not answered", got)
	}
	for _, leader := range []string{"", "B"} {
		p.target, p.others = "B", 1
		p.told(t, 3, "B", Message{Kind: NotLeader, Address: leader})
		if _, to := p.sent(t); len(to) > 0 {
			t.Errorf("it asks %v at once", to)
		}
		if got := p.asks(t, 1); got[0] != "A" {
			t.Errorf("it asks %v, though B does not lead and names %q", got, leader)
		}
	}
}

// It is sent on four times in a row; then it waits.
func TestMembershipHops(t *testing.T) {
	p := joins(t, MembershipConfig{Voters: []string{"A"}})
	for range 2 {
		for i := range 6 {
			p.told(t, 2, p.target, Message{Kind: NotLeader, Address: fmt.Sprint("leader ", i)})
			if _, to := p.sent(t); (len(to) == 1) != (i < 4) {
				t.Errorf("sent on %d times, it asks %v", i+1, to)
			}
		}
		p.Wake(p.Out.Wake)
		p.sent(t)
	}
}

// One that wants to join any cluster forgets what it knew when its voters are those of
// another one; one that wants to join a certain cluster does not.
func TestMembershipMeetsAnotherCluster(t *testing.T) {
	r := born(t, 2, 1)
	for _, cluster := range []uint64{0, 9} {
		p := joins(t, MembershipConfig{Voters: []string{"A"}, Cluster: cluster})
		p.told(t, 2, "A", Message{Kind: Wait, Nonce: 500, Reason: Reach, Record: r.AppendTo(nil)})
		p.told(t, 3, "A", Message{Kind: Probed, Nonce: 500, Inc: 64})
		p.told(t, 4, "A", Message{Kind: Other, Cluster: 7, Former: 9, Inc: 128})
		if p.record.Cluster != 9 || len(p.reached) != 1 {
			t.Error("what another is told counts")
		}
		p.told(t, 4, "A", Message{Kind: Wait, Cluster: 7, Nonce: 500})
		if p.record.Cluster != 9 {
			t.Error("a WAIT of another cluster counts")
		}
		p.told(t, 100*second, "A", Message{Kind: Other, Cluster: 7, Former: 9})
		if forgot := p.record.Cluster == 0 && p.reached == nil; forgot != (cluster == 0) || p.Out.Ending != Running {
			t.Errorf("wants cluster %d, and knows %d of cluster %d", cluster, len(p.reached), p.record.Cluster)
		}
	}
}

// A member believes that its cluster no longer exists after two leases without an answer
// from it.
func TestMembershipIsPatient(t *testing.T) {
	for _, x := range []struct {
		after member.Instant
		want  Ending
	}{{20 * second, Running}, {20*second + 1, Replaced}} {
		p, _ := joined(t)
		p.told(t, 30*second, "B", Message{Kind: NotLeader, Inc: 64})
		p.told(t, 30*second+x.after, "A", Message{Kind: Other, Cluster: 7, Former: 9, Inc: 128})
		if p.Out.Ending != x.want {
			t.Errorf("after %d it has ended by %d, want %d", x.after, p.Out.Ending, x.want)
		}
		if x.want != Running && (p.Out.Wake != member.Never || p.phase != ended) {
			t.Errorf("it goes on: %+v", p.Out)
		}
	}
}

// A member counts as reached for twelve retries, also if it answers twice, and only as
// long as it is a member.
func TestMembershipReaches(t *testing.T) {
	p := joins(t, MembershipConfig{Voters: []string{"A"}})
	r := born(t, 3, 1)
	p.told(t, 2, "A", Message{Kind: Wait, Nonce: 500, Reason: Reach, Record: r.AppendTo(nil)})
	if all, to := p.sent(t); len(all) != 3 || !slices.Equal(to, []string{"A", "B", "C"}) || all[2].Nonce != 500 {
		t.Fatalf("%v to %v", all, to)
	}
	p.told(t, 2*second, "B", Message{Kind: Probed, Nonce: 500, Inc: 65})
	p.told(t, 3*second, "A", Message{Kind: Probed, Nonce: 500, Inc: 64})
	p.told(t, 3*second, "A", Message{Kind: Probed, Nonce: 500, Inc: 64})
	if len(p.Out.Send) > 0 || len(p.reached) != 2 {
		t.Errorf("%d members are reached, and it asks: %v", len(p.reached), p.Out.Send)
	}
	for now, want := range map[member.Instant][]uint64{8 * second: {64, 65}, 8*second + 1: {64}, 9 * second: {64}, 9*second + 1: nil} {
		if p.now = now; !slices.Equal(p.reaches(), want) {
			t.Errorf("at %d it reaches %v, want %v", now, p.reaches(), want)
		}
	}
	p.now = 3 * second
	p.told(t, 3*second, "C", Message{Kind: Probed, Nonce: 500, Inc: 66})
	if all, _ := p.sent(t); len(all) != 1 || !slices.Equal(all[0].Who, []uint64{64, 65, 66}) {
		t.Errorf("%v", all)
	}
	p.told(t, 3*second, "C", Message{Kind: Probed, Nonce: 500, Inc: 66})
	if len(p.Out.Send) > 0 {
		t.Errorf("it asks again: %v", p.Out.Send)
	}
	next := must(t, r, Change{Base: 1, Left: []uint64{64}})
	p.told(t, 3*second, "A", Message{Kind: Wait, Nonce: 500, Reason: Full, Record: next.AppendTo(nil)})
	if got := p.reaches(); !slices.Equal(got, []uint64{65, 66}) {
		t.Errorf("it reaches %v, of whom 64 is not a member", got)
	}
}

// A renewal is repeated until it or a later one is confirmed. A higher epoch, and only a
// higher one, is fetched.
func TestMembershipConfirmed(t *testing.T) {
	for number, repeats := range map[uint64]bool{4: true, 5: false, 6: false} {
		p, _ := joined(t)
		p.Renew(second, 5, false, nil)
		p.sent(t)
		p.told(t, second, "A", Message{Kind: Renewed, Inc: 128, Number: number, Epoch: 2})
		if len(p.Out.Send) > 0 || !slices.Equal(p.Out.Renewed, []uint64{number}) {
			t.Errorf("confirmed %d: %+v", number, p.Out)
		}
		if p.Wake(p.due); (len(p.Out.Send) == 1) != repeats {
			t.Errorf("confirmed %d: it sends %d messages", number, len(p.Out.Send))
		}
	}
	p, r := joined(t)
	for _, epoch := range []uint64{2, 1} {
		if p.Newer(second, epoch); len(p.Out.Send) > 0 {
			t.Errorf("it fetches epoch %d, and has epoch 2", epoch)
		}
	}
	p.Newer(second, 3)
	if all, _ := p.sent(t); len(all) != 1 || all[0].Kind != Fetch || all[0].Epoch != 2 || p.Out.Wake != second+second/2 {
		t.Errorf("%v, again at %d", all, p.Out.Wake)
	}
	p.Newer(second, 3)
	p.told(t, second, "A", Message{Kind: Renewed, Inc: 128, Number: 1, Epoch: 3})
	if len(p.Out.Send) > 0 {
		t.Errorf("it fetches twice: %v", p.Out.Send)
	}
	next := must(t, r, Change{Base: 2, Left: []uint64{65}})
	p.told(t, second, "A", Message{Kind: View, Record: next.AppendTo(nil)})
	if !p.Out.View || p.Out.Wake != member.Never {
		t.Errorf("it has the view, and asks again at %d", p.Out.Wake)
	}
	if p.Wake(9 * second); len(p.Out.Send) > 0 || p.target != "A" || p.Out.Wake != member.Never {
		t.Errorf("it has nothing to ask, and asks %v, next %s", p.Out.Send, p.target)
	}
	p.Out.Reset()
	if p.told(t, second, "A", Message{Kind: View, Record: next.AppendTo(nil)}); p.Out.View {
		t.Error("the same view is new")
	}
	p.Newer(2*second, 9)
	p.sent(t)
	last := must(t, next, Change{Base: 3})
	if p.told(t, 2*second, "A", Message{Kind: View, Record: last.AppendTo(nil)}); p.Out.Wake == member.Never {
		t.Error("it does not ask for epoch 9 any more")
	}
	p, r = joined(t)
	p.Renew(second, 1, false, nil)
	next = must(t, r, Change{Base: 2, Left: []uint64{65}})
	if p.told(t, second, "A", Message{Kind: View, Record: next.AppendTo(nil)}); p.Out.Wake == member.Never {
		t.Error("it does not repeat its renewal any more")
	}
}

// Only members renew, fetch and leave; one that is none yet has left at once.
func TestMembershipPhases(t *testing.T) {
	p := joins(t, MembershipConfig{Voters: []string{"A"}})
	p.Join(2)
	p.Renew(2, 1, false, nil)
	p.Newer(2, 9)
	if len(p.Out.Send) > 0 {
		t.Errorf("it is not a member, and sends %v", p.Out.Send)
	}
	if p.Leave(2); p.Out.Ending != Left || p.Out.Wake != member.Never {
		t.Errorf("%+v", p.Out)
	}
	idle := testMembership(t, "A")
	if idle.Leave(1); idle.Out.Ending != Left || len(idle.Out.Send) > 0 {
		t.Errorf("%+v", idle.Out)
	}
	p, r := joined(t)
	if p.Renew(second, 1, false, nil); p.Out.Wake != second+second/2 {
		t.Errorf("it renews again at %d", p.Out.Wake)
	}
	p.sent(t)
	if p.Leave(2 * second); p.Out.Ending != Running || p.Out.Wake != 2*second+second/2 {
		t.Errorf("a member leaves without a word, or asks again at %d", p.Out.Wake)
	}
	if all, _ := p.sent(t); len(all) != 1 || all[0].Kind != Leave || all[0].Inc != 128 {
		t.Errorf("%v", all)
	}
	p.Newer(second, 3)
	if all, _ := p.sent(t); len(all) != 2 || all[1].Kind != Fetch {
		t.Errorf("one that leaves does not fetch: %v", all)
	}
	other := r.Clone()
	other.Cluster, other.Epoch = 10, 5
	p.Know(second, &other)
	p.Know(second, &r)
	if p.record.Epoch != 2 || p.Out.View {
		t.Errorf("it takes an old record, or one of another cluster: epoch %d", p.record.Epoch)
	}
	next := must(t, r, Change{Base: 2, Left: []uint64{128}})
	if p.Know(second, &next); p.Out.Ending != Left {
		t.Errorf("%+v", p.Out)
	}
	p, r = joined(t)
	next = must(t, r, Change{Base: 2, Left: []uint64{128}})
	if p.Know(second, &next); p.record.Epoch != 2 {
		t.Error("one that does not leave takes the record of its voter")
	}
	if p.told(t, second, "A", Message{Kind: Gone, Inc: 128}); p.Out.Ending != Evicted {
		t.Errorf("%+v", p.Out)
	}
}

// After the end nothing is sent, whatever was under way.
func TestMembershipEnds(t *testing.T) {
	p, _ := joined(t)
	p.Renew(second, 1, false, nil)
	p.Newer(second, 7)
	p.told(t, second, "A", Message{Kind: Gone, Inc: 128})
	p.Out.Reset()
	p.Wake(member.Never - 1)
	p.Newer(3*second, 8)
	p.Renew(3*second, 2, false, nil)
	p.Leave(3 * second)
	p.Join(3 * second)
	p.ask()
	if len(p.Out.Send) > 0 || p.Out.Ending != Running || p.Out.Wake != member.Never {
		t.Errorf("%+v", p.Out)
	}
}

// One that leaves waits until the voters can do without the one in its process, be it
// the first of them; one that is evicted does not wait.
func TestMembershipLeavesAsVoter(t *testing.T) {
	for _, leaves := range []bool{true, false} {
		p := joins(t, MembershipConfig{Voters: []string{"A"}})
		x := Birth(Start{Cluster: 9, Epoch: 1, Settings: member.Usual()}, 3, central(), Joiner{"X", "x", 500, 0}, Joiner{"B", "b", 102, 0}, Joiner{"C", "c", 103, 0})
		r := must(t, Record{}, x)
		p.told(t, second, "A", Message{Kind: View, Record: r.AppendTo(nil)})
		if p.config.Voter != 64 || r.Voters[0].ID != 64 {
			t.Fatalf("voter %d", p.config.Voter)
		}
		out := Change{Base: 1, Drop: []uint64{64}, Retire: []uint64{64, 65}}
		if leaves {
			p.Leave(second)
			out.Drop, out.Left = nil, out.Drop
		}
		p.Out = MembershipOut{}
		r = must(t, r, out)
		p.told(t, second, "A", Message{Kind: View, Record: r.AppendTo(nil)})
		if want := map[bool]Ending{true: Running, false: Evicted}[leaves]; p.Out.Ending != want || p.Out.View {
			t.Fatalf("leaves %v: %+v", leaves, p.Out)
		}
		r = must(t, r, Change{Base: 2, Forget: []uint64{64}})
		if p.told(t, second, "A", Message{Kind: View, Record: r.AppendTo(nil)}); leaves && p.Out.Ending != Left {
			t.Errorf("%+v", p.Out)
		}
	}
}

// A process that runs no voter names the one that it asks, if that is one by the record
// and it has not ended.
func TestMembershipRefers(t *testing.T) {
	m := Message{Kind: Renew, Inc: 65, Number: 1}
	p, _ := joined(t)
	p.target = "B"
	if _ = p.Refer(9, "Y", m.AppendTo(nil)); len(p.Out.Send) > 0 {
		t.Errorf("it names B, which is no voter: %v", p.Out.Send)
	}
	p.target = "A"
	_ = p.Refer(9, "Y", m.AppendTo(nil))
	if all, _ := p.sent(t); len(all) != 1 || all[0].Inc != 65 || all[0].Epoch != 2 || all[0].Cluster != 9 {
		t.Errorf("%v", all)
	}
	p.told(t, second, "A", Message{Kind: Gone, Inc: 128})
	if _ = p.Refer(9, "Y", m.AppendTo(nil)); len(p.Out.Send) > 0 {
		t.Errorf("it has ended, and says %v", p.Out.Send)
	}
}

// Messages carry the cluster of the record, or else that of the config.
func TestMembershipNamesItsCluster(t *testing.T) {
	for _, cluster := range []uint64{0, 9} {
		c := MembershipConfig{Name: "X", Address: "x", Nonce: 500, Voter: 70, Voters: []string{"A"}, Cluster: cluster}
		p, err := NewMembership(c)
		if err != nil {
			t.Fatal(err)
		}
		p.Join(1)
		if all, _ := p.sent(t); len(all) != 1 || all[0].Cluster != cluster || all[0].Voter != 70 || all[0].Name != "X" || all[0].Address != "x" || all[0].Epoch != 0 {
			t.Errorf("%+v", all)
		}
		r := born(t, 1, 1)
		p.told(t, 2, "A", Message{Kind: Wait, Nonce: 500, Record: r.AppendTo(nil)})
		p.Wake(p.Out.Wake)
		if all, _ := p.sent(t); len(all) != 1 || all[0].Cluster != 9 || all[0].Epoch != 1 {
			t.Errorf("%+v", all)
		}
	}
}
