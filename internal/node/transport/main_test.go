package transport

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// After all tests no goroutine of this package is left.
func TestMain(m *testing.M) {
	code := m.Run()
	for end := time.Now().Add(safety); ; time.Sleep(time.Millisecond) {
		left := leaked()
		if len(left) == 0 {
			break
		}
		if time.Now().After(end) {
			fmt.Fprintf(os.Stderr, "goroutines are left:\n%s\n", strings.Join(left, "\n\n"))
			code = 1
			break
		}
	}
	os.Exit(code)
}

// leaked returns the goroutines that are in this package, but for this one.
func leaked() []string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var left []string
	for i, stack := range strings.Split(string(buf), "\n\n") {
		if i > 0 && strings.Contains(stack, "stile/internal/node/transport.") {
			left = append(left, stack)
		}
	}
	return left
}

// A goroutine that is left is found.
func TestLeaked(t *testing.T) {
	before := len(leaked())
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { <-stop; close(done) }()
	eventually(t, "a goroutine is found", func() bool { return len(leaked()) > before })
	close(stop)
	<-done
}
