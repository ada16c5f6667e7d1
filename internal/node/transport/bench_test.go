package transport

import (
	"io"
	"slices"
	"testing"
	"time"
)

const pingSize = 64

// A pinger sends a message there, and waits until it has come back so often.
type pinger func(count int) error

// rawPing uses Go's TLS directly.
func rawPing(b *testing.B) pinger {
	client, server := rawTLS(b)
	go io.Copy(struct{ io.Writer }{server}, struct{ io.Reader }{server})
	buf := make([]byte, pingSize)
	return func(count int) error {
		for range count {
			if _, err := client.Write(buf); err != nil {
				return err
			}
			if _, err := io.ReadFull(client, buf); err != nil {
				return err
			}
		}
		return nil
	}
}

// poolPing is between two pools.
func poolPing(b *testing.B) pinger {
	ca := newAuthority(b)
	done := make(chan struct{})
	left := 0
	var one, other *node
	buf := make([]byte, pingSize)
	send := func(from, to *node) error {
		defer from.pool.Flush()
		return from.pool.Send(to.addr, buf, false)
	}
	one = newNode(b, "a", ca.keyed(b, "a"), func(p *plan) {
		p.owner.on = func(*Peer, []byte) error {
			if left--; left > 0 {
				return send(one, other)
			}
			done <- struct{}{}
			return nil
		}
	})
	other = newNode(b, "b", ca.keyed(b, "b"), func(p *plan) {
		p.owner.on = func(*Peer, []byte) error { return send(other, one) }
	})
	link(b, one, other)
	return func(count int) error {
		left = count
		if err := send(one, other); err != nil {
			return err
		}
		<-done
		return nil
	}
}

// BenchmarkPing is a message there and one back.
func BenchmarkPing(b *testing.B) {
	for name, make := range map[string]func(b *testing.B) pinger{"raw": rawPing, "pools": poolPing} {
		b.Run(name, func(b *testing.B) {
			ping := make(b)
			b.ReportAllocs()
			b.ResetTimer()
			if err := ping(b.N); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkOverhead is how much longer an exchange takes between two pools than over Go's
// TLS: they take turns, and the medians are compared, so that other load on the machine
// affects both.
func BenchmarkOverhead(b *testing.B) {
	const each = 50
	var times [2][]float64
	pingers := [2]pinger{rawPing(b), poolPing(b)}
	for b.Loop() {
		for i, ping := range pingers {
			since := time.Now()
			if err := ping(each); err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], float64(time.Since(since).Nanoseconds())/each)
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	raw, pools := times[0][len(times[0])/2], times[1][len(times[1])/2]
	b.ReportMetric(raw, "raw-ns")
	b.ReportMetric(pools, "pools-ns")
	b.ReportMetric(pools/raw, "ratio")
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
