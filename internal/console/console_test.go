package console

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
)

// call calls a console in virtual time, and returns the answer.
func (w *village) call(c *Console, method, path string) *httptest.ResponseRecorder {
	w.t.Helper()
	u, err := url.Parse("http://localhost" + path)
	if err != nil {
		w.t.Fatal(err)
	}
	r := httptest.NewRecorder()
	c.ServeHTTP(r, (&http.Request{Method: method, URL: u}).WithContext(w.t.Context()))
	return r
}

// serves makes a console for ann.
func (w *village) serves() *Console {
	return New(w, func(*http.Request) node.Caller { return person("ann") })
}

func TestHello(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		c := w.serves()
		hello := func(want string) {
			t.Helper()
			r := w.call(c, "GET", "/console/api/hello")
			if r.Code != 200 || r.Body.String() != want || r.Header().Get("Cache-Control") != "no-store" || r.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%d %v %s", r.Code, r.Header(), r.Body)
			}
		}
		algorithms := `["` + strings.Join(choices(), `","`) + `"]`
		hello(`{"at_ms":946684800000,"node":"a","who":"client ann","identity":"client/ann","reads":true,"administers":true,"algorithms":` + algorithms + `,"nodes":[{"name":"b","http":"http://b"},{"name":"c","http":"http://c"}]}`)
		w.pulses["b"].HTTP = ""
		w.deaf["c"] = true
		began := time.Now()
		hello(`{"at_ms":946684800000,"node":"a","who":"client ann","identity":"client/ann","reads":true,"administers":true,"algorithms":` + algorithms + `,"nodes":[{"name":"c","http":"http://c"}]}`)
		if took := time.Since(began); took > 300*time.Millisecond {
			t.Errorf("a page waits %v", took)
		}
		w.barred = lock.ErrDenied
		hello(`{"at_ms":946684800300,"node":"a","who":"client ann","identity":"client/ann","reads":false,"administers":false,"algorithms":[],"nodes":[]}`)
	})
}

func TestRefusals(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		c := w.serves()
		refused := func(status int, method, path, want string) {
			t.Helper()
			r := w.call(c, method, path)
			var e struct{ Error string }
			if err := json.Unmarshal(r.Body.Bytes(), &e); err != nil || r.Code != status || !strings.Contains(e.Error, want) || r.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s", path, r.Code, r.Body)
			}
		}
		refused(404, "GET", "/console/api/other", "want /console/api/hello or /console/api/stream")
		refused(405, "POST", "/console/api/hello", "want GET")
		refused(400, "GET", "/console/api/stream", "want elections, graph")
		refused(400, "GET", "/console/api/stream?view=%zz", "invalid URL escape")
		w.reads = func(name string) bool { return name != "x" }
		refused(403, "GET", "/console/api/stream?view=lock&name=x", "client ann may not read")
		w.barred = fmt.Errorf("%w: revoked", lock.ErrDenied)
		refused(403, "GET", "/console/api/stream?view=overview", "revoked")
		w.barred = nil
		for n := range maxPollers / 2 {
			if _, err := c.hub.open(person("ann"), fmt.Sprint(n), time.Second, func() look { return func(context.Context) (any, bool, error) { return struct{}{}, false, nil } }); err != nil {
				t.Fatal(err)
			}
		}
		refused(503, "GET", "/console/api/stream?view=overview", "different views of client ann")
		c.Close()
		refused(503, "GET", "/console/api/stream?view=overview", "stopping")
	})
}

// A stream is a body that is read while it is written.
type streamed struct {
	*httptest.ResponseRecorder
	to              io.Writer
	flushes, limits int
	broken          bool
}

func (s *streamed) Write(b []byte) (int, error) {
	if s.broken {
		return 0, io.ErrClosedPipe
	}
	return s.to.Write(b)
}

func (s *streamed) Flush() { s.flushes++ }

func (s *streamed) SetWriteDeadline(t time.Time) error {
	if d := time.Until(t); d == writeTimeout {
		s.limits++
	}
	return nil
}

// Events have numbers, and nothing that is shown can end a line of them. While nothing
// changes, the stream says every five seconds that it lives.
func TestStream(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		const name = "x\n\nid: 7\ndata: {}\n\n<script>\u2028"
		w.holds("b", name, 1)
		c := w.serves()
		read, write := io.Pipe()
		s := &streamed{ResponseRecorder: httptest.NewRecorder(), to: write}
		ctx, cancel := context.WithCancel(t.Context())
		u, err := url.Parse("http://localhost/console/api/stream?view=elections")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.ServeHTTP(s, (&http.Request{Method: "GET", URL: u}).WithContext(ctx))
			write.Close()
		}()
		lines := bufio.NewScanner(read)
		line := func(want string) string {
			t.Helper()
			if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
				t.Fatalf("line %q, want %q", lines.Text(), want)
			}
			return strings.TrimPrefix(lines.Text(), want)
		}
		line("id: 1")
		line("event: full")
		doc := parse(t, line("data: ")).(map[string]any)
		line("")
		if rows := doc["rows"].(map[string]any); rows[name].(map[string]any)["name"] != name {
			t.Errorf("%q", doc)
		}
		quiet := time.Now()
		line(": alive")
		line("")
		line(": alive")
		line("")
		if took := time.Since(quiet); took != 10*time.Second {
			t.Errorf("it was quiet for %v", took)
		}
		w.change(func() { w.holds("b", name, 1).Holder.Value = "v" })
		line("id: 2")
		line("event: delta")
		if want := merge(doc, parse(t, line("data: "))).(map[string]any)["rows"].(map[string]any)[name].(map[string]any)["value"]; want != "v" {
			t.Error(want)
		}
		line("")
		w.change(func() { w.barred = fmt.Errorf("%w: the certificate is revoked", lock.ErrDenied) })
		line("id: 3")
		line("event: error")
		if got := line("data: "); !strings.Contains(got, "revoked") || !strings.Contains(got, `"final":true`) {
			t.Error(got)
		}
		line("")
		if lines.Scan() {
			t.Errorf("the stream goes on: %q", lines.Text())
		}
		<-done
		cancel()
		if h := s.Header(); s.flushes != 5 || s.limits != 5 || h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" || h.Get("X-Accel-Buffering") != "no" {
			t.Errorf("%d flushes, %d limits, %v", s.flushes, s.limits, h)
		}
		if c.hub.readers() != 0 {
			t.Errorf("%d streams are left", c.hub.readers())
		}
		c.Close()
	})
}

// A stream ends with its request, and with a connection that takes nothing.
func TestStreamEnds(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		c := w.serves()
		u, err := url.Parse("http://localhost/console/api/stream?view=overview")
		if err != nil {
			t.Fatal(err)
		}
		c.ServeHTTP(&streamed{ResponseRecorder: httptest.NewRecorder(), to: io.Discard, broken: true}, (&http.Request{Method: "GET", URL: u}).WithContext(t.Context()))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		s := &streamed{ResponseRecorder: httptest.NewRecorder(), to: io.Discard}
		c.ServeHTTP(s, (&http.Request{Method: "GET", URL: u}).WithContext(ctx))
		if s.flushes < 15 || c.hub.readers() != 0 {
			t.Errorf("%d flushes, %d streams", s.flushes, c.hub.readers())
		}
		c.Close()
	})
}
