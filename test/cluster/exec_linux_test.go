package cluster

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/nightly"
)

// command builds stile and stile-lab, once, and returns where stile is; stile-lab is beside
// it. TestMain removes them.
var command = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "stile-cluster-")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", dir, "./cmd/stile", "./cmd/stile-lab")
	build.Dir = "../.." // the command belongs to the other module
	out, err := build.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build stile: %w\n%s", err, out)
	}
	built = dir
	return filepath.Join(dir, "stile"), err
})

// built is the folder that command has made, if it has.
var built string

// A shell is a program in a namespace, and what it says.
type shell struct {
	t     *testing.T
	cmd   *exec.Cmd
	gone  chan struct{} // closed when the program has ended
	mu    sync.Mutex
	more  *sync.Cond
	lines []string
	over  bool // nobody can say anything any more
	late  bool
}

// run starts a program in a namespace, or in that of the test if there is no world. It is
// ended with the test, and its process group with it.
func (w *world) run(t *testing.T, i int, path string, args ...string) *shell {
	t.Helper()
	s := &shell{t: t, cmd: exec.Command(path), gone: make(chan struct{})}
	s.more = sync.NewCond(&s.mu)
	s.cmd.Args = args
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout, s.cmd.Stderr = in, in
	if _, err = s.cmd.StdinPipe(); err != nil { // it stays open: 'stile lock' waits for its end
		t.Fatal(err)
	}
	start := s.cmd.Start
	if w != nil {
		start = func() error { return w.within(i, s.cmd.Start) }
	} else {
		s.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL // if the test is killed, too
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	go s.listen(out)
	go func() {
		_ = s.cmd.Wait() // how it ended is asked later
		close(s.gone)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // if it is gone, so much the better
		<-s.gone
		if t.Failed() {
			t.Logf("%q: %v\n%s", args, s.cmd.ProcessState, s.said())
		}
	})
	return s
}

// stile starts stile in a namespace.
func (w *world) stile(t *testing.T, i int, args ...string) *shell {
	t.Helper()
	path, err := command()
	if err != nil {
		t.Fatal(err)
	}
	return w.run(t, i, path, append([]string{"stile"}, args...)...)
}

func (s *shell) listen(out *os.File) {
	defer out.Close()
	tell := func(f func()) {
		s.mu.Lock()
		defer s.mu.Unlock()
		f()
		s.more.Broadcast()
	}
	for l := bufio.NewScanner(out); l.Scan(); {
		tell(func() { s.lines = append(s.lines, l.Text()) })
	}
	tell(func() { s.over = true })
}

func (s *shell) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// until waits for a line, and returns the first group that the expression finds, or all.
func (s *shell) until(expression string) string {
	s.t.Helper()
	want := regexp.MustCompile(expression)
	timer := time.AfterFunc(time.Minute, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.late = true
		s.more.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for seen := 0; ; s.more.Wait() {
		for ; seen < len(s.lines); seen++ {
			if m := want.FindStringSubmatch(s.lines[seen]); m != nil {
				return m[len(m)-1]
			}
		}
		if s.over || s.late {
			s.t.Fatalf("%q says no %q, but\n%s", s.cmd.Args, expression, strings.Join(s.lines, "\n"))
		}
	}
}

// toil is a command that tells of all its processes, none of which ends when it is
// asked to: itself, a child in the background, and one that has left its group.
const toil = `trap '' TERM HUP INT
loop() { while :; do sleep 0.05; done; }
loop & one=$!
setsid sh -c 'trap "" TERM; while :; do sleep 0.05; done' & two=$!
echo "pids $$ $one $two"
loop`

// look is a command that prints which of some processes are alive. One that is dead and not
// reaped is not, nor is one whose KILL is pending: on a busy machine it may wait for a
// processor, but it never executes another instruction of its program.
func look(pids string) string {
	return `for p in ` + pids + `; do
	case $(sed 's/.*) //' /proc/$p/stat 2>/dev/null) in
	''|Z*|X*) ;;
	*) grep -qs 'Pnd:.*[13579bdf]..$' /proc/$p/status || ! test -e /proc/$p/status || echo "alive $p" ;;
	esac
done
echo checked`
}

// unstalled is a lease that is longer than a busy machine stalls.
const unstalled = "6s"

// three starts nodes in the first three namespaces of a world. The second one has further
// flags.
func (w *world) three(t *testing.T, lease string, flags ...string) (at []string) {
	t.Helper()
	for i := range 3 {
		at = append(at, w.address(i)+":7420")
		args := []string{"serve", "--memory", "--insecure", "--name", fmt.Sprint("n", i), "--listen", at[i]}
		if i == 0 {
			args = append(args, "--lease", lease)
		} else {
			args = append(args, "--join", at[0])
		}
		if i == 1 {
			args = append(args, flags...)
		}
		s := w.stile(t, i, args...)
		if s.until("listening on"); i == 2 {
			s.until(`view begun epoch=\d+ members=3 voters=3`)
		}
	}
	return at
}

// A breach is how the holder of a lock is cut off. A holder that reaches other nodes moves
// there, and may keep its lock: see testKills.
type breach struct {
	exec int // in which namespace the holder is
	node int // of it
	cut  func(w *world) error
}

var breaches = map[string]breach{
	"its node":              {1, 1, func(w *world) error { return w.link(1, false) }},
	"its node, which leads": {0, 0, func(w *world) error { return w.link(0, false) }},
	"its node, which is heard no more": {1, 1, func(w *world) error {
		if err := w.cut(1, 0, true); err != nil {
			return err
		}
		return w.cut(1, 2, true)
	}},
	"itself": {3, 1, func(w *world) error { return w.link(3, false) }},
}

// successor has somebody wait for the lock at a node that is not cut off, cuts, and
// returns which processes of the holder are alive when the command of who waits
// starts.
func (b *breach) successor(t *testing.T, w *world, at []string, pids string) (alive []string) {
	t.Helper()
	next := w.stile(t, 2, "exec", "--insecure", "--addr", at[2], "demo", "--", "sh", "-c", look(pids))
	next.until("waiting for demo")
	before := w.run(t, 2, "/bin/sh", "sh", "-c", look(pids))
	before.until("^checked$")
	if n := strings.Count(before.said(), "alive"); n != 3 {
		t.Fatalf("%d processes of three are there before the cut:\n%s", n, before.said())
	}
	if err := b.cut(w); err != nil {
		t.Fatal(err)
	}
	next.until("^checked$")
	for line := range strings.Lines(next.said()) {
		if strings.HasPrefix(line, "alive") {
			alive = append(alive, strings.TrimSpace(line))
		}
	}
	return alive
}

// All that a command under exec has started is gone before the command of another
// exec starts, if its node is cut off from the others, or it from its node.
func TestExecCutOff(t *testing.T) {
	needWorld(t)
	for what, b := range breaches {
		if what != "its node" && !nightly.On() {
			continue
		}
		t.Run(what, func(t *testing.T) {
			w := makeWorld(t, 4)
			at := w.three(t, unstalled)
			holder := w.stile(t, b.exec, "exec", "--insecure", "--addr", at[b.node], "demo", "--", "sh", "-c", toil)
			pids := holder.until(`^pids (.*)`)
			if alive := b.successor(t, w, at, pids); len(alive) > 0 {
				t.Errorf("the next one starts, and of the holder there is %q", alive)
			}
			<-holder.gone
			if code := holder.cmd.ProcessState.ExitCode(); code != 125 {
				t.Errorf("exit code %d, want 125, which says that the lock is lost", code)
			}
		})
	}
}

// Somebody who does not see to that is found: it takes the lock, and works whatever
// becomes of it.
func TestExecCutOffIsFound(t *testing.T) {
	nightly.Only(t)
	needWorld(t)
	w := makeWorld(t, 4)
	at, b := w.three(t, unstalled), breaches["its node"]
	w.stile(t, b.exec, "lock", "--insecure", "--addr", at[b.node], "demo").until(`^\d+\.\d+$`)
	worker := w.run(t, b.exec, "/bin/sh", "sh", "-c", toil)
	pids := worker.until(`^pids (.*)`)
	t.Cleanup(func() {
		for _, p := range strings.Fields(pids) {
			_ = exec.Command("kill", "-9", p).Run() // one has left its group
		}
	})
	if alive := b.successor(t, w, at, pids); len(alive) != 3 {
		t.Errorf("nobody has ended anything, and only %q are found", alive)
	}
}
