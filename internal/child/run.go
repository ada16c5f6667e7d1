//go:build linux || darwin

package child

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stile-lock/stile/internal/tty"
)

const (
	// patience is how long exec waits for its watchdog where the lease sets no limit.
	patience = time.Second
	// birth is how long the watchdog may take to start.
	birth = 30 * time.Second
)

// A run is a command under a lock, as exec sees it.
type run struct {
	cfg   Config
	tty   *terminal
	guard *os.Process
	pipe  *os.File // to the watchdog
	words *json.Encoder
	alarm *alarm

	signals, again chan os.Signal
	news           chan news

	wanted   bool // the command gets the terminal at once
	group    int  // of the command, once it has started
	passed   bool // another process's signal was forwarded to the command
	last     news
	failed   *news
	cause    error  // cause of a loss that exec knows of
	shot     bool   // the watchdog was killed because it did not answer
	giveUp   bool   // and even that did not help
	deadline Moment // for the answer to a loss
	kill     Moment // when the watchdog kills, by the lease
}

// Run runs a command until it and everything it started have ended. It ends them when the
// context is cancelled, which means that the lock is lost, and when the lease is about to
// expire. The result always has the code to exit with; an error says why it is not the
// command's own.
//
// While it runs, Run owns the signals, the terminal and the children of this process:
// nothing else in the process may start processes.
func Run(ctx context.Context, cfg Config) (Result, error) {
	args, err := arguments(cfg.Args, cfg.Shell, cfg.Env)
	if err != nil {
		return Result{Code: Failed, Gone: true}, err
	}
	path, code, err := find(args[0])
	if err != nil {
		return Result{Code: code, Gone: true}, err
	}
	if ctx.Err() != nil { // perhaps while the lock was being acquired: too late to start
		return lost(Result{Gone: true}, context.Cause(ctx))
	}
	r := &run{cfg: cfg, signals: make(chan os.Signal, 64), again: make(chan os.Signal, 1), news: make(chan news)}
	r.listen()
	defer signal.Stop(r.signals)
	defer signal.Stop(r.again)
	r.tty = controlling()
	defer r.tty.close()
	if r.alarm, err = newAlarm(); err != nil {
		return Result{Code: Failed, Gone: true}, err
	}
	defer r.alarm.stop()
	if err := adopt(); err != nil {
		return Result{Code: Failed, Gone: true}, fmt.Errorf("cannot become the parent of the command's orphans: %w", err)
	}
	defer release()
	if err := r.start(path, args); err != nil {
		return Result{Code: Failed, Gone: true}, fmt.Errorf("cannot start the watchdog: %w", err)
	}
	r.attend(ctx)
	return r.result()
}

// listen subscribes to the signals to forward, except ignored ones: the command has a right
// to ignore them too.
func (r *run) listen() {
	for _, sig := range forwarded() {
		if !signal.Ignored(sig) {
			signal.Notify(r.signals, sig)
		}
	}
	signal.Notify(r.again, syscall.SIGCONT)
}

// start starts the watchdog and sends it what to run.
func (r *run) start(path string, args []string) error {
	in, words, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	back, out, err := os.Pipe()
	if err != nil {
		words.Close()
		return err
	}
	defer out.Close()
	r.pipe, r.words = words, json.NewEncoder(words)
	if err := r.spawn(in, out); err != nil {
		words.Close()
		back.Close()
		return err
	}
	go hear(back, r.news)
	r.wanted = r.wantsTerminal()
	r.say(birth, order{
		Path: []byte(path), Args: raw(args), Env: raw(r.cfg.Env), Dir: []byte(r.cfg.Dir), Grace: r.cfg.Grace, Linger: r.cfg.Linger,
		Foreground: r.wanted, Until: r.extend(),
	})
	return nil
}

// extend checks the lease again.
func (r *run) extend() Moment {
	until := r.until()
	_, r.kill = plan(Now(), until, 0)
	return until
}

// spawn starts the watchdog in a group of its own, where no signal for exec reaches it, but
// in this session, where it can start programs that use the terminal. It inherits
// descriptors under the numbers that they have here, because the user may want the command
// to have any other number.
func (r *run) spawn(in, out *os.File) error {
	program, err := self()
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	files := []*os.File{r.cfg.Stdin, r.cfg.Stdout, r.cfg.Stderr}
	for i, f := range files {
		if f == nil {
			files[i] = null
		}
	}
	argv := []string{watchdogName}
	for _, fd := range []int{int(in.Fd()), int(out.Fd()), r.tty.descriptor()} {
		argv = append(argv, strconv.Itoa(fd))
		if fd >= 0 {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
				return err
			}
			defer syscall.CloseOnExec(fd)
		}
	}
	r.guard, err = os.StartProcess(program, argv, &os.ProcAttr{Files: files, Sys: &syscall.SysProcAttr{Setpgid: true}})
	return err
}

// wantsTerminal reports whether the command gets the terminal at once: if exec is in the
// foreground and not part of a pipeline, in which another process may want it.
func (r *run) wantsTerminal() bool {
	in, out := r.cfg.Stdin, r.cfg.Stdout
	return r.tty.ours() && in != nil && out != nil && tty.Is(int(in.Fd())) && tty.Is(int(out.Fd()))
}

func (r *run) until() Moment {
	if r.cfg.Lease == nil {
		return 0
	}
	return r.cfg.Lease.Until()
}

// tell sends a word to the watchdog.
func (r *run) tell(x word) { r.say(patience, x) }

// say sends a message to the watchdog. A watchdog that does not read it is killed; the end
// of its news then triggers the rest.
func (r *run) say(within time.Duration, x any) {
	_ = r.pipe.SetWriteDeadline(time.Now().Add(within))
	if err := r.words.Encode(x); err != nil {
		_ = r.guard.Kill()
	}
}

// hear passes on the watchdog's news until the watchdog has ended.
func hear(pipe *os.File, all chan<- news) {
	defer close(all)
	defer pipe.Close()
	for d := json.NewDecoder(pipe); ; {
		var n news
		if d.Decode(&n) != nil {
			return
		}
		all <- n
	}
}
