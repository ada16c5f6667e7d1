package session

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// hellos begins or resumes a session on a connection of an identity, and returns what the
// node answers.
func (n *node) hellos(conn uint64, who string, q Quota, f Frame) Frame {
	n.t.Helper()
	n.d.Opened(conn, who, q)
	f.Kind, f.Protocol, f.Number = Hello, Protocol, f.Number+1
	n.says(conn, f)
	all := n.hears(conn)
	if len(all) != 1 {
		n.t.Fatalf("%+v", all)
	}
	return all[0]
}

// A session cannot be resumed by another identity, even with its secret.
func TestAnotherIdentity(t *testing.T) {
	n := newNode(t)
	w := n.hellos(1, "client/a", Quota{}, Frame{})
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "x"})
	n.hears(1)
	n.d.Closed(1)
	for conn, who := range map[uint64]string{2: "client/b", 3: "", 4: "token/a"} {
		if got := n.hellos(conn, who, Quota{}, w); got.Kind != Welcome || got.Session == w.Session || got.Secret == w.Secret {
			t.Errorf("%q gets %+v", who, got)
		}
		n.says(conn, Frame{Kind: Check, Number: 1})
		expect(t, "of another session", n.hears(conn), Frame{Kind: Lost, Number: 1})
	}
	if got := n.hellos(5, "client/a", Quota{}, w); got.Session != w.Session {
		t.Errorf("%+v: its own session is not resumed", got)
	}
	if got, ok := n.d.Find(w.Session); !ok || got.Who != "client/a" || got.Holds != 1 {
		t.Errorf("%+v", got)
	}
}

// Quotas count what an identity has in all its sessions, and nothing of others.
func TestQuotas(t *testing.T) {
	n := newNode(t)
	q := Quota{Sessions: 2, Locks: 3, Names: 2}
	n.hellos(1, "client/a", q, Frame{})
	second := n.hellos(2, "client/a", q, Frame{})
	if got := n.hellos(3, "client/a", q, Frame{}); got.Kind != Bye || got.Why != Crowded {
		t.Errorf("a third session: %+v", got)
	}
	if got := n.hellos(2, "client/a", q, second); got.Session != second.Session {
		t.Errorf("%+v: it is not another session", got)
	}
	n.hellos(4, "client/b", Quota{}, Frame{})
	over := func(conn, number uint64, name string) {
		t.Helper()
		n.says(conn, Frame{Kind: Lock, Number: number, Name: name})
		expect(t, "over the quota", n.hears(conn), Frame{Kind: Over, Number: number, Why: OverQuota})
	}
	n.says(1, Frame{Kind: Lock, Number: 1, Name: "x"})
	n.says(1, Frame{Kind: Lock, Number: 2, Name: "y"})
	n.hears(1)
	over(1, 3, "z")
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "x"})
	over(2, 2, "x")
	n.says(2, Frame{Kind: Lock, Number: 1, Name: "x"}) // again: it waits already
	if got := n.hears(2); len(got) != 0 {
		t.Errorf("a repeated request: %+v", got)
	}
	n.says(4, Frame{Kind: Lock, Number: 1, Name: "z"})
	n.hears(1)
	n.hears(4)
	n.says(1, Frame{Kind: Unlock, Number: 2})
	n.says(1, Frame{Kind: Lock, Number: 4, Name: "w"})
	expect(t, "after a release", n.hears(1), Frame{Kind: Done, Number: 2, OK: true}, Frame{Kind: Held, Number: 4})
	n.d.Opened(1, "client/a", Quota{Locks: 9})
	n.says(1, Frame{Kind: Lock, Number: 5, Name: "v"})
	expect(t, "with a larger quota", n.hears(1), Frame{Kind: Held, Number: 5})
	n.says(1, Frame{Kind: Close})
	n.says(2, Frame{Kind: Close})
	if u := n.d.usages["client/a"]; u != nil {
		t.Errorf("%+v is counted without a session", u)
	}
	if got := n.hellos(6, "client/a", q, Frame{}); got.Kind != Welcome {
		t.Errorf("%+v", got)
	}
}

// Whatever happens, what is counted is what there is.
func TestCounted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := newNode(t)
	names := []string{"x", "y", "z"}
	who := []string{"client/a", "client/b", ""}
	conns := []uint64{}
	last, refused := uint64(0), map[Why]int{}
	for step := range 3000 {
		pick := func() uint64 { return conns[r.IntN(len(conns))] }
		switch k := r.IntN(20); {
		case k == 0 || len(conns) == 0:
			last++
			n.d.Opened(last, who[r.IntN(3)], Quota{Sessions: r.IntN(4), Locks: r.IntN(6), Names: r.IntN(3)})
			conns = append(conns, last)
			n.says(last, Frame{Kind: Hello, Number: 1, Protocol: Protocol})
		case k == 1:
			n.says(pick(), Frame{Kind: Close})
		case k == 2:
			i := r.IntN(len(conns))
			n.d.Closed(conns[i])
			conns = append(conns[:i], conns[i+1:]...)
		case k == 3:
			n.wake(n.now + 300*1_000_000)
		case k == 4 && step%5 == 0:
			n.d.End(Evicted)
			n.start(0)
		case k < 12:
			n.says(pick(), Frame{Kind: Lock, Number: uint64(r.IntN(5)), Name: names[r.IntN(3)], Try: k == 5})
		case k < 18:
			n.says(pick(), Frame{Kind: Unlock, Number: uint64(r.IntN(5))})
		default:
			n.says(pick(), Frame{Kind: Renew, Number: 1})
		}
		for _, s := range n.sent {
			if f, err := Parse(s.Bytes); err == nil && (f.Kind == Over || f.Kind == Bye) {
				refused[f.Why]++
			}
		}
		n.sent = n.sent[:0]
		is := map[string]*usage{}
		for _, s := range n.d.all {
			u := is[s.Who]
			if u == nil {
				u = &usage{names: map[string]int{}}
				is[s.Who] = u
			}
			u.sessions++
			states := map[uint8]int{}
			for r := s.first; r != nil; r = r.next {
				if states[r.state]++; r.state != gone {
					u.add(r.name)
				}
			}
			if got := s.tell(); got.Holds != states[held] || got.Waits != states[waiting] {
				t.Fatalf("step %d: %d held and %d awaited are counted, want %v", step, got.Holds, got.Waits, states)
			}
		}
		if len(n.d.usages) != len(is) {
			t.Fatalf("step %d: %d identities are counted, want %d", step, len(n.d.usages), len(is))
		}
		for who, u := range n.d.usages {
			if want := is[who]; u.sessions != want.sessions || u.names != nil && (u.locks != want.locks || !maps.Equal(u.names, want.names)) {
				t.Fatalf("step %d: %+v of %q is counted, want %+v", step, u, who, want)
			}
		}
	}
	if refused[OverQuota] == 0 || refused[Crowded] == 0 {
		t.Errorf("refused %v: too little happened", refused)
	}
}

// An identity has no more than its share of a node's sessions. Clients without an identity are not told apart, and have no share.
func TestShareOfSessions(t *testing.T) {
	n := newNode(t)
	n.d.config.Sessions = 32
	conn := uint64(0)
	open := func(who string) (got int) {
		for {
			conn++
			if f := n.hellos(conn, who, Quota{}, Frame{}); f.Kind != Welcome {
				if want := map[bool]Why{true: Full, false: Crowded}[n.d.Sessions() == 32]; f.Why != want {
					t.Errorf("%q is told %v", who, f.Why)
				}
				return got
			}
			got++
		}
	}
	if a, b, others := open("client/a"), open("client/b"), open(""); a != 16 || b != 8 || others != 8 {
		t.Errorf("%d, %d and %d sessions, and not 16, 8 and 8", a, b, others)
	}
}
