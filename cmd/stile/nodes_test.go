//go:build linux || darwin

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	lib "github.com/stile-lock/stile"
)

// patience is how long a test waits for output or an exit.
const patience = 30 * time.Second

// A proc is a stile that runs in its own process.
type proc struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{}

	mu    sync.Mutex
	lines []string      // of both outputs, in the order in which they came
	more  chan struct{} // closed when there is another one, or none will come
	over  bool
}

// begin starts a stile, with these variables beside those of the test.
func begin(t *testing.T, env []string, args ...string) *proc {
	t.Helper()
	p := &proc{t: t, cmd: exec.Command("stile", args...), ended: make(chan struct{}), more: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), append([]string{"XDG_STATE_HOME=" + t.TempDir()}, env...)...)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = in, in
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	go p.read(out)
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("stile %q: %v\n%s", args, p.cmd.ProcessState, p.output())
		}
	})
	return p
}

func (p *proc) read(out *os.File) {
	defer out.Close()
	tell := func(f func()) {
		p.mu.Lock()
		f()
		close(p.more)
		p.more = make(chan struct{})
		p.mu.Unlock()
	}
	for s := bufio.NewScanner(out); s.Scan(); {
		tell(func() { p.lines = append(p.lines, s.Text()) })
	}
	tell(func() { p.over = true })
}

// output returns all lines so far.
func (p *proc) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// waitFor waits for a line, and returns what the expression finds in it: its first
// group, or all.
func (p *proc) waitFor(expression string) string {
	p.t.Helper()
	want := regexp.MustCompile(expression)
	late := time.After(patience)
	for {
		p.mu.Lock()
		lines, more, over := p.lines, p.more, p.over
		p.mu.Unlock()
		for _, l := range lines {
			if m := want.FindStringSubmatch(l); m != nil {
				return m[len(m)-1]
			}
		}
		if over {
			p.t.Fatalf("stile %q said no %q, but\n%s", p.cmd.Args[1:], expression, p.output())
		}
		select {
		case <-more:
		case <-late:
			p.t.Fatalf("stile %q says no %q, but\n%s", p.cmd.Args[1:], expression, p.output())
		}
	}
}

// waitSilent waits until stile and all its children have closed their output.
func (p *proc) waitSilent() {
	p.t.Helper()
	late := time.After(patience)
	for {
		p.mu.Lock()
		more, over := p.more, p.over
		p.mu.Unlock()
		if over {
			return
		}
		select {
		case <-more:
		case <-late:
			p.t.Fatalf("stile %q, or something of it, is still there", p.cmd.Args[1:])
		}
	}
}

// waitExit waits for the end, and wants this exit code.
func (p *proc) waitExit(code int) {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatalf("stile %q does not end:\n%s", p.cmd.Args[1:], p.output())
	}
	p.waitSilent()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Fatalf("stile %q: %v, want exit code %d:\n%s", p.cmd.Args[1:], p.cmd.ProcessState, code, p.output())
	}
}

func (p *proc) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// serve starts a node at a free port, in memory unless a flag says otherwise, and
// returns its address, too.
func serve(t *testing.T, flags ...string) (*proc, string) {
	t.Helper()
	p := begin(t, nil, append(strings.Fields("serve --listen 127.0.0.1:0"), flags...)...)
	return p, p.waitFor(`listening on (\S+),`)
}

// at runs stile to its end, with a node at this address, wants an exit code, and
// returns its output.
func at(t *testing.T, address string, code int, args ...string) string {
	t.Helper()
	p := begin(t, []string{"STILE_ADDR=" + address}, args...)
	p.stdin.Close()
	p.waitExit(code)
	return p.output()
}

// token acquires a lock and returns its token.
func token(t *testing.T, address, lock string) lib.Token {
	t.Helper()
	said := at(t, address, 0, "exec", lock, "--", "sh", "-c", "echo $STILE_TOKEN")
	k, err := lib.ParseToken(said[strings.LastIndex(said, "\n")+1:]) // it may have waited before
	if err != nil {
		t.Fatal(err)
	}
	return k
}
