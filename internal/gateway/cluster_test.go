package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
)

// A town is a cluster of three nodes with TLS, a to c, a gateway at a, and certificates.
type town struct {
	t     testing.TB
	dir   string
	nodes [3]*node.Node
	logs  [3]journal
	api   *api // without a certificate
}

// A journal collects a log.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(b)
}

// audited waits until the audit log has a line with these values.
func (w *town) audited(i int, values map[string]string) {
	w.t.Helper()
	eventually(w.t, fmt.Sprintf("the audit log of node %d has %v", i, values), func() bool { return w.logs[i].audited(values) })
}

// audited reports whether the audit log has a line with these values.
func (j *journal) audited(values map[string]string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range bytes.Lines(j.b.Bytes()) {
		var e map[string]any
		if json.Unmarshal(line, &e) != nil || e["logger"] != "audit" {
			continue
		}
		all := true
		for k, v := range values {
			got, _ := e[k].(string)
			all = all && strings.Contains(got, v)
		}
		if all {
			return true
		}
	}
	return false
}

// order makes a certificate.
func (w *town) order(issue func(cert.Order) (*cert.Made, error), name string) cert.Config {
	w.t.Helper()
	m, err := issue(cert.Order{Dir: w.dir, Name: name, Hosts: []string{"127.0.0.1"}, Days: 1, Now: time.Now()})
	if err != nil {
		w.t.Fatal(err)
	}
	return cert.Config{CA: filepath.Join(w.dir, "ca.crt"), Cert: m.Cert, Key: m.Key}
}

// write writes a file of the cluster.
func (w *town) write(name, text string) (path string) {
	w.t.Helper()
	path = filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// newTown starts a cluster. Rights are the contents of a rights file.
func newTown(t *testing.T, rights string, change ...func(c *node.Config)) *town {
	t.Helper()
	w := &town{t: t, dir: t.TempDir()}
	if _, err := cert.CA(cert.Order{Dir: w.dir, Days: 1, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	file := w.write("rights.toml", rights)
	for i, name := range []string{"a", "b", "c"} {
		w.nodes[i] = startNode(t, func(c *node.Config) {
			c.Name, c.TLS, c.Rights = name, w.order(cert.Node, name), file
			c.Log = slog.New(slog.NewJSONHandler(&w.logs[i], nil))
			for _, f := range change {
				f(c)
			}
			if i > 0 {
				c.Join = []string{w.nodes[0].Address()}
			}
		})
	}
	g, err := New(w.nodes[0], Config{Listen: "127.0.0.1:0", TLS: w.nodes[0].Keys()})
	if err != nil {
		t.Fatal(err)
	}
	w.api = &api{t: t, g: g, url: "https://" + g.Address().String()}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "all are linked", func() bool {
		linked := 0
		for _, m := range w.nodes[0].Status().Members {
			if m.Linked {
				linked++
			}
		}
		return linked == 3
	})
	return w
}

// hold acquires a lock through a node.
func (w *town) hold(i int, name string) lock.Handle {
	w.t.Helper()
	h, err := w.nodes[i].Lock(w.t.Context(), name, lock.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

const townRights = `
[[rule]]
who = "client/reader"
locks = "mine/*"
may = "read"

[[rule]]
who = "admin/alice"
locks = "*"
may = "admin"
`

// A node shows the locks of the whole cluster, and of these what the caller may read. It
// takes a lock from its holder wherever that is, for callers who may do that. Members that do
// not answer are named.
func TestWholeCluster(t *testing.T) {
	w := newTown(t, townRights)
	held := w.hold(1, "mine/1")
	for name, i := range map[string]int{"theirs/1": 1, "mine/2": 2} {
		if err := w.hold(i, name).SetValue("v"); err != nil {
			t.Fatal(err)
		}
	}
	wait, cancel := context.WithCancel(t.Context())
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		_, _ = w.nodes[2].Lock(wait, "mine/1", lock.Options{})
	}()
	defer func() { cancel(); <-waited }()
	reader, alice := w.api.as(w.order(cert.Client, "reader")), w.api.as(w.order(cert.Admin, "alice"))

	list := func(a *api, prefix string) (text string) {
		for page := ""; ; {
			out := a.call("Cluster/ListLocks", object{"prefix": prefix, "pageToken": page})
			if out.at("unasked") != nil {
				t.Errorf("not all were asked: %v", out)
			}
			all, _ := out.at("locks").([]any)
			for _, x := range all {
				l := object(x.(map[string]any))
				waiters, _ := l.at("waiters").([]any)
				text += fmt.Sprintf("%v held at %v", l.at("name"), l.at("holder", "node"))
				for _, x := range waiters {
					text += fmt.Sprintf(", awaited at %v", object(x.(map[string]any)).at("node"))
				}
				text += "; "
			}
			if page, _ = out.at("nextPageToken").(string); page == "" {
				return text
			}
		}
	}
	eventually(t, "the reader sees its locks", func() bool {
		return list(reader, "") == "mine/1 held at b, awaited at c; mine/2 held at c; "
	})
	if got := list(reader, "theirs"); got != "" {
		t.Errorf("the reader sees %s", got)
	}
	alice.fails(isDenied, "Cluster/ListLocks", nil) // she has not the right to read

	eventually(t, "the reader sees the leader through c", func() bool {
		l := reader.call("Cluster/Leader", object{"name": "mine/2"})
		return l.at("leader", "value") == "v" && l.at("leader", "node") == "c"
	})
	reader.fails(isDenied, "Cluster/Leader", object{"name": "theirs/1"})
	w.audited(0, map[string]string{"who": "client reader", "result": "denied", "lock": "theirs/1"})

	reader.fails(isDenied, "Cluster/ForceRelease", object{"name": "mine/1"})
	if held.Err() != nil {
		t.Errorf("denied, but the lock is lost: %v", held.Err())
	}
	w.audited(0, map[string]string{"who": "client reader", "what": "force-release", "lock": "mine/1", "result": "denied"})
	if out := alice.call("Cluster/ForceRelease", object{"name": "mine/1"}); out.at("token") != held.Token().String() {
		t.Errorf("released: %v", out)
	}
	<-held.Context().Done()
	done := map[string]string{"who": "admin alice", "what": "force-release", "lock": "mine/1", "token": held.Token().String(), "result": "done"}
	w.audited(0, done)
	done["who"], done["for"] = "node a", "admin alice"
	w.audited(1, done)
	alice.fails(isDeclined, "Cluster/ForceRelease", object{"name": "mine/9"})
	w.audited(0, map[string]string{"who": "admin alice", "lock": "mine/9", "result": "failed"})

	w.ordersForOthers(t)
	w.handshakes()

	watch, err := pb.NewClusterClient(reader.client, reader.url).WatchLocks(t.Context(), watchOf("mine/2"))
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	if !watch.Receive() || len(watch.Msg().GetChanged()) != 1 || len(watch.Msg().GetUnasked()) != 0 {
		t.Fatalf("%v, %v", watch.Msg(), watch.Err())
	}
	w.nodes[2].Kill()
	if !watch.Receive() || len(watch.Msg().GetUnasked()) != 1 || watch.Msg().GetUnasked()[0].GetNode() != "c" || len(watch.Msg().GetGone()) != 0 {
		t.Errorf("when c is dead: %v, %v", watch.Msg(), watch.Err())
	}
	out := reader.call("Cluster/ListLocks", nil)
	if silent, _ := out.at("unasked").([]any); len(silent) != 1 || object(silent[0].(map[string]any)).at("node") != "c" {
		t.Errorf("when c is dead: %v", out)
	}
	alice.fails(isDeclined, "Cluster/ForceRelease", object{"name": "mine/2"})
}

// handshakes tries a certificate of another authority over HTTP.
func (w *town) handshakes() {
	w.t.Helper()
	other := &town{t: w.t, dir: w.t.TempDir()}
	if _, err := cert.CA(cert.Order{Dir: other.dir, Days: 1, Now: time.Now()}); err != nil {
		w.t.Fatal(err)
	}
	wrong := other.order(cert.Client, "reader")
	wrong.CA = filepath.Join(w.dir, "ca.crt")
	if r, err := w.api.as(wrong).client.Get(w.api.url + "/healthz"); err == nil {
		r.Body.Close()
		w.t.Error("HTTP accepts a certificate of another authority")
	}
	w.audited(0, map[string]string{"who": "anyone", "from": "127.0.0.1:", "what": "connect", "result": "denied", "why": "unknown authority"})
}

func watchOf(prefix string) *pb.WatchLocksRequest {
	return &pb.WatchLocksRequest{Prefix: prefix, Interval: asProto(time.Millisecond)}
}
