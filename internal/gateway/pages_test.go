package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
)

// saying answers with the path of the request.
func saying(what string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, what, " ", r.URL.Path) })
}

// fakePage is a page of the console that says that it has answered.
func fakePage() http.Handler { return saying("console") }

// get returns the status, a header and the body of a page.
func (a *api) get(path string, headers ...string) (status int, location, body string) {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, a.url+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	c := *a.client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	x, err := c.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer x.Body.Close()
	b, err := io.ReadAll(x.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return x.StatusCode, x.Header.Get("Location"), strings.TrimSpace(string(b))
}

// client makes the certificate of a client.
func clientCert(t *testing.T, ca cert.Config, name string) cert.Config {
	t.Helper()
	m, err := cert.Client(cert.Order{Dir: filepath.Dir(ca.CA), Name: name, Days: 1, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return cert.Config{CA: ca.CA, Cert: m.Cert, Key: m.Key}
}

// clockText is the time of the node in an answer, and the algorithms that it knows.
var clockText = regexp.MustCompile(`"at_ms":\d+,|"algorithms":\[[^]]*\],`)

// Pages are served to everyone, and the console knows its callers.
func TestPages(t *testing.T) {
	ca, one, _ := certificates(t)
	file := filepath.Join(t.TempDir(), "rights.toml")
	if err := os.WriteFile(file, []byte("[[rule]]\nwho = \"client/reader\"\nlocks = \"x\"\nmay = [\"read\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := startNode(t, func(c *node.Config) { c.Name, c.TLS, c.Rights = "one", one, file })
	base := gateWith(t, n, Config{Listen: "127.0.0.1:0", TLS: n.Keys(), Page: fakePage()})
	none, reader, other := base.as(ca), base.as(clientCert(t, ca, "reader")), base.as(clientCert(t, ca, "other"))
	unknown := `{"error":"the request does not say who makes it: give a client certificate ('stile cert' creates them) or a token ('stile token' does)"}`
	for _, c := range []struct {
		name, path string
		as         *api
		status     int
		want       string
	}{
		{"page", "/console/app.js", none, 200, "console /console/app.js"},
		{"console without identity", "/console/api/hello", none, 401, unknown},
		{"console", "/console/api/hello", other, 200, `{"node":"one","who":"client other","identity":"client/other","reads":false,"administers":false,"nodes":[]}`},
		{"no page", "/lab/", reader, 404, "404 page not found"},
	} {
		status, _, body := c.as.get(c.path)
		if body = clockText.ReplaceAllString(body, ""); status != c.status || body != c.want {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
	}
	if status, to, _ := none.get("/"); status != http.StatusFound || to != "/console/" {
		t.Errorf("%d, to %q", status, to)
	}
}

// Without a console, nothing leads to it.
func TestNoPages(t *testing.T) {
	a := serve(t, nil)
	for _, path := range []string{"/", "/console/", "/lab/"} {
		if status, _, body := a.get(path); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// What a page waits for ends when the gateway is closed.
func TestPageEnds(t *testing.T) {
	n := startNode(t, nil)
	begun, ended := make(chan struct{}), make(chan error, 1)
	g, err := New(n, Config{Listen: "127.0.0.1:0", Page: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		ended <- context.Cause(r.Context())
	})})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if r, err := http.Get(g.URL() + "/console/wait"); err == nil {
			r.Body.Close()
		}
	}()
	<-begun
	if err := g.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, errStopping) {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// timed records the read deadline of a request.
type timed struct {
	*httptest.ResponseRecorder
	read time.Time
}

func (w *timed) SetReadDeadline(t time.Time) error {
	w.read = t
	return nil
}

// The deadline is for the body: in HTTP/1.1 it would end a stream that has none.
func TestReadDeadline(t *testing.T) {
	h := newGateway(startNode(t, nil), Config{Profiles: true}).door
	for _, c := range []struct {
		method, path, body string
		limited            bool
	}{
		{http.MethodGet, "/debug/pprof/cmdline", "", false},
		{http.MethodPost, "/stile.v1.Cluster/Status", "{}", true},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, "http://localhost"+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		if h.ServeHTTP(w, r); w.read.IsZero() == c.limited {
			t.Errorf("%s: deadline %v", c.path, w.read)
		}
	}
}

// Pages are told why they are refused.
func TestRefuseJSON(t *testing.T) {
	for p, status := range map[problem]int{noIdentity: 401, isDenied: 403, badRequest: 403, manyCalls: 503} {
		w := httptest.NewRecorder()
		refuse(w, httptest.NewRequest(http.MethodGet, "/console/api/hello", nil), p.errorf("<no>"))
		if body := strings.TrimSpace(w.Body.String()); w.Code != status || body != `{"error":"\u003cno\u003e"}` || w.Header().Get(ReasonHeader) != p.reason {
			t.Errorf("%v: %d %s", p, w.Code, body)
		}
	}
}
