package process

import (
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
)

// BenchmarkLocal is a lock and an unlock that need no message, in two steps: at a home that
// has not released the lock, and where the algorithm's token is. BenchmarkLocal of package
// member is the same without a process around it.
func BenchmarkLocal(b *testing.B) {
	b.Run("home", func(b *testing.B) {
		c := formed(b, 3, "a", "b", "c")
		local(b, c.nodes[0], c.nodes[0].homed("lock"))
	})
	b.Run("token", func(b *testing.B) {
		c := formed(b, 3, "a", "b", "c")
		n := c.nodes[0]
		name := n.elsewhere("lock")
		n.unlock(n.lock(name))
		c.pass(5 * ms)
		local(b, n, name)
	})
}

func local(b *testing.B, n *node, name string) {
	lock := Input{Kind: Lock, At: n.c.now, Text: name}
	unlock := Input{Kind: Unlock, At: n.c.now, Text: name}
	b.ReportAllocs()
	for b.Loop() {
		n.Step(&lock)
		if len(n.Out.Effects) != 1 || n.Out.Effects[0].Event.Kind != member.Held {
			b.Fatalf("not held: %s", list(n.Out.Effects))
		}
		unlock.Token = n.Out.Effects[0].Event.Token
		if n.Step(&unlock); n.Out.Err != nil || len(n.Out.Effects) > 0 {
			b.Fatalf("%v, %s", n.Out.Err, list(n.Out.Effects))
		}
	}
}

// A wire carries packets from process to process, and nothing else: time does not pass.
type wire struct {
	tb    testing.TB
	nodes []*node
	name  string // of the lock
	mail  []parcel
	spare [][]byte
	held  []member.Token
	in    Input
	spent time.Duration
	count int
}

type parcel struct {
	from, to int
	bytes    []byte
}

func newWire(c *cluster) *wire {
	return &wire{tb: c.t, nodes: c.nodes, name: c.nodes[0].homed("lock"), held: make([]member.Token, len(c.nodes)), in: Input{At: c.now}}
}

// step hands an input to a process, and takes what it sends.
func (w *wire) step(k int, kind Kind) {
	n := w.nodes[k]
	w.in.Kind = kind
	begin := time.Now()
	n.Step(&w.in)
	if kind == Message {
		w.spent += time.Since(begin)
		w.count++
	}
	for i := range n.Out.Effects {
		switch e := &n.Out.Effects[i]; e.Kind {
		case Notify:
			w.held[k] = e.Event.Token
		case Send:
			var buf []byte
			if s := len(w.spare) - 1; s >= 0 {
				buf, w.spare = w.spare[s], w.spare[:s]
			}
			w.mail = append(w.mail, parcel{k, int(e.To[0] - 'a'), append(buf[:0], e.Bytes...)})
		}
	}
}

// turn has a node acquire the lock and release it at once, and all packets arrive.
func (w *wire) turn(k int) {
	w.in.Text = w.name
	w.step(k, Lock)
	for released := false; !released || len(w.mail) > 0; {
		if w.held[k] != (member.Token{}) {
			w.in.Text, w.in.Token = w.name, w.held[k]
			w.held[k], released = member.Token{}, true
			w.step(k, Unlock)
			continue
		}
		if len(w.mail) == 0 {
			w.tb.Fatal("no packet is in flight, and the lock is not held")
		}
		m := w.mail[0]
		w.mail = w.mail[:copy(w.mail, w.mail[1:])]
		w.in.Text, w.in.Bytes = w.nodes[m.from].name, m.bytes
		w.step(m.to, Message)
		w.spare = append(w.spare, m.bytes)
	}
}

// BenchmarkFrame measures the handling of one packet from a member, with everything that
// follows: nine nodes request a lock, one after the other, and each holds it for a moment.
// BenchmarkFrame of package member is the same without links and process.
func BenchmarkFrame(b *testing.B) {
	for _, spec := range catalog.Live() {
		b.Run(spec.Name, func(b *testing.B) {
			c := newCluster(b, 3, names(9)...)
			c.choices = []member.Choice{{Algorithm: spec.Name, Version: spec.Version}}
			c.form()
			w := newWire(c)
			b.ReportAllocs()
			b.ResetTimer()
			for k := 0; w.count < b.N; k = (k + 1) % len(c.nodes) {
				w.turn(k)
			}
			b.ReportMetric(float64(w.spent.Nanoseconds())/float64(w.count), "ns/packet")
		})
	}
}

// BenchmarkClient is a lock and an unlock of a client that need no message between
// nodes, in two steps.
func BenchmarkClient(b *testing.B) {
	c := formed(b, 3, "a", "b", "c")
	n := c.nodes[0]
	n.hello(1)
	name := n.homed("lock")
	lock := Input{Kind: Frame, At: c.now, Number: 1}
	unlock := lock
	number := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		number++
		lock.Bytes = (&session.Frame{Kind: session.Lock, Number: number, Name: name}).AppendTo(lock.Bytes[:0])
		unlock.Bytes = (&session.Frame{Kind: session.Unlock, Number: number}).AppendTo(unlock.Bytes[:0])
		if n.Step(&lock); len(n.Out.Effects) != 1 || session.Kind(n.Out.Effects[0].Bytes[0]) != session.Held {
			b.Fatalf("not held: %s", list(n.Out.Effects))
		}
		if n.Step(&unlock); len(n.Out.Effects) != 1 || session.Kind(n.Out.Effects[0].Bytes[0]) != session.Done {
			b.Fatalf("not released: %s", list(n.Out.Effects))
		}
	}
}

// What applications and members do most often allocates nothing.
func TestAllocations(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.nodes[0]
	name := n.homed("lock")
	lock := Input{Kind: Lock, At: c.now, Text: name}
	unlock := Input{Kind: Unlock, At: c.now, Text: name}
	local := func() {
		n.Step(&lock)
		unlock.Token = n.Out.Effects[0].Event.Token
		n.Step(&unlock)
	}
	local()
	if got := testing.AllocsPerRun(100, local); got > 0 {
		t.Errorf("a local lock and unlock: %v allocations", got)
	}
	w := newWire(c)
	turns := func() {
		for k := range c.nodes {
			w.turn(k)
		}
	}
	for range 100 {
		turns()
	}
	if got := testing.AllocsPerRun(100, turns); got > 0 {
		t.Errorf("%d packets: %v allocations", w.count/200, got)
	}
	wake := Input{Kind: Wake, At: c.now}
	if got := testing.AllocsPerRun(100, func() { n.Step(&wake) }); got > 0 {
		t.Errorf("a wake that nothing comes of: %v allocations", got)
	}
}
