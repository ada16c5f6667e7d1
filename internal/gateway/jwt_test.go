package gateway

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/rights"
)

// A caller with a JWT is who the rights file says that its subject is, until the JWT expires.
func TestJWTOverHTTP(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	n := startNode(t, func(c *node.Config) {
		c.JWKS = file("jwks.json", fmt.Sprintf(`{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": %q}]}`, base64.RawURLEncoding.EncodeToString(public)))
		c.Issuer = rights.Issuer{Name: "https://issuer", Audience: "stile"}
		c.Rights = file("rights.toml", `
			[[rule]]
			who = "client/web"
			locks = "web/*"
			may = ["lock", "read"]
			[[identity]]
			subject = "system:serviceaccount:*:web"
			is = "client/web"`)
	})
	base := gateWith(t, n, Config{Listen: "127.0.0.1:0"})
	signed := func(subject string, until time.Time) string {
		t.Helper()
		x := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.RegisteredClaims{Issuer: "https://issuer", Audience: []string{"stile"}, Subject: subject, ExpiresAt: jwt.NewNumericDate(until)})
		x.Header["kid"] = "k"
		text, err := x.SignedString(private)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	until := time.Now().Add(time.Hour).Truncate(time.Second)
	post := func(method, body, bearer string) int {
		t.Helper()
		r, _ := base.ask(http.MethodPost, "/stile.v1."+method, body, map[string]string{"Authorization": "Bearer " + bearer})
		return r.StatusCode
	}
	web := signed("system:serviceaccount:prod:web", until)
	at := strings.LastIndex(web, ".") + 1 // the signature, whose last characters have bits without meaning
	changed := web[:at] + map[bool]string{true: "B", false: "A"}[web[at] == 'A'] + web[at+1:]
	for _, x := range []struct {
		what, bearer string
		want         int
	}{
		{"as it should be", web, http.StatusOK},
		{"expired", signed("system:serviceaccount:prod:web", until.Add(-2*time.Hour)), http.StatusUnauthorized},
		{"unknown subject", signed("system:serviceaccount:prod:db", until), http.StatusUnauthorized},
		{"changed", changed, http.StatusUnauthorized},
	} {
		if got := post("Cluster/Status", "{}", x.bearer); got != x.want {
			t.Errorf("%s: %d, want %d", x.what, got, x.want)
		}
	}
	if got := post("Cluster/ForceRelease", `{"name": "web/x"}`, web); got != http.StatusForbidden {
		t.Errorf("a client administers: %d", got)
	}
	// What a call does, such as to send what changes, ends when its JWT does.
	r := httptest.NewRequest(http.MethodPost, "/stile.v1.Cluster/Status", http.NoBody)
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer "+web)
	c, d := &call{control: http.NewResponseController(httptest.NewRecorder())}, base.g.door
	_, c.route = d.mux.find(r)
	if err := d.admit(c, r); err != nil {
		t.Fatal(err)
	}
	ends, _ := d.enter(c, r).Context().Deadline()
	if own, _ := c.ctx.Deadline(); own != ends {
		t.Errorf("the request ends at %v", own)
	}
	d.leave(c)
	if ends.Before(until) || ends.After(until.Add(time.Minute)) {
		t.Errorf("the call ends at %v, and its JWT at %v", ends, until)
	}
}
