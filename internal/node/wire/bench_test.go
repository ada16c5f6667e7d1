package wire

import (
	"io"
	"testing"
)

const pingSize = 64

// BenchmarkPing is a message there and one back: over TLS as Go has it, and between
// two pools.
func BenchmarkPing(b *testing.B) {
	b.Run("raw", func(b *testing.B) {
		client, server := rawTLS(b)
		go func() {
			buf := make([]byte, pingSize)
			for {
				if _, err := io.ReadFull(server, buf); err != nil {
					return
				}
				if _, err := server.Write(buf); err != nil {
					return
				}
			}
		}()
		// The answer is read by a goroutine that was not the one that asked,
		// which is how a node hears.
		buf, back := make([]byte, pingSize), make([]byte, pingSize)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.Write(buf); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(client, back); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pools", func(b *testing.B) {
		ca := newAuthority(b)
		done := make(chan struct{})
		n, left := b.N, 0
		var one, other *node
		buf := make([]byte, pingSize)
		send := func(from, to *node) {
			if err := from.pool.Send(to.addr, buf, false); err != nil {
				b.Error(err)
			}
			from.pool.Flush()
		}
		one = newNode(b, "a", ca.keyed(b, "a"), func(p *plan) {
			p.owner.on = func(*Peer, []byte) error {
				if left--; left == 0 {
					close(done)
				} else {
					send(one, other)
				}
				return nil
			}
		})
		other = newNode(b, "b", ca.keyed(b, "b"), func(p *plan) {
			p.owner.on = func(*Peer, []byte) error { send(other, one); return nil }
		})
		link(b, one, other)
		left = n
		b.ReportAllocs()
		b.ResetTimer()
		send(one, other)
		<-done
	})
}

// BenchmarkFrames is many small messages one way, flushed after each turn.
func BenchmarkFrames(b *testing.B) {
	const turn = 64
	ca := newAuthority(b)
	done := make(chan struct{})
	left := b.N
	one := newNode(b, "a", ca.keyed(b, "a"))
	other := newNode(b, "b", ca.keyed(b, "b"), func(p *plan) {
		p.owner.on = func(*Peer, []byte) error {
			if left--; left == 0 {
				close(done)
			}
			return nil
		}
	})
	link(b, one, other)
	buf := make([]byte, 32)
	full := one.pool.c.Queue / 2
	t := best(one, other)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if err := one.pool.Send(other.addr, buf, false); err != nil {
			b.Fatal(err)
		}
		if i%turn == turn-1 {
			one.pool.Flush()
			if t.Waits() > full {
				eventually(b, "the other reads", func() bool { return t.Waits() < full/2 })
			}
		}
	}
	one.pool.Flush()
	<-done
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

// BenchmarkReader is what it takes to read a frame.
func BenchmarkReader(b *testing.B) {
	var frames []byte
	for range 100 {
		frames = appendFrame(frames, kindData, make([]byte, 100))
	}
	r := newReader(&loop{b: frames}, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.next(); err != nil {
			b.Fatal(err)
		}
	}
}

// A loop is the same bytes again and again.
type loop struct {
	b  []byte
	at int
}

func (l *loop) Read(b []byte) (int, error) {
	if l.at == len(l.b) {
		l.at = 0
	}
	n := copy(b, l.b[l.at:])
	l.at += n
	return n, nil
}
