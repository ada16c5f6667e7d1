package origin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const (
	named   = "not a name"
	another = "another site"
)

func TestCheck(t *testing.T) {
	own := "http://127.0.0.1:7421"
	strict, open := &Guard{Names: []string{"lab.example"}}, &Guard{AnyName: true}
	for _, c := range []struct {
		name    string
		guard   *Guard
		method  string
		host    string
		headers []string
		page    string // why it is refused if it is for a static page; empty if it is not
		call    string // and if it is not
	}{
		{"no browser", strict, "POST", "127.0.0.1:7421", nil, "", ""},
		{"no host", strict, "POST", "", nil, "", ""},
		{"by name", strict, "GET", "LOCALHOST:1234", nil, "", ""},
		{"by name without port", strict, "GET", "localhost", nil, "", ""},
		{"by the other loopback", strict, "GET", "[::1]:7421", nil, "", ""},
		{"by the other loopback without port", strict, "GET", "[::1]", nil, "", ""},
		{"by the address of another interface", strict, "GET", "192.0.2.1", nil, "", ""},
		{"by a name that was given", strict, "GET", "Lab.example:7421", nil, "", ""},
		{"rebound name", strict, "GET", "evil.example", nil, named, named},
		{"rebound name of a page", strict, "POST", "evil.example:7421", []string{"Origin", "http://evil.example:7421", "Sec-Fetch-Site", "same-origin"}, named, named},
		{"rebound name that is opened", strict, "GET", "evil.example:7421", []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "none"}, named, named},
		{"name that begins well", strict, "GET", "localhost.evil.example", nil, named, named},
		{"address that begins well", strict, "GET", "127.0.0.1.evil.example:7421", nil, named, named},
		{"any name", open, "GET", "stile.example", nil, "", ""},
		{"any name of a page with TLS", open, "POST", "stile.example", []string{"Origin", "https://stile.example"}, "", ""},
		{"any name of a page without TLS", open, "POST", "evil.example:7421", []string{"Origin", "http://evil.example:7421"}, named, named},
		{"a name that was given, of a page without TLS", &Guard{Names: []string{"lab.example"}, AnyName: true}, "POST", "lab.example:7421", []string{"Origin", "http://lab.example:7421"}, "", ""},
		{"address of a page without TLS", open, "POST", "192.0.2.1:7421", []string{"Origin", "http://192.0.2.1:7421"}, "", ""},

		{"its own page", strict, "POST", "127.0.0.1:7421", []string{"Origin", own, "Sec-Fetch-Site", "same-origin"}, "", ""},
		{"its own page in an old browser", strict, "POST", "127.0.0.1:7421", []string{"Origin", own}, "", ""},
		{"its own page, which reads", strict, "GET", "127.0.0.1:7421", []string{"Sec-Fetch-Site", "same-origin"}, "", ""},
		{"its own page behind a proxy with TLS", open, "POST", "stile.example", []string{"Origin", "https://stile.example"}, "", ""},
		{"the user", strict, "GET", "127.0.0.1:7421", []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "none"}, "", ""},
		{"a link elsewhere", strict, "GET", "127.0.0.1:7421", []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "cross-site"}, "", another},
		{"a form elsewhere", strict, "POST", "127.0.0.1:7421", []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example"}, another, another},
		{"another site", strict, "POST", "127.0.0.1:7421", []string{"Origin", "http://evil.example"}, another, another},
		{"another site with two origins", strict, "POST", "127.0.0.1:7421", []string{"Origin", own, "Origin", "http://evil.example"}, another, another},
		{"a site that begins well", strict, "POST", "127.0.0.1:7421", []string{"Origin", own + ".evil.example"}, another, another},
		{"another port", strict, "POST", "127.0.0.1:7421", []string{"Origin", "http://127.0.0.1:1"}, another, another},
		{"another port says same-site", strict, "GET", "127.0.0.1:7421", []string{"Sec-Fetch-Site", "same-site"}, another, another},
		{"no site", strict, "POST", "127.0.0.1:7421", []string{"Origin", "null"}, another, another},
		{"another site without origin", strict, "POST", "127.0.0.1:7421", []string{"Sec-Fetch-Site", "cross-site"}, another, another},
		{"another site that loads a script", strict, "GET", "127.0.0.1:7421", []string{"Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Site", "cross-site"}, another, another},
		{"another site with the certificate of the user", open, "POST", "stile.example", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, another, another},
		{"what no browser says", strict, "GET", "127.0.0.1:7421", []string{"Sec-Fetch-Site", "elsewhere"}, another, another},
	} {
		r := httptest.NewRequest(c.method, "http://127.0.0.1/x", nil)
		r.Host = c.host
		for i := 0; i < len(c.headers); i += 2 {
			r.Header.Add(c.headers[i], c.headers[i+1])
		}
		for static, want := range map[bool]string{true: c.page, false: c.call} {
			if err := c.guard.Check(r, static); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, static %t: %v, want %q", c.name, static, err, want)
			}
		}
	}
}

func TestIsolate(t *testing.T) {
	h := http.Header{}
	Isolate(h)
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin"} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
