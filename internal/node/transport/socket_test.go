package transport

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Bytes written after others that are waiting also wait, even if they could be written now.
func TestSocketKeepsOrder(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	s := newSocket(near)
	tries := 0
	s.try = func([]byte) (int, error) { // all that could be written
		tries++
		return 1, nil
	}
	var wg sync.WaitGroup
	freed := make(chan error, 1)
	s.let(&wg, func(err error) { freed <- err })
	for _, text := range []string{"0one ", "two ", "three"} {
		if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	if tries != 1 || s.kept.Load() != int64(len("one two three")) || !s.busy() {
		t.Errorf("%d bytes wait, after %d tries", s.kept.Load(), tries)
	}
	got := make([]byte, len("one two three"))
	if _, err := io.ReadFull(far, got); err != nil || string(got) != "one two three" {
		t.Errorf("%q, %v", got, err)
	}
	if err := take(t, "end", freed); err != nil || s.busy() || s.kept.Load() != 0 {
		t.Errorf("%v, and %d bytes wait", err, s.kept.Load())
	}
	near.Close()
	if _, err := s.Write([]byte("0x")); err != nil {
		t.Errorf("what is kept cannot fail yet: %v", err)
	}
	if err := take(t, "failure", freed); err == nil {
		t.Error("a closed connection takes bytes")
	}
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("the failure is forgotten")
	}
	wg.Wait()
}

// A corked socket writes all at once.
func TestCork(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	s := newSocket(near)
	var tries []string
	s.try = func(b []byte) (int, error) {
		tries = append(tries, string(b))
		return len(b), nil
	}
	s.let(new(sync.WaitGroup), func(error) {})
	for range 2 {
		s.cork()
		for _, text := range []string{"a", "b", "c"} {
			if _, err := s.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.uncork(); err != nil {
			t.Fatal(err)
		}
	}
	if len(tries) != 2 || tries[0] != "abc" || tries[1] != "abc" || s.kept.Load() != 0 {
		t.Errorf("written %q, and %d bytes wait", tries, s.kept.Load())
	}
}
