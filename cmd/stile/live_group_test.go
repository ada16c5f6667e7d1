//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// All that a command has started is gone before the command of another exec starts,
// whatever becomes of its node, or of exec itself. Each of its processes has a file
// locked, which the other command finds out.
func TestLiveGroup(t *testing.T) {
	if _, err := exec.LookPath("flock"); err != nil {
		t.Skip("there is no flock on this machine, by which it would be seen")
	}
	for what, strike := range map[string]func(node, holder *proc){
		"its node is killed":  func(node, _ *proc) { node.signal(syscall.SIGKILL) },
		"its node is stopped": func(node, _ *proc) { node.signal(syscall.SIGSTOP) },
		"exec is stopped":     func(_, holder *proc) { holder.signal(syscall.SIGSTOP) },
		"exec is killed":      func(_, holder *proc) { holder.signal(syscall.SIGKILL) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "held")
			_, a := serve(t, "--memory", "--name", "a", "--lease", "6s") // longer than a busy machine stands still
			node, b := serve(t, "--memory", "--name", "b", "--join", a)
			third, c := serve(t, "--memory", "--name", "c", "--join", a)
			third.until(`view begun epoch=\d+ members=3 voters=3`)
			holder := begin(t, nil, "exec", "--addr", b, "demo", "--", "sh", "-c",
				`trap '' TERM; exec 9>`+file+`; flock 9; (setsid sleep 1000) & (`+loop+`) & echo up; `+loop)
			holder.until("^up$")
			if exec.Command("flock", "-n", file, "true").Run() == nil {
				t.Fatal("the command does not have the file locked")
			}
			waiter := begin(t, nil, "exec", "--addr", c, "demo", "--", "flock", "-n", file, "echo", "free")
			waiter.until("waits for demo")
			strike(node, holder)
			waiter.until("^free$")
			waiter.exits(0)
		})
	}
}
