//go:build linux || darwin

package main

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// A node whose log has lost its reader goes on, and stops cleanly.
func TestLogReaderDies(t *testing.T) {
	t.Parallel()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("stile", "serve", "--memory", "--name", "a", "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	cmd.Stdout, cmd.Stderr = in, in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	in.Close()
	var address string
	for s := bufio.NewScanner(out); s.Scan(); {
		if m := regexp.MustCompile(`listening on (\S+),`).FindStringSubmatch(s.Text()); m != nil {
			address = m[1]
		}
		if regexp.MustCompile("^try it").MatchString(s.Text()) {
			break
		}
	}
	out.Close()
	at(t, address, 0, "choose", "x/=raymond", "--yes") // the node logs that
	at(t, address, 0, "status")
	at(t, address, 0, "leave")
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}
