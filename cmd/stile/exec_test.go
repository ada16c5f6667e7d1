//go:build linux || darwin

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/node"
)

// The command gets its environment and input, and stile exits with its exit code.
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
		{0, "exec --verbose demo true", "released demo"},
		{128 + 9, "exec demo -c kill~-9~$$", ""},
		{127, "exec demo no-such-command", "no-such-command"},
		{126, "exec demo ./", "cannot run"},
		{2, "exec demo", "needs a command"},
		{2, "exec demo -n -w 3 true", "give one of them"},
		{2, "exec demo -c echo x", "quote the command"},
		{0, "exec demo --help", "Exit codes:"},
		{125, "exec -n --addr 127.0.0.1:1 demo true", "'stile serve'"},
		{125, "exec -w 0.3 --addr 127.0.0.1:1 demo true", "'stile serve'"},
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
	cat.waitFor("^what comes in$")
	cat.stdin.Close()
	cat.waitExit(0)
}

// loop is a command for the shell that does not end by itself.
const loop = `while :; do sleep 0.02; done`

// A held lock is not acquired with -n, nor with -w in time. A waiting command reports the
// holder, and gets the lock in the end.
func TestLiveConflict(t *testing.T) {
	t.Parallel()
	_, a := serve(t, "--memory", "--name", "a")
	holder := begin(t, nil, "lock", "demo", "--addr", a)
	first := holder.waitFor(`^\d+\.\d+$`)
	at(t, a, 1, "exec", "-n", "demo", "true")
	at(t, a, 1, "lock", "-n", "demo")
	at(t, a, 1, "exec", "-w", "0.05", "demo", "true")
	at(t, a, 75, "exec", "-w", "2s", "-E", "75", "demo", "true")
	at(t, a, 0, "exec", "-n", "-E", "0", "demo", "false")
	waiter := begin(t, nil, "exec", "--addr", a, "demo", "echo", "in")
	waiter.waitFor(`waiting for demo: held by a client \(label "stile-lock@.*"\) at a with token ` + first)
	ended := begin(t, nil, "exec", "--addr", a, "demo", "true")
	ended.waitFor(`waiting for demo`)
	ended.signal(syscall.SIGTERM)
	ended.waitExit(128 + 15)
	holder.stdin.Close()
	holder.waitExit(0)
	waiter.waitFor(`^in$`)
	waiter.waitExit(0)
	holder = begin(t, nil, "lock", "demo", "--json", "--addr", a)
	holder.waitFor(`"token": "\d+\.\d+"`)
	holder.signal(os.Interrupt)
	holder.waitExit(0)
}

// A command that waits also waits for a node to start, says so, and can be told to stop.
func TestLiveWithoutNode(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := l.Addr().String()
	l.Close() // perhaps another process takes the port: then the node below does not start
	ended := begin(t, nil, "exec", "--addr", a, "demo", "true")
	holder := begin(t, nil, "lock", "--addr", a, "-w", "1h", "demo")
	ended.waitFor("waiting for demo: no node at " + a + ": connection refused: .*stile serve")
	holder.waitFor("waiting for demo: no node at " + a)
	ended.signal(syscall.SIGTERM)
	ended.waitExit(128 + 15)
	begin(t, nil, "serve", "--memory", "--listen", a)
	holder.waitFor(`^\d+\.\d+$`)
}

// A command that waits also waits for a majority of the nodes.
func TestLiveWithoutMajority(t *testing.T) {
	t.Parallel()
	var all []*node.Node
	configs := make([]node.Config, 3)
	for i := range configs {
		name := string(rune('a' + i))
		c := node.Config{Name: name, Data: filepath.Join(t.TempDir(), name), Lease: 2 * time.Second}
		if i > 0 {
			c.Join = []string{all[0].Address()}
		}
		all = append(all, serveHere(t, c))
		c.Listen = all[i].Address()
		configs[i] = c
	}
	first := all[0]
	becomes(t, "the leader of three voters", func() bool { // it founded the cluster
		s := first.Status()
		return s.Settled && len(s.Members) == 3 && !slices.ContainsFunc(s.Members, func(m node.MemberInfo) bool { return !m.Voter })
	})
	for _, n := range all[1:] {
		n.Kill()
	}
	becomes(t, "without a majority", func() bool { return first.Status().Why != "" })
	waiter := begin(t, nil, "exec", "--addr", first.Address(), "demo", "echo", "in")
	waiter.waitFor("waiting for demo: .*majority")
	for _, c := range configs[1:] {
		n, err := node.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Kill)
	}
	waiter.waitFor("^in$")
	waiter.waitExit(0)
}

// If a node stops, the commands under its locks learn that this is why they are ended, and
// not that the lock was released.
func TestLiveDrained(t *testing.T) {
	t.Parallel()
	node, a := serve(t, "--memory", "--lease", "3s")
	p := begin(t, nil, "exec", "--verbose", "--addr", a, "demo", "--", "sh", "-c", "echo up; "+loop)
	p.waitFor("^up$")
	held := begin(t, nil, "lock", "--verbose", "--addr", a, "other")
	held.waitFor(`^\d+\.\d+$`)
	node.signal(syscall.SIGTERM)
	for _, p := range []*proc{p, held} {
		p.waitExit(125)
		p.waitFor("stopping or leaving|told to stop")
		if strings.Contains(p.output(), "released") {
			t.Errorf("it says that the lock was released and lost:\n%s", p.output())
		}
	}
}

// Signals reach the command, which decides how to react.
func TestLiveSignals(t *testing.T) {
	t.Parallel()
	_, a := serve(t, "--memory")
	p := begin(t, nil, "exec", "--addr", a, "demo", "--", "sh", "-c", `trap 'echo told; exit 3' TERM; echo up; `+loop)
	p.waitFor("^up$")
	p.signal(syscall.SIGTERM)
	p.waitFor("^told$")
	p.waitExit(3)
	at(t, a, 0, "exec", "-n", "demo", "true")
}

// When exec is killed, its command and all children end before the lock is free.
func TestLiveKilled(t *testing.T) {
	_, a := serve(t, "--memory", "--lease", "1s")
	p := begin(t, nil, "exec", "--addr", a, "demo", "--", "sh", "-c", `(`+loop+`) & echo up; `+loop)
	p.waitFor("^up$")
	p.signal(syscall.SIGKILL)
	p.waitSilent() // the loops have its output, too
	at(t, a, 0, "exec", "demo", "true")
}

// When the node crashes the command is ended, and the exit code is 125.
func TestLiveLost(t *testing.T) {
	node, a := serve(t, "--memory", "--lease", "1s")
	p := begin(t, nil, "exec", "--addr", a, "demo", "--", "sh", "-c", `trap 'echo told; exit 0' TERM; echo up; `+loop)
	p.waitFor("^up$")
	held := begin(t, nil, "lock", "--addr", a, "other")
	held.waitFor(`^\d+\.\d+$`)
	node.signal(syscall.SIGKILL)
	p.waitFor("^told$")
	p.waitExit(125)
	p.waitFor(`^stile: lock "demo": .*killed$`)
	held.waitExit(125)
	held.waitFor("^stile: the lock was lost: other")
}

// All processes of a command are gone before the command of another exec starts,
// whatever happens to its node or to exec itself. Each of them holds a file lock, which
// the other command checks.
func TestLiveGroup(t *testing.T) {
	nightly.Only(t)
	if _, err := exec.LookPath("flock"); err != nil {
		t.Skip("there is no flock on this machine, by which it would be seen")
	}
	for what, strike := range map[string]func(node, other, holder *proc){
		"its node is killed, then exec":  func(node, other, holder *proc) { outlive(node, other, holder, syscall.SIGKILL) },
		"its node is stopped, then exec": func(node, other, holder *proc) { outlive(node, other, holder, syscall.SIGSTOP) },
		"exec is stopped":                func(_, _, holder *proc) { holder.signal(syscall.SIGSTOP) },
		"exec is killed":                 func(_, _, holder *proc) { holder.signal(syscall.SIGKILL) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "held")
			_, a := serve(t, "--memory", "--name", "a", "--lease", "6s") // longer than a busy machine stalls
			node, b := serve(t, "--memory", "--name", "b", "--join", a)
			third, c := serve(t, "--memory", "--name", "c", "--join", a)
			third.waitFor(`view begun epoch=\d+ members=3 voters=3`)
			holder := begin(t, nil, "exec", "--addr", b, "demo", "--", "sh", "-c",
				`trap '' TERM; exec 9>`+file+`; flock 9; (setsid sleep 1000) & (`+loop+`) & echo up; `+loop)
			holder.waitFor("^up$")
			if exec.Command("flock", "-n", file, "true").Run() == nil {
				t.Fatal("the command does not have the file locked")
			}
			waiter := begin(t, nil, "exec", "--addr", c, "demo", "--", "flock", "-n", file, "echo", "free")
			waiter.waitFor("waiting for demo")
			strike(node, third, holder)
			waiter.waitFor("^free$")
			waiter.waitExit(0)
		})
	}
}

// outlive strikes the node of a command, and kills exec when the node is evicted. By then
// the command usually holds its lock through another node.
func outlive(node, other, holder *proc, s syscall.Signal) {
	node.signal(s)
	other.waitFor("b was evicted")
	_ = holder.cmd.Process.Kill() // it may have ended
}
