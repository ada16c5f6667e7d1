//go:build linux || darwin

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// The command gets what it is promised, and its exit code is that of stile.
func TestLiveExec(t *testing.T) {
	t.Parallel()
	_, a := serve(t, "--memory", "--name", "a")
	if first, second := token(t, a, "demo"), token(t, a, "demo"); !first.Less(second) {
		t.Errorf("the token %v comes after %v", second, first)
	}
	for _, test := range []struct {
		code int
		line string
		says string
	}{
		{7, "exec demo -- sh -c exit~7", ""},
		{7, "exec demo sh -c exit~7", ""}, // as with flock no -- is needed
		{0, "exec -n demo --shell echo~$STILE_LOCK", "demo"},
		{0, "exec demo -c echo~$STILE_LOCK", "demo"},
		{0, "exec --verbose demo true", "has let go of demo"},
		{128 + 9, "exec demo -c kill~-9~$$", ""},
		{127, "exec demo no-such-command", "there is no such command"},
		{126, "exec demo ./", "cannot run"},
		{2, "exec demo", "needs a command"},
		{2, "exec demo -n -w 3 true", "give one of them"},
		{2, "exec demo -c echo x", "put it in quotes"},
		{0, "exec demo --help", "Exit codes:"},
		{125, "exec --addr 127.0.0.1:1 demo true", "start one with 'stile serve'"},
	} {
		args := strings.Fields(test.line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "~", " ")
		}
		if said := at(t, a, test.code, args...); !strings.Contains(said, test.says) {
			t.Errorf("stile %q says %q, want %q", args, said, test.says)
		}
	}
	cat := begin(t, nil, "exec", "--addr", a, "demo", "cat")
	if _, err := cat.stdin.Write([]byte("what comes in\n")); err != nil {
		t.Fatal(err)
	}
	cat.until("^what comes in$")
	cat.stdin.Close()
	cat.exits(0)
}

// loop is a command for the shell that does not end by itself.
const loop = `while :; do sleep 0.02; done`

// A lock that is held is not had with -n, nor in vain for long with -w; who waits
// is told for whom, and gets it in the end.
func TestLiveConflict(t *testing.T) {
	t.Parallel()
	_, a := serve(t, "--memory", "--name", "a")
	holder := begin(t, nil, "lock", "demo", "--addr", a)
	first := holder.until(`^\d+\.\d+$`)
	at(t, a, 1, "exec", "-n", "demo", "true")
	at(t, a, 1, "lock", "-n", "demo")
	at(t, a, 1, "exec", "-w", "0.05", "demo", "true")
	at(t, a, 75, "exec", "-w", "50ms", "-E", "75", "demo", "true")
	at(t, a, 0, "exec", "-n", "-E", "0", "demo", "false")
	waiter := begin(t, nil, "exec", "--addr", a, "demo", "echo", "in")
	waiter.until(`waits for demo: stile-lock@.* at a holds it with token ` + first)
	ended := begin(t, nil, "exec", "--addr", a, "demo", "true")
	ended.until(`waits for demo`)
	ended.signal(syscall.SIGTERM)
	ended.exits(128 + 15)
	holder.stdin.Close()
	holder.exits(0)
	waiter.until(`^in$`)
	waiter.exits(0)
	holder = begin(t, nil, "lock", "demo", "--json", "--addr", a)
	holder.until(`"token": "\d+\.\d+"`)
	holder.signal(os.Interrupt)
	holder.exits(0)
}

// Signals reach the command, which decides what to do about them.
func TestLiveSignals(t *testing.T) {
	t.Parallel()
	_, a := serve(t, "--memory")
	p := begin(t, nil, "exec", "--addr", a, "demo", "--", "sh", "-c", `trap 'echo told; exit 3' TERM; echo up; `+loop)
	p.until("^up$")
	p.signal(syscall.SIGTERM)
	p.until("^told$")
	p.exits(3)
	at(t, a, 0, "exec", "-n", "demo", "true")
}

// When exec is killed all that its command has started is ended, and then somebody
// else gets the lock.
func TestLiveKilled(t *testing.T) {
	_, a := serve(t, "--memory", "--lease", "1s")
	p := begin(t, nil, "exec", "--addr", a, "demo", "--", "sh", "-c", `(`+loop+`) & echo up; `+loop)
	p.until("^up$")
	p.signal(syscall.SIGKILL)
	p.silent() // the loops have its output, too
	at(t, a, 0, "exec", "demo", "true")
}

// When the node dies the command is ended, and the code says so.
func TestLiveLost(t *testing.T) {
	node, a := serve(t, "--memory", "--lease", "1s")
	p := begin(t, nil, "exec", "--addr", a, "demo", "--", "sh", "-c", `trap 'echo told; exit 0' TERM; echo up; `+loop)
	p.until("^up$")
	held := begin(t, nil, "lock", "--addr", a, "other")
	held.until(`^\d+\.\d+$`)
	node.signal(syscall.SIGKILL)
	p.until("^told$")
	p.exits(125)
	p.until(`^stile: lock "demo": the lock of the command is lost: .*; the command and all that it started are ended$`)
	held.exits(125)
	held.until("^stile: the lock is lost: other")
}
