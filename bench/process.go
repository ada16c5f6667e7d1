package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A keeper starts processes, and ends all of them.
type keeper struct {
	mu    sync.Mutex
	all   map[*process]bool
	ended bool
	jobs  chan func()
}

// newKeeper returns a keeper whose processes are killed when this one dies. Linux ties
// that to the thread which started them, so one thread starts all, and never ends.
func newKeeper() *keeper {
	k := &keeper{all: map[*process]bool{}, jobs: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range k.jobs {
			f()
		}
	}()
	return k
}

// A process is one that the harness has started: a server or a worker.
type process struct {
	name string
	path string
	args []string
	env  []string
	dir  string
	user bool                            // runs as another user if this is root: PostgreSQL refuses to run as root
	end  os.Signal                       // ends it in an orderly way; nil: it is killed
	up   func(ctx context.Context) error // reports whether it serves; nil: at once
	wire func(c *exec.Cmd) error         // connects it to this process

	keeper *keeper
	cmd    *exec.Cmd
	log    *tail
	done   chan struct{} // closed when it has ended
}

// unprivileged is the user that PostgreSQL runs as.
const unprivileged = 65534

// start starts a process and waits until it serves.
func (k *keeper) start(ctx context.Context, p *process) error {
	if err := k.launch(p); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	if p.up == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 40*time.Second, errors.New("not ready within 40 s"))
	defer cancel()
	for {
		err := p.up(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("start %s: it ended: %s", p.name, p.log)
		case <-ctx.Done():
			return fmt.Errorf("start %s: %w: %w: %s", p.name, context.Cause(ctx), err, p.log)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (k *keeper) launch(p *process) error {
	c := exec.Command(p.path, p.args...)
	c.Dir, c.Env = p.dir, append(os.Environ(), p.env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if p.user && os.Getuid() == 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
	}
	p.keeper, p.cmd, p.log, p.done = k, c, &tail{}, make(chan struct{})
	c.Stdout, c.Stderr = p.log, p.log
	if p.wire != nil {
		if err := p.wire(c); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return errors.New("the run is over")
	}
	started := make(chan error)
	k.jobs <- func() { started <- c.Start() }
	if err := <-started; err != nil {
		return err
	}
	k.all[p] = true
	go func() {
		_ = c.Wait() // how it ended does not matter
		k.mu.Lock()
		delete(k.all, p)
		k.mu.Unlock()
		close(p.done)
	}()
	return nil
}

// kill ends a process and its children at once, and waits until it has ended.
func (p *process) kill() {
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	<-p.done
}

// stop ends a process in an orderly way if it needs one, and otherwise kills it.
func (p *process) stop() {
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	if p.end != nil && p.cmd.Process.Signal(p.end) == nil {
		select {
		case <-p.done:
			return
		case <-time.After(10 * time.Second):
		}
	}
	p.kill()
}

// signal sends a signal to a process and its children.
func (p *process) signal(s syscall.Signal) error { return syscall.Kill(-p.cmd.Process.Pid, s) }

// end ends all processes, and lets no other start.
func (k *keeper) end() {
	k.mu.Lock()
	k.ended = true
	var all []*process
	for p := range k.all {
		all = append(all, p)
	}
	k.mu.Unlock()
	stopAll(all)
}

// stopAll stops processes, all at a time.
func stopAll(all []*process) {
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(p.stop)
	}
	wg.Wait()
}

// A tail keeps the end of what a process prints, for errors.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.buf = append(t.buf, b...); len(t.buf) > 1<<16 {
		t.buf = append([]byte(nil), t.buf[len(t.buf)-1<<12:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := bytes.TrimSpace(t.buf)
	return string(b[max(0, len(b)-1500):])
}

// Servers listen on ports that Linux gives to no outgoing connection by default, and no port
// is used twice: otherwise it could be taken before its server has started.
const (
	firstPort = 12_000
	endPort   = 32_000
)

var lastPort atomic.Int32 // that has been looked at, above firstPort

// frees returns the addresses of several free ports, all different.
func frees(n int) ([]string, error) {
	var all []string
	for len(all) < n {
		port := firstPort + int(lastPort.Add(1))
		if port >= endPort {
			return nil, fmt.Errorf("no free port from %d to %d", firstPort, endPort-1)
		}
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			all = append(all, l.Addr().String())
		}
	}
	return all, nil
}

// listens reports whether something listens at an address.
func listens(address string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return c.Close()
	}
}
