// Package child runs a command under a lock, and ends it, and all that it
// started, before somebody else can have the lock.
//
// Three processes take part. Exec is the one that holds the lock and calls [Run].
// It starts a watchdog, which is the same program again, and the watchdog starts
// the command. A pipe goes from exec to the watchdog: every extension of the lease
// goes through it, and its end is the end of exec. So two processes can end the
// command, and neither needs the other for it.
//
// # What is guaranteed
//
// The command is in a process group of its own. When the lock is lost, all that
// the command started gets TERM, and CONT in case that it is stopped; after the
// grace it gets KILL. [Run] returns when nothing of it is left.
//
// Exec may be stopped, or too busy to do anything: the watchdog has the end of
// the lease, on a clock that goes on while the machine sleeps, and does the same a
// while before it, see [Config]. Exec may be killed with -9: the watchdog sees it
// and ends the command. The watchdog may be killed or stopped: exec does it then,
// without grace.
//
// On Linux, "all that the command started" is every process below it, also one
// that was left by its parent, or that went into another group or session: exec
// and the watchdog adopt such processes (PR_SET_CHILD_SUBREAPER), and they know
// that all are gone because they have nobody left to wait for. On macOS it is
// the process group.
//
// The exit code is the command's, or 128 and the signal that ended it; [Failed],
// [NotExecutable] and [NotFound] say what else there is. When the command is over,
// what it has left in the background is ended too, unless [Config.Linger] is set.
//
// The command has stdin, stdout and stderr as exec has them, and all other
// descriptors that exec was started with, but none that exec or the watchdog
// opened. What exec was started ignoring, as by nohup, it may ignore too, as far
// as Go tells: HUP and INT.
//
// # Signals and the terminal
//
// Exec passes on HUP, INT, QUIT, TERM, TSTP, CONT and WINCH to the command's
// group, and USR1 and USR2 to the command alone. It does not end because of them:
// that is for the command to decide.
//
// If exec is in the foreground of a terminal, and stdin and stdout are terminals,
// the command's group is put there, and the terminal sends Ctrl-C, Ctrl-Z and
// changes of its size to it and not to exec, hence once. In a pipe exec stays in
// the foreground, since its neighbours are there, and passes signals on; a command
// that then needs the terminal, to ask for a password perhaps, gets it when it
// asks. When the command is stopped exec is stopped too, and the shell has its
// prompt; after fg both go on. But a stopped exec renews nothing: it loses the
// lock when the lease is over, and its command is ended. When the command is gone
// exec's group gets the terminal back, in the modes it had if the command had no
// time to bring them back. If Ctrl-C ended the command, exec's group gets INT as
// it would have without exec, so that a script around it ends as well.
//
// # What is not guaranteed
//
//   - If exec and the watchdog are both killed with -9, before one could act on the
//     death of the other, what the command started lives on. On Linux the command
//     itself dies with the watchdog (PDEATHSIG), unless it is set-user-ID.
//     A kill of a whole control group, as by systemd, takes the command as well.
//   - If both are stopped, or the whole machine is paused, nobody can act before
//     they go on; the command may run until then, and a moment longer. Only a
//     resource that checks STILE_TOKEN is safe from that.
//   - A process in an uninterruptible wait, as for a dead file server, does not die
//     before that ends. Run says so (ErrLeft) when the lease is over.
//   - A command with more rights than stile (sudo, set-user-ID) cannot be ended by
//     it. Run stile with these rights instead.
//   - What the command asks somebody else to run (a container, a batch queue, a
//     service manager, another machine) is not below it.
//   - On macOS a process that leaves the group, by setsid or setpgid as in a shell
//     with job control, is not ended.
//   - On Linux without /proc nothing is run.
//   - A machine so busy that the watchdog does not run within the margin that is
//     kept for the end, a tenth of the lease and at most 200 ms, kills too late.
package child
