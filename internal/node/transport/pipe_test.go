package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
)

var errOver = errors.New("over")

// collect runs an end of a pipe. The result is sent when it has ended: the messages, and
// why.
func collect(e *End) <-chan []string {
	all := make(chan []string, 1)
	go func() {
		var got []string
		err := e.Run(func(b []byte) error {
			got = append(got, string(b))
			return nil
		})
		all <- append(got, fmt.Sprint("end: ", err))
	}()
	return all
}

// Messages of several goroutines arrive whole, each sender's in its order, while both ends
// send from their handlers.
func TestPipeBothWays(t *testing.T) {
	const senders, each = 4, 500
	a, b := Pipe()
	var run sync.WaitGroup
	run.Go(func() { // an echo
		_ = b.Run(func(m []byte) error {
			defer b.Flush()
			return b.Send(m, false)
		})
	})
	var last [senders]uint64
	echoes, done := 0, make(chan struct{})
	run.Go(func() {
		_ = a.Run(func(m []byte) error {
			who, n := m[0], binary.BigEndian.Uint64(m[1:])
			if last[who]++; last[who] != n {
				return fmt.Errorf("sender %d: message %d comes as number %d", who, n, last[who])
			}
			if echoes++; echoes == senders*each {
				close(done)
			}
			return nil
		})
	})
	var all sync.WaitGroup
	for who := range senders {
		all.Go(func() {
			for n := range each {
				m := binary.BigEndian.AppendUint64([]byte{byte(who)}, uint64(n+1))
				if err := a.Send(m, false); err != nil {
					t.Errorf("send: %v", err)
					return
				}
				a.Flush()
			}
		})
	}
	all.Wait()
	select {
	case <-done:
	case <-a.over.done:
		t.Error(a.Fail(nil))
	}
	a.Fail(errOver)
	run.Wait()
}

// Close delivers what was sent before, whether the other end runs already, starts later, or
// is busy: even if the goroutine that closes is the one that hands over.
func TestPipeClose(t *testing.T) {
	t.Run("before the other end runs", func(t *testing.T) {
		a, b := Pipe()
		_ = a.Send([]byte("1"), false)
		_ = a.Send([]byte("2"), false)
		a.Close(errOver)
		if err := a.Send([]byte("3"), false); !errors.Is(err, errOver) {
			t.Errorf("send after Close: %v", err)
		}
		check(t, <-collect(b), "1", "2", "end: over")
	})
	t.Run("while another goroutine hands over", func(t *testing.T) {
		a, b := Pipe()
		busy, closed := make(chan struct{}), make(chan struct{})
		var got []string
		var run sync.WaitGroup
		run.Go(func() {
			err := b.Run(func(m []byte) error {
				if got = append(got, string(m)); len(got) == 1 {
					close(busy)
					<-closed
				}
				return nil
			})
			got = append(got, fmt.Sprint("end: ", err))
		})
		run.Go(func() {
			_ = a.Send([]byte("1"), false)
			a.Flush()
		})
		<-busy
		_ = a.Send([]byte("2"), false)
		a.Close(errOver)
		close(closed)
		run.Wait()
		check(t, got, "1", "2", "end: over")
	})
	t.Run("from a handler", func(t *testing.T) {
		a, b := Pipe()
		var run sync.WaitGroup
		run.Go(func() {
			_ = b.Run(func(m []byte) error {
				_ = b.Send(m, false)
				_ = b.Send([]byte("bye"), false)
				b.Close(errOver)
				return nil
			})
		})
		got := collect(a)
		_ = a.Send([]byte("1"), false)
		a.Flush()
		check(t, <-got, "1", "bye", "end: over")
		run.Wait()
	})
}

// Fail ends both ends at once, and the first reason stays.
func TestPipeFail(t *testing.T) {
	a, b := Pipe()
	got := collect(b)
	_ = a.Send([]byte("never"), false)
	if err := b.Fail(errOver); err != errOver {
		t.Error(err)
	}
	if err := a.Fail(errors.New("another")); err != errOver {
		t.Errorf("the reason changed to %v", err)
	}
	a.Flush()
	check(t, <-got, "end: over")
	if err := a.Send([]byte("x"), false); err != errOver {
		t.Errorf("send: %v", err)
	}
}

// The error of a handler ends the pipe, and nothing more is handed over.
func TestPipeHandlerFails(t *testing.T) {
	a, b := Pipe()
	_ = a.Send([]byte("bad"), false)
	_ = a.Send([]byte("never"), false)
	n := 0
	err := b.Run(func([]byte) error { n++; return errOver })
	if err != errOver || n != 1 {
		t.Errorf("%d messages, %v", n, err)
	}
}

// What waits for an end that does not run is bounded.
func TestPipeFull(t *testing.T) {
	a, _ := Pipe()
	m := make([]byte, 1<<20)
	for range maxPiped / len(m) {
		if err := a.Send(m, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Send(m, false); !errors.Is(err, errPipeFull) {
		t.Errorf("a message too many: %v", err)
	}
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
