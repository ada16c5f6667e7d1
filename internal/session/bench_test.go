package session

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// BenchmarkLockUnlock is what both ends of the protocol and the member take for an
// uncontended lock and its unlock, without the network between them. The lock is never
// delegated: the client would then use it alone.
func BenchmarkLockUnlock(b *testing.B) {
	p := newPair(b, ClientConfig{})
	p.connect()
	var buf []byte
	carry := func() {
		for _, f := range p.g.Out.Frames {
			p.d.Receive(p.now, p.m, p.conn, f.Bytes)
		}
		p.g.Out.Reset()
		for i := range p.m.Out.Events {
			p.d.Told(&p.m.Out.Events[i])
		}
		p.m.Out.Reset()
		for _, f := range p.d.Out.Frames {
			buf = append(buf[:0], f.Bytes...)
			p.g.Receive(p.now, p.g.cur.conn, buf)
		}
		p.d.Out.Reset()
	}
	inARow, _ := p.d.streaks.of("orders/42")
	b.ReportAllocs()
	for b.Loop() {
		*inARow = streak{}
		r, _ := p.g.Lock(p.now, "orders/42", Opts{})
		carry()
		p.g.Unlock(p.now, r)
		carry()
	}
	if p.d.Holds() != 0 || len(p.g.requests) != 0 {
		b.Error("something is left")
	}
}

// BenchmarkWaiters is what 10,000 clients take that wait at one node for locks that
// others hold, a session each: bytes of each at the node, its member included.
func BenchmarkWaiters(b *testing.B) {
	const clients = 10_000
	for b.Loop() {
		n := newNode(b)
		n.m.Limits.Waiters = clients
		if _, err := n.m.Lock(n.now, "a", member.Ask{Deadline: member.Never}); err != nil {
			b.Fatal(err)
		}
		n.m.Out.Reset()
		before := heapBytes()
		join := func(conn uint64) {
			n.says(conn, Frame{Kind: Hello, Number: 1, Protocol: Protocol, Name: fmt.Sprint("client-", conn)})
			n.sent = n.sent[:0]
		}
		for conn := range uint64(clients) {
			join(conn + 1)
		}
		joined := heapBytes()
		for conn := range uint64(clients) {
			n.says(conn+1, Frame{Kind: Lock, Number: 1, Name: "a"})
		}
		waits := heapBytes()
		b.ReportMetric(float64(joined-before)/clients, "B/session")
		b.ReportMetric(float64(waits-joined)/clients, "B/waiter")
		if y, _ := n.m.Inspect("a"); len(y.Waiters) != clients {
			b.Fatalf("%d wait", len(y.Waiters))
		}
	}
}

func heapBytes() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
