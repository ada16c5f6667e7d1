package child

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stile-lock/stile/internal/tty"
)

// A screen is the outer end of a terminal.
type screen struct {
	t     *testing.T
	outer *os.File
	text  *bufio.Reader
}

// screened runs what it is given on a new terminal, as the leader of a session.
func screened(t *testing.T) (*screen, func(*exec.Cmd)) {
	t.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no terminal here: %v", err)
	}
	t.Cleanup(func() { outer.Close() })
	raw, err := outer.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var inner *os.File
	_ = raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil {
			return
		}
		var n int
		if n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err == nil {
			inner, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
		}
	})
	if err != nil {
		t.Skipf("no terminal here: %v", err)
	}
	t.Cleanup(func() { inner.Close() })
	return &screen{t, outer, bufio.NewReader(outer)}, func(c *exec.Cmd) {
		c.Stdin, c.Stdout, c.Stderr = inner, inner, inner
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
}

func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := s.outer.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// shows reads what is on the screen until this is there.
func (s *screen) shows(want string, patience time.Duration) error {
	_ = s.outer.SetReadDeadline(time.Now().Add(patience))
	var seen strings.Builder
	for !strings.Contains(seen.String(), want) {
		b, err := s.text.ReadByte()
		if err != nil {
			return fmt.Errorf("the terminal shows %q and no %q: %w", seen.String(), want, err)
		}
		seen.WriteByte(b)
	}
	return nil
}

func (s *screen) must(want string) {
	s.t.Helper()
	if err := s.shows(want, testPatience); err != nil {
		s.t.Fatal(err)
	}
}

// The command is in the foreground: it can read from the terminal.
func TestForeground(t *testing.T) {
	check := func(kind string, patience time.Duration) error {
		screen, on := screened(t)
		s := perform(t, play{Kind: kind, Args: []string{"sh", "-c", `echo ready; read x; echo "first [$x]"; exit 6`}}, on)
		if err := screen.shows("ready", testPatience); err != nil {
			return err
		}
		screen.press("one\n")
		if err := screen.shows("first [one]", patience); err != nil {
			return err
		}
		if code := s.wait(); code != 6 {
			return fmt.Errorf("exit code %d", code)
		}
		return nil
	}
	if err := check("real", testPatience); err != nil {
		t.Error(err)
	}
	if check("group", plantPatience) == nil {
		t.Error("a command in the background is not caught")
	}
}

// Ctrl-C is for the command, and reaches it once, whether it has the terminal or
// exec has, because of a pipe.
func TestInterruptKey(t *testing.T) {
	for _, piped := range []bool{false, true} {
		screen, on := screened(t)
		s := perform(t, play{Args: script(roleVariable + `=listener WHO=it exec "$SELF"`)}, on, func(c *exec.Cmd) {
			if piped {
				c.Stdout = nil
			}
		})
		s.up(1)
		screen.press("\x03")
		if got := s.line(); got != "it interrupt" {
			t.Errorf("piped %v: Ctrl-C is %q", piped, got)
		}
		s.signal(syscall.SIGTERM)
		got, err := s.rest(testPatience)
		if code := s.wait(); code != 42 || err != nil || got != "it terminated\n" {
			t.Errorf("piped %v: exit code %d, then %q, %v", piped, code, got, err)
		}
	}
}

// Under a shell with job control: Ctrl-Z stops the command and exec, and brings the shell
// back; fg continues them; Ctrl-C ends the command, and the shell has the terminal as it
// was. An interactive shell as the command has jobs of its own.
func TestJobControl(t *testing.T) {
	check := func(kind string, patience time.Duration) error {
		screen, on := screened(t)
		line := roleVariable + `=exec "$SELF" 3</dev/null`
		s := perform(t, play{Kind: kind, Args: []string{"sh", "-c", `stty -echo; echo "in $((40+2))"; read x; echo "got $((6*7)) $x"; read y`}}, on, func(c *exec.Cmd) {
			c.Args = []string{"bash", "--norc", "--noprofile", "-i"}
			c.Path, _ = exec.LookPath("bash")
			for i, v := range c.Env {
				if strings.HasPrefix(v, roleVariable+"=") {
					c.Env[i] = "PS1=$((2*50))> "
				}
			}
		})
		for _, step := range []struct{ shows, press string }{
			{"100> ", line + "\n"},
			{"in 42", "\x1a"}, // Ctrl-Z
			{"Stopped", ""},
			{"100> ", "fg\n"},
			{"\n", "word\n"},
			{"got 42 word", "\x03"}, // Ctrl-C
			{"100> ", "echo code $?\n"},
			{"code 130", ""},
			{"100> ", "stty -a | grep -o '.echo '\n"},
			{" echo ", "exit 9\n"},
		} {
			if err := screen.shows(step.shows, patience); err != nil {
				return err
			}
			screen.press(step.press)
		}
		if code := s.wait(); code != 9 {
			return fmt.Errorf("exit code %d", code)
		}
		return nil
	}
	if err := check("real", testPatience); err != nil {
		t.Error(err)
	}
	if check("group", 300*time.Millisecond) == nil {
		t.Error("who knows nothing of terminals is not caught")
	}
}

// A shell as the command works as any other: it has the terminal and jobs.
func TestInteractiveShell(t *testing.T) {
	screen, on := screened(t)
	s := perform(t, play{Args: []string{"bash", "--norc", "--noprofile", "-i"}}, on, func(c *exec.Cmd) { c.Env = append(c.Env, "PS1=$((2*50))> ") })
	for _, step := range []struct{ shows, press string }{
		{"100> ", "sh -c 'echo job $((6*7)); read z'\n"},
		{"job 42", "\x1a"},
		{"Stopped", "kill %1; wait %1; echo $STILE_LOCK $((6*7))\n"},
		{"disk 42", "exit 4\nexit 4\n"},
	} {
		screen.must(step.shows)
		screen.press(step.press)
	}
	if code := s.wait(); code != 4 {
		t.Errorf("exit code %d", code)
	}
}

// In a pipe the neighbours keep the terminal; the command gets it when it asks.
func TestTerminalOnDemand(t *testing.T) {
	screen, on := screened(t)
	s := perform(t, play{Args: []string{"sh", "-c", `read x </dev/tty; echo "got $x" >/dev/tty; exit 3`}}, on, func(c *exec.Cmd) { c.Stdout = nil })
	screen.press("it\n")
	screen.must("got it")
	if code := s.wait(); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

// A command that is killed leaves the terminal as it was, and in exec's hands.
func TestTerminalAfterLoss(t *testing.T) {
	screen, on := screened(t)
	s := perform(t, play{Args: []string{"sh", "-c", `stty raw -echo; echo ready; sleep 1000`}}, on)
	screen.must("ready")
	s.say("lost")
	screen.must("killed")
	if code := s.wait(); code != Failed {
		t.Errorf("exit code %d", code)
	}
	modes, err := tty.Modes(int(s.exec.Stdin.(*os.File).Fd()))
	if err != nil || modes.Lflag&unix.ECHO == 0 || modes.Lflag&unix.ICANON == 0 {
		t.Errorf("the terminal is left raw: %v", err)
	}
}
