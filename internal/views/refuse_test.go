package views

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A process that was told to join another cluster ends when its own has not answered for
// eight retries. Its own voter counts only if it leads.
func TestMisled(t *testing.T) {
	const limit = 8 * 300 * member.Instant(member.Millisecond)
	for what, x := range map[string]struct {
		from   string
		at     member.Instant
		before Message // heard at time 2, unless it is empty
		by     string
		want   error
	}{
		"too soon":                  {"A", 1 + limit, Message{}, "", nil},
		"in time":                   {"A", 2 + limit, Message{}, "", &OtherCluster{9, 7, "A"}},
		"where it was not told":     {"B", 2 + limit, Message{}, "", nil},
		"its own cluster is there":  {"A", 2 + limit, Message{Kind: NotLeader}, "B", nil},
		"it was there for a while":  {"A", 3 + limit, Message{Kind: NotLeader}, "B", &OtherCluster{9, 7, "A"}},
		"its own voter follows":     {"A", 2 + limit, Message{Kind: NotLeader}, "x", &OtherCluster{9, 7, "A"}},
		"its own voter leads":       {"A", 2 + limit, Message{Kind: Wait, Nonce: 500}, "x", nil},
		"a word for another":        {"A", 2 + limit, Message{Kind: Wait, Cluster: 7, Nonce: 500}, "A", &OtherCluster{9, 7, "A"}},
		"its own cluster, unheard":  {"A", 2 + limit, Message{Kind: Other, Cluster: 7, Inc: 5}, "A", &OtherCluster{9, 7, "A"}},
		"a later generation, early": {"A", 3, Message{Kind: Other, Cluster: 7, Former: 9, Newer: true}, "B", &Recovered{9, 7, "B"}},
	} {
		p := joins(t, MembershipConfig{Voters: []string{"A", "B", "x"}, Join: []string{"A"}, Cluster: 9})
		if x.before.Kind != Join {
			p.told(t, 2, x.by, x.before)
		}
		p.told(t, x.at, x.from, Message{Kind: Other, Cluster: 7, Former: 9})
		if !reflect.DeepEqual(p.Err(), x.want) || (p.Out.Ending == Refused) != (x.want != nil) {
			t.Errorf("%s: %v, ending %d, want %v", what, p.Err(), p.Out.Ending, x.want)
		}
	}
}

// A late answer to a process that did not know the new cluster yet does not end one that
// does.
func TestLateOther(t *testing.T) {
	for _, late := range []Message{{Kind: Other, Cluster: 7, Former: 9, Newer: true}, {Kind: Other, Cluster: 8, Former: 9, Newer: true}} {
		p := joins(t, MembershipConfig{Voters: []string{"A", "B"}, Join: []string{"A"}, Cluster: 7})
		p.told(t, 100*second, "A", late)
		if p.Err() != nil || p.Out.Ending != Running {
			t.Errorf("%+v: %v, ending %d", late, p.Err(), p.Out.Ending)
		}
	}
}

// A member of an older generation ends when its own cluster has been silent for two leases,
// and does not join the new one.
func TestOlderMember(t *testing.T) {
	for _, x := range []struct {
		after member.Instant
		want  Ending
	}{{20 * second, Running}, {20*second + 1, Refused}} {
		p, _ := joined(t)
		p.told(t, 30*second, "B", Message{Kind: NotLeader, Inc: 64})
		p.told(t, 30*second+x.after, "A", Message{Kind: Other, Cluster: 7, Former: 9, Inc: 128, Newer: true})
		if p.Out.Ending != x.want {
			t.Errorf("after %d: %d, want %d", x.after, p.Out.Ending, x.want)
		}
	}
}

// A process whose name or voter is that of a member ends when that one answers from another
// address. Until then it waits, and says for what.
func TestBearer(t *testing.T) {
	r := born(t, 2, 1) // A has voter 64, and B none
	for what, x := range map[string]struct {
		name, address string
		voter         uint64
		why           Reason
		by            uint64 // the member that answers the probe
		probes        bool
		want          error
	}{
		"a name":                     {"B", "x", 0, NameUse, 65, true, &InUse{"B", false, "B", "B"}},
		"a name, and another member": {"B", "x", 0, NameUse, 64, true, nil},
		"its own name":               {"B", "B", 0, NameUse, 65, false, nil},
		"a copied disk":              {"A", "x", 64, NameUse, 64, true, &InUse{"A", true, "A", "A"}},
		"a copy with a name":         {"X", "x", 64, VoterUse, 64, true, &InUse{"X", true, "A", "A"}},
		"its own disk":               {"X", "A", 64, VoterUse, 64, false, nil},
		"a name, with another voter": {"B", "x", 70, NameUse, 65, true, &InUse{"B", false, "B", "B"}},
	} {
		p, err := NewMembership(MembershipConfig{Name: x.name, Address: x.address, Nonce: 500, Voter: x.voter, Voters: []string{"A"}})
		if err != nil {
			t.Fatal(err)
		}
		p.Join(1)
		p.sent(t)
		p.told(t, 2, "A", Message{Kind: Wait, Nonce: 500, Reason: x.why, Record: r.AppendTo(nil)})
		all, _ := p.sent(t)
		if probes := slices.ContainsFunc(all, func(m Message) bool { return m.Kind == Probe }); probes != x.probes {
			t.Errorf("%s: it sends %v", what, all)
		}
		if !strings.Contains(p.Waits(), "still a member") {
			t.Errorf("%s: it waits for %q", what, p.Waits())
		}
		p.told(t, 3, "B", Message{Kind: Probed, Nonce: 500, Inc: x.by})
		if !reflect.DeepEqual(p.Err(), x.want) || (p.Out.Ending == Refused) != (x.want != nil) {
			t.Errorf("%s: %v, want %v", what, p.Err(), x.want)
		}
		if copied := strings.Contains(what, "cop"); x.want != nil && strings.Contains(p.Err().Error(), "data directory") != copied {
			t.Errorf("%s: the operator reads %v", what, p.Err())
		}
	}
}

// Why a process waits is known from the last answer.
func TestWaits(t *testing.T) {
	r := born(t, 2, 1)
	p := joins(t, MembershipConfig{Voters: []string{"A"}})
	for i, x := range []struct {
		why  Reason
		want string
	}{{Reach, "node A at A"}, {Full, "2 members"}, {Flaps, "evicted repeatedly"}, {Soon, ""}} {
		if p.told(t, member.Instant(2+i), "A", Message{Kind: Wait, Nonce: 500, Reason: x.why, Record: r.AppendTo(nil)}); !strings.Contains(p.Waits(), x.want) || x.want == "" && p.Waits() != "" {
			t.Errorf("reason %d: %q", x.why, p.Waits())
		}
	}
	p.told(t, 10, "A", Message{Kind: Wait, Nonce: 500, Reason: Reach})
	p.told(t, 11, "A", Message{Kind: Probed, Nonce: 500, Inc: 64})
	if !strings.Contains(p.Waits(), "node B at B") {
		t.Errorf("%q", p.Waits())
	}
	p.told(t, 12, "A", Message{Kind: Wait, Nonce: 500, Reason: Full})
	r = must(t, r, Change{Base: 1, Join: []Joiner{{"X", "x", 500, 0}}})
	if p.told(t, 13, "A", Message{Kind: View, Record: r.AppendTo(nil)}); p.Inc() == 0 || p.Waits() != "" {
		t.Errorf("incarnation %d waits: %q", p.Inc(), p.Waits())
	}
}

// A leader does not admit a process with the voter of a member.
func TestVoterInUse(t *testing.T) {
	d := lead(t, 2, 1)
	d.live(2*second, 64, 65)
	for voter, want := range map[uint64]Reason{0: Soon, 64: VoterUse, 65: Soon} {
		all := d.say("X", Message{Kind: Join, Name: "X", Address: "X", Nonce: 5, Voter: voter, Who: []uint64{64, 65}})
		if len(all) != 1 || all[0].Reason != want {
			t.Errorf("voter %d: %+v, want %d", voter, all, want)
		}
	}
}

// A restored cluster names those that it was restored from, the last of them, and answers
// their processes so.
func TestEarlier(t *testing.T) {
	r := born(t, 2, 1)
	var want []uint64
	for i := range uint64(maxEarlier + 2) {
		want = append(want, r.Cluster)
		x, err := Restored(&r, Restore{Cluster: 100 + i}, Joiner{"A", "A", 900 + i, 0})
		if err != nil {
			t.Fatal(err)
		}
		r = must(t, r, x)
	}
	if want = want[2:]; !slices.Equal(r.Earlier, want) {
		t.Errorf("%d, want %d", r.Earlier, want)
	}
	l := NewLeader(r.Voters[0].ID, r)
	for cluster, newer := range map[uint64]bool{want[0]: true, r.Cluster - 1: true, 9: false, 5: false} {
		l.floor = 0
		m := Message{Kind: Fetch, Cluster: cluster, Inc: 1, Seen: 77}
		if err := l.Receive(1, "X", m.AppendTo(nil)); err != nil || (l.floor == 77) != newer {
			t.Fatalf("%v, floor %d", err, l.floor)
		}
		got, err := ParseMessage(l.Out.Send[len(l.Out.Send)-1].Bytes)
		if err != nil || got.Kind != Other || got.Newer != newer || got.Cluster != r.Cluster {
			t.Errorf("cluster %d: %+v, %v", cluster, got, err)
		}
	}
}

// A process that is not a member yet does not join an older generation, however short ago
// that has answered. A member is not misled by an answer from another cluster: it goes on
// as long as its own may.
func TestOtherClusterAnswers(t *testing.T) {
	r := born(t, 2, 1)
	p := joins(t, MembershipConfig{Voters: []string{"A"}, Cluster: 9})
	p.told(t, 2, "A", Message{Kind: Wait, Nonce: 500, Reason: Full, Record: r.AppendTo(nil)})
	p.told(t, 3, "B", Message{Kind: Other, Cluster: 7, Former: 9, Newer: true})
	if want := (&Recovered{9, 7, "B"}); !reflect.DeepEqual(p.Err(), want) {
		t.Errorf("its cluster was recovered: %v, want %v", p.Err(), want)
	}
	p = joins(t, MembershipConfig{Voters: []string{"A"}, Join: []string{"A"}, Cluster: 9})
	r = must(t, r, Change{Base: 1, Join: []Joiner{{"X", "x", 500, 0}}})
	p.told(t, 2, "A", Message{Kind: View, Record: r.AppendTo(nil)})
	p.told(t, 9*second, "A", Message{Kind: Other, Cluster: 7, Former: 9, Inc: 128})
	if p.Inc() != 128 || p.Err() != nil || p.Out.Ending != Running {
		t.Errorf("incarnation %d ends: %d, %v", p.Inc(), p.Out.Ending, p.Err())
	}
}

// A process that does not know its cluster is answered by any voter, and not referred to
// another cluster. A voter without a record believes no epoch.
func TestWithoutCluster(t *testing.T) {
	join := Message{Kind: Join, Name: "X", Address: "X", Nonce: 5, Seen: 50}
	for _, r := range []Record{born(t, 2, 1), {}} {
		l := NewLeader(64, r)
		if err := l.Receive(1, "X", join.AppendTo(nil)); err != nil || len(l.Out.Send) != 1 {
			t.Fatalf("%d answers, %v", len(l.Out.Send), err)
		}
		if m, err := ParseMessage(l.Out.Send[0].Bytes); err != nil || m.Kind != NotLeader || l.floor != 0 {
			t.Errorf("cluster %d: %+v, %v; it believes epoch %d", r.Cluster, m, err, l.floor)
		}
	}
}
