package main

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/node"
)

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
