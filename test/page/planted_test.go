package page

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// A fault is a change of the page's sources that a journey must notice.
type fault struct {
	file, old, new string
	says           string // in what is found
}

// A check that has never failed proves nothing: each kind of check is made on a page with a fault
// that it is there for, and must find it.
func TestPlantedFaults(t *testing.T) {
	needsBrowser(t)
	for _, c := range []struct {
		name   string
		faults []fault
		check  func(testing.TB)
	}{
		{"what is seen", []fault{
			{"base.css", `--quiet: light-dark(#5b5d66, #a8adb8)`, `--quiet: light-dark(#9b9da6, #585d68)`, "light: hardly legible"},
			{"base.css", ":focus-visible {\n\toutline: 2px solid var(--accent-ink);", ":focus-visible {\n\toutline: none;", "does not show that it has the focus"},
			{"minimap.tsx", `tabIndex={0}`, `tabIndex={-1}`, "Tab never gets to"},
			{"editor.tsx", `aria-label="Text of the scenario"`, `aria-label=""`, "without a name"},
			{"main.tsx", `listen();`, `listen(); void fetch("https://example.com/").catch(() => {});`, "Content Security Policy"},
			{"flights.tsx", `x: kept(x, stage.width), y: kept(y, stage.height), r`, `x: x - 900, y, r`, "leaves the picture"},
			{"panels.css", `.top h1 { flex-basis: 100%; order: 2; }`, `.top h1 { flex-basis: 100%; order: 2; min-width: 600px; }`, "the page is"},
			{"app.tsx", `<h1 title={d?.title}>{d?.title ?? ""}</h1>`, `<h1 dangerouslySetInnerHTML={{ __html: d?.title ?? "" }} />`, "the title is"},
		}, func(t testing.TB) {
			p := show(t, strings.Replace(example(t, "raymond-a"), "title Raymond", "title <script></script><b>x", 1))
			p.sound("the page")
			p.media("prefers-reduced-motion", "reduce")
			p.steps(3)
			p.sees(".letter:not(.over)") // a message is in flight
			p.frame()
			p.uncrowded("the page")
			p.reached("the page")
			plainTitle(p)
			p.size(400, 800)
			p.tidy("the page")
		}},
		{"a step is two", []fault{{"controls.tsx", `cursor.value + 1 : stepAfter(d, cursor.value)`, `cursor.value + 1 : stepAfter(d, stepAfter(d, cursor.value))`, "1 of 39"}}, func(t testing.TB) {
			stepping(show(t, example(t, "raymond-a")))
		}},
		{"an error takes the picture away", []fault{{"state.ts", `if (!refused(answer)) show(answer, at);`, `if (refused(answer)) doc.value = undefined; else show(answer, at);`, "Two ask"}}, func(t testing.TB) {
			mistake(show(t, twoAsk))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := rehearse(t, bundle(t, c.faults), c.check)
			for _, f := range c.faults {
				if found == nil || !strings.Contains(found.Error(), f.says) {
					t.Errorf("%s: no check finds %q; found: %.2000v", f.file, f.says, found)
				}
			}
		})
	}
}

// A rehearsal is a check of a page that is not the real one: what it finds is no error of the
// test.
type rehearsal struct {
	testing.TB
	lab string

	mu    sync.Mutex
	found []error
	after []func()
}

// rehearse checks the page of a lab, and returns what is found.
func rehearse(t testing.TB, lab string, check func(testing.TB)) error {
	r := &rehearsal{TB: t, lab: lab}
	r.do(func() { check(r) })
	for i := len(r.after) - 1; i >= 0; i-- {
		r.do(r.after[i])
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

func (r *rehearsal) Cleanup(f func()) { r.after = append(r.after, f) }

func (r *rehearsal) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = append(r.found, fmt.Errorf(format, args...))
}

func (r *rehearsal) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *rehearsal) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// bundle bundles the page with faults, and returns the address of a lab that serves it.
func bundle(t testing.TB, faults []fault) string {
	t.Helper()
	web, err := filepath.Abs(filepath.Join(root, "lab/web"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS(filepath.Join(web, "src"))); err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		file := filepath.Join(dir, "src", f.file)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(data), f.old); n != 1 {
			t.Fatalf("%s has %d times %q: plant this fault elsewhere", f.file, n, f.old)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(data), f.old, f.new, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"vendor", "tsconfig.json"} {
		if err := os.Symlink(filepath.Join(web, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	at := func(file string) string { return filepath.Join(dir, file) }
	c := exec.Command("go", "tool", "-modfile=tools/go.mod", "esbuild", "--bundle", "--charset=utf8", "--target=es2022", "--resolve-extensions=.tsx,.ts,.mjs",
		"--tsconfig="+at("tsconfig.json"), "--preserve-symlinks", "--log-level=warning", "--format=esm", "--outdir="+at("dist"), "app="+at("src/main.tsx"))
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("the page cannot be bundled: %v\n%s", err, out)
	}
	files := http.FileServer(http.Dir(at("dist")))
	return instead(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/app.js" && r.URL.Path != "/app.css" {
			return false
		}
		files.ServeHTTP(w, r)
		return true
	})
}

// instead returns the address of a lab some of whose requests are answered by a function.
func instead(t testing.TB, answer func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	lab, err := url.Parse(labURL(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(lab)
		if r.Out.Header.Get("Origin") != "" {
			r.Out.Header.Set("Origin", lab.String())
		}
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answer(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}
