package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/nightly"
)

// processesIn returns the processes whose folder for temporary files is this one.
func processesIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte("TMPDIR="+dir+"\x00")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
			all = append(all, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return all
}

// However the live bank ends, with a paused process or without, it leaves no process and no
// file behind. The kernel itself ends some processes when a paused one loses its parent.
func TestLiveBankLeavesNothing(t *testing.T) {
	nightly.Only(t)
	for _, test := range []struct {
		chaos  string
		shows  string // in the line after which the signal is sent
		signal syscall.Signal
		code   int
	}{{"pause", " paused ", syscall.SIGINT, 3}, {"pause", " paused ", syscall.SIGKILL, -1}, {"none", " workers ", syscall.SIGKILL, -1}} {
		t.Run(test.chaos+" "+test.signal.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := exec.Command("stile", "bank", "--live", "--transfers", "100000", "--chaos", test.chaos)
			c.Env = append(os.Environ(), "TMPDIR="+dir)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for lines.Scan() && !strings.Contains(lines.Text(), test.shows) {
			}
			if len(processesIn(t, dir)) < 9 { // the command, its guard, three nodes, four worker processes
				t.Errorf("only these run: %q", processesIn(t, dir))
			}
			if err := c.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
			}
			_ = c.Wait() // its exit code shows how it ended
			if code := c.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for late := time.Now().Add(time.Minute); len(processesIn(t, dir)) > 0; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(late) {
					t.Fatalf("these still run: %q", processesIn(t, dir))
				}
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
