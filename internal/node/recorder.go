package node

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/replay"
)

// A Record says where a node records its inputs, for 'stile-lab replay'.
type Record struct {
	File  string // path, which must not exist; empty: no recording
	Bytes int64  // maximum size (default DefaultRecord)
	By    string // version of stile, for readers
}

// DefaultRecord is the default maximum size of a recording.
const DefaultRecord = 1 << 30

// maxPending is the maximum number of bytes that wait for the disk.
const maxPending = 16 << 20

// lastWords is the space at the end of a recording that is reserved for the reason why it
// ends.
const lastWords = 256

// A recorder writes a recording. The core hands it entries with the node's mutex held, so
// it never waits for the disk: a goroutine of its own does. If it cannot continue, it logs
// that once, and what is written stays as it is: there is never a gap.
type recorder struct {
	log  *slog.Logger
	most int64

	mu      sync.Mutex // held only briefly
	w       *replay.Writer
	taken   int64  // bytes handed to the goroutine
	stopped string // why it has ended; empty if it has not
	early   bool   // it ended before the node
	spare   []byte // buffer for what is recorded during a write
	wake    chan struct{}
	done    chan struct{} // closed when the goroutine has ended

	disk sync.Mutex // held during a write, and locked before mu
	file *os.File
	err  error
}

// newRecorder starts a recording.
func newRecorder(c Record, log *slog.Logger, h *replay.Header) (*recorder, error) {
	file, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, os.ErrExist):
		return nil, fmt.Errorf("record to %s: the file exists: move it away, or give another name", c.File)
	case err != nil:
		return nil, fmt.Errorf("record: %w", err)
	}
	h.By, h.Wall = c.By, time.Now().UnixMilli()
	h.Election, h.Heartbeat, h.MaxLog = logKind.Election, logKind.Heartbeat, logKind.MaxLog
	for _, s := range catalog.Live() {
		h.Specs = append(h.Specs, replay.Spec{Name: s.Name, Version: s.Version})
	}
	r := &recorder{
		log: log.With("file", c.File), most: cmp.Or(c.Bytes, DefaultRecord) - lastWords, w: replay.NewWriter(h),
		wake: make(chan struct{}, 1), done: make(chan struct{}), file: file,
	}
	go r.run()
	return r, nil
}

// Took implements process.Tape.
func (r *recorder) Took(in *process.Input, out *process.Output) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != "" {
		return
	}
	before := *r.w
	made := r.w.Took(in, out)
	switch size := len(r.w.B); {
	case !made:
		r.stop("an input is too large to be recorded", true)
	case r.taken+int64(size) > r.most:
		*r.w = before
		r.stop("the recording has reached its maximum size", true)
	case size > maxPending:
		*r.w = before
		r.stop("the disk is too slow", true)
	}
	r.rouse()
}

// Crashed implements process.Tape: the process ends when it returns.
func (r *recorder) Crashed(in *process.Input, out *process.Output) {
	r.mu.Lock()
	if r.stopped == "" {
		r.w.Crashed(in, out)
	}
	r.mu.Unlock()
	r.write()
	_ = r.file.Sync()
}

// stop ends the recording. The mutex mu must be held.
func (r *recorder) stop(why string, early bool) {
	if r.stopped == "" {
		r.stopped, r.early = why, early
		r.w.End(why)
		r.rouse()
	}
}

// rouse wakes the goroutine.
func (r *recorder) rouse() {
	select {
	case r.wake <- struct{}{}:
	default: // it has been woken already
	}
}

// close ends the recording of a node that has ended, and waits until it is written.
func (r *recorder) close() {
	r.mu.Lock()
	r.stop(replay.Ended, false)
	r.mu.Unlock()
	<-r.done
}

// discard ends the recording of a node that did not start and removes its file, which did
// not exist before. It leaves alone a file that another process has put there meanwhile.
func (r *recorder) discard() {
	made, err := r.file.Stat() // while it is open
	r.close()
	if err != nil {
		return
	}
	if there, err := os.Lstat(r.file.Name()); err == nil && os.SameFile(made, there) {
		_ = os.Remove(r.file.Name()) // what matters is why the node did not start
	}
}

// run writes what is recorded, until the recording ends.
func (r *recorder) run() {
	defer close(r.done)
	for range r.wake {
		if r.write() {
			break
		}
	}
	if err := errors.Join(r.err, r.file.Sync(), r.file.Close()); err != nil {
		r.log.Error("recording stopped; the node continues without it", "err", err)
	} else if r.early {
		r.log.Warn("recording stopped; the node continues without it", "why", r.stopped)
	}
}

// write writes what is pending, and reports whether it was the last.
func (r *recorder) write() (last bool) {
	r.disk.Lock()
	defer r.disk.Unlock()
	r.mu.Lock()
	b := r.w.B
	r.w.B, r.spare = r.spare[:0], nil
	r.taken += int64(len(b))
	last = r.stopped != ""
	r.mu.Unlock()
	if r.err == nil {
		_, r.err = r.file.Write(b)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spare = b
	if r.err != nil {
		r.stop("the file cannot be written", true)
	}
	return last || r.err != nil
}

// record starts recording the inputs of the process, if configured.
func (n *Node) record(c *process.Config) (err error) {
	if n.c.Record.File == "" {
		return nil
	}
	if n.tape, err = newRecorder(n.c.Record, n.c.Log, &replay.Header{Begin: c.Begin}); err != nil {
		return err
	}
	c.Tape = n.tape
	return nil
}
