//go:build linux || darwin

package child

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// watchdogName is the program name of the watchdog, which distinguishes it from a user's
// command line: users do not type the name of the program that runs.
const watchdogName = "stile-watchdog"

// killAgain is the interval at which processes that were killed and still exist are killed
// again: one may have forked in between.
const killAgain = 20 * time.Millisecond

// Watchdog does the watchdog's work and exits, if this process was started for that;
// otherwise it does nothing. The program calls it before anything else.
func Watchdog() {
	if os.Args[0] != watchdogName {
		return
	}
	// The kernel ends the command when the thread that started it ends.
	runtime.LockOSThread()
	if err := watch(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "stile: watchdog failed: %v\n", err)
		os.Exit(Failed)
	}
	os.Exit(0)
}

// A watchdog is the parent of the command. It ends the command, and everything the command
// started, when exec says so, when exec has ended, or when the lease is about to expire.
type watchdog struct {
	news  *json.Encoder
	alarm *alarm
	grace time.Duration

	leader int                // the command's process, and its group
	reaped bool               // the command has exited
	status syscall.WaitStatus // exit status of the command
	linger bool

	end, kill Moment // by the lease
	ending    bool
	over      Moment // end of the grace
	killing   bool
	lost      bool
}

// watch gets the descriptors that exec has left open for it: for words from exec, for news
// to exec, and for the terminal.
func watch(args []string) error {
	var fds [3]int
	if len(args) != len(fds) {
		return fmt.Errorf("expected %d arguments, got %d: only 'stile exec' starts the watchdog", len(fds), len(args))
	}
	for i, arg := range args {
		fd, err := strconv.Atoi(arg)
		if err != nil {
			return fmt.Errorf("argument %q is not a file descriptor: only 'stile exec' starts the watchdog", arg)
		}
		if fd >= 0 {
			syscall.CloseOnExec(fd) // the command has no use for it
		}
		fds[i] = fd
	}
	deaf := make(chan os.Signal, 1) // signals for the command are not meant for its watchdog
	for _, sig := range append(forwarded(), syscall.SIGTTIN, syscall.SIGTTOU) {
		if !signal.Ignored(sig) { // what was ignored stays ignored for the command
			signal.Notify(deaf, sig)
		}
	}
	if err := adopt(); err != nil {
		return fmt.Errorf("cannot become the parent of the command's orphans: %w", err)
	}
	words := json.NewDecoder(os.NewFile(uintptr(fds[0]), "words"))
	var o order
	if err := words.Decode(&o); err != nil {
		return nil // exec ended before there was anything to do
	}
	alarm, err := newAlarm()
	if err != nil {
		return err
	}
	w := &watchdog{news: json.NewEncoder(os.NewFile(uintptr(fds[1]), "news")), alarm: alarm, grace: o.Grace, linger: o.Linger}
	return w.run(o, fds[2], words)
}

func (w *watchdog) run(o order, tty int, words *json.Decoder) error {
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	w.extend(o.Until)
	if w.end != 0 && Now() >= w.end {
		return w.news.Encode(news{Gone: true, Lost: true}) // too late to start
	}
	if err := w.start(o, tty); err != nil {
		missing := errors.Is(err, fs.ErrNotExist)
		return w.news.Encode(news{Failed: err.Error(), Missing: missing})
	}
	// A pipe that the command reads or writes must end when the command closes it.
	os.Stdin.Close()
	os.Stdout.Close()
	// Exec may be dead: that is no reason to stop here.
	_ = w.news.Encode(news{Started: w.leader})
	said := make(chan word)
	go listen(words, said)
	for !w.gone() {
		w.alarm.set(w.next())
		select {
		case x, ok := <-said:
			if !ok {
				said, x = nil, word{End: true}
			}
			w.hear(x)
		case <-died:
		case <-w.alarm.C:
			w.ring()
		}
	}
	last := news{Gone: true, Lost: w.lost, Code: w.status.ExitStatus()}
	if w.status.Signaled() {
		last.Code, last.Signal = 0, int(w.status.Signal())
	}
	_ = w.news.Encode(last)
	return nil
}

// listen passes on what exec sends. Its end is the end of exec.
func listen(words *json.Decoder, said chan<- word) {
	defer close(said)
	for {
		var x word
		if words.Decode(&x) != nil {
			return
		}
		said <- x
	}
}

// start runs the command. As is traditional, a file that the kernel cannot run is a script
// for the shell.
func (w *watchdog) start(o order, tty int) error {
	attr := &os.ProcAttr{Dir: string(o.Dir), Env: cooked(o.Env), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: attributes(o.Foreground, tty)}
	path, args := string(o.Path), cooked(o.Args)
	p, err := os.StartProcess(path, args, attr)
	if errors.Is(err, syscall.ENOEXEC) {
		p, err = os.StartProcess("/bin/sh", append([]string{"sh", path}, args[1:]...), attr)
	}
	if err != nil {
		return err
	}
	w.leader = p.Pid
	return nil
}

func (w *watchdog) hear(x word) {
	switch {
	case x.End:
		w.lost = true
		w.finish()
	case x.Until != 0:
		w.extend(x.Until)
	case x.Signal != 0 && !x.Alone:
		forward(syscall.Signal(x.Signal), w.leader, w.reaped)
	case x.Signal != 0 && !w.reaped:
		_ = syscall.Kill(w.leader, syscall.Signal(x.Signal))
	}
}

func (w *watchdog) extend(until Moment) { w.end, w.kill = plan(Now(), until, w.grace) }

// group returns the command's group, or zero if its number may have been reused.
func (w *watchdog) group() int {
	if w.reaped && !polls {
		return 0
	}
	return w.leader
}

// finish sends TERM to all processes, and CONT, because a stopped process could not act on
// it.
func (w *watchdog) finish() {
	if w.ending {
		return
	}
	w.ending, w.over = true, Now().Add(w.grace)
	strike(syscall.SIGTERM, w.group())
	strike(syscall.SIGCONT, w.group())
}

// next returns when there is something to do, if nothing happens before.
func (w *watchdog) next() Moment {
	at := earlier(w.end, w.kill)
	if w.ending {
		at = earlier(w.over, w.kill)
	}
	switch again := Now().Add(killAgain); {
	case w.killing:
		return again
	case w.reaped && polls:
		return earlier(at, again)
	}
	return at
}

// ring does what is due.
func (w *watchdog) ring() {
	now := Now()
	if w.end != 0 && now >= w.end && !w.lost {
		w.lost = true
		w.finish()
	}
	if w.kill != 0 && now >= w.kill || w.ending && now >= w.over {
		w.killing = true
	}
	if w.killing {
		strike(syscall.SIGKILL, w.group())
	}
}

// gone reaps processes that have ended, and reports whether none is left.
func (w *watchdog) gone() bool {
	for {
		var status syscall.WaitStatus
		id, err := syscall.Wait4(-1, &status, syscall.WNOHANG|syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return w.reaped && !survivors(w.leader)
		case id == 0:
			return false
		case id == w.leader && status.Stopped():
			_ = w.news.Encode(news{Stopped: int(status.StopSignal())})
		case id == w.leader:
			w.reaped, w.status = true, status
			_ = w.news.Encode(news{Exited: true})
			if !w.linger {
				w.finish()
			}
		}
	}
}
