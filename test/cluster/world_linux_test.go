package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A world is a network: a namespace for each process, and a hub with a bridge that
// joins them. Nothing of it is seen from outside, so that runs do not meet.
type world struct {
	hub   string
	names []string // of the namespaces
	do    chan func()
}

// needWorld skips a test aloud where there can be no world.
func needWorld(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("LEFT OUT: only root can make network namespaces: run 'make check-cluster' as root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("LEFT OUT: there is no 'ip': install iproute2: ", err)
	}
	name := fmt.Sprintf("stile-%d-try", os.Getpid())
	if err := ip("netns", "add", name); err != nil {
		t.Skip("LEFT OUT: network namespaces cannot be made here: ", err)
	}
	if err := ip("netns", "del", name); err != nil {
		t.Error(err)
	}
}

// ip runs iproute2.
func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// sweep removes what runs that have crashed left behind.
func sweep(t *testing.T) {
	all, _ := os.ReadDir("/run/netns")
	for _, e := range all {
		if orphan(e.Name()) {
			if err := ip("netns", "del", e.Name()); err != nil {
				t.Log("a namespace of an earlier run stays: ", err)
			}
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 1 && orphan(f[0]) {
			if err := unix.Unmount(f[1], unix.MNT_DETACH); err != nil {
				t.Log("a disk of an earlier run stays: ", err)
			}
		}
	}
}

// orphan reports whether a name is that of a run whose process is gone.
func orphan(name string) bool {
	parts := strings.Split(name, "-")
	if len(parts) != 3 || parts[0] != "stile" {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	return err == nil && unix.Kill(pid, 0) == unix.ESRCH
}

// makeWorld makes a network for so many processes.
func makeWorld(t *testing.T, count int) *world {
	t.Helper()
	sweep(t)
	w := &world{hub: fmt.Sprintf("stile-%d-hub", os.Getpid()), do: make(chan func())}
	for i := range count {
		w.names = append(w.names, fmt.Sprintf("stile-%d-%d", os.Getpid(), i))
	}
	t.Cleanup(func() {
		for _, n := range append(w.names, w.hub) {
			if err := ip("netns", "del", n); err != nil {
				t.Error(err)
			}
		}
		close(w.do)
	})
	must := func(args ...string) {
		t.Helper()
		if err := ip(args...); err != nil {
			t.Fatal(err)
		}
	}
	must("netns", "add", w.hub)
	must("-n", w.hub, "link", "add", "bridge", "type", "bridge")
	must("-n", w.hub, "link", "set", "bridge", "up")
	for i, n := range w.names {
		must("netns", "add", n)
		must("-n", w.hub, "link", "add", port(i), "type", "veth", "peer", "name", "net", "netns", n)
		must("-n", w.hub, "link", "set", port(i), "master", "bridge", "up")
		must("-n", n, "link", "set", "lo", "up")
		must("-n", n, "addr", "add", w.address(i)+"/24", "dev", "net")
		must("-n", n, "link", "set", "net", "up")
	}
	go w.thread()
	return w
}

func port(i int) string { return fmt.Sprintf("port%d", i) }

// address returns that of a process.
func (w *world) address(i int) string { return fmt.Sprintf("10.77.0.%d", i+1) }

// thread is one thread for as long as the world is there: processes start in the
// namespace of the thread that starts them, and end with it.
func (w *world) thread() {
	runtime.LockOSThread() // for ever: it ends with the goroutine
	for f := range w.do {
		f()
	}
}

// within runs something in the namespace of a process.
func (w *world) within(i int, f func() error) error {
	done := make(chan error)
	w.do <- func() {
		done <- func() error {
			file, err := os.Open("/run/netns/" + w.names[i])
			if err != nil {
				return err
			}
			defer file.Close()
			if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
				return fmt.Errorf("enter the namespace %s: %w", w.names[i], err)
			}
			return f()
		}()
	}
	return <-done
}

// cut makes all that one process sends to another vanish, or ends that.
func (w *world) cut(from, to int, on bool) error {
	verb := "del"
	if on {
		verb = "add"
	}
	return ip("-n", w.names[from], "route", verb, "blackhole", w.address(to)+"/32")
}

// link takes the link of a process down, or up again.
func (w *world) link(i int, up bool) error {
	how := "down"
	if up {
		how = "up"
	}
	return ip("-n", w.hub, "link", "set", port(i), how)
}
