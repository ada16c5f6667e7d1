package model

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/locks"
)

// contents writes a state down.
func contents(g *state) string {
	return fmt.Sprint(g.seats, g.messages, g.timers, g.env.Append(nil), g.crashes, g.comebacks, g.errors, g.losses)
}

// packings returns models whose states are packed in different ways.
func packings(t *testing.T) []*Model {
	t.Helper()
	var all []*Model
	for _, n := range []int{2, 16, 17, 64} {
		for way := range 16 {
			env, err := locks.New(locks.Config{Nodes: n, Requests: 3})
			if err != nil {
				t.Fatal(err)
			}
			c := Config{Spec: mutex.Central(0), Seats: n, Env: env, Waiters: []algorithm.ID{0}, Tagged: way&1 != 0, Losses: way & 2 * 7}
			if way&4 != 0 {
				c.Crashes, c.Comebacks = 15, 15
			}
			if way&8 != 0 {
				c.Clock = Units
			}
			m, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, m)
		}
	}
	return all
}

// drawState draws a state that a model can pack.
func drawState(r *rand.Rand, m *Model) *state {
	g := newState(m.Seats, m.Env)
	number := func(most uint32) uint32 { return r.Uint32() % (most>>r.IntN(32) + 1) }
	yes := func(may bool) bool { return may && r.IntN(2) == 0 }
	for i := range g.seats {
		g.seats[i] = seat{number(maxBlobs - 1), yes(m.mortal)}
	}
	if m.mortal {
		g.crashes, g.comebacks, g.errors = uint8(r.IntN(16)), uint8(r.IntN(16)), uint8(r.IntN(2))
	}
	if m.Losses > 0 {
		g.losses = uint8(r.IntN(16))
	}
	for range r.IntN(8) {
		l := message{blob: number(maxBlobs - 1), link: uint16(r.IntN(m.Seats * m.Seats)), old: yes(m.Clock == Units)}
		if m.Tagged {
			l.tag = family.Tag(number(1 << 20))
		}
		g.messages = append(g.messages, l)
	}
	for range r.IntN(4) {
		g.timers = append(g.timers, timer{
			id: int32(number(1 << 20)), tag: family.Tag(number(1 << 20)), seat: uint8(r.IntN(m.Seats)), left: uint16(number(maxUnits)),
		})
	}
	return g
}

// A state that is packed and unpacked is the same, and two that differ differ in their
// bytes.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, m := range packings(t) {
		seen := map[string]string{}
		got := newState(m.Seats, m.Env)
		for range 200 {
			g := drawState(r, m)
			b := m.pack(nil, g)
			m.unpack(b, got)
			want := contents(g)
			if contents(got) != want {
				t.Fatalf("%d seats: % x is unpacked as\n%s\nwant\n%s", m.Seats, b, contents(got), want)
			}
			if other, ok := seen[string(b)]; ok && other != want {
				t.Fatalf("%d seats: both %s\nand %s\nare packed as % x", m.Seats, other, want, b)
			}
			seen[string(b)] = want
			from, to := algorithm.ID(r.IntN(m.Seats)), algorithm.ID(r.IntN(m.Seats))
			l := message{link: uint16(int(from)*m.Seats + int(to))}
			if p, q := m.ends(&l); p != from || q != to || g.to(&l) != int(to) {
				t.Fatalf("%d seats: a message from %v to %v goes from %v to %v", m.Seats, from, to, p, q)
			}
			clone := newState(m.Seats, m.Env)
			clone.copyFrom(drawState(r, m))
			if clone.copyFrom(g); contents(clone) != want {
				t.Fatalf("a copy of %s is %s", want, contents(clone))
			}
		}
	}
}

// Messages are sorted by link, those of one link in order of sending, and timers by seat
// and number: after any changes, they are what plain lists are.
func TestMessagesAndTimers(t *testing.T) {
	env, err := locks.New(locks.Config{Nodes: 3})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(2, 1))
	for range 200 {
		g := newState(3, env)
		var messages []message
		timers := map[string]timer{}
		for i := range 60 {
			switch r.IntN(5) {
			case 0, 1:
				l := message{blob: uint32(i), link: uint16(r.IntN(9))}
				g.add(l)
				messages = append(messages, l)
			case 2:
				if n := len(messages); n > 0 {
					k := r.IntN(n)
					g.remove(slices.Index(g.messages, messages[k]))
					messages = slices.Delete(messages, k, k+1)
				}
			case 3:
				x := timer{id: int32(r.IntN(3)), seat: uint8(r.IntN(3)), left: uint16(r.IntN(2)), tag: family.Tag(i)}
				g.start(x)
				timers[fmt.Sprint(x.seat, x.id)] = x
			case 4:
				seat, id := uint8(r.IntN(3)), int32(r.IntN(3))
				other := g.another(seat, id)
				if x, runs := timers[fmt.Sprint(seat, id)]; runs && other != 1-x.left || !runs && other != 0 {
					t.Fatalf("timer %d of seat %d runs: %v, %+v; if it is set anew, %d", id, seat, runs, x, other)
				}
				g.stop(seat, id)
				delete(timers, fmt.Sprint(seat, id))
			}
			sorted := slices.Clone(messages)
			slices.SortStableFunc(sorted, func(a, b message) int { return cmp.Compare(a.link, b.link) })
			if !slices.Equal(sorted, g.messages) {
				t.Fatalf("messages are %v, want %v", g.messages, sorted)
			}
			var running []timer
			for seat := range uint8(3) {
				for id := range int32(3) {
					if x, ok := timers[fmt.Sprint(seat, id)]; ok {
						running = append(running, x)
					}
				}
			}
			if !slices.Equal(running, g.timers) {
				t.Fatalf("timers are %v, want %v", g.timers, running)
			}
			for link := range uint16(9) {
				var last *message
				for k := range messages {
					if messages[k].link == link {
						last = &messages[k]
					}
				}
				if got := g.last(link); (got == nil) != (last == nil) || got != nil && *got != *last {
					t.Fatalf("the last message of link %d is %v, want %v", link, got, last)
				}
			}
		}
	}
}
