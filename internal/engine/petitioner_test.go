package engine

import (
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

func petitioner(t *testing.T, voters ...string) *Petitioner {
	t.Helper()
	p, err := NewPetitioner(PetitionerConfig{Name: "X", Address: "x", Nonce: 500, Voters: voters})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sent returns what was sent since, and to whom.
func (p *Petitioner) sent(t *testing.T) (all []Message, to []string) {
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

func (p *Petitioner) told(t *testing.T, now member.Instant, from string, m Message) {
	t.Helper()
	if m.Cluster == 0 {
		m.Cluster = 9
	}
	if err := p.Receive(now, from, m.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
}

// joined returns a petitioner that is a member, beside A and B, and its record.
func joined(t *testing.T) (*Petitioner, Record) {
	p := petitioner(t, "A", "B")
	p.Join(1)
	r := must(t, born(t, 2, 1), Change{Base: 1, Join: []Joiner{{"X", "x", 500, 0}}})
	p.told(t, 2, "A", Message{Kind: View, Record: r.AppendTo(nil)})
	if p.Inc() != 128 || !p.Out.View {
		t.Fatalf("incarnation %d", p.Inc())
	}
	p.Out.Reset()
	return p, r
}

func TestPetitionerJoins(t *testing.T) {
	p := petitioner(t, "N", "M")
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

func TestPetitionerRenews(t *testing.T) {
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

func TestPetitionerLeaves(t *testing.T) {
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
func TestPetitionerReplaced(t *testing.T) {
	p, _ := joined(t)
	p.told(t, 5*second, "A", Message{Kind: Other, Cluster: 77, Inc: 128})
	if p.Out.Ending != Running {
		t.Error("an address was wrong, perhaps")
	}
	p.told(t, 50*second, "A", Message{Kind: Gone, Cluster: 77, Inc: 128})
	if p.Out.Ending != Running {
		t.Error("another cluster says that it is gone")
	}
	p.told(t, 50*second, "A", Message{Kind: Other, Cluster: 77, Inc: 128})
	if p.Out.Ending != Replaced {
		t.Errorf("%v", p.Out.Ending)
	}
}

// Members that are no voters know who is one.
// One that knows its cluster takes no word of another one, before it has heard of its
// own as well.
func TestPetitionerForeign(t *testing.T) {
	p, err := NewPetitioner(PetitionerConfig{Name: "X", Address: "x", Nonce: 500, Cluster: 8, Voters: []string{"A"}})
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

// Whoever is called answers with the number of the call, as long as it is that
// incarnation, and also while it leaves.
func TestPetitionerIsCalled(t *testing.T) {
	p, _ := joined(t)
	p.Leave(20 * second)
	p.sent(t)
	p.told(t, 20*second, "A", Message{Kind: Call, Inc: 129, Number: 6})
	p.told(t, 20*second, "A", Message{Kind: Call, Inc: 128, Number: 7})
	if all, to := p.sent(t); len(all) != 1 || to[0] != "A" || all[0].Kind != Here || all[0].Inc != 128 || all[0].Number != 7 {
		t.Errorf("%+v to %v", all, to)
	}
}
