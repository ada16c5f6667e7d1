package page

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/stile-lock/stile/internal/lab/calls"
)

// A fakeLab is the lab, started with a text, and with a check that does what a test
// tells it: it goes on until then.
type fakeLab struct {
	calls.Calls
	start string
	real  bool // checks are real ones
	loads int  // how often a page of it was opened

	mu    sync.Mutex
	asked map[string]string // the last body of each call
	held  string            // the call whose next answer does not come
	ends  string            // what the next check says at once
	fails string            // the call whose next answer is that it failed

	verdict chan string // what the check says last
	stopped chan bool   // a check was stopped
}

func newFakeLab(start string) *fakeLab {
	return &fakeLab{start: start, asked: map[string]string{}, verdict: make(chan string, 1), stopped: make(chan bool, 10)}
}

// last is the body of the last call of a name.
func (d *fakeLab) last(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked[name]
}

// holdBack has the next answer to a call not come.
func (d *fakeLab) holdBack(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = name
}

// willEnd has the next check that is begun end at once.
func (d *fakeLab) willEnd(said string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ends = said
}

// refuse has the next answer to a call be that it failed.
func (d *fakeLab) refuse(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails = name
}

// Call implements Caller.
func (d *fakeLab) Call(ctx context.Context, name string, body []byte, emit func([]byte) error) error {
	d.mu.Lock()
	d.asked[name] = string(body)
	held := d.held == name
	if held {
		d.held = ""
	}
	fails := d.fails == name
	if fails {
		d.fails = ""
	}
	d.mu.Unlock()
	if fails {
		return emit([]byte(`{"error":{"line":0,"col":0,"text":"the disk is on fire"}}`))
	}
	if held {
		<-ctx.Done()
		return ctx.Err()
	}
	switch name {
	case "start":
		line, err := json.Marshal(map[string]string{"text": d.start})
		if err != nil {
			return err
		}
		return emit(line)
	case "check":
		if d.real {
			break
		}
		return d.check(ctx, emit)
	case "compare":
		if !d.real { // a few algorithms will do
			body = bytes.Replace(body, []byte("{"), []byte(`{"algorithms":["central","raymond","ricart-agrawala"],`), 1)
		}
	}
	return d.Calls.Call(ctx, name, body, emit)
}

func (d *fakeLab) check(ctx context.Context, emit func([]byte) error) error {
	if err := emit([]byte(`{"progress":{"states":12345,"depth":7,"seconds":1}}`)); err != nil {
		return err
	}
	d.mu.Lock()
	ends := d.ends
	d.ends = ""
	d.mu.Unlock()
	if ends != "" {
		return emit([]byte(ends))
	}
	select {
	case <-ctx.Done():
		select {
		case d.stopped <- true:
		default: // nobody asks
		}
		return ctx.Err()
	case said := <-d.verdict:
		return emit([]byte(said))
	}
}

// Two ends of a check.
const (
	provedJSON = `{"verdict":{"algorithm":"central","nodes":2,"requests":2,"network":"fifo","verdict":"holds-bounded","states":103,"depth":17,"seconds":0.1,` +
		`"properties":[{"name":"mutual-exclusion","verdict":"holds-bounded","note":"up to 2 requests per process"}]},"counterexample":""}`
	brokenJSON = `{"verdict":{"algorithm":"central","nodes":2,"requests":2,"network":"fifo","verdict":"violated","states":50,"depth":9,"seconds":0.1,` +
		`"properties":[{"name":"mutual-exclusion","verdict":"violated","note":"after 9 steps"}]},"counterexample":"algorithm bakery-naive\nprocesses 2\nschedule steps\nP1 asks\n"}`
)
