package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk mounts a disk of a size that is soon full.
func smallDisk(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(fmt.Sprintf("stile-%d-disk", os.Getpid()), dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// small reports whether a process has such a disk: all but every third one has.
func small(i int) bool { return i%3 != 2 }

// clear empties the folder of a process.
func (n *nemesis) clear(p *process) error {
	all, err := os.ReadDir(p.Data)
	if err != nil {
		return err
	}
	for _, e := range all {
		if err := os.RemoveAll(filepath.Join(p.Data, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// fullDisk fills the disk of a node, of a voter if one has a small disk. It ends
// when it cannot save, if it needs more room than it has.
func (n *nemesis) fullDisk() error {
	var p *process
	for _, i := range n.chance.Perm(len(n.nodes)) {
		if small(i) && (p == nil || n.isVoter(n.nodes[i])) {
			p = n.nodes[i]
		}
	}
	path := filepath.Join(p.Data, "filler")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
	f.Close()
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("fill a disk: %w", err)
	}
	return n.bury(p, false, func() error { return os.Remove(path) })
}

// traces reports whether strace can be used here, or why not.
func traces() error {
	if _, err := exec.LookPath("strace"); err != nil {
		return err
	}
	out, err := exec.Command("strace", "-f", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// inject lets some system calls of a voter fail. It must end.
func (n *nemesis) inject(calls, fails string) error {
	if traces() != nil {
		return errNotNow
	}
	p := n.drawNode()
	if !n.isVoter(p) {
		p = n.leader()
	}
	end, err := n.trace(p, calls, "error="+fails)
	if err != nil {
		return err
	}
	return n.bury(p, true, end)
}

// trace has some system calls of a process go wrong in some way, until the function is
// called that it returns.
func (n *nemesis) trace(p *process, calls, how string) (end func() error, err error) {
	trace := exec.Command("strace", "-f", "-o", "/dev/null", "-e", "trace="+calls, "-e", "inject="+calls+":"+how, "-p", fmt.Sprint(p.cmd.Process.Pid))
	if err := trace.Start(); err != nil {
		return nil, err
	}
	gone := make(chan error, 1)
	go func() { gone <- trace.Wait() }()
	end = func() error {
		_ = trace.Process.Signal(syscall.SIGTERM) // it has ended with the process, or lets go of it
		<-gone
		return nil
	}
	if err := n.traced(p); err != nil {
		return nil, errors.Join(err, end())
	}
	return end, nil
}

// stall has every sync of a voter take two and a half leases, while another node is
// killed and comes back, which is saved; and nothing may reach the voter meanwhile.
func (n *nemesis) stall(cut bool) error {
	if traces() != nil {
		return errNotNow
	}
	p := n.drawNode()
	if !n.isVoter(p) {
		p = n.leader()
	}
	end, err := n.trace(p, "fsync,fdatasync", fmt.Sprintf("delay_enter=%d", (n.lease*5/2).Microseconds()))
	if err != nil {
		return err
	}
	other := n.nodes[n.chance.IntN(len(n.nodes))]
	for other == p {
		other = n.nodes[n.chance.IntN(len(n.nodes))]
	}
	err = n.bounce(other, n.span(0, 5))
	if err == nil && cut {
		err = n.around(p, true, true)
	} else {
		n.lasts(3 * n.lease)
	}
	return errors.Join(err, end())
}

// traced waits until all threads of a process are traced.
func (n *nemesis) traced(p *process) error {
	for deadline := time.Now().Add(n.bound()); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.cmd.Process.Pid))
		left := len(all)
		for _, path := range all {
			b, err := os.ReadFile(path)
			if err == nil && !strings.Contains(string(b), "TracerPid:\t0\n") {
				left--
			}
		}
		if left == 0 {
			return nil
		}
	}
	return fmt.Errorf("%s is not traced within %v", p.Name, n.bound())
}
