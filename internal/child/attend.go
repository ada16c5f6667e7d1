//go:build linux || darwin

package child

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// attend does what must be done while the command runs, until its watchdog has ended, or
// does not end even when it is killed.
func (r *run) attend(ctx context.Context) {
	done := ctx.Done()
	var changed chan struct{}
	if r.cfg.Lease != nil {
		changed = r.cfg.Lease.changed
	}
	defer r.pipe.Close()
	for !r.giveUp {
		r.alarm.set(r.backstop())
		select {
		case n, ok := <-r.news:
			if !ok {
				_, _ = r.guard.Wait()
				return
			}
			r.note(n)
		case sig := <-r.signals:
			r.passed = true
			r.tell(word{Signal: int(sig.(syscall.Signal)), Alone: alone(sig)})
		case <-r.again:
			r.resume()
		case <-done:
			done, r.cause = nil, context.Cause(ctx)
			r.deadline = Now().Add(r.cfg.Grace + patience)
			r.tell(word{End: true})
		case <-changed:
			r.tell(word{Until: r.extend()})
		case <-r.alarm.C:
			r.shoot()
		}
	}
}

// backstop is when exec has waited long enough for its watchdog, which kills everything
// earlier.
func (r *run) backstop() Moment {
	until := r.until()
	switch {
	case r.shot && until == 0:
		return 0
	case r.shot:
		return until
	case until == 0:
		return r.deadline
	}
	return earlier(r.kill.Add(until.Sub(r.kill)/2), r.deadline)
}

// shoot kills a watchdog that has not done its work: it may be stopped. Exec then takes
// over what it guards.
func (r *run) shoot() {
	if r.shot {
		r.giveUp = Now() >= r.until()
		return
	}
	r.shot = true
	_ = r.guard.Kill()
}

func (r *run) note(n news) {
	switch {
	case n.Started != 0:
		r.group = n.Started
		if r.tty != nil {
			r.tty.given = r.wanted
		}
	case n.Failed != "":
		r.failed = &n
	case n.Stopped != 0:
		r.stopped(syscall.Signal(n.Stopped))
	case n.Exited:
		r.tty.take(r.group)
	case n.Gone:
		r.last = n
	}
}

// stopped does what a shell does when its job is stopped. If the command wants the terminal
// and exec has it, the command gets it. Otherwise exec is stopped too, so that the shell
// above it and its user notice. Without a terminal no user would notice, and a stopped
// command is no reason to lose the lock.
func (r *run) stopped(by syscall.Signal) {
	wants := by == syscall.SIGTTIN || by == syscall.SIGTTOU
	switch {
	case r.tty == nil, by == syscall.SIGSTOP && !r.tty.given:
	case wants && r.tty.ours():
		r.tty.give(r.group)
		r.tell(word{Signal: int(syscall.SIGCONT)})
	default:
		r.tty.take(r.group)
		suspend(r.signals, r.again)
		r.resume()
	}
}

// resume resumes the command after exec was stopped.
func (r *run) resume() {
	if r.tty != nil && r.tty.given {
		r.tty.give(r.group)
	}
	r.tell(word{Signal: int(syscall.SIGCONT)})
}

// result returns the result when there is no longer a watchdog.
func (r *run) result() (Result, error) {
	var res Result
	orphaned := !r.last.Gone && r.failed == nil
	if orphaned {
		res.Gone = r.sweep()
	} else {
		res.Gone = true
	}
	by := syscall.Signal(r.last.Signal)
	r.tty.take(r.group)
	if by != 0 || r.last.Lost || orphaned {
		r.tty.restore()
	}
	switch {
	case r.failed != nil && r.failed.Missing:
		res.Code = NotFound
		return res, fmt.Errorf("cannot run %q: %s: check its name, and its interpreter if it is a script", r.cfg.Args[0], r.failed.Failed)
	case r.failed != nil:
		res.Code = NotExecutable
		return res, fmt.Errorf("cannot run %q: %s", r.cfg.Args[0], r.failed.Failed)
	case orphaned && r.cause == nil && !r.shot:
		return lost(res, ErrWatchdog)
	case orphaned || r.last.Lost:
		return lost(res, r.cause)
	}
	if r.tty != nil && r.tty.given && !r.passed && (by == syscall.SIGINT || by == syscall.SIGQUIT) {
		mirror(by)
	}
	res.Signal, res.Code = by, Code(r.last.Code, by)
	return res, nil
}

// sweep ends what a dead watchdog has left. There is no grace: if exec were paused now, no
// process would be left to end them.
func (r *run) sweep() bool {
	group := 0
	if polls {
		group = r.group
	}
	enough := Now().Add(patience) // what dies a little late need not be searched for
	for {
		strike(syscall.SIGKILL, group)
		if r.reap() {
			return true
		}
		if until := r.until(); until != 0 && Now() >= max(until, enough) {
			return false
		}
		time.Sleep(killAgain / 4)
	}
}

// reap reaps the processes that exec has adopted, and reports whether all are dead.
func (r *run) reap() bool {
	for {
		id, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return r.group == 0 || !survivors(r.group)
		case id == 0:
			return false
		}
	}
}

// lost is the result if the lock is lost.
func lost(res Result, cause error) (Result, error) {
	if cause == nil {
		cause = ErrExpired
	}
	res.Code, res.Lost = Failed, true
	if !res.Gone {
		return res, fmt.Errorf("%w; %w, and may still run: find it and kill it", cause, ErrLeft)
	}
	return res, fmt.Errorf("%w; the command and its children were killed", cause)
}
