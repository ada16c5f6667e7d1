package cluster

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/stile-lock/stile/internal/member"
)

// A wish is what a holder wants of the resource.
type wish struct {
	Op    string
	Lock  string
	Who   string // the hold
	Token member.Token
	Value int64 // write: the new one; put: the version that was got
	At    int64 // when it was made
	Check int64 // put: when the hold was last seen to be valid
	Grace int64 // put: for how long after that nobody else can be inside
}

// The operations: of a fenced register, and of a counter without a fence, which is
// got and put back one higher.
const (
	readOp  = "read"
	writeOp = "write"
	getOp   = "get"
	putOp   = "put"
)

// An answer is what comes of a wish.
type answer struct {
	Taken bool
	Value int64
}

// A resource is what locks protect: for each a register with a fence and a counter
// without one.
type resource struct {
	path string
	mu   sync.Mutex

	cells   map[string]*cell
	history []porcupine.Operation
	refused int // by fences
	puts    int
	late    int      // puts that came after their grace
	excused int      // increments that were lost since one came late
	lost    []string // increments that were lost, and none was late

	got func(w *wish) // is shown who gets a counter, before it is answered
}

// A cell is what one lock protects.
type cell struct {
	high  member.Token
	value int64
	count []put // of the counter; its value is their number
}

// A put is an increment of the counter.
type put struct {
	who  string
	late bool
}

// serve makes a resource, at a socket file.
func serve(t *testing.T, got func(w *wish)) *resource {
	r := &resource{path: filepath.Join(t.TempDir(), "resource"), cells: map[string]*cell{}, got: got}
	l, err := net.Listen("unix", r.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.converse(c)
		}
	}()
	return r
}

// converse does what one process wants, until it dies.
func (r *resource) converse(c net.Conn) {
	defer c.Close()
	from, to := json.NewDecoder(c), json.NewEncoder(c)
	for {
		var w wish
		if from.Decode(&w) != nil || to.Encode(r.do(&w)) != nil {
			return
		}
	}
}

func (r *resource) do(w *wish) answer {
	if w.Op == getOp && r.got != nil {
		defer r.got(w)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.cells[w.Lock]
	if c == nil {
		c = &cell{}
		r.cells[w.Lock] = c
	}
	switch w.Op {
	case readOp, writeOp:
		a := c.fenced(w)
		if !a.Taken {
			r.refused++
		}
		op := cellOp{w.Lock, w.Who, w.Token, w.Op == writeOp, w.Value}
		r.history = append(r.history, porcupine.Operation{Input: op, Output: cellResult{a.Taken, a.Value}, Call: w.At, Return: now()})
		return a
	case getOp:
		return answer{true, int64(len(c.count))}
	case putOp:
		r.put(c, w)
		return answer{true, int64(len(c.count))}
	}
	return answer{}
}

// counted returns how often the counter of a lock was put back.
func (r *resource) counted(lock string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.cells[lock]; c != nil {
		return len(c.count)
	}
	return 0
}

// fenced is an operation of the register: it refuses a lower token than it has seen.
func (c *cell) fenced(w *wish) answer {
	if w.Token.Less(c.high) {
		return answer{}
	}
	c.high = w.Token
	if w.Op == writeOp {
		c.value = w.Value
	}
	return answer{true, c.value}
}

// put writes the counter, and notes if that loses an increment. Whoever saw its
// hold valid a grace ago may write (G2): it is not to blame if it is on time, nor
// is it if one that came late was in between.
func (r *resource) put(c *cell, w *wish) {
	p := put{w.Who, now() > w.Check+w.Grace}
	r.puts++
	if p.late {
		r.late++
	}
	if since := c.count[w.Value:]; len(since) > 0 {
		excused := p.late
		for _, o := range since {
			excused = excused || o.late
		}
		if excused {
			r.excused++
		} else {
			r.lost = append(r.lost, fmt.Sprintf("%s: %s puts over %s", w.Lock, p.who, since[0].who))
		}
	}
	c.count = append(c.count, p)
}

// Increments that are lost are found, and those excused that came late.
func TestResource(t *testing.T) {
	for name, test := range map[string]struct {
		base          int64
		grace         time.Duration
		lost, excused int
	}{
		"on time":          {1, time.Hour, 0, 0},
		"over another one": {0, time.Hour, 1, 0},
		"late":             {0, 0, 0, 1},
	} {
		r := &resource{cells: map[string]*cell{}}
		r.do(&wish{Op: putOp, Lock: "x", Who: "a", Check: now(), Grace: int64(time.Hour)})
		r.do(&wish{Op: putOp, Lock: "x", Who: "b", Value: test.base, Check: now(), Grace: int64(test.grace)})
		if len(r.lost) != test.lost || r.excused != test.excused {
			t.Errorf("%s: %v lost, %d excused", name, r.lost, r.excused)
		}
	}
}
