package clock

import (
	"runtime"
	"sync"
	"testing"
)

// What is read without a system call is between what is read with one before and
// after, by every goroutine and however it is interrupted.
func TestNow(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 20_000 {
				before := ask()
				now := Now()
				if after := ask(); before > now || now > after {
					t.Errorf("%d is not between %d and %d", now, before, after)
					return
				}
				if i%100 == 0 {
					deep(50)
				}
			}
		})
	}
	for range 20 {
		runtime.GC()
	}
	all.Wait()
}

// deep reads the clock with a stack that has to grow.
func deep(n int) int {
	var room [64]int
	if n > 0 {
		room[n] = deep(n - 1)
	}
	if Now() == 0 {
		return 0
	}
	return room[n] + 1
}

func BenchmarkNow(b *testing.B) {
	for b.Loop() {
		Now()
	}
}

func BenchmarkSystemCall(b *testing.B) {
	for b.Loop() {
		ask()
	}
}
