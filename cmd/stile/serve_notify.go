package main

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A supervisor is the service manager that started this process, if it wants to be notified
// as systemd does: of readiness and status, and regularly that the process makes progress.
type supervisor struct {
	send  func(text string) // nil without a supervisor
	every time.Duration     // between reports; 0: only when something changes
	stop  chan struct{}     // closed to end the reports
}

// findSupervisor connects to the service manager that the environment names. The error of a
// message that cannot be sent is passed to failed.
func findSupervisor(getenv func(string) string, pid int, failed func(error)) (*supervisor, error) {
	s := &supervisor{stop: make(chan struct{})}
	path := getenv("NOTIFY_SOCKET")
	if path == "" {
		return s, nil
	}
	if path[0] != '/' && path[0] != '@' {
		return nil, fmt.Errorf("NOTIFY_SOCKET=%q: want the path of a unix socket: leave it out, or start stile with a service manager that sets it", path)
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Net: "unixgram", Name: path})
	if err != nil {
		return nil, fmt.Errorf("cannot notify the service manager at NOTIFY_SOCKET=%s: %w", path, err)
	}
	s.send = func(text string) {
		if _, err := c.Write([]byte(text)); err != nil {
			failed(err)
		}
	}
	if s.every, err = watchdogTime(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"), pid); err != nil {
		return nil, err
	}
	return s, nil
}

// watchdogTime returns half of the time after which the service manager ends a silent
// process; 0 if it waits forever, or for another process.
func watchdogTime(micros, of string, pid int) (time.Duration, error) {
	if micros == "" || of != "" && of != strconv.Itoa(pid) {
		return 0, nil
	}
	n, err := strconv.ParseInt(micros, 10, 64)
	if err != nil || n < 2 || n > int64(1<<63-1)/1000 {
		return 0, fmt.Errorf("WATCHDOG_USEC=%q: want a number of microseconds", micros)
	}
	return time.Duration(n) * time.Microsecond / 2, nil
}

// notify sends a status with assignments before it, if there is a supervisor. The status
// stays one line, whatever it quotes.
func (s *supervisor) notify(assignments, status string) {
	if s.send == nil {
		return
	}
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, status)
	s.send(strings.TrimPrefix(assignments+"\nSTATUS="+line, "\n"))
}

// watch reports from now on that the process makes progress. turn has the nodes take a
// turn of their loops, and returns their status when all have done so: while one is stuck,
// nothing is reported, and the supervisor restarts the process.
func (s *supervisor) watch(turn func() string) {
	if s.send == nil || s.every == 0 {
		return
	}
	go func() {
		tick := time.NewTicker(s.every)
		defer tick.Stop()
		for {
			s.notify("WATCHDOG=1", turn())
			select {
			case <-tick.C:
			case <-s.stop:
				return
			}
		}
	}()
}

// close ends the reports.
func (s *supervisor) close() { close(s.stop) }

// stopping announces that the process stops, and how long that may take at most.
func (s *supervisor) stopping(within time.Duration) {
	s.notify(fmt.Sprintf("STOPPING=1\nEXTEND_TIMEOUT_USEC=%d", within.Microseconds()), "stopping")
}
