package mutex

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stile-lock/stile/core"
)

// A host is a group of machines and the messages between them, without time:
// a test says what happens next.
type host struct {
	t        *testing.T
	spec     core.Spec
	n        int
	machines []core.Machine
	links    [][]packet // by sender and receiver: from*n+to
	phase    []uint8    // what the application sees of each process
	entries  []core.ID
	denied   int
	sent     int
	out      core.Output
}

type packet struct {
	name  string
	bytes []byte
}

func newHost(t *testing.T, spec core.Spec, v core.View) *host {
	t.Helper()
	ms, err := spec.Group(v)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, spec: spec, n: v.N, machines: ms, links: make([][]packet, v.N*v.N), phase: make([]uint8, v.N)}
	if v.Busy {
		h.phase[v.Holder] = held
	}
	return h
}

func (h *host) step(p core.ID, in core.Input) {
	h.t.Helper()
	if err := h.machines[p].Step(in, &h.out); err != nil {
		h.t.Fatalf("%s: %v: %v", h.spec.Name, p, err)
	}
	for i, s := range h.out.Sends {
		l := &h.links[int(p)*h.n+int(s.To)]
		*l = append(*l, packet{h.spec.Kinds[s.Kind], append([]byte(nil), h.out.Bytes(i)...)})
		h.sent++
	}
	if h.out.Entered {
		h.phase[p] = held
		h.entries = append(h.entries, p)
	}
	if h.out.Denied {
		h.phase[p] = released
		h.denied++
	}
}

func (h *host) start() {
	for p := range core.ID(h.n) {
		h.step(p, core.Input{Kind: core.Start})
	}
}

// ask and leave take processes as people number them, from 1.
func (h *host) ask(p int) {
	h.t.Helper()
	h.phase[p-1] = wanted
	h.step(core.ID(p-1), core.Input{Kind: core.Request})
}

func (h *host) leave(p int) {
	h.t.Helper()
	if h.phase[p-1] != held {
		h.t.Fatalf("P%d is not inside and cannot leave", p)
	}
	h.phase[p-1] = released
	h.step(core.ID(p-1), core.Input{Kind: core.Release})
}

// take delivers message number i of a link.
func (h *host) take(link, i int) packet {
	h.t.Helper()
	l := h.links[link]
	m := l[i]
	h.links[link] = append(append([]packet(nil), l[:i]...), l[i+1:]...)
	h.step(core.ID(link%h.n), core.Input{Kind: core.Receive, From: core.ID(link / h.n), Bytes: m.bytes})
	return m
}

// deliver hands over the next message from one process to another, which must
// be of that kind.
func (h *host) deliver(from, to int, name string) {
	h.t.Helper()
	link := (from-1)*h.n + to - 1
	if len(h.links[link]) == 0 {
		h.t.Fatalf("no message from P%d to P%d, want %s", from, to, name)
	}
	if m := h.take(link, 0); m.name != name {
		h.t.Fatalf("P%d to P%d: %s, want %s", from, to, m.name, name)
	}
}

// settle delivers everything, link by link, until nothing is under way. A
// token that never rests must not be here.
func (h *host) settle() {
	h.t.Helper()
	for round, busy := 0, true; busy; round++ {
		if round > 1000*h.n {
			h.t.Fatalf("%s does not settle", h.spec.Name)
		}
		busy = false
		for link := range h.links {
			if len(h.links[link]) > 0 {
				busy = true
				h.take(link, 0)
			}
		}
	}
}

func (h *host) wantEntries(want ...int) {
	h.t.Helper()
	got := make([]int, len(h.entries))
	for i, p := range h.entries {
		got[i] = int(p) + 1
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		h.t.Fatalf("%s: entries %v, want %v", h.spec.Name, got, want)
	}
}

func (h *host) field(p int, name string) string {
	for _, f := range core.Describe(h.machines[p-1], h.n) {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func (h *host) wantField(p int, name, want string) {
	h.t.Helper()
	if got := h.field(p, name); got != want {
		h.t.Fatalf("%s: %s of P%d is %q, want %q", h.spec.Name, name, p, got, want)
	}
}

// judge returns what is wrong with the state of the group, if anything: two
// inside, a wrong number of tokens, or an alibi for a process that is inside.
// The last is all that an alibi claims: it depends on the state of the machine
// that gives it, so it stands for as long as that machine takes no step.
func (h *host) judge(tokens int) string {
	in := core.None
	for p := range core.ID(h.n) {
		if h.phase[p] != held {
			continue
		}
		if in != core.None {
			return fmt.Sprintf("%v and %v are both inside", in, p)
		}
		in = p
	}
	for s := range core.ID(h.n) {
		if in != core.None && h.machines[s].Alibi(in) {
			return fmt.Sprintf("%v gives %v an alibi, which is inside", s, in)
		}
	}
	if tokens >= 0 && h.tokens() != tokens {
		return fmt.Sprintf("%d tokens, want %d", h.tokens(), tokens)
	}
	return ""
}

func (h *host) tokens() int {
	n := 0
	for _, m := range h.machines {
		n += core.Tokens(m, h.n)
	}
	for link := range h.links {
		for _, p := range h.links[link] {
			mark, err := core.MarkOf(h.machines[0], h.n, p.bytes)
			if err != nil {
				h.t.Fatal(err)
			}
			n += mark.Tokens
		}
	}
	return n
}

// walk lets anything happen that can, by chance: a process that is idle asks,
// one that is inside leaves, a message arrives (the next of its link if fifo).
// After the given number of steps nobody asks any more, and all who wait must
// get in. It returns what went wrong.
func (h *host) walk(rng *rand.Rand, steps int, fifo bool, tokens int) string {
	for i := 0; ; i++ {
		type action struct{ kind, at int }
		var can []action
		waiting := false
		for p := range h.n {
			switch h.phase[p] {
			case released:
				if i < steps {
					can = append(can, action{0, p})
				}
			case held:
				can = append(can, action{1, p})
			default:
				waiting = true
			}
		}
		for link := range h.links {
			if len(h.links[link]) > 0 {
				// Messages are likelier than requests, so that some are alone.
				can = append(can, action{2, link}, action{2, link})
			}
		}
		if i >= steps && !waiting && h.idle() {
			return ""
		}
		if len(can) == 0 || i > 1000*steps {
			return fmt.Sprintf("after %d steps somebody waits for ever", i)
		}
		a := can[rng.IntN(len(can))]
		switch a.kind {
		case 0:
			h.ask(a.at + 1)
		case 1:
			h.leave(a.at + 1)
		default:
			k := 0
			if !fifo {
				k = rng.IntN(len(h.links[a.at]))
			}
			h.take(a.at, k)
		}
		if wrong := h.judge(tokens); wrong != "" {
			return wrong
		}
	}
}

func (h *host) idle() bool {
	for _, p := range h.phase {
		if p != released {
			return false
		}
	}
	return true
}
