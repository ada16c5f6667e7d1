package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stile-lock/stile/internal/nightly"
)

// openTerminal opens a terminal: what is written to its inner end can be read from its
// outer one.
func openTerminal(t *testing.T) (outer, inner *os.File) {
	t.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal here: %v", err)
	}
	t.Cleanup(func() { outer.Close() })
	var number, locked int32
	for request, arg := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &locked} {
		if _, _, bad := syscall.Syscall(syscall.SYS_IOCTL, outer.Fd(), request, uintptr(unsafe.Pointer(arg))); bad != 0 {
			t.Skipf("no terminal here: %v", bad)
		}
	}
	if inner, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Skipf("no terminal here: %v", err)
	}
	return outer, inner
}

// The command itself, on a terminal, interrupted by a signal as soon as it shows
// that it is under way: the line is removed, what there is is printed, and nothing
// is left behind.
func TestSignalOnATerminal(t *testing.T) {
	nightly.Only(t)
	for _, test := range []struct{ line, shows, stdout string }{
		{"sim ricart-agrawala --nodes 9 --entries 10000000 --svg x", " of 10,000,000 entries, ", "violations none so far"},
		{"deadlock ordered --transactions 1000000 --svg x", " of 1,000,000 transactions, ", "stuck                              0"},
		{"bank --machines 9 --deposits 1000000 --lock none --svg x", " of 9,000,000 deposits, ", " so far. "},
		{"compare --entries 3000 --svg x", " of 570 runs", "BEST ALGORITHMS"},
		{"check lamport --nodes 4 --requests unbounded", " states, ", "unfinished     interrupted"},
	} {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			outer, inner := openTerminal(t)
			var stdout bytes.Buffer
			c := exec.Command("stile-lab", strings.Fields(test.line)...)
			c.Dir, c.Stdout, c.Stderr = dir, &stdout, inner
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			inner.Close()
			shown := make([]byte, 1000)
			n, err := outer.Read(shown)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			rest, _ := io.ReadAll(outer) // ends with an error when the other end has closed
			_ = c.Wait()
			stderr := string(shown[:n]) + string(rest)
			if c.ProcessState.ExitCode() != 3 || !strings.HasPrefix(stderr, "\r\x1b[K") || !strings.Contains(stderr, test.shows) {
				t.Errorf("%v, on the terminal %q; want 3 and how far it is", c.ProcessState, stderr)
			}
			last := stderr[strings.LastIndex(stderr, "\r\x1b[K")+4:]
			if !strings.HasPrefix(last, "stile-lab: interrupted after ") || strings.Count(stderr, "\n") != 1 {
				t.Errorf("on the terminal %q; want one line at the end", stderr)
			}
			if !strings.Contains(stdout.String(), test.stdout) {
				t.Errorf("it prints\n%s", stdout.String())
			}
			names, _ := filepath.Glob(filepath.Join(dir, "*"))
			if strings.HasSuffix(test.line, " x") != (len(names) == 1) || len(names) == 1 && filepath.Base(names[0]) != "x" {
				t.Errorf("there are %q", names)
			}
		})
	}
}

// The table is printed even if the picture cannot be written.
func TestTableWithoutPicture(t *testing.T) {
	for _, line := range []string{
		"compare raymond --nodes 3 --entries 20 --svg /dev/full",
		"compare raymond --nodes 3 --entries 20 --svg /dev/full --json",
		"compare ordered --deadlock --nodes 3 --entries 20 --svg /dev/full",
		"sim raymond --entries 20 --svg /dev/full",
	} {
		code, stdout, stderr := do(strings.Fields(line)...)
		said := ok(t, strings.Replace(line, "/dev/full", "/dev/null", 1))
		said, _, _ = strings.Cut(said, "\n/dev/null shows ") // what was not written shows nothing
		if code != 2 || stdout != said || !strings.Contains(stderr, `"/dev/full": cannot write the file: no space left`) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("stile-lab %s: exit code %d, stderr %q, stdout\n%s", line, code, stderr, stdout)
		}
	}
}
