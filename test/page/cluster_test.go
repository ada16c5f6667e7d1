package page

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile"
)

// A cluster is real nodes: a, b and so on.
type cluster struct {
	t      testing.TB
	dir    string
	listen []string
	http   []string
	certs  string // folder of certificates, with which all talk over TLS; empty for none
	first  []string
	flags  []string
	nodes  []*exec.Cmd
}

// prepared is three nodes that are not started yet.
func prepared(t testing.TB, algorithm string) *cluster {
	t.Helper()
	l := &cluster{t: t, dir: t.TempDir(), first: []string{"--lease", "10s", "--algorithm", algorithm}, nodes: make([]*exec.Cmd, 3)}
	for range l.nodes {
		l.listen, l.http = append(l.listen, freeAddress(t)), append(l.http, freeAddress(t))
	}
	t.Cleanup(func() {
		for i := range l.nodes {
			l.kill(i)
		}
	})
	return l
}

// started is three nodes that run.
func started(t testing.TB, algorithm string) *cluster {
	t.Helper()
	l := prepared(t, algorithm)
	l.startAll()
	return l
}

func (l *cluster) startAll() {
	l.t.Helper()
	for i := range l.nodes {
		l.start(i)
	}
}

// freeAddress returns an address that nothing listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	f, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return f.Addr().String()
}

// start starts a node, and waits until clients can use it.
func (l *cluster) start(i int) {
	l.t.Helper()
	name := string(rune('a' + i))
	args := append([]string{"serve", "--name", name, "--listen", l.listen[i], "--http", l.http[i], "--data", filepath.Join(l.dir, name), "--log-level", "info"}, l.flags...)
	if i > 0 {
		args = append(args, "--join", l.listen[0])
	} else {
		args = append(args, l.first...)
	}
	if l.certs != "" {
		args = append(args, "--ca", l.cert("ca.crt"), "--cert", l.cert(name+".crt"), "--key", l.cert(name+".key"))
	}
	c, err := program(service, args...)
	if err != nil {
		l.t.Fatal(err)
	}
	var log nodeLog
	c.Stdout, c.Stderr = &log, &log
	l.t.Cleanup(func() {
		if l.t.Failed() {
			l.t.Logf("node %s:\n%s", name, log.String())
		}
	})
	if err := c.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.nodes[i] = c
	for !l.ready(i) {
		select {
		case <-l.t.Context().Done():
			l.t.Fatalf("node %s does not serve", name)
		case <-time.After(50 * time.Millisecond): // between two looks
		}
	}
}

func (l *cluster) ready(i int) bool {
	r, err := l.caller().Get(l.origin(i) + "/readyz")
	if err != nil {
		return false
	}
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// kill kills a node, if it runs.
func (l *cluster) kill(i int) {
	if c := l.nodes[i]; c != nil {
		_ = c.Process.Kill()
		_ = c.Wait()
		l.nodes[i] = nil
	}
}

// nodeLog is what a node prints.
type nodeLog struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write implements io.Writer.
func (b *nodeLog) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *nodeLog) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// run runs the command, and returns what it prints.
func (l *cluster) run(args ...string) []byte {
	l.t.Helper()
	c, err := program(service, args...)
	if err != nil {
		l.t.Fatal(err)
	}
	out, err := c.Output()
	if err != nil {
		l.t.Fatalf("stile %q: %v", args, err)
	}
	return out
}

// secure makes the nodes talk over TLS.
func (l *cluster) secure() {
	l.t.Helper()
	l.certs = l.t.TempDir()
	l.run("cert", "ca", "--dir", l.certs)
	for i := range l.nodes {
		l.run("cert", "node", string(rune('a'+i)), "--host", "127.0.0.1", "--dir", l.certs)
	}
	l.run("cert", "client", "worker", "--dir", l.certs)
}

func (l *cluster) cert(file string) string { return filepath.Join(l.certs, file) }

func (l *cluster) origin(i int) string {
	if l.certs != "" {
		return "https://" + l.http[i]
	}
	return "http://" + l.http[i]
}

// console returns the address of a view of the console of a node.
func (l *cluster) console(i int, view string) string { return l.origin(i) + "/console/" + view }

// caller calls nodes as a program does that trusts their certificates.
func (l *cluster) caller() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
}

// call calls a method of the service Cluster as a program does.
func (l *cluster) call(i int, token, method string, body map[string]any) (status int, text string) {
	l.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		l.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(l.t.Context(), http.MethodPost, l.origin(i)+"/stile.v1.Cluster/"+method, bytes.NewReader(b))
	if err != nil {
		l.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	a, err := l.caller().Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer a.Body.Close()
	var buf bytes.Buffer
	_, _ = buf.ReadFrom(a.Body)
	return a.StatusCode, buf.String()
}

// dial connects a client with a label through one of the nodes.
func (l *cluster) dial(i int, label string) *stile.Client {
	l.t.Helper()
	d := stile.DialConfig{Nodes: append([]string{l.listen[i]}, l.listen...), Name: label}
	if l.certs != "" {
		d.TLS = stile.Certificates{CA: l.cert("ca.crt"), Cert: l.cert("worker.crt"), Key: l.cert("worker.key")}
	}
	c, err := stile.Dial(l.t.Context(), d)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = c.Close() })
	return c
}

// lock acquires a lock, which is released at the end of the test.
func (l *cluster) lock(c *stile.Client, name string) *stile.Lock {
	l.t.Helper()
	k, err := c.Lock(l.t.Context(), name)
	if err != nil {
		l.t.Fatal(err)
	}
	return k
}

// wait has a client wait for a lock, and keep it.
func (l *cluster) wait(c *stile.Client, name string) {
	go func() { _, _ = c.Lock(l.t.Context(), name) }()
}

// begin begins a transaction of a client of one of the nodes.
func (l *cluster) begin(i int, label string) *stile.Tx {
	l.t.Helper()
	tx, err := l.dial(i, label).Begin(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return tx
}

// crossed has two transactions each hold a lock and want that of the other: what comes of that is
// sent when they have ended.
func (l *cluster) crossed(prefix string) (ended chan error) {
	l.t.Helper()
	all := []*stile.Tx{l.begin(0, "one"), l.begin(1, "other")}
	for i, tx := range all {
		if _, err := tx.Lock(l.t.Context(), fmt.Sprint(prefix, i)); err != nil {
			l.t.Fatal(err)
		}
	}
	ended = make(chan error, len(all))
	for i, tx := range all {
		go func() {
			_, err := tx.Lock(l.t.Context(), fmt.Sprint(prefix, 1-i))
			_ = tx.Abort()
			ended <- err
		}()
	}
	return ended
}

// job has a process hold a lock, as an operator's job does.
func (l *cluster) job(name string) *exec.Cmd {
	l.t.Helper()
	c, err := program(service, "exec", "--addr", l.listen[0], name, "--", "sh", "-c", "echo held; exec sleep 600")
	if err != nil {
		l.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGCONT) // it ends its command when it is told to
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	})
	if _, err := out.Read(make([]byte, 5)); err != nil {
		l.t.Fatal(err)
	}
	return c
}

// A grant is a token that may read some locks.
type grant struct {
	name, locks string
	admin       bool // and administer them
}

// grants makes tokens. All clients may acquire locks.
func (l *cluster) grants(all ...grant) (tokens []string) {
	l.t.Helper()
	rules, file := filepath.Join(l.dir, "rights.toml"), filepath.Join(l.dir, "tokens.toml")
	l.flags = append(l.flags, "--rights", rules, "--tokens", file)
	text := "[[rule]]\nwho = \"anyone\"\nlocks = \"*\"\nmay = \"lock\"\n[[rule]]\nwho = \"client/*\"\nlocks = \"*\"\nmay = \"lock\"\n"
	for _, g := range all {
		text += fmt.Sprintf("[[rule]]\nwho = %q\nlocks = %q\nmay = [\"read\"", "token/"+g.name, g.locks)
		args := []string{"token", "create", g.name, "--file", file, "--json"}
		if g.admin {
			text += `, "admin"`
			args = append(args, "--for", "admin")
		}
		text += "]\n"
		var made struct{ Token string }
		if err := json.Unmarshal(l.run(args...), &made); err != nil || made.Token == "" {
			l.t.Fatalf("no token was made: %v", err)
		}
		tokens = append(tokens, made.Token)
	}
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return tokens
}
