package style

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a terminal waits for what a page shows, and longest how long for the
// end of a command.
const patience, longest = time.Minute, 15 * time.Minute

// A terminal is a shell in a folder of its own. Commands run in it one after the other, as
// a reader types them, with jobs in the background.
//
// Addresses of a page stand for others of this machine, which no other process uses, so
// that pages can be tried at the same time.
type terminal struct {
	dir          string
	to, from     *strings.Replacer // from the addresses of the page to those used, and back
	in           io.Writer
	mu           sync.Mutex
	out          strings.Builder
	more         chan struct{} // something was printed
	count, start int           // commands so far, and where the output of the last one begins
}

// mark is printed at the end of a command, with its exit code.
const mark = "\x01end of command"

// openTerminal starts a shell that finds stile. Each number stands for other addresses.
func openTerminal(t *testing.T, stile string, number int) *terminal {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the commands of the pages are run by bash: ", err)
	}
	net := os.Getpid()*64 + number
	prefix := fmt.Sprintf("127.%d.%d.", 192+net>>8%62, net%256)
	term := &terminal{dir: t.TempDir(), more: make(chan struct{}, 1)}
	term.to = strings.NewReplacer("127.0.0.1", prefix+"1", "10.0.0.", prefix,
		"stile lab", "stile lab --listen "+prefix+"1:7422", "/var/lib/stile", filepath.Join(term.dir, "lib"))
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	term.from = strings.NewReplacer(prefix+"1:", "127.0.0.1:", prefix, "10.0.0.", "@"+host+":", "@host:",
		filepath.Join(term.dir, "lib"), "/var/lib/stile", term.dir, "/home/ann")
	for _, name := range []string{"scenarios", "docs"} {
		path, err := filepath.Abs(filepath.Join(root, name))
		if err == nil {
			err = os.Symlink(path, filepath.Join(term.dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(term.dir, "bin")
	link := os.Mkdir(bin, 0o777)
	if link == nil {
		link = os.Symlink(stile, filepath.Join(bin, "stile"))
	}
	if link != nil {
		t.Fatal(link)
	}
	shell := exec.Command(bash, "--norc", "--noprofile")
	shell.Dir = term.dir
	shell.Env = append(os.Environ(), "HOME="+term.dir, "XDG_STATE_HOME=", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "LC_ALL=C.UTF-8",
		"STILE_ADDR="+prefix+"1:7420", "STILE_LISTEN="+prefix+"1:7420", "STILE_URL=http://"+prefix+"1:7421", "PYTHONDONTWRITEBYTECODE=1")
	shell.Stdout, shell.Stderr = term, term
	shell.WaitDelay = 10 * time.Second
	in, err := shell.StdinPipe()
	if err == nil {
		err = shell.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	term.in = in
	t.Cleanup(func() { // its jobs end with it
		fmt.Fprintln(in, `for p in $(jobs -p); do kill -CONT -- -$p; kill -9 -- -$p; done; exit`)
		_ = in.Close()
		_ = shell.Wait()
	})
	fmt.Fprintln(in, "set -m")
	return term
}

// Write takes what commands print.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.Write(p)
	select {
	case t.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

// since returns what was printed since the last command began, as the page shows it.
func (t *terminal) since() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.from.Replace(t.out.String()[t.start:])
}

// await waits until the output satisfies f, and reports whether it does.
func (t *terminal) await(limit time.Duration, f func(out string) bool) bool {
	late := time.After(limit)
	for !f(t.since()) {
		select {
		case <-t.more:
		case <-late:
			return f(t.since())
		}
	}
	return true
}

var ended = regexp.MustCompile(mark + ` (\d+)`)

// run runs a command, and returns its exit code once it has ended: of a command in the
// background, once it has begun.
func (t *terminal) run(line string) (code int, err error) {
	t.count++
	file := filepath.Join(t.dir, fmt.Sprintf("command%d", t.count))
	if err := os.WriteFile(file, []byte(t.to.Replace(line)+"\n"), 0o666); err != nil {
		return 0, err
	}
	t.mu.Lock()
	t.start = t.out.Len()
	t.mu.Unlock()
	// As at a prompt, jobs that have ended give their numbers back.
	fmt.Fprintf(t.in, "jobs >/dev/null; source %s </dev/null; printf '\\n%s %%s\\n' $?\n", file, mark)
	var m []string
	if !t.await(longest, func(out string) bool { m = ended.FindStringSubmatch(out); return m != nil }) {
		return 0, fmt.Errorf("it has not ended after %v; it printed\n%s", longest, t.since())
	}
	fmt.Sscan(m[1], &code)
	return code, nil
}

// looks is a command that only looks at a cluster. What it shows may take a moment, so it
// is repeated.
var looks = regexp.MustCompile(`^stile (locks|members|status|elect \S+)( --addr \S+| --graph)*( +#.*)?$`)

// differs says how the command deviates from what the page shows, or nothing. Jobs in the
// background may take until the limit to print it.
func (s session) differs(term *terminal, limit time.Duration) string {
	for late := time.Now().Add(limit); ; {
		code, err := term.run(s.line)
		if err != nil {
			return err.Error()
		}
		var lacks []string
		complete := func(out string) bool {
			lacks = s.missing(ended.ReplaceAllString(out, ""))
			return lacks == nil
		}
		again := looks.MatchString(s.line) && time.Now().Before(late)
		switch good := complete(term.since()) && code == s.code; {
		case good:
			return ""
		case again:
			continue
		case code != s.code:
			return fmt.Sprintf("exit code %d, and the page says %d:\n%s", code, s.code, term.since())
		case repeatable.MatchString(s.line) || !term.await(limit, complete):
			return fmt.Sprintf("no such lines, or not in this order:\n%s\nin\n%s", strings.Join(lacks, "\n"), term.since())
		}
		return ""
	}
}
