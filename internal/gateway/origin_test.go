package gateway

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/node"
)

// endpoints are one request of each kind: method, path and body.
var endpoints = []struct {
	method, path, body string
	static             bool
}{
	{http.MethodPost, "/stile.v1.Cluster/Status", "{}", false},
	{http.MethodPost, "/stile.v1.Locks/OpenSession", "{}", false},
	{http.MethodGet, "/metrics", "", false},
	{http.MethodGet, "/debug/pprof/cmdline", "", false},
	{http.MethodGet, "/healthz", "", false},
	{http.MethodGet, "/readyz", "", false},
	{http.MethodGet, "/console/api/hello", "", false},
	{http.MethodGet, "/nothing", "", false},
	{http.MethodGet, "/console/", "", true},
	{http.MethodGet, "/console/app.js", "", true},
	{http.MethodGet, "/", "", true},
}

// ask sends a request with headers, and Host among them.
func (a *api) ask(method, path, body string, headers map[string]string) (*http.Response, string) {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	if host := headers["Host"]; host != "" {
		r.Host = host
	}
	x, err := a.client.Transport.RoundTrip(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer x.Body.Close()
	b, err := io.ReadAll(x.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return x, string(b)
}

// Pages of other sites reach nothing, whatever authority the browser of a user has; links on
// them lead to pages. Clients that are no browsers, and the node's own pages, are answered. All
// answers are kept to the node's own pages.
func TestOtherSites(t *testing.T) {
	_, one, two := certificates(t)
	n := startNode(t, func(c *node.Config) { c.Name, c.TLS = "one", one })
	secure := gateWith(t, n, Config{Listen: "127.0.0.1:0", TLS: n.Keys(), Page: fakePage(), Profiles: true}).as(two)
	plain := gateWith(t, startNode(t, nil), Config{Listen: "127.0.0.1:0", Page: fakePage(), Profiles: true})
	for scheme, a := range map[string]*api{"https": secure, "http": plain} {
		own := strings.TrimPrefix(a.url, scheme+"://")
		for _, x := range []struct {
			name         string
			headers      map[string]string
			page, others bool // what is refused
		}{
			{"no browser", nil, false, false},
			{"the user", map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, false, false},
			{"its own page", map[string]string{"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Origin": a.url}, false, false},
			{"its own page by name", map[string]string{"Host": strings.Replace(own, "127.0.0.1", "localhost", 1), "Origin": scheme + "://" + strings.Replace(own, "127.0.0.1", "localhost", 1)}, false, false},
			{"a link on another site", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, false, true},
			{"a script of another site", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, true, true},
			{"another site", map[string]string{"Origin": "https://evil.example"}, true, true},
			{"another port", map[string]string{"Sec-Fetch-Site": "same-site", "Origin": scheme + "://127.0.0.1:1"}, true, true},
			{"a sandboxed frame", map[string]string{"Origin": "null"}, true, true},
			{"a page whose name leads here", map[string]string{"Host": "evil.example", "Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}, true, true},
		} {
			for _, e := range endpoints {
				r, body := a.ask(e.method, e.path, e.body, x.headers)
				refused := x.others
				if e.static {
					refused = x.page
				}
				says := r.StatusCode == http.StatusForbidden && (strings.Contains(body, "another site") || strings.Contains(body, "not a name"))
				if says != refused {
					t.Errorf("%s, %s: %s %s: %d %s", scheme, x.name, e.method, e.path, r.StatusCode, body)
				}
				h := r.Header
				if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" || h.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s, %s: %s %s: %v", scheme, x.name, e.method, e.path, h)
				}
			}
		}
		r, body := a.ask(http.MethodPost, "/stile.v1.Cluster/Status", "{}", map[string]string{"Origin": "https://evil.example"})
		if r.Header.Get(ReasonHeader) != otherSite.reason || !strings.Contains(body, `"permission_denied"`) {
			t.Errorf("%v %s", r.Header, body)
		}
		r, body = a.ask(http.MethodOptions, "/stile.v1.Cluster/ForceRelease", "", map[string]string{"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"})
		if r.StatusCode != http.StatusForbidden {
			t.Errorf("preflight: %d %s", r.StatusCode, body)
		}
	}
	for host, want := range map[string]int{"stile.example": http.StatusOK, "evil.example:1": http.StatusOK} { // its certificate has its names
		if r, body := secure.ask(http.MethodGet, "/healthz", "", map[string]string{"Host": host}); r.StatusCode != want {
			t.Errorf("%s: %d %s", host, r.StatusCode, body)
		}
	}
	if r, body := plain.ask(http.MethodGet, "/healthz", "", map[string]string{"Host": "evil.example"}); r.StatusCode != http.StatusForbidden {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

// Without TLS, requests must name the node as it knows itself: a page of another site can make
// the name of that site lead here, and its requests that only read do not say whose they are.
func TestOtherNames(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	n := startNode(t, func(c *node.Config) { c.Advertise = "Localhost:7420" })
	g, err := New(n, Config{Listen: "0.0.0.0:0", Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	a := &api{t, g, &http.Client{Transport: tr}, strings.Replace(g.URL(), "[::]", "127.0.0.1", 1)}
	for _, x := range []struct {
		host, origin string
		ok           bool
	}{
		{"stile.example:7421", "", false}, {"stile.example:7421", "https://stile.example:7421", false}, {own + ":7421", "", true}, {"stile.example:7421", "http://stile.example:7421", false},
		{"localhost:7421", "http://localhost:7421", true}, {"192.0.2.1:7421", "http://192.0.2.1:7421", true},
	} {
		h := map[string]string{"Host": x.host}
		if x.origin != "" {
			h["Origin"] = x.origin
		}
		if r, body := a.ask(http.MethodPost, "/stile.v1.Cluster/Status", "{}", h); (r.StatusCode == http.StatusOK) != x.ok {
			t.Errorf("%+v: %d %s", x, r.StatusCode, body)
		}
	}
}
