package gateway

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
)

// What each caller gets at each route: 401 without an identity that is accepted, 403 without the
// right, or ok, whatever the route answers then. Each caller comes with a certificate and with a
// token, where it can.
const cells = `
route                                     none  wrong  expired  revoked  no-rule  lock  read  read-all  admin
POST /stile.v1.Locks/OpenSession          401   401    401      401      403      ok    403   403       403
POST /stile.v1.Locks/KeepAlive            401   401    401      401      ok       ok    ok    ok        ok
POST /stile.v1.Locks/CloseSession         401   401    401      401      ok       ok    ok    ok        ok
POST /stile.v1.Locks/Acquire              401   401    401      401      ok       ok    ok    ok        ok
POST /stile.v1.Locks/TryAcquire           401   401    401      401      ok       ok    ok    ok        ok
POST /stile.v1.Locks/Release              401   401    401      401      ok       ok    ok    ok        ok
POST /stile.v1.Locks/SetValue             401   401    401      401      ok       ok    ok    ok        ok
POST /stile.v1.Locks/Begin                401   401    401      401      ok       ok    ok    ok        ok
POST /stile.v1.Locks/Commit               401   401    401      401      ok       ok    ok    ok        ok
POST /stile.v1.Locks/Abort                401   401    401      401      ok       ok    ok    ok        ok
POST /stile.v1.Locks/Retry                401   401    401      401      ok       ok    ok    ok        ok
POST /stile.v1.Locks/Hold                 401   401    401      401      403      ok    403   403       403
POST /stile.v1.Cluster/Status             401   401    401      401      403      403   ok    ok        403
POST /stile.v1.Cluster/Members            401   401    401      401      403      403   ok    ok        403
POST /stile.v1.Cluster/ListLocks          401   401    401      401      403      403   ok    ok        403
POST /stile.v1.Cluster/WatchLocks         401   401    401      401      403      403   ok    ok        403
POST /stile.v1.Cluster/Leader             401   401    401      401      403      403   ok    ok        403
POST /stile.v1.Cluster/ObserveLeader      401   401    401      401      403      403   ok    ok        403
POST /stile.v1.Cluster/ForceRelease       401   401    401      401      403      403   403   403       ok
POST /stile.v1.Cluster/Evict              401   401    401      401      403      403   403   403       ok
POST /stile.v1.Cluster/Choose             401   401    401      401      403      403   403   403       ok
POST /stile.v1.Cluster/Leave              401   401    401      401      403      403   403   403       ok
POST /stile.v1.Cluster/MoveSession        401   401    401      401      403      403   403   403       ok
GET /metrics                              401   401    401      401      403      403   403   ok        403
GET /debug/pprof/                         401   401    401      401      403      403   403   403       ok
GET /healthz                              ok    ok     ok       ok       ok       ok    ok    ok        ok
GET /readyz                               ok    ok     ok       ok       ok       ok    ok    ok        ok
GET /console/api/hello                    401   401    401      401      ok       ok    ok    ok        ok
GET /console/api/stream                   401   401    401      401      403      403   ok    ok        403
/console/api/                             401   401    401      401      ok       ok    ok    ok        ok
/console/                                 ok    ok     ok       ok       ok       ok    ok    ok        ok
GET /{$}                                  ok    ok     ok       ok       ok       ok    ok    ok        ok
GET /any/other                            401   401    401      401      ok       ok    ok    ok        ok
`

// anyOther is the row of requests for what is not served.
const anyOther = "GET /any/other"

// readCells returns the columns of a table, and the cells of each row by its route.
func readCells(t *testing.T, text string) (columns []string, rows map[string][]string) {
	t.Helper()
	rows = map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		f := strings.Fields(line)
		if columns == nil {
			columns = f[1:]
			continue
		}
		first := max(len(f)-len(columns), 0)
		rows[strings.Join(f[:first], " ")] = f[first:]
	}
	return columns, rows
}

// A visitor is a caller with its way to identify itself.
type visitor struct {
	*api
	bearer string
}

// cellRights are the rights of the callers in the table.
const cellRights = `
[[rule]]
who = ["client/lock", "token/lock"]
locks = "mine/*"
may = "lock"

[[rule]]
who = ["client/read", "token/read"]
locks = "mine/*"
may = "read"

[[rule]]
who = ["client/read-all", "token/read-all"]
locks = "*"
may = "read"

[[rule]]
who = ["admin/admin", "token/admin", "admin/revoked", "token/revoked", "token/expired"]
locks = "*"
may = "admin"

[[rule]]
who = ["admin/revoked", "token/revoked", "token/expired"]
locks = "*"
may = ["lock", "read"]
`

// A street has a gateway with TLS and callers of all kinds.
type street struct {
	town
	node   *node.Node
	bearer map[string]string
	tokens *rights.Tokens
}

// newStreet starts a node and a gateway.
func newStreet(t *testing.T) *street {
	t.Helper()
	return newStreetWith(t, cellRights)
}

// newStreetWith is newStreet with a rights file.
func newStreetWith(t *testing.T, rules string) *street {
	t.Helper()
	w := &street{town: town{t: t, dir: t.TempDir()}, bearer: map[string]string{}, tokens: &rights.Tokens{}}
	if _, err := cert.CA(cert.Order{Dir: w.dir, Days: 1, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]cert.Kind{"no-rule": cert.IsClient, "lock": cert.IsClient, "read": cert.IsClient, "read-all": cert.IsClient, "admin": cert.IsAdmin, "revoked": cert.IsAdmin, "expired": cert.IsAdmin} {
		ends := time.Now().Add(time.Hour)
		if name == "expired" {
			ends = time.Now().Add(-time.Hour)
		}
		var err error
		if w.tokens, w.bearer[name], err = w.tokens.Create(name, kind, ends); err != nil {
			t.Fatal(err)
		}
	}
	w.bearer["wrong"] = "stile_nothing"
	w.node = startNode(t, func(c *node.Config) {
		c.Name, c.TLS, c.Metrics = "a", w.order(cert.Node, "a"), true
		c.Rights, c.Tokens, c.Revoked = w.write("rights.toml", rules), w.write("tokens.toml", w.tokens.Text()), w.write("revoked", "")
		c.Log = journalled(&w.logs[0])
	})
	w.api = gateWith(t, w.node, Config{Listen: "127.0.0.1:0", TLS: w.node.Keys(), Page: fakePage(), Profiles: true})
	return w
}

// revoke revokes a certificate and a token, and waits until the node knows.
func (w *street) revoke(c cert.Config, token string) {
	w.t.Helper()
	less, err := w.tokens.Revoke(token)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write("tokens.toml", less.Text())
	w.write("revoked", cert.Serial(leaf(w.t, c)))
	eventually(w.t, "both are revoked", func() bool {
		_, err := w.node.Bearer(w.bearer[token], "", time.Now())
		return err != nil && w.node.Keys().Check(leaf(w.t, c)) != nil
	})
}

// callers returns the callers of a column: with a certificate, and with a token.
func (w *street) callers(column string) (all []visitor) {
	w.t.Helper()
	none := w.api.as(cert.Config{CA: filepath.Join(w.dir, "ca.crt")})
	issue := cert.Client
	switch column {
	case "none":
		return []visitor{{none, ""}}
	case "wrong":
		return []visitor{{none, w.bearer[column]}, {w.api.as(twoOwners(w.t, w.dir)), ""}}
	case "expired":
		return []visitor{{none, w.bearer[column]}}
	case "revoked":
		a := w.api.as(w.order(cert.Admin, column))
		return []visitor{{a, ""}, {a, w.bearer["admin"]}, {none, w.bearer[column]}}
	case "admin":
		issue = cert.Admin
	}
	return []visitor{{w.api.as(w.order(issue, column)), ""}, {none, w.bearer[column]}}
}

// bodies of requests that would do harm, or need a name.
var cellBodies = map[string]string{
	"/stile.v1.Locks/Hold":            `{"name":"mine/x"}`,
	"/stile.v1.Cluster/Leader":        `{"name":"mine/x"}`,
	"/stile.v1.Cluster/ObserveLeader": `{"name":"mine/x"}`,
	"/stile.v1.Cluster/ForceRelease":  `{"name":"mine/x"}`,
	"/stile.v1.Cluster/Leave":         `{"node":"nobody"}`,
}

// visit asks for a route, and returns the cell. Of a stream it reads what comes first.
func (v visitor) visit(t testing.TB, pattern string) string {
	t.Helper()
	method, path, ok := strings.Cut(pattern, " ")
	if !ok {
		method, path = http.MethodGet, pattern
	}
	if path = strings.TrimSuffix(path, "{$}"); strings.HasSuffix(path, "/stream") {
		path += "?view=overview"
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var content string
	body := []byte(cellBodies[path])
	if method == http.MethodPost {
		content = "application/json"
		if len(body) == 0 {
			body = []byte("{}")
		}
		if strings.HasSuffix(path, "/Hold") || strings.HasSuffix(path, "/WatchLocks") || strings.HasSuffix(path, "/ObserveLeader") {
			content = "application/connect+json"
			body = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, v.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", content)
	if v.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+v.bearer)
	}
	x, err := v.client.Transport.RoundTrip(r)
	if err != nil {
		return err.Error()
	}
	defer x.Body.Close()
	said := make([]byte, 4096)
	n, err := x.Body.Read(said)
	if err != nil && err != io.EOF {
		return err.Error()
	}
	switch text := string(said[:n]); {
	case x.StatusCode == http.StatusUnauthorized, strings.Contains(text, `"code":"unauthenticated"`):
		return "401"
	case x.StatusCode == http.StatusForbidden, strings.Contains(text, `"code":"permission_denied"`):
		return "403"
	case x.StatusCode >= 500:
		return text
	}
	return "ok"
}

// takeAway has a caller call, and then revokes its certificate or token. Its connection stays
// open. A good token on the connection of a certificate that was revoked before helps nobody.
func (w *street) takeAway(v visitor) {
	w.t.Helper()
	if v.bearer == w.bearer["admin"] {
		return
	}
	if got := v.visit(w.t, "GET /metrics"); got != "ok" {
		w.t.Fatalf("before it is revoked: %s", got)
	}
	if v.bearer == "" {
		list, err := cert.ParseRevoked(cert.Serial(v.client.Transport.(*http.Transport).TLSClientConfig.Certificates[0].Leaf), nil)
		if err != nil {
			w.t.Fatal(err)
		}
		w.node.Keys().Revoke(list)
		return
	}
	less, err := w.tokens.Revoke("revoked")
	if err != nil {
		w.t.Fatal(err)
	}
	w.write("tokens.toml", less.Text())
	eventually(w.t, "the token is revoked", func() bool {
		_, err := w.node.Bearer(v.bearer, "", time.Now())
		return err != nil
	})
}

// Every route gives every caller what the table says.
func TestCells(t *testing.T) {
	w := newStreet(t)
	columns, rows := readCells(t, cells)
	served := slices.Sorted(maps.Keys(w.api.g.door.mux.routes))
	if stated := slices.Sorted(maps.Keys(rows)); !slices.Equal(slices.Sorted(slices.Values(append(served, anyOther))), stated) {
		t.Fatalf("served are\n%q\nand stated are\n%q", served, stated)
	}
	w.node.OnRecheck(nil) // open connections stay open
	for i, column := range columns {
		for _, v := range w.callers(column) {
			if column == "revoked" {
				w.takeAway(v)
			}
			for route, row := range rows {
				if len(row) != len(columns) {
					t.Fatalf("%s has %d cells", route, len(row))
				}
				if got := v.visit(t, route); got != row[i] {
					t.Errorf("%s as %s (token: %t): %s, want %s", route, column, v.bearer != "", got, row[i])
				}
			}
		}
	}
}

// Nothing is served that is not declared, with what it needs.
func TestUndeclared(t *testing.T) {
	m := mux{routes: map[string]*route{}}
	for what, serve := range map[string]func(){
		"an undeclared path": func() { m.serve("GET /undeclared", saying("")) },
		"no need":            func() { m.add(&route{pattern: "GET /x", what: "x"}, saying("")) },
		"no name":            func() { m.add(&route{pattern: "GET /x", need: nothing}, saying("")) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("it serves a route with %s", what)
				}
			}()
			serve()
		}()
	}
}

// docs/security.md says what each route needs.
func TestRoutesDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	needs := map[need]string{
		aPage: "nothing", nothing: "nothing", identity: "an identity", ownSession: "an identity, whose session it is", rightOn: "a right on the name",
		lockAny: "`lock` on any name", readAny: "`read` on any name", readAll: "`read` on `*`", adminAll: "`admin` on `*`", profile: "`admin` on `*`, and `--pprof`",
	}
	for _, r := range routes {
		_, path, _ := strings.Cut(r.pattern, "/")
		path = strings.TrimSuffix("/"+path, "{$}")
		documented := false
		for line := range strings.Lines(string(page)) {
			cell := strings.Split(line, "|")
			name := path
			if strings.HasPrefix(path, "/stile.v1.") {
				name = path[strings.LastIndex(path, "/")+1:]
			}
			documented = documented || len(cell) > 3 && strings.Contains(cell[1], "`"+name+"`") && strings.HasPrefix(strings.TrimSpace(cell[2]), needs[r.need])
		}
		if !documented {
			t.Errorf("%s: not documented with %q", path, needs[r.need])
		}
	}
}
