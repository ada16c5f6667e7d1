package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/gateway"
	"github.com/stile-lock/stile/internal/node"
)

// The log says if HTTP is open to everyone.
func TestServeWarnsOfOpenHTTP(t *testing.T) {
	for listen, want := range map[string]bool{"127.0.0.1:0": false, "0.0.0.0:0": true, "[::]:0": true} {
		var log bytes.Buffer
		p := &servedNodes{log: slog.New(slog.NewTextHandler(&log, nil))}
		n, err := node.Start(node.Config{Name: "a", Listen: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		p.nodes = append(p.nodes, n)
		err = p.serveHTTP(n, gateway.Config{Listen: listen, Insecure: true})
		p.kill()
		if err != nil || strings.Contains(log.String(), "HTTP on all addresses") != want {
			t.Errorf("%s: %v, %s", listen, err, log.String())
		}
	}
}

// A signal makes the nodes open their audit file again, after it was renamed.
func TestServeReopensAudit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	n, err := node.Start(node.Config{Name: "a", Listen: "127.0.0.1:0", Audit: path})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Kill()
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	again := make(chan os.Signal, 1)
	again <- syscall.SIGHUP
	go (&servedNodes{nodes: []*node.Node{n}}).reopen(ctx, again)
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("the audit file is not opened again")
		case <-time.After(time.Millisecond):
		}
	}
}
