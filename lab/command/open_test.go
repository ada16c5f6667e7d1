package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stile-lock/stile/lab/internal/document"
)

// A running is a lab that serves.
type running struct {
	url    string
	stop   context.CancelFunc
	ended  chan error
	mu     sync.Mutex
	stderr bytes.Buffer
	spoke  chan struct{} // something is in stderr
}

func (r *running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case r.spoke <- struct{}{}:
	default:
	}
	return r.stderr.Write(p)
}

// start runs the command until the test ends, and waits until it prints the address of the
// page.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := &running{stop: stop, ended: make(chan error, 1), spoke: make(chan struct{}, 1)}
	out, in := io.Pipe()
	c := newRoot()
	c.SetArgs(append(args, "--listen", "127.0.0.1:0"))
	c.SetOut(in)
	c.SetErr(r)
	go func() {
		r.ended <- c.ExecuteContext(ctx)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("it says nothing: %v", <-r.ended)
	}
	r.url = strings.TrimPrefix(lines.Text(), "the lab is at ")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, out)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return r
}

// end ends a lab as Ctrl-C does, and returns with what.
func (r *running) end() error {
	r.stop()
	return <-r.ended
}

// call makes a call of the page.
func (r *running) call(t *testing.T, ctx context.Context, name, body string) *http.Response {
	t.Helper()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"api/"+name, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	a, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Body.Close() })
	return a
}

func labBody(t *testing.T, a *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLabOpensFile(t *testing.T) {
	const text = "title <b>\nalgorithm raymond\n"
	file := filepath.Join(t.TempDir(), "x.stile")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{text: {"open", file, "--no-browser"}, "": {"--no-browser"}} {
		r := start(t, args...)
		got, err := json.Marshal(map[string]string{"text": want})
		if err != nil {
			t.Fatal(err)
		}
		if a := labBody(t, r.call(t, t.Context(), "start", "{}")); strings.ReplaceAll(strings.ReplaceAll(string(got), `\u003c`, "<"), `\u003e`, ">")+"\n" != a {
			t.Errorf("the page opens with %q, want %q", a, got)
		}
		if err := r.end(); err != nil {
			t.Errorf("it ends with %v", err)
		}
	}
}

// endless is a check that takes very long.
const endless = `{"text":"algorithm lamport\nprocesses 5\n","limits":{"requests":-1}}`

// A check ends when its client disconnects, and when the lab ends: nothing of it is
// left, which TestMain sees.
func TestLabCheckEnds(t *testing.T) {
	r := start(t, "--no-browser")
	ctx, cancel := context.WithCancel(t.Context())
	a := r.call(t, ctx, "check", endless)
	line, err := bufio.NewReader(a.Body).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, `{"progress":`) {
		t.Fatalf("%q, %v: want how far it is", line, err)
	}
	cancel()
	b := bufio.NewReader(r.call(t, t.Context(), "check", endless).Body)
	if line, err := b.ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"progress":`) {
		t.Fatalf("%q, %v: want how far it is", line, err)
	}
	if err := r.end(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}

// fakeBrowser makes what opens pages a script.
func fakeBrowser(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	t.Setenv("PATH", dir)
	if script == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
}

// A browser that does not open is a line, not the end.
func TestLabBrowser(t *testing.T) {
	for script, want := range map[string]string{"": "not found", "exit 3": "exit status 3", "exit 0": ""} {
		fakeBrowser(t, script)
		r := start(t)
		labBody(t, r.call(t, t.Context(), "start", "{}"))
		if want != "" {
			<-r.spoke
		}
		if err := r.end(); err != nil {
			t.Errorf("%q: it ends with %v", script, err)
		}
		if got := r.stderr.String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q: it says %q, want %q", script, got, want)
		}
	}
}

func TestBrowserGetsURL(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	fakeBrowser(t, `printf %s "$1" >`+file+".new && /bin/mv "+file+".new "+file)
	if err := openBrowser(t.Context(), "http://127.0.0.1:1/"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); string(got) != "http://127.0.0.1:1/" {
		t.Errorf("the browser was told %q, %v", got, err)
	}
}

func TestLabRefused(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.stile")
	if err := os.WriteFile(large, bytes.Repeat([]byte("#"), document.MaxText+1), 0o666); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, test := range []struct {
		want string
		args []string
	}{
		{"no such file", []string{"open", filepath.Join(dir, "none.stile")}},
		{"it is a directory", []string{"open", dir}},
		{"more than 1,048,576 bytes", []string{"open", large}},
		{"takes one file", []string{"open", large, "other.stile"}},
		{"recording of a node", []string{"open", "../../internal/replay/testdata/small.rec"}},
		{"address in use", []string{"--listen", taken.Addr().String()}},
		{"give --insecure", []string{"--listen", "0.0.0.0:0"}},
		{"give --insecure", []string{"--listen", ":0"}},
		{"give --insecure", []string{"--listen", "[::]:0"}},
		{"give --insecure", []string{"--listen", "example.org:0"}},
		{"cannot listen", []string{"--insecure", "--listen", "192.0.2.1:0"}},
	} {
		c := newRoot()
		c.SetArgs(append(test.args, "--no-browser"))
		c.SetOut(io.Discard)
		if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.args, err, test.want)
		}
	}
}

func TestLabURL(t *testing.T) {
	for at, want := range map[string]string{"127.0.0.1:7421": "http://127.0.0.1:7421/", "[::1]:80": "http://[::1]:80/", "0.0.0.0:7421": "http://localhost:7421/", "[::]:7421": "http://localhost:7421/"} {
		tcp, err := net.ResolveTCPAddr("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		if got := labURL(tcp); got != want {
			t.Errorf("%s is to be opened as %s, want %s", at, got, want)
		}
	}
}
