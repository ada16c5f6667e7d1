//go:build linux || darwin

package child

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", "exit 9\n", 0o600)
	script := write("script", "exit $1\n", 0o700)
	lost := write("lost", "#!"+dir+"/nothing\n", 0o700)
	for _, test := range []struct {
		args   []string
		shell  bool
		code   int
		stderr string
		naive  bool // what every implementation gets right
	}{
		{[]string{"true"}, false, 0, "", true},
		{[]string{"sh", "-c", "exit 7"}, false, 7, "", false},
		{[]string{"sh", "-c", "exit 125"}, false, 125, "", false},
		{[]string{"sh", "-c", "kill -TERM $$"}, false, 128 + 15, "", false},
		{[]string{"sh", "-c", "kill -KILL $$"}, false, 128 + 9, "", false},
		{[]string{"exit 3"}, true, 3, "", false},
		{[]string{script, "5"}, false, 5, "", false},
		{[]string{"no-such-command"}, false, 127, `"no-such-command"`, false},
		{[]string{dir + "/nothing"}, false, 127, dir + "/nothing", false},
		{[]string{lost}, false, 127, "its interpreter", false},
		{[]string{dir}, false, 126, "is a directory", false},
		{[]string{plain}, false, 126, "permission denied", false},
		{[]string{"exit 3", "x"}, true, 125, "quote the command", false},
		{nil, false, 125, "--", false},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			s := perform(t, play{Args: test.args, Shell: test.shell})
			if code := s.wait(); code != test.code || !strings.Contains(s.stderr(), test.stderr) || test.stderr == "" && s.stderr() != "" {
				t.Errorf("exit code %d, stderr %q; want %d and %q", code, s.stderr(), test.code, test.stderr)
			}
			if test.args == nil || test.naive {
				return
			}
			if s := perform(t, play{Kind: "child", Args: test.args, Shell: test.shell}); s.wait() == test.code {
				t.Error("who swallows exit codes is not caught")
			}
		})
	}
}

// The command reads exec's stdin, to its end, and nothing is in between.
func TestStdin(t *testing.T) {
	var out bytes.Buffer
	text := strings.Repeat("all of it\n", 100_000)
	s := perform(t, play{Args: []string{"cat"}}, func(c *exec.Cmd) {
		c.Stdin, c.Stdout = strings.NewReader(text), &out
	})
	if code := s.wait(); code != 0 || out.String() != text {
		t.Errorf("exit code %d, and %d bytes of %d; stderr %q", code, out.Len(), len(text), s.stderr())
	}
}

func TestEnvironment(t *testing.T) {
	var out bytes.Buffer
	s := perform(t, play{Args: []string{"sh", "-c", `echo "$STILE_LOCK $STILE_TOKEN $ODD"; pwd`}}, func(c *exec.Cmd) {
		c.Stdout = &out
		c.Env = append(c.Env, "STILE_LOCK=outer", "STILE_TOKEN=1", "ODD=\xff\xfe")
		c.Dir = "/"
	})
	if code := s.wait(); code != 0 || out.String() != "disk 7 \xff\xfe\n/\n" {
		t.Errorf("exit code %d: %q", code, out.String())
	}
}

// Every signal reaches its target, once.
func TestSignals(t *testing.T) {
	check := func(t *testing.T, kind string, patience time.Duration) error {
		s := perform(t, play{Kind: kind, Args: script(roleVariable + `=listener WHO=inner "$SELF" & ` + roleVariable + `=listener WHO=outer exec "$SELF"`)})
		s.up(2)
		for _, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2} {
			s.signal(sig)
			if want, got := fmt.Sprint("outer ", sig), s.line(); got != want {
				return fmt.Errorf("%q, want %q", got, want)
			}
		}
		want := ""
		for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT} {
			if signal.Ignored(sig) {
				t.Logf("%v is ignored by whoever started the test, as nohup has it: left out", sig)
				continue
			}
			s.signal(sig)
			for range 2 {
				_ = s.life.SetReadDeadline(time.Now().Add(patience))
				got, err := s.lines.ReadString('\n')
				if err != nil || !strings.HasSuffix(got, fmt.Sprintln(sig)) || got == want {
					return fmt.Errorf("%v: %q, %v", sig, got, err)
				}
				want = got
			}
		}
		s.signal(syscall.SIGTERM)
		got, err := s.rest(patience)
		if code := s.wait(); code != 42 || err != nil || len(strings.Fields(got)) != 4 || strings.Count(got, "er terminated\n") != 2 {
			return fmt.Errorf("exit code %d, then %q, %v", code, got, err)
		}
		return nil
	}
	if err := check(t, "real", testPatience); err != nil {
		t.Error(err)
	}
	if err := check(t, "child", plantPatience); err == nil {
		t.Error("who signals the command alone is not caught")
	}
}

// Everything is killed with the lock, and before exec returns.
func TestLoss(t *testing.T) {
	for _, test := range []struct{ name, lines, bug string }{
		{"grandchild", "sleep 1000 &" + forever, "child"},
		{"grandchildren", "(sleep 1000 & sleep 1001 & wait) & (sleep 1000 & )" + forever, "child"},
		{"deaf to TERM", "trap '' TERM\nsleep 1000 &" + forever, "polite"},
		{"stopped", `sh -c 'kill -STOP $$' & while ! ps -o state= -p $! | grep -q T; do :; done` + forever, "polite"},
		{"session", `setsid sh -c 'echo up >&9; exec sleep 1000' &` + forever, "group"},
		{"daemon", `setsid sh -c 'setsid sleep 1000 & exit' & wait $!` + forever, "group"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if strings.Contains(test.lines, "setsid") && polls {
				t.Skip("what leaves the group is out of reach here")
			}
			check := func(kind string) error {
				s := perform(t, play{Kind: kind, Args: script(test.lines), Grace: 50 * time.Millisecond})
				s.up(strings.Count(test.lines, "echo up"))
				s.say("the majority is gone")
				if code := s.wait(); code != Failed {
					return fmt.Errorf("exit code %d, stderr %q", code, s.stderr())
				}
				if s.left() {
					return errors.New("something is left when exec is over")
				}
				if kind == "real" && !strings.Contains(s.stderr(), "the majority is gone") {
					return fmt.Errorf("it does not say why: %q", s.stderr())
				}
				return nil
			}
			if err := check("real"); err != nil {
				t.Error(err)
			}
			if check(test.bug) == nil {
				t.Errorf("the bug of %q is not caught", test.bug)
			}
		})
	}
}

// TERM comes before KILL, so that commands can clean up.
func TestGrace(t *testing.T) {
	s := perform(t, play{Args: script(`trap 'echo cleaned >&9; exit 0' TERM; echo up >&9; while :; do sleep 0.01; done`), Grace: testPatience})
	s.up(1)
	s.say("lost")
	if got, err := s.rest(testPatience); got != "cleaned\n" || err != nil || s.wait() != Failed {
		t.Errorf("%q, %v, and %d", got, err, s.wait())
	}
}

// A lock that is lost while it is being had runs nothing.
func TestLostBefore(t *testing.T) {
	s := perform(t, play{Args: script("echo up >&9"), Lost: true})
	s.own.Close()
	code := s.wait()
	if got, err := s.rest(testPatience); got != "" || err != nil || code != Failed {
		t.Errorf("exit code %d, and %q, %v", code, got, err)
	}
	s = perform(t, play{Args: script("echo up >&9"), Lease: 1})
	s.own.Close()
	code = s.wait()
	if got, err := s.rest(testPatience); got != "" || err != nil || code != Failed || !strings.Contains(s.stderr(), ErrExpired.Error()) {
		t.Errorf("exit code %d, and %q, %v; stderr %q", code, got, err, s.stderr())
	}
}

// What a command leaves behind ends with it, or is waited for.
func TestLeftBehind(t *testing.T) {
	for _, linger := range []bool{false, true} {
		s := perform(t, play{Args: script("(echo up >&9; read x <\"$LIFE.go\"; echo done >&9) & read y <\"$LIFE.y\"; exit 6"), Linger: linger, Grace: testPatience},
			func(c *exec.Cmd) {
				life := strings.TrimPrefix(c.Env[slices.IndexFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, "LIFE=") })], "LIFE=")
				for _, name := range []string{life + ".go", life + ".y"} {
					if err := syscall.Mkfifo(name, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			})
		s.up(1)
		open := func(name string) {
			f, err := os.OpenFile(s.fifo+name, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		open(".y") // the command is over after this
		want := ""
		if linger {
			open(".go")
			want = "done\n"
		}
		code := s.wait()
		if got, err := s.rest(testPatience); got != want || err != nil || code != 6 {
			t.Errorf("linger %v: exit code %d and %q, %v", linger, code, got, err)
		}
	}
}
