package views

import (
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

func testMembership(t *testing.T, voters ...string) *Membership {
	t.Helper()
	p, err := NewMembership(MembershipConfig{Name: "X", Address: "x", Nonce: 500, Voters: voters})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sent returns the messages sent since, with their receivers.
func (p *Membership) sent(t *testing.T) (all []Message, to []string) {
	t.Helper()
	for _, l := range p.Out.Send {
		m, err := ParseMessage(l.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		all, to = append(all, m), append(to, l.To)
	}
	p.Out.Reset()
	return all, to
}

func (p *Membership) told(t *testing.T, now member.Instant, from string, m Message) {
	t.Helper()
	if m.Cluster == 0 {
		m.Cluster = 9
	}
	if err := p.Receive(now, from, m.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
}

// joined returns a membership that is a member, beside A and B, and its record.
func joined(t *testing.T) (*Membership, Record) {
	p := testMembership(t, "A", "B")
	p.Join(1)
	r := must(t, born(t, 2, 1), Change{Base: 1, Join: []Joiner{{"X", "x", 500, 0}}})
	p.told(t, 2, "A", Message{Kind: View, Record: r.AppendTo(nil)})
	if p.Inc() != 128 || !p.Out.View {
		t.Fatalf("incarnation %d", p.Inc())
	}
	p.Out.Reset()
	return p, r
}

func TestMembershipJoins(t *testing.T) {
	p := testMembership(t, "N", "M")
	p.Join(1)
	if all, to := p.sent(t); len(all) != 1 || all[0].Kind != Join || to[0] != "N" {
		t.Fatalf("%v %v", all, to)
	}
	p.Wake(p.Out.Wake - 1)
	if all, _ := p.sent(t); len(all) > 0 {
		t.Error("too soon")
	}
	p.Wake(p.Out.Wake) // N does not answer
	if all, to := p.sent(t); len(all) != 1 || to[0] != "M" {
		t.Fatalf("%v %v", all, to)
	}
	p.told(t, second, "M", Message{Kind: NotLeader, Address: "A"})
	if all, to := p.sent(t); len(all) != 1 || to[0] != "A" {
		t.Fatalf("%v %v", all, to)
	}
	r := born(t, 2, 1)
	p.told(t, second, "A", Message{Kind: Wait, Nonce: 500, Reason: Reach, Record: r.AppendTo(nil)})
	if all, to := p.sent(t); len(all) != 2 || all[0].Kind != Probe || to[0] != "A" || to[1] != "B" {
		t.Fatalf("%v %v", all, to)
	}
	p.told(t, second+1, "A", Message{Kind: Probed, Nonce: 500, Inc: 64})
	if all, _ := p.sent(t); len(all) > 0 {
		t.Error("it asks again before it has reached all")
	}
	p.told(t, second+2, "B", Message{Kind: Probed, Nonce: 500, Inc: 65})
	if all, _ := p.sent(t); len(all) != 1 || all[0].Kind != Join || len(all[0].Who) != 2 {
		t.Fatalf("%v", all)
	}
	p.told(t, second+3, "A", Message{Kind: Gone, Nonce: 499})
	if p.Out.Ending != Running {
		t.Error("another one is gone")
	}
	p.told(t, second+3, "A", Message{Kind: Gone, Nonce: 500})
	if p.Out.Ending != Evicted {
		t.Error("it was admitted and evicted before it heard of it")
	}
}

func TestMembershipRenews(t *testing.T) {
	p, r := joined(t)
	p.Renew(10, 1, true, []uint64{65})
	if all, _ := p.sent(t); len(all) != 1 || all[0].Number != 1 || !all[0].Forget || len(all[0].Who) != 1 || all[0].Epoch != 2 {
		t.Fatalf("%+v", all)
	}
	p.Wake(p.Out.Wake)
	all, to := p.sent(t)
	if len(all) != 1 || all[0].Number != 1 || to[0] != "B" {
		t.Fatalf("%v %v", all, to)
	}
	p.told(t, second, "B", Message{Kind: NotLeader, Inc: 128, Address: "A"})
	p.sent(t)
	p.told(t, second, "A", Message{Kind: Renewed, Inc: 128, Number: 1, Epoch: 5})
	if len(p.Out.Renewed) != 1 {
		t.Error("not confirmed")
	}
	if all, _ := p.sent(t); len(all) != 1 || all[0].Kind != Fetch || all[0].Epoch != 2 {
		t.Fatalf("%+v", all)
	}
	p.told(t, second, "A", Message{Kind: Renewed, Inc: 127, Number: 2, Epoch: 5})
	if len(p.Out.Renewed) != 0 {
		t.Error("another one's is confirmed")
	}
	next := must(t, r, Change{Base: 2, Left: []uint64{65}})
	p.told(t, second, "A", Message{Kind: View, Record: next.AppendTo(nil)})
	if !p.Out.View || p.Record().Epoch != 3 {
		t.Error("no view")
	}
	p.Out.Reset()
	p.told(t, second, "A", Message{Kind: View, Record: r.AppendTo(nil)})
	if p.Out.View || p.Record().Epoch != 3 {
		t.Error("an older view")
	}
	next = must(t, next, Change{Base: 3, Drop: []uint64{128}})
	p.told(t, second, "A", Message{Kind: View, Record: next.AppendTo(nil)})
	if p.Out.View || p.Out.Ending != Evicted {
		t.Error("a view without it")
	}
}

func TestMembershipLeaves(t *testing.T) {
	p, r := joined(t)
	p.Renew(5, 1, false, nil)
	p.Leave(10)
	p.Out.Reset()
	p.Renew(11, 2, false, nil)
	p.told(t, 12, "A", Message{Kind: Renewed, Inc: 128, Number: 1, Epoch: 2})
	if len(p.Out.Renewed) > 0 || len(p.Out.Send) > 0 {
		t.Error("one that leaves renews")
	}
	p.Wake(p.Out.Wake)
	if all, _ := p.sent(t); len(all) != 1 || all[0].Kind != Leave {
		t.Fatalf("%v", all)
	}
	next := must(t, r, Change{Base: 2, Left: []uint64{128}})
	p.told(t, second, "A", Message{Kind: View, Record: next.AppendTo(nil)})
	if p.Out.Ending != Left {
		t.Errorf("%v", p.Out.Ending)
	}
}

// A member whose voters are of another cluster for long is none of anything.
func TestMembershipReplaced(t *testing.T) {
	p, _ := joined(t)
	p.told(t, 5*second, "A", Message{Kind: Other, Cluster: 77, Former: 9, Inc: 128})
	if p.Out.Ending != Running {
		t.Error("an address was wrong, perhaps")
	}
	p.told(t, 50*second, "A", Message{Kind: Gone, Cluster: 77, Inc: 128})
	if p.Out.Ending != Running {
		t.Error("another cluster says that it is gone")
	}
	p.told(t, 50*second, "A", Message{Kind: Other, Cluster: 77, Former: 9, Inc: 128})
	if p.Out.Ending != Replaced {
		t.Errorf("%v", p.Out.Ending)
	}
}

// A process that knows its cluster believes nothing that is said in another one, even
// before it has heard from its own.
func TestMembershipForeign(t *testing.T) {
	p, err := NewMembership(MembershipConfig{Name: "X", Address: "x", Nonce: 500, Cluster: 8, Voters: []string{"A"}})
	if err != nil {
		t.Fatal(err)
	}
	p.Join(1)
	p.Out.Reset()
	r := must(t, born(t, 2, 1), Change{Base: 1, Join: []Joiner{{"X", "x", 500, 0}}})
	for _, m := range []Message{{Kind: View, Record: r.AppendTo(nil)}, {Kind: Wait, Nonce: 500, Record: r.AppendTo(nil)}, {Kind: Gone, Nonce: 500}} {
		p.told(t, 2, "A", m)
		if p.Inc() != 0 || p.Record().Cluster != 0 || p.Out.Ending != Running || p.Out.View {
			t.Errorf("%s of another cluster: incarnation %d, %+v", m.Kind, p.Inc(), p.Record())
		}
	}
}

// Members that are no voters know who is one.
func TestRefer(t *testing.T) {
	p, _ := joined(t)
	m := Message{Kind: Join, Nonce: 7, Name: "Y"}
	if err := p.Refer(9, "Y", m.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	if all, to := p.sent(t); len(all) != 1 || all[0].Kind != NotLeader || all[0].Address != "A" || to[0] != "Y" {
		t.Fatalf("%v %v", all, to)
	}
	p.told(t, 9, "Y", Message{Kind: Probe, Nonce: 7})
	if all, _ := p.sent(t); len(all) != 1 || all[0].Kind != Probed || all[0].Inc != 128 || all[0].Nonce != 7 {
		t.Fatalf("%v", all)
	}
}

// A process answers calls with the number of the call, as long as it is that incarnation,
// and also while it leaves.
func TestMembershipIsCalled(t *testing.T) {
	p, _ := joined(t)
	p.Leave(20 * second)
	p.sent(t)
	p.told(t, 20*second, "A", Message{Kind: Call, Inc: 129, Number: 6})
	p.told(t, 20*second, "A", Message{Kind: Call, Inc: 128, Number: 7})
	if all, to := p.sent(t); len(all) != 1 || to[0] != "A" || all[0].Kind != Here || all[0].Inc != 128 || all[0].Number != 7 {
		t.Errorf("%+v to %v", all, to)
	}
}

// voterOf returns a member that is a voter, and its record: C of A, B and C.
func voterOf(t *testing.T) (*Membership, Record) {
	t.Helper()
	p, err := NewMembership(MembershipConfig{Name: "C", Address: "C", Nonce: 103, Voters: []string{"A"}})
	if err != nil {
		t.Fatal(err)
	}
	p.Join(1)
	r := born(t, 3, 3)
	p.told(t, 2, "A", Message{Kind: View, Record: r.AppendTo(nil)})
	p.Out.Reset()
	return p, r
}

// A leaving voter ends only when the record no longer has it: until then the log
// may need its vote. It learns that from a view, or, because members that have left
// are sent none, from the voter of its own process.
func TestLeavingVoterStays(t *testing.T) {
	for what, learns := range map[string]func(p *Membership, r Record){
		"by a view":         func(p *Membership, r Record) { p.told(t, 20, "A", Message{Kind: View, Record: r.AppendTo(nil)}) },
		"by its own record": func(p *Membership, r Record) { p.Know(20, &r) },
	} {
		p, r := voterOf(t)
		p.Leave(10)
		p.Out.Reset()
		retired := must(t, r, Change{Base: 1, Left: []uint64{66}, Retire: []uint64{65, 66}})
		if learns(p, retired); p.Out.Ending != Running || p.Record().Epoch != 2 {
			t.Errorf("%s: ends with %v while its vote is needed, in epoch %d", what, p.Out.Ending, p.Record().Epoch)
		}
		p.Wake(p.Out.Wake)
		if all, _ := p.sent(t); len(all) != 1 || all[0].Kind != Leave || all[0].Voter != 66 {
			t.Errorf("%s: it asks %+v", what, all)
		}
		if learns(p, must(t, retired, Change{Base: 2, Forget: []uint64{65, 66}})); p.Out.Ending != Left {
			t.Errorf("%s: ends with %v when its vote is not needed", what, p.Out.Ending)
		}
	}
	p, r := voterOf(t)
	p.Leave(10)
	learned := must(t, r, Change{Base: 1, Left: []uint64{66}, Retire: []uint64{65, 66}})
	p.told(t, 20, "A", Message{Kind: View, Record: learned.AppendTo(nil)})
	if p.told(t, 21, "A", Message{Kind: Gone, Inc: 66}); p.Out.Ending != Left {
		t.Errorf("ends with %v when the leader lets it go", p.Out.Ending)
	}
}

// So does a member that becomes a voter while it leaves. One that is evicted does
// not wait: its voter starts again with the next process.
func TestLeavingMemberBecomesVoter(t *testing.T) {
	p, r := joined(t)
	p.Leave(10)
	p.Out.Reset()
	r = must(t, r, Change{Base: 2, Wanted: 3, Promote: []uint64{102, 500}})
	p.told(t, 20, "A", Message{Kind: View, Record: r.AppendTo(nil)})
	p.Wake(p.Out.Wake)
	if all, _ := p.sent(t); len(all) != 1 || all[0].Kind != Leave || all[0].Voter != r.Members[2].Voter || all[0].Voter == 0 {
		t.Errorf("voter %d asks %+v", r.Members[2].Voter, all)
	}
	r = must(t, r, Change{Base: 3, Left: []uint64{128}, Retire: []uint64{r.Members[1].Voter, r.Members[2].Voter}})
	if p.told(t, 30, "A", Message{Kind: View, Record: r.AppendTo(nil)}); p.Out.Ending != Running {
		t.Errorf("ends with %v while its vote is needed", p.Out.Ending)
	}

	p, r = voterOf(t)
	r = must(t, r, Change{Base: 1, Drop: []uint64{66}})
	if p.told(t, 20, "A", Message{Kind: View, Record: r.AppendTo(nil)}); p.Out.Ending != Evicted {
		t.Errorf("ends with %v when evicted", p.Out.Ending)
	}
}

// Only a leaving member learns from its own voter, and only of its own cluster.
// What it learns is its own.
func TestKnow(t *testing.T) {
	p, r := voterOf(t)
	next := must(t, r, Change{Base: 1, Choices: central()})
	if p.Know(20, &next); p.Out.View || p.Record().Epoch != 1 {
		t.Error("a member that stays installs a view that was not sent to it")
	}
	p.Leave(21)
	other := next.Clone()
	other.Cluster, other.Epoch = 10, 7
	if p.Know(22, &other); p.Record().Epoch != 1 {
		t.Error("the record of another cluster")
	}
	if p.Know(23, &r); p.Out.View {
		t.Error("the record that it has")
	}
	p.Know(24, &next)
	if next.Members[0].Name = "changed"; p.Record().Epoch != 2 || p.Record().Members[0].Name != "A" {
		t.Errorf("%+v", p.Record())
	}
}
