package web

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
)

// The console is served below its path, to everyone, and may use only its own node. It is no
// part of the lab.
func TestConsole(t *testing.T) {
	url := serve(t, Console())
	for path, kind := range map[string]string{"": "text/html", "index.html": "text/html", "console.js": "text/javascript", "console.css": "text/css", "licences.txt": "text/plain"} {
		plain, text := ask(t, http.MethodGet, url+ConsolePath+path, "", "Host", "any.example")
		packed, data := ask(t, http.MethodGet, url+ConsolePath+path, "", "Accept-Encoding", "gzip")
		z, err := gzip.NewReader(strings.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		unpacked, err := io.ReadAll(z)
		if err != nil || string(unpacked) != text || text == "" {
			t.Errorf("%s: compressed it is something else: %v", path, err)
		}
		if !strings.HasPrefix(plain.Header.Get("Content-Type"), kind) || plain.StatusCode != http.StatusOK || packed.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %v", path, plain.Header)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-cache",
		} {
			if got := plain.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		again, none := ask(t, http.MethodGet, url+ConsolePath+path, "", "If-None-Match", plain.Header.Get("ETag"))
		if again.StatusCode != http.StatusNotModified || none != "" {
			t.Errorf("%s: the second time it is sent again: %d", path, again.StatusCode)
		}
	}
	for path, want := range map[string]int{"/": 404, "/console/app.js": 404, "/console/../app.js": 404, "/app.js": 404, "/console.js": 404} {
		if a, text := ask(t, http.MethodGet, url+path, ""); a.StatusCode != want || !strings.Contains(text, "the console is at /console/") {
			t.Errorf("%s: %d %q, want %d", path, a.StatusCode, text, want)
		}
	}
	if a, _ := ask(t, http.MethodPost, url+ConsolePath, "{}"); a.StatusCode != http.StatusMethodNotAllowed || a.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", a.StatusCode)
	}
	if a, _ := ask(t, http.MethodGet, serve(t, Handler(fake{}))+"/console/", ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("the lab serves the console: %d", a.StatusCode)
	}
}

// The page of the console may weigh 120 kB compressed, and has no markup but its own.
func TestConsoleWeight(t *testing.T) {
	all := newFiles(Bundle, "dist/console", "/", "").all
	if w := len(all["/index.html"].packed) + len(all["/console.js"].packed) + len(all["/console.css"].packed); w > 120_000 {
		t.Errorf("the page weighs %d bytes compressed", w)
	}
	page, err := fs.ReadFile(Bundle, "dist/console/index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, inline := range []string{"<style", "style=", "onclick", "<script>", "http:", "https:"} {
		if strings.Contains(string(page), inline) {
			t.Errorf("index.html has %q, which its policy refuses", inline)
		}
	}
	for _, editor := range []string{"editor-sheet", "Branch", "every interleaving"} {
		if strings.Contains(string(all["/console.js"].plain), editor) {
			t.Errorf("console.js has %q of the lab's editor", editor)
		}
	}
}
