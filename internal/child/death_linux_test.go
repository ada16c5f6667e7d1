package child

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// family starts something in each place where a process could hide.
const family = "trap '' TERM HUP\nsleep 1000 & setsid sh -c 'echo up >&9; exec sleep 1000' & (setsid sh -c 'echo up >&9; exec sleep 1000' &)" + forever

// guard finds the watchdog of an exec.
func (s *stage) guard() int {
	s.t.Helper()
	for _, p := range below(s.exec.Process.Pid) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.id))
		if bytes.HasPrefix(line, []byte(watchdogName+"\x00")) {
			return p.id
		}
	}
	s.t.Fatal("there is no watchdog")
	return 0
}

// Exec is killed with -9: all that the command started ends.
func TestExecKilled(t *testing.T) {
	check := func(kind string, patience time.Duration) error {
		s := perform(t, play{Kind: kind, Args: script(family), Grace: 50 * time.Millisecond})
		s.up(3)
		s.signal(syscall.SIGKILL)
		s.wait()
		_, err := s.rest(patience)
		return err
	}
	if err := check("real", testPatience); err != nil {
		t.Errorf("something outlives exec: %v", err)
	}
	if check("group", plantPatience) == nil {
		t.Error("who has no watchdog is not caught")
	}
}

// A kill of the whole group of exec does not take the watchdog.
func TestExecGroupKilled(t *testing.T) {
	s := perform(t, play{Args: script(family), Grace: 50 * time.Millisecond}, func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	})
	s.up(3)
	if err := syscall.Kill(-s.exec.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.wait()
	if _, err := s.rest(testPatience); err != nil {
		t.Errorf("something outlives exec: %v", err)
	}
}

// Exec is stopped, and its lease expires: all processes of the command are killed while
// exec is still stopped, and exec reports so when it continues.
func TestExecStopped(t *testing.T) {
	check := func(kind string, lease, patience time.Duration) error {
		s := perform(t, play{Kind: kind, Args: script(family), Grace: 50 * time.Millisecond, Lease: lease})
		until := Now().Add(lease)
		s.up(3)
		s.signal(syscall.SIGSTOP)
		if kind != "real" {
			expire(t, until)
		}
		if _, err := s.rest(patience); err != nil {
			return err
		}
		t.Logf("all are gone %v before the end of the lease", until.Sub(Now()))
		s.signal(syscall.SIGCONT)
		if code := s.wait(); code != Failed || !strings.Contains(s.stderr(), ErrExpired.Error()) {
			return fmt.Errorf("exit code %d, stderr %q", code, s.stderr())
		}
		return nil
	}
	if err := check("real", 1500*time.Millisecond, testPatience); err != nil {
		t.Errorf("something outlives the lease: %v", err)
	}
	if check("group", time.Millisecond, plantPatience) == nil {
		t.Error("who has no watchdog is not caught")
	}
}

// expire waits until a moment has passed.
func expire(t *testing.T, at Moment) {
	t.Helper()
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer a.stop()
	a.set(at)
	<-a.C
}

// A renewed lease does not expire at its old deadline; one that is not renewed does, even
// if no loss is reported.
func TestExtend(t *testing.T) {
	const lease = 500 * time.Millisecond
	p := play{Args: script("trap 'exit 5' USR1" + strings.Replace(forever, "1000", "0.01", 1)), Lease: lease}
	s := perform(t, p)
	until := Now().Add(lease)
	s.say("1h")
	s.up(1)
	expire(t, until)
	s.signal(syscall.SIGUSR1)
	if code := s.wait(); code != 5 {
		t.Errorf("extended: exit code %d, want 5; stderr %q", code, s.stderr())
	}
	s = perform(t, p)
	s.own.Close()
	if code := s.wait(); code != Failed || s.left() {
		t.Errorf("not extended: exit code %d, want %d; stderr %q", code, Failed, s.stderr())
	}
}

// If the watchdog is killed, exec kills everything at once. If it is stopped, exec does so
// before the lease expires.
func TestWatchdogHit(t *testing.T) {
	for _, test := range []struct {
		by   syscall.Signal
		says error
	}{{syscall.SIGKILL, ErrWatchdog}, {syscall.SIGSTOP, ErrExpired}} {
		p := play{Args: script(family), Grace: 50 * time.Millisecond}
		if test.by == syscall.SIGSTOP {
			p.Lease = 1500 * time.Millisecond
		}
		s := perform(t, p)
		s.up(3)
		if err := syscall.Kill(s.guard(), test.by); err != nil {
			t.Fatal(err)
		}
		if code := s.wait(); code != Failed || s.left() || !strings.Contains(s.stderr(), test.says.Error()) {
			t.Errorf("%v: exit code %d, something left %v, stderr %q", test.by, code, s.left(), s.stderr())
		}
	}
}

// Signals for the command do not end its watchdog.
func TestWatchdogIsDeaf(t *testing.T) {
	s := perform(t, play{Args: script("trap 'exit 5' USR1" + strings.Replace(forever, "1000", "0.01", 1))})
	s.up(1)
	for _, sig := range forwarded() {
		if err := syscall.Kill(s.guard(), sig.(syscall.Signal)); err != nil {
			t.Fatal(err)
		}
	}
	s.signal(syscall.SIGUSR1)
	if code := s.wait(); code != 5 {
		t.Errorf("exit code %d, stderr %q", code, s.stderr())
	}
}

// Nothing is left of exec, its watchdog and the command, not even a zombie.
func TestNoZombies(t *testing.T) {
	for _, lose := range []bool{false, true} {
		lines := "(setsid sleep 0 &) ; (sleep 0 &); echo up >&9"
		if lose {
			lines += "; sleep 1000"
		}
		s := perform(t, play{Args: script(lines)})
		s.up(1)
		if lose {
			s.say("lost")
		}
		s.wait()
		for _, p := range processes() {
			if p.parent == os.Getpid() {
				t.Errorf("lost %v: process %d is left", lose, p.id)
			}
		}
	}
}

// inherited lists the descriptors that every command of this test has, because
// the test was started with them, and those that it is given.
func inherited(given ...string) []string {
	fds := append([]string{"0", "1", "2"}, given...)
	for fd := 5; fd < 1024; fd++ {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			fds = append(fds, strconv.Itoa(fd))
		}
	}
	slices.Sort(fds)
	return fds
}

// The command has the descriptors that its user gave it, and no other.
func TestDescriptors(t *testing.T) {
	check := func(kind string) error {
		given, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		defer given.Close()
		var out bytes.Buffer
		s := perform(t, play{Kind: kind, Args: []string{"sh", "-c", "ls -l /proc/$$/fd"}}, func(c *exec.Cmd) {
			c.ExtraFiles, c.Stdout = append(c.ExtraFiles, given), &out
		})
		if code := s.wait(); code != 0 {
			return fmt.Errorf("exit code %d, stderr %q", code, s.stderr())
		}
		var fds []string
		for line := range strings.Lines(out.String()) {
			if name, _, ok := strings.Cut(line, " -> "); ok {
				fds = append(fds, filepath.Base(name[strings.LastIndex(name, " ")+1:]))
			}
		}
		slices.Sort(fds)
		if want := inherited("4"); !slices.Equal(fds, want) {
			return fmt.Errorf("it has %s, want %s", fds, want)
		}
		return nil
	}
	if err := check("real"); err != nil {
		t.Error(err)
	}
	if check("child") == nil {
		t.Error("who leaks a descriptor is not caught")
	}
}
