//go:build linux || darwin

package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A play is what a test has run by an exec of its own.
type play struct {
	Kind   string // the real Run, or one with a bug
	Args   []string
	Shell  bool
	Grace  time.Duration
	Lease  time.Duration
	Linger bool
	Lost   bool // before it starts
}

// roleVariable says what a process of this test is to be.
const roleVariable, playVariable = "CHILD_TEST_ROLE", "CHILD_TEST_PLAY"

func TestMain(m *testing.M) {
	Watchdog()
	switch os.Getenv(roleVariable) {
	case "exec":
		os.Unsetenv(roleVariable)
		os.Exit(front())
	case "listener":
		listener()
	}
	_ = adopt() // what a bug leaves behind is found and ended
	os.Exit(m.Run())
}

// front is 'stile exec' without a lock: a test says when that is lost, and when
// its lease is extended.
func front() int {
	var p play
	if err := json.Unmarshal([]byte(os.Getenv(playVariable)), &p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return Failed
	}
	os.Unsetenv(playVariable)
	syscall.CloseOnExec(3)
	ctx, lose := context.WithCancelCause(context.Background())
	cfg := Config{Args: p.Args, Shell: p.Shell, Grace: p.Grace, Linger: p.Linger, Env: Environ(os.Environ(), Lock{"disk", "7"}),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	if p.Lease != 0 {
		cfg.Lease = NewLease(Now().Add(p.Lease))
	}
	if p.Lost {
		lose(errors.New("somebody else has it"))
	}
	go func() {
		for lines := bufio.NewScanner(os.NewFile(3, "control")); lines.Scan(); {
			if d, err := time.ParseDuration(lines.Text()); err == nil {
				cfg.Lease.Extend(Now().Add(d))
			} else {
				lose(errors.New(lines.Text()))
			}
		}
	}()
	res, err := kinds()[p.Kind](ctx, cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return res.Code
}

// listener writes down every signal it gets, until one of them is TERM.
func listener() {
	heard := make(chan os.Signal, 64)
	signal.Notify(heard, append(forwarded(), syscall.SIGCONT)...)
	life := os.NewFile(9, "life")
	who := os.Getenv("WHO")
	fmt.Fprintln(life, who, "up")
	for sig := range heard {
		fmt.Fprintln(life, who, sig)
		if sig == syscall.SIGTERM {
			os.Exit(42)
		}
	}
}

// A stage is where a play is given.
type stage struct {
	t       *testing.T
	exec    *exec.Cmd
	control *os.File
	life    *os.File // only processes of the command hold its other end
	lines   *bufio.Reader
	fifo    string
	own     *os.File
	errors  *os.File // a file: a pipe would be held open by what a bug leaves behind
	reaped  bool
}

// patience is how long a test waits for what must happen; a planted bug, for what
// must not.
const testPatience, plantPatience = 20 * time.Second, 50 * time.Millisecond

// perform starts a play. The command finds the path of the life line in LIFE.
func perform(t *testing.T, p play, set ...func(*exec.Cmd)) *stage {
	t.Helper()
	s := &stage{t: t, fifo: filepath.Join(t.TempDir(), "life")}
	if err := unix.Mkfifo(s.fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	s.life = s.open(os.O_RDONLY | unix.O_NONBLOCK)
	s.own = s.open(os.O_WRONLY) // there is always a writer until the command is one
	s.lines = bufio.NewReader(s.life)
	if p.Kind == "" {
		p.Kind = "real"
	}
	text, _ := json.Marshal(p)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.control = w
	s.exec = exec.Command(program)
	s.exec.Env = append(os.Environ(), roleVariable+"=exec", playVariable+"="+string(text), "LIFE="+s.fifo, "SELF="+program,
		"GORACE=atexit_sleep_ms=0") // or every process here takes a second to end
	s.exec.ExtraFiles = []*os.File{r}
	if s.errors, err = os.Create(s.fifo + ".stderr"); err != nil {
		t.Fatal(err)
	}
	s.exec.Stderr = s.errors
	for _, f := range set {
		f(s.exec)
	}
	if err := s.exec.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() {
		w.Close()
		_ = s.exec.Process.Signal(syscall.SIGCONT)
		_ = s.exec.Process.Kill()
		s.wait()
		s.errors.Close()
		(&run{}).sweep()
	})
	return s
}

func (s *stage) stderr() string {
	text, _ := os.ReadFile(s.errors.Name())
	return string(text)
}

func (s *stage) open(how int) *os.File {
	s.t.Helper()
	f, err := os.OpenFile(s.fifo, how, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { f.Close() })
	return f
}

// line reads what the command wrote on its life line.
func (s *stage) line() string {
	s.t.Helper()
	_ = s.life.SetReadDeadline(time.Now().Add(testPatience))
	text, err := s.lines.ReadString('\n')
	if err != nil {
		s.t.Fatalf("the command wrote %q: %v; stderr %q", text, err, s.stderr())
	}
	return strings.TrimSpace(text)
}

// up waits until this many processes of the command have said that they are up,
// and leaves the life line to them.
func (s *stage) up(n int) {
	s.t.Helper()
	for range n {
		if l := s.line(); !strings.HasSuffix(l, "up") {
			s.t.Fatalf("the command says %q, want up", l)
		}
	}
	s.own.Close()
}

// rest returns everything that is written until no writer is left.
func (s *stage) rest(patience time.Duration) (string, error) {
	_ = s.life.SetReadDeadline(time.Now().Add(patience))
	text, err := io.ReadAll(s.lines)
	return string(text), err
}

// left says whether something of the command is left at this moment.
func (s *stage) left() bool {
	raw, err := s.life.SyscallConn()
	if err != nil {
		s.t.Fatal(err)
	}
	left := true
	_ = raw.Read(func(fd uintptr) bool {
		for left {
			n, err := unix.Read(int(fd), make([]byte, 1000))
			if n == 0 && err == nil {
				left = false
			}
			if err == unix.EAGAIN {
				break
			}
		}
		return true
	})
	return left
}

func (s *stage) say(text string) {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.control, text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.exec.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// wait waits for exec and returns its code.
func (s *stage) wait() int {
	if !s.reaped {
		_ = s.exec.Wait()
		s.reaped = true
	}
	return s.exec.ProcessState.ExitCode()
}

// script is a shell command that holds the life line and says so when all that
// comes before it is under way.
func script(lines string) []string {
	return []string{"sh", "-c", "exec 9>\"$LIFE\"\n" + lines}
}

// forever keeps a shell that has started all it should.
const forever = "\necho up >&9\nwhile :; do sleep 1000; done"
