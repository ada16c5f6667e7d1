// Package child runs a command under a lock. If the lock is lost, it ends the command and
// everything the command started before another process can acquire the lock.
//
// Three processes take part. Exec holds the lock and calls [Run]. It starts a watchdog,
// which is the same program again, and the watchdog starts the command. A pipe leads from
// exec to the watchdog: it carries every extension of the lease, and its end means that
// exec has ended. So two processes can end the command, and neither needs the other for
// that.
//
// # What is guaranteed
//
// The command is in a process group of its own. When the lock is lost, everything the
// command started gets TERM, and CONT in case it is stopped; after the grace it gets KILL.
// [Run] returns when nothing of it is left.
//
// Exec may be stopped, or too busy to do anything. The watchdog knows the end of the lease,
// on a clock that keeps running while the machine sleeps, and does the same somewhat
// earlier, see [Config]. Exec may be killed with -9: the watchdog notices and ends the
// command. The watchdog may be killed or stopped: exec then ends the command, without
// grace.
//
// On Linux, "everything the command started" is every process below it, including one that
// was orphaned or that moved to another group or session. Exec and the watchdog adopt such
// processes (PR_SET_CHILD_SUBREAPER), and know that all are gone when there is no child
// left to wait for. On macOS it is the process group.
//
// The exit code is the command's, or 128 plus the signal that ended it; [Failed],
// [NotExecutable] and [NotFound] are the exceptions. When the command exits, what it has
// left in the background is ended too, unless [Config.Linger] is set.
//
// The command has exec's stdin, stdout and stderr, and all other descriptors that exec was
// started with, but none that exec or the watchdog opened. Signals that exec was started to
// ignore, for example by nohup, are ignored in the command too, as far as Go reports them:
// HUP and INT.
//
// # Signals and the terminal
//
// Exec forwards HUP, INT, QUIT, TERM, TSTP, CONT and WINCH to the command's group, and USR1
// and USR2 only to the command. They do not end exec: that is for the command to decide.
//
// If exec is in the foreground of a terminal, and stdin and stdout are terminals, the
// command's group is put in the foreground. The terminal then sends Ctrl-C, Ctrl-Z and
// changes of its size to the command and not to exec, hence once. In a pipeline exec stays
// in the foreground, because its neighbours are there, and forwards signals; a command that
// then needs the terminal, perhaps to ask for a password, gets it when it asks. When the
// command is stopped, exec is stopped too, and the shell shows its prompt; after fg both
// continue. But a stopped exec renews nothing: it loses the lock when the lease expires,
// and its command is ended. When the command is gone, exec's group gets the terminal back,
// in the modes it had if the command had no time to restore them. If Ctrl-C ended the
// command, exec's group gets INT as it would have without exec, so that a script around it
// ends as well.
//
// # What is not guaranteed
//
//   - If exec and the watchdog are both killed with -9, before either could act on
//     the death of the other, what the command started lives on. On Linux the command
//     itself dies with the watchdog (PDEATHSIG), unless it is set-user-ID.
//     Killing a whole control group, as systemd does, kills the command as well.
//   - If both are stopped, or the whole machine is paused, neither can act before it
//     resumes; the command may run until then, and a moment longer. Only a
//     resource that checks STILE_TOKEN is safe from that.
//   - A process in an uninterruptible wait, as for a dead file server, does not die
//     before that ends. Run reports this (ErrLeft) when the lease expires.
//   - A command with more privileges than stile (sudo, set-user-ID) cannot be ended by
//     it. Run stile with these privileges instead.
//   - What the command asks another program to run (a container, a batch queue, a
//     service manager, another machine) is not below it.
//   - On macOS a process that leaves the group, by setsid or setpgid as in a shell
//     with job control, is not ended.
//   - On Linux without /proc nothing is run.
//   - On a machine so busy that the watchdog does not run within the margin that is
//     reserved for the end, a tenth of the lease and at most 200 ms, it kills too late.
package child
