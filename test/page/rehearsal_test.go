package page

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/lab/web"
)

// A rehearsal is a check of a page that is not the real one: what it finds is kept,
// not an error of the test. It does not wait as long as a real one for what may
// never come.
type rehearsal struct {
	testing.TB
	bundle   fs.FS
	patience time.Duration

	mu       sync.Mutex
	found    []error
	cleanups []func()
}

// rehearse runs a check of the page in a bundle and returns what it finds.
func rehearse(t testing.TB, bundle fs.FS, patience time.Duration, check func(testing.TB)) error {
	r := &rehearsal{TB: t, bundle: bundle, patience: patience}
	r.do(func() { check(r) })
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.do(r.cleanups[i])
	}
	return errors.Join(r.found...)
}

// do runs a function until it ends, or ends the check.
func (r *rehearsal) do(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

func (r *rehearsal) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *rehearsal) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = append(r.found, fmt.Errorf(format, args...))
}

func (r *rehearsal) Error(args ...any) { r.Errorf("%s", fmt.Sprintln(args...)) }

func (r *rehearsal) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *rehearsal) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprintln(args...)) }

func (r *rehearsal) Skip(args ...any) { r.Fatal(args...) }

// labOf is a server of the page that a test is about.
func labOf(t testing.TB, calls web.Caller) http.Handler {
	if r, ok := t.(*rehearsal); ok {
		return web.HandlerOf(r.bundle, calls, web.Options{})
	}
	return web.Handler(calls)
}

var longest = flag.Duration("patience", 5*time.Minute, "how long a page may take to come to what a test waits for")

// patience is how long a page may take to come to what a test waits for, on a
// machine that has much else to do.
func patience(t testing.TB) time.Duration {
	if r, ok := t.(*rehearsal); ok {
		return r.patience
	}
	return *longest
}

// A bundler makes bundles of sources that differ a little from the real ones.
type bundler struct{ esbuild string }

// newBundler finds the bundler, as build.sh does.
func newBundler(t testing.TB) *bundler {
	t.Helper()
	out, err := exec.Command("go", "tool", "-modfile=../tools/go.mod", "-n", "esbuild").Output()
	if err != nil {
		t.Fatalf("there is no esbuild: %v", err)
	}
	return &bundler{strings.TrimSpace(string(out))}
}

// bundle makes the bundle of the sources in which one file of src has something new
// in place of something old, which must be there once.
func (b *bundler) bundle(t testing.TB, file, old, new string) (fs.FS, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS("src")); err != nil {
		return nil, err
	}
	if err := plant(filepath.Join(dir, "src", file), old, new); err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"vendor", "tsconfig.json"} {
		if err := os.Symlink(filepath.Join(here, name), filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(b.esbuild, "--bundle", "--charset=utf8", "--target=es2022", "--resolve-extensions=.tsx,.ts,.mjs", "--tsconfig=tsconfig.json",
		"--preserve-symlinks", "--log-level=warning", "--format=esm", "--outdir=dist", "app=src/main.tsx")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("it cannot be bundled: %w\n%s", err, out)
	}
	page, err := os.ReadFile(filepath.Join(dir, "src", "index.html"))
	if err != nil {
		return nil, err
	}
	return os.DirFS(dir), os.WriteFile(filepath.Join(dir, "dist", "index.html"), page, 0o666)
}

// plant puts something in place of something else that is in a file once.
func plant(file, old, new string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n := strings.Count(string(data), old); n != 1 {
		return fmt.Errorf("%s has %d times %q, want it once: plant this bug elsewhere", filepath.Base(file), n, old)
	}
	return os.WriteFile(file, []byte(strings.Replace(string(data), old, new, 1)), 0o666)
}
