package node

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/node/cert"
)

// entries returns the lines of an audit file.
func entries(t *testing.T, path string) (all []entry) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// The audit has a file of its own, which can be renamed: who has connected, and what was denied
// and done, whatever the level of the node's log is.
func TestAuditFile(t *testing.T) {
	dir := authority(t)
	own, _ := issued(t, dir, "a", cert.Node)
	alice, _ := issued(t, dir, "alice", cert.Admin)
	backup, _ := issued(t, dir, "backup", cert.Client)
	path := filepath.Join(dir, "audit.jsonl")
	var log bytes.Buffer
	n := run(t, Config{Name: "a", Listen: "127.0.0.1:0", TLS: own.files, Audit: path, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))})
	ready(t, n)
	has := func(path, who, what, result string) {
		t.Helper()
		eventually(t, who+", "+what+", "+result, func() bool {
			for _, e := range entries(t, path) {
				if e.Who == who && e.What == what && e.Result == result && e.From != "" {
					return true
				}
			}
			return false
		})
	}
	ctx, cancel := soon(t)
	defer cancel()
	if _, err := backup.ask(ctx, n, AskEvict, "a"); err == nil {
		t.Error("a client evicts")
	}
	has(path, "client backup", "connect", "done")
	has(path, "client backup", "evict", "denied")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if _, err := alice.ask(ctx, n, AskBackup, ""); err != nil {
		t.Error(err)
	}
	has(path+".1", "admin alice", "backup", "done")
	n.ReopenAudit()
	if _, err := alice.ask(ctx, n, AskBackup, ""); err != nil {
		t.Error(err)
	}
	has(path, "admin alice", "backup", "done")
	n.Visited(Caller{Identity: cert.Identity{Kind: cert.IsClient, Name: "web"}, From: "192.0.2.1:5"})
	n.Visited(Caller{Identity: cert.Identity{Kind: cert.IsClient, Name: "web"}, From: "192.0.2.1:6"})
	has(path, "client web", "connect", "done")
	n.Kill()
	seen := 0
	for _, e := range entries(t, path) {
		if e.Who == "client web" {
			seen++
		}
	}
	if seen != 1 || strings.Contains(log.String(), "audit") {
		t.Errorf("%d lines about an HTTP client; the log is %q", seen, log.String())
	}
	if _, err := Start(Config{Name: "a", Listen: "127.0.0.1:0", Audit: filepath.Join(dir, "none", "audit")}); err == nil {
		t.Error("a node starts without its audit")
	}
}

// Lines that cannot be written are counted, and the log says so.
func TestAuditFileFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	var log bytes.Buffer
	a, err := openAudit("/dev/full", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	to := a.logger()
	for range 3 {
		to.Info("x")
	}
	a.close()
	if a.Lost() != 3 || strings.Count(log.String(), "audit lines lost") != 1 {
		t.Errorf("%d lines are lost; the log is\n%s", a.Lost(), log.String())
	}
}
