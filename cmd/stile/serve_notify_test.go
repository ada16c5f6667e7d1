//go:build linux || darwin

package main

import (
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A node notifies its service manager that it is ready, that it makes progress, and that it
// stops.
func TestServeNotifies(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: path})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	var seen []string
	await := func(want string) string {
		t.Helper()
		b := make([]byte, 4096)
		for {
			n, err := socket.Read(b)
			if err != nil {
				t.Fatalf("%s did not arrive: %v; before it came %q", want, err, seen)
			}
			seen = append(seen, string(b[:n]))
			if slices.Contains(strings.Split(string(b[:n]), "\n"), want) {
				return string(b[:n])
			}
		}
	}
	p := begin(t, []string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=100000"}, strings.Fields("serve --memory --name a --listen 127.0.0.1:0 --lease 1s")...)
	if text := await("READY=1"); !strings.Contains(text, "STATUS=member of cluster ") {
		t.Errorf("ready: %q", text)
	}
	if slices.ContainsFunc(seen[:len(seen)-1], func(s string) bool { return strings.Contains(s, "WATCHDOG") }) {
		t.Errorf("the watchdog was fed before the node was ready: %q", seen)
	}
	await("WATCHDOG=1")
	await("WATCHDOG=1")
	p.signal(syscall.SIGTERM)
	if text := await("STOPPING=1"); !strings.Contains(text, "EXTEND_TIMEOUT_USEC=33000000") { // lease + 2 s to drain, and 30 s
		t.Errorf("stopping: %q", text)
	}
	p.waitExit(0)
}

// The watchdog is fed only while the nodes' loops make progress.
func TestWatchdogOfAStuckNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fed := 0
		s := &supervisor{send: func(string) { fed++ }, every: time.Second, stop: make(chan struct{})}
		turns := make(chan struct{})
		s.watch(func() string { <-turns; return "" })
		time.Sleep(time.Minute)
		if synctest.Wait(); fed != 0 {
			t.Fatalf("fed %d times while a node was stuck", fed)
		}
		close(turns)
		if synctest.Wait(); fed == 0 {
			t.Fatal("not fed after the node went on")
		}
		before := fed
		time.Sleep(10 * time.Second)
		if synctest.Wait(); fed < before+9 {
			t.Errorf("fed %d times in 10 intervals", fed-before)
		}
		s.close()
	})
}

// Without a service manager nothing is sent, and what it sets wrongly is refused.
func TestFindSupervisor(t *testing.T) {
	for _, x := range []struct {
		socket, micros, pid string
		want                string // part of the error
	}{
		{},
		{micros: "nonsense"}, // there is no service manager
		{socket: "vsock:2:1234", want: "NOTIFY_SOCKET"},
		{socket: filepath.Join(t.TempDir(), "missing"), want: "NOTIFY_SOCKET"},
	} {
		env := map[string]string{"NOTIFY_SOCKET": x.socket, "WATCHDOG_USEC": x.micros, "WATCHDOG_PID": x.pid}
		s, err := findSupervisor(func(key string) string { return env[key] }, 7, func(err error) { t.Error(err) })
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v", env, err)
		}
		if err == nil {
			s.notify("READY=1", "")
			s.watch(func() string { t.Error("watched"); return "" })
			s.close()
		}
	}
	for _, x := range []struct {
		micros, pid string
		want        time.Duration
		bad         bool
	}{
		{"", "", 0, false},
		{"30000000", "", 15 * time.Second, false},
		{"30000000", strconv.Itoa(7), 15 * time.Second, false},
		{"30000000", "8", 0, false}, // of another process
		{"-1", "", 0, true},
		{"1", "", 0, true},
		{"99999999999999999999", "7", 0, true},
	} {
		if got, err := watchdogTime(x.micros, x.pid, 7); got != x.want || (err != nil) != x.bad {
			t.Errorf("%+v: %v, %v", x, got, err)
		}
	}
}

// A status cannot smuggle in assignments of its own.
func TestStatusIsOneLine(t *testing.T) {
	var got string
	s := &supervisor{send: func(text string) { got = text }}
	s.notify("READY=1", "refused:\nWATCHDOG=trigger")
	if got != "READY=1\nSTATUS=refused: WATCHDOG=trigger" {
		t.Errorf("sent %q", got)
	}
}
