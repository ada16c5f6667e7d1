package child

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// polls reports whether only polling shows that a group is gone. Not so on Linux: a process
// that adopts all orphans below it sees each of them end.
const polls = false

// adopt makes this process the parent of every process below it that loses its own parent:
// none of them can escape, neither by a new session nor by a double fork.
func adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// release undoes adopt.
func release() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }

// attributes are those of the command: its own group, the terminal if it gets it and, as a
// last resort, death together with its watchdog.
func attributes(foreground bool, tty int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Foreground: foreground, Ctty: tty, Pdeathsig: syscall.SIGKILL}
}

// self is this program, even if its file has been replaced or removed since.
func self() (string, error) { return "/proc/self/exe", nil }

// strike sends a signal to every process below this one. Those in the group get it by one
// call, which no fork escapes, if the group is known to be the command's.
func strike(sig syscall.Signal, group int) {
	if group != 0 {
		_ = unix.Kill(-group, sig)
	}
	for _, p := range below(os.Getpid()) {
		if group == 0 || p.group != group {
			p.signal(sig)
		}
	}
}

// forward sends a signal to a group. Without its leader, the number of the group may have
// been reused: then its members are looked up among the processes below.
func forward(sig syscall.Signal, group int, leaderless bool) {
	if !leaderless {
		_ = unix.Kill(-group, sig)
		return
	}
	for _, p := range below(os.Getpid()) {
		if p.group == group {
			p.signal(sig)
		}
	}
}

// survivors reports whether a group without its leader has members; no caller needs it on
// Linux.
func survivors(int) bool { return false }

// A process is what the kernel reports about a process.
type process struct {
	id, parent, group int
	dead              bool
}

// signal sends a signal to this process, and never to another one that has got its number
// since.
func (p process) signal(sig syscall.Signal) {
	fd, err := unix.PidfdOpen(p.id, 0)
	if err == unix.ENOSYS {
		_ = unix.Kill(p.id, sig)
		return
	}
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if now, ok := look(p.id); ok && (now.parent == p.parent || now.parent == os.Getpid()) {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

// below lists the living processes below this one, parents first.
func below(root int) []process {
	all := processes()
	var found []process
	for above := []int{root}; len(above) > 0; {
		var next []int
		for _, p := range all {
			if slices.Contains(above, p.parent) {
				next = append(next, p.id)
				if !p.dead {
					found = append(found, p)
				}
			}
		}
		above = next
	}
	return found
}

func processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var all []process
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil {
			if p, ok := look(id); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// look reads what the kernel reports about a process. Its name, in parentheses, may contain
// anything.
func look(id int) (process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	if err != nil {
		return process{}, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 3 {
		return process{}, false
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	group, _ := strconv.Atoi(string(fields[2]))
	return process{id, parent, group, bytes.ContainsAny(fields[0], "ZX")}, true
}
