package node

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/views/raft"
)

// A slowDisk is a storage that can be made to wait.
type slowDisk struct {
	raft.Storage
	mu    sync.Mutex
	gate  chan struct{} // nil: it does not wait
	waits chan struct{} // closed when a save waits
}

// stall has saves wait until the function is called that it returns.
func (d *slowDisk) stall() (waits <-chan struct{}, release func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	gate := make(chan struct{})
	d.gate, d.waits = gate, make(chan struct{})
	return d.waits, sync.OnceFunc(func() { close(gate) })
}

func (d *slowDisk) Save(b raft.Batch) error {
	d.mu.Lock()
	gate, waits := d.gate, d.waits
	if waits != nil {
		close(waits)
		d.waits = nil
	}
	d.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return d.Storage.Save(b)
}

// slowDisks gives every node a folder on a disk that can be made to wait.
func slowDisks(t *testing.T, disks []*slowDisk) func(i int, c *Config) {
	dir := t.TempDir()
	return func(i int, c *Config) {
		c.Data, c.Lease = filepath.Join(dir, c.Name), lease
		c.storage = func(s raft.Storage) raft.Storage {
			disks[i] = &slowDisk{Storage: s}
			return disks[i]
		}
	}
}

// While a node's disk stalls for longer than a lease, its holders keep their locks and can
// query them; other members join and leave.
func TestStalledDisk(t *testing.T) {
	disks := make([]*slowDisk, 4)
	change := slowDisks(t, disks)
	_, all := lab(t, 3, change)
	b := all[1]
	becomes(t, all[0], "three voters", func(s Status) bool { return s.Settled && len(s.Members) == 3 && s.Members[1].Voter })
	h := acquire(t, b, "x")
	before := h.Deadline()
	waits, release := disks[1].stall()
	defer release()
	c := Config{Name: "d", Listen: "127.0.0.9:0", Join: []string{all[0].Address()}}
	change(3, &c)
	d := run(t, c)
	ready(t, d) // which the log has as an entry
	<-waits
	becomes(t, b, "renewed while its disk stands still", func(Status) bool { return h.Deadline().After(before.Add(2 * lease)) })
	if h.Err() != nil || h.Context().Err() != nil {
		t.Error(h.Err())
	}
	y := acquire(t, b, "y")
	if err := errors.Join(y.Unlock(), h.Unlock()); err != nil {
		t.Error(err)
	}
	release()
	becomes(t, b, "in the view that was saved late", func(s Status) bool { return len(s.Members) == 4 })
}

// A node whose disk stalls, and that is cut off, notifies its holders of the loss before
// another node can acquire the lock.
func TestStalledDiskCutOff(t *testing.T) {
	disks := make([]*slowDisk, 3)
	w, all := lab(t, 3, slowDisks(t, disks))
	b, c := all[1], all[2]
	becomes(t, all[0], "three voters", func(s Status) bool { return s.Settled && len(s.Members) == 3 && s.Members[1].Voter })
	h := acquire(t, b, "x")
	elsewhere := waiting(t, c, h)
	_, release := disks[1].stall()
	defer release()
	w.cut(0, 1)
	w.cut(1, 2)
	got := <-elsewhere
	if got.err != nil || !errors.Is(got.old, lock.ErrLost) {
		t.Errorf("%v: another one has it, and its holder is told %v", got.err, got.old)
	}
	<-h.Context().Done()
	if cause := context.Cause(h.Context()); !errors.Is(cause, lock.ErrLost) || !h.Deadline().IsZero() {
		t.Errorf("%v, deadline %v", cause, h.Deadline())
	}
	release()
}

// What an application asks about its lock waits for nothing: not for the mutex, which
// the test holds.
func TestHoldWithoutMutex(t *testing.T) {
	n := start(t, 1, nil)[0]
	h := acquire(t, n, "x")
	n.mu.Lock()
	if h.Err() != nil || h.Deadline().IsZero() || h.Context().Err() != nil {
		t.Errorf("%v, deadline %v", h.Err(), h.Deadline())
	}
	if d := h.Deadline(); d != d.Round(0) {
		t.Error("a deadline has a monotonic reading: it would look valid after the machine was suspended")
	}
	n.deadline.Store(int64(n.clock())) // as if the lease had ended
	if err := h.Err(); !errors.Is(err, lock.ErrLost) || !h.Deadline().IsZero() {
		t.Errorf("its deadline has passed: %v, deadline %v", err, h.Deadline())
	}
	<-h.Context().Done()
	n.deadline.Store(int64(n.known))
	n.mu.Unlock()
	if err := h.Unlock(); !errors.Is(err, lock.ErrLost) {
		t.Errorf("it was lost, and is not again because the lease goes on: %v", err)
	}
	again := acquire(t, n, "x") // the member does not keep what the application has given up
	if !h.Token().Less(again.Token()) {
		t.Errorf("%v after %v", again.Token(), h.Token())
	}
	release(t, again)
}

// A log that is not read stops nothing, and says later how much of it is missing.
func TestStalledLog(t *testing.T) {
	r, w := io.Pipe()
	n := run(t, Config{Name: "a", Listen: "127.0.0.1:0", Lease: lease, Log: slog.New(slog.NewTextHandler(w, nil))})
	ready(t, n)
	h := acquire(t, n, "x")
	for range maxLines + 7 {
		n.c.Log.Info("this line is not read")
	}
	release(t, h)
	var all bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&all, r)
	}()
	n.print.flush(time.Minute) // a stop waits for a second
	stop(t, n)
	w.Close()
	<-read
	if !strings.Contains(all.String(), "cluster founded") || !strings.Contains(all.String(), "lines dropped") {
		t.Errorf("%d bytes: %.2000s", all.Len(), all.String())
	}
}
