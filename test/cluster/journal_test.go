package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/clock"
)

// now reads the clock that all processes of the machine share.
func now() int64 { return int64(clock.Now()) }

// never is the time of what does not happen.
const never = math.MaxInt64

// A report is a line that a worker writes.
type report struct {
	Kind   string
	Hold   int          // ask, in, ok, out, no: which request of the worker
	Lock   string       // ask
	Token  member.Token // in
	At     int64        // ask: when; in, ok: when it was valid, 0 if not; out: before it was let go
	End    int64        // in, out, no: when that was over
	Err    string
	Status *node.Status `json:",omitempty"`
}

// The kinds of reports.
const (
	ready  = "ready"  // the node is a member, the client has a session
	ask    = "ask"    // a lock is asked for
	in     = "in"     // it is held
	ok     = "ok"     // it is still held
	out    = "out"    // it was let go, or was lost
	no     = "no"     // it was not got
	state  = "status" // a status
	probed = "probed" // every lock was entered once
	rested = "rested" // the workload has ended
	ended  = "ended"  // the node has ended by itself
)

// A hold is a request for a lock and what became of it, as its process saw it. It
// is valid from when the process first saw it so until it last did.
type hold struct {
	who      string // the process, and which of its requests
	lock     string
	token    member.Token
	ask      int64
	told     int64 // Lock has returned; 0 before
	from, to int64 // valid; 0 if never seen so
	end      int64 // Unlock has returned, or it was told of the loss; never if it died before
	lost     bool
	refused  bool
}

func (h *hold) String() string {
	how := "let go"
	switch {
	case h.end == never:
		how = "open"
	case h.lost:
		how = "lost"
	}
	return fmt.Sprintf("%s held %s with %v, %s to %s, %s", h.who, h.lock, h.token, seconds(h.from), seconds(h.to), how)
}

func seconds(at int64) string { return fmt.Sprintf("%.6fs", float64(at)/1e9) }

// A journal is all that workers have reported.
type journal struct {
	mu      sync.Mutex
	holds   map[string]*hold
	order   []*hold
	last    map[string]int64 // by lock: when it was last entered
	gap     map[string]int64 // the longest time without an entry
	entries int
	changed chan struct{}
}

func newJournal() *journal {
	return &journal{holds: map[string]*hold{}, last: map[string]int64{}, gap: map[string]int64{}, changed: make(chan struct{})}
}

// take notes a report of a process.
func (j *journal) take(who string, r *report) {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := fmt.Sprintf("%s/%d", who, r.Hold)
	if r.Kind == ask {
		h := &hold{who: key, lock: r.Lock, ask: r.At, end: never}
		j.holds[key] = h
		j.order = append(j.order, h)
	}
	h := j.holds[key]
	if h == nil {
		j.tell()
		return
	}
	switch r.Kind {
	case in:
		h.token, h.told, h.from, h.to = r.Token, r.End, r.At, r.At
		j.enter(h.lock, r.End)
	case ok:
		h.to = max(h.to, r.At)
	case out:
		if h.end, h.lost = r.End, r.Err != ""; !h.lost {
			h.to = max(h.to, r.At)
			h.from = cmp.Or(h.from, r.At)
		}
	case no:
		h.end, h.refused = r.End, true
	}
	j.tell()
}

func (j *journal) enter(lock string, at int64) {
	j.entries++
	if last := j.last[lock]; last != 0 {
		j.gap[lock] = max(j.gap[lock], at-last)
	}
	j.last[lock] = max(j.last[lock], at)
}

// tell lets those look again who wait for something, with the mutex.
func (j *journal) tell() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// nudge lets them look for another reason than a report.
func (j *journal) nudge() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tell()
}

// await waits until something is so, which is asked with the mutex, and reports
// whether it is, within the time.
func (j *journal) await(within time.Duration, so func() bool) bool {
	late := time.After(within)
	for {
		j.mu.Lock()
		done, changed := so(), j.changed
		j.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-late:
			return false
		}
	}
}

// enteredSince reports whether all locks were entered after a time, with the mutex.
func (j *journal) enteredSince(at int64, locks []string) bool {
	for _, l := range locks {
		if j.last[l] <= at {
			return false
		}
	}
	return true
}

// holder returns a process that is inside a lock at present, or nothing.
func (j *journal) holder(lock string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, h := range slices.Backward(j.order) {
		if h.lock == lock && h.told != 0 && h.end == never {
			return h.who
		}
	}
	return ""
}

// longest returns the longest time that a lock was not entered.
func (j *journal) longest() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	var all int64
	for _, g := range maps.All(j.gap) {
		all = max(all, g)
	}
	return time.Duration(all)
}

// all returns the holds, without requests that came to nothing.
func (j *journal) all() []*hold {
	j.mu.Lock()
	defer j.mu.Unlock()
	var all []*hold
	for _, h := range j.order {
		if h.told != 0 {
			c := *h
			all = append(all, &c)
		}
	}
	return all
}
