package page

import (
	"context"
	"sync"
	"testing"
	"time"
)

// A gate is the lab, started with a text, with calls that wait until they are let through.
type gate struct {
	bench
	mu    sync.Mutex
	shut  map[string]chan bool // what calls of a name wait for
	asked map[string]int       // how often there was a call of a name
	came  chan string          // the names of the calls, as they come
}

func newGate(start string) *gate {
	return &gate{bench: bench{start: start}, shut: map[string]chan bool{}, asked: map[string]int{}, came: make(chan string, 10000)}
}

// Call implements Caller.
func (g *gate) Call(ctx context.Context, name string, body []byte, emit func([]byte) error) error {
	g.mu.Lock()
	g.asked[name]++
	wait := g.shut[name]
	g.mu.Unlock()
	g.came <- name
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
		}
	}
	return g.bench.Call(ctx, name, body, emit)
}

// close has calls of a name wait from now on.
func (g *gate) close(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut[name] = make(chan bool)
	g.asked[name] = 0
	for len(g.came) > 0 {
		<-g.came
	}
}

// open lets the calls of a name through.
func (g *gate) open(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.shut[name])
	delete(g.shut, name)
}

// wait waits for a call.
func (g *gate) wait(t testing.TB, name string) {
	t.Helper()
	for {
		select {
		case came := <-g.came:
			if came == name {
				return
			}
		case <-time.After(time.Minute):
			t.Fatalf("there was no call of %s", name)
		}
	}
}

// count is how often there was a call of a name since the gate was last closed for it.
func (g *gate) count(name string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked[name]
}
