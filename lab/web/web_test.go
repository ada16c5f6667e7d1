package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/bundle"
)

// title has what must not be taken for a part of the page.
const title = `Two of <script>alert("them")</script> & one`

// fake answers the calls of the page with little.
type fake struct{}

func (fake) Call(ctx context.Context, name string, body []byte, emit func([]byte) error) error {
	say := func(v any) error {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return emit(line)
	}
	switch name {
	case "start":
		return say(map[string]string{"text": "the text of a scenario"})
	case "run":
		var asked struct{ Text string }
		if err := json.Unmarshal(body, &asked); err != nil {
			return err
		}
		return say(map[string]any{"title": title, "events": make([]struct{}, len(asked.Text))})
	case "check":
		for range 3 {
			if err := say(map[string]int{"progress": 1}); err != nil {
				return err
			}
		}
		return errors.New("out of memory")
	case "forever":
		<-ctx.Done()
		return ctx.Err()
	}
	return errors.New("there is no call " + name)
}

func serve(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// ask sends a request whose headers are as the page sends them, unless they are
// given: pairs of name and value, and Host among them.
func ask(t *testing.T, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", contentJSON)
		r.Header.Set("Origin", "http://"+r.Host)
	}
	for i := 0; i < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	a, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a, string(text)
}

func TestRefused(t *testing.T) {
	url := serve(t, Handler(fake{}, "lab.example"))
	here := strings.TrimPrefix(url, "http://")
	cases := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		want                     string
	}{
		{"rebound name", "GET", "/", "", []string{"Host", "evil.example"}, 403, "not a name"},
		{"rebound name in a call", "POST", "/api/run", "{}", []string{"Host", "evil.example", "Origin", "http://evil.example"}, 403, "not a name"},
		{"another site", "POST", "/api/run", "{}", []string{"Origin", "http://evil.example"}, 403, "another site"},
		{"another site that loads a script", "GET", "/app.js", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403, "another site"},
		{"a call that is a link", "GET", "/api/run", "", nil, 405, "POST"},
		{"a form", "POST", "/api/run", "a=b", []string{"Content-Type", "text/plain"}, 415, contentJSON},
		{"no type", "POST", "/api/run", "{}", []string{"Content-Type", ""}, 415, contentJSON},
		{"too large", "POST", "/api/run", strings.Repeat(" ", maxBody+1), nil, 413, "4,194,304"},
		{"no such call", "POST", "/api/dance", "{}", nil, 400, "no call dance"},
		{"no such file", "GET", "/dist/app.js", "", nil, 404, "the lab is at /"},
		{"outside", "GET", "/../lab/web.go", "", nil, 307, "/web.go"},
		{"writing", "PUT", "/app.js", "", nil, 405, "GET"},
		{"by address", "GET", "/", "", []string{"Host", here}, 200, ""},
		{"by a name that was given", "GET", "/", "", []string{"Host", "lab.example:7421"}, 200, ""},
		{"from the page", "POST", "/api/run", "{}", nil, 200, ""},
		{"from no browser", "POST", "/api/run", "{}", []string{"Origin", ""}, 200, ""},
		{"by a link elsewhere", "GET", "/", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a, text := ask(t, c.method, url+c.path, c.body, c.headers...)
			if a.StatusCode != c.status || !strings.Contains(text, c.want) {
				t.Errorf("%d %q, want %d and %q", a.StatusCode, text, c.status, c.want)
			}
			if a.Header.Get("Content-Security-Policy") != policy(nil) || a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("headers %v", a.Header)
			}
			if c.status != 200 && strings.HasPrefix(c.path, "/api/") && !strings.HasPrefix(text, `{"error":{"line":0,"col":0,"text":"`) {
				t.Errorf("%q is not what the page takes for a fault", text)
			}
		})
	}
}

func TestCallTakesTooLong(t *testing.T) {
	s := &server{calls: fake{}, maxBody: maxBody, callTime: time.Millisecond, streamTime: time.Hour}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{name}", s.call)
	_, text := ask(t, "POST", serve(t, mux)+"/api/forever", "{}")
	if !strings.Contains(text, "forever took longer than 1ms") {
		t.Errorf("%q", text)
	}
}

func TestStream(t *testing.T) {
	a, text := ask(t, "POST", serve(t, Handler(fake{}))+"/api/check", "{}")
	want := strings.Repeat("{\"progress\":1}\n", 3) + `{"error":{"line":0,"col":0,"text":"out of memory"}}` + "\n"
	if text != want || a.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("%q of type %s", text, a.Header.Get("Content-Type"))
	}
}

func TestFiles(t *testing.T) {
	url := serve(t, Handler(fake{}))
	for path, kind := range map[string]string{"/": "text/html", "/app.js": "text/javascript", "/app.css": "text/css", "/licences.txt": "text/plain"} {
		plain, text := ask(t, "GET", url+path, "")
		if plain.StatusCode != 200 || !strings.HasPrefix(plain.Header.Get("Content-Type"), kind+";") {
			t.Errorf("%s: %s of type %q", path, plain.Status, plain.Header.Get("Content-Type"))
		}
		packed, data := ask(t, "GET", url+path, "", "Accept-Encoding", "br, gzip")
		z, err := gzip.NewReader(strings.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if un, err := io.ReadAll(z); err != nil || !bytes.Equal(un, []byte(text)) {
			t.Errorf("%s: compressed it is something else (%v)", path, err)
		}
		tag := packed.Header.Get("ETag")
		if tag == "" || tag == plain.Header.Get("ETag") {
			t.Errorf("%s: tags %q and %q", path, tag, plain.Header.Get("ETag"))
		}
		again, none := ask(t, "GET", url+path, "", "Accept-Encoding", "gzip", "If-None-Match", tag)
		if again.StatusCode != 304 || none != "" {
			t.Errorf("%s: the second time %s with %d bytes", path, again.Status, len(none))
		}
	}
}

// The page may weigh 120 kB compressed.
func TestWeight(t *testing.T) {
	if w := weight(); w == 0 || w > 120_000 {
		t.Errorf("the page weighs %d bytes compressed", w)
	}
}

// weight is what is loaded to show the page, in bytes, compressed.
func weight() int {
	files := bundle.New(Bundle, "dist", "/", "")
	return files.Weight("index.html") + files.Weight("app.js") + files.Weight("app.css")
}

// BenchmarkWeight is what the page weighs, compressed.
func BenchmarkWeight(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(float64(weight()), "bytes")
	}
	b.ReportMetric(0, "ns/op")
}

// Only the origins given may show the page in a frame.
func TestFrames(t *testing.T) {
	for _, c := range []struct {
		frames []string
		want   string
	}{{nil, "frame-ancestors 'none'"}, {[]string{"https://a.example", "http://b.example:8080"}, "frame-ancestors https://a.example http://b.example:8080"}} {
		w := httptest.NewRecorder()
		HandlerOf(Bundle, nil, Options{Frames: c.frames}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/", nil))
		if got := w.Header().Get("Content-Security-Policy"); !strings.HasSuffix(got, c.want) {
			t.Errorf("frames %v: policy %q, want %q at its end", c.frames, got, c.want)
		}
	}
	for origin, good := range map[string]bool{
		"https://a.example": true, "http://127.0.0.1:8080": true,
		"": false, "a.example": false, "https://a.example/": false, "https://a.example/page": false, "https://a.example; script-src *": false, "*": false, "https://*.example": false, "file:///x": false, "https://a b": false,
	} {
		if err := CheckOrigin(origin); (err == nil) != good {
			t.Errorf("origin %q: %v, want accepted %v", origin, err, good)
		}
	}
}
