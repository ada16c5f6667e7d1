package page

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/bundle"
)

// ask asks the handler.
func ask(method, path string, headers ...string) (*http.Response, string) {
	r := httptest.NewRequest(method, "http://any.example"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result(), w.Body.String()
}

// The console is served below its path, to everyone, and may use only its own node.
func TestConsole(t *testing.T) {
	for path, kind := range map[string]string{"": "text/html", "index.html": "text/html", "console.js": "text/javascript", "console.css": "text/css", "licences.txt": "text/plain"} {
		plain, text := ask(http.MethodGet, Path+path)
		packed, data := ask(http.MethodGet, Path+path, "Accept-Encoding", "gzip")
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
		again, none := ask(http.MethodGet, Path+path, "If-None-Match", plain.Header.Get("ETag"))
		if again.StatusCode != http.StatusNotModified || none != "" {
			t.Errorf("%s: the second time it is sent again: %d", path, again.StatusCode)
		}
	}
	for _, path := range []string{"/", "/console/app.js", "/app.js", "/console.js", "/lab/"} {
		if a, text := ask(http.MethodGet, path); a.StatusCode != http.StatusNotFound || !strings.Contains(text, "the console is at /console/") {
			t.Errorf("%s: %d %q", path, a.StatusCode, text)
		}
	}
	if a, _ := ask(http.MethodPost, Path); a.StatusCode != http.StatusMethodNotAllowed || a.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", a.StatusCode)
	}
}

// The page may weigh 120 kB compressed, and has no markup but its own and nothing of the
// laboratory.
func TestConsoleWeight(t *testing.T) {
	files := bundle.New(dist, "dist", Path, "")
	if w := files.Weight("index.html") + files.Weight("console.js") + files.Weight("console.css"); w == 0 || w > 120_000 {
		t.Errorf("the page weighs %d bytes compressed", w)
	}
	for path, without := range map[string][]string{
		"index.html": {"<style", "style=", "onclick", "<script>", "http:", "https:"},
		"console.js": {"editor-sheet", "Branch", "every interleaving", "/lab/"},
	} {
		_, text := ask(http.MethodGet, Path+path)
		for _, s := range without {
			if strings.Contains(text, s) {
				t.Errorf("%s has %q", path, s)
			}
		}
	}
}
