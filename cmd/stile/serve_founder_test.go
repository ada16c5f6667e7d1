//go:build linux || darwin

package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Three nodes with the same settings found one cluster. A founder that has lost its
// directory joins it again.
func TestServeFounder(t *testing.T) {
	t.Parallel()
	var addresses []string
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
		l.Close()
	}
	dir := t.TempDir()
	start := func(i int) *proc {
		name := string(rune('a' + i))
		return begin(t, []string{"STILE_FOUNDER=a", "STILE_LEASE=5s", "STILE_JOIN=" + strings.Join(addresses, ","), "STILE_NAME=" + name, "STILE_LISTEN=" + addresses[i], "STILE_DATA=" + filepath.Join(dir, name)}, "serve")
	}
	cluster := func(i int) string {
		t.Helper()
		var s struct{ Cluster string }
		read(t, at(t, addresses[i], 0, "status", "--json"), &s)
		return s.Cluster
	}
	early := start(0)
	early.waitFor("waiting to found the cluster")
	early.signal(syscall.SIGTERM)
	early.waitExit(0)
	nodes := []*proc{start(0), start(1), start(2)}
	for _, n := range nodes {
		n.waitFor("listening on")
		n.waitFor(`view begun epoch=\d+ members=3 voters=3`)
	}
	for settled := false; !settled; { // until then the founder is the only voter of the log
		var s struct{ Settled bool }
		read(t, at(t, addresses[0], 0, "status", "--json"), &s)
		settled = s.Settled
	}
	want := cluster(1)
	before := token(t, addresses[1], "x")
	nodes[0].signal(syscall.SIGKILL)
	<-nodes[0].ended
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	again := start(0)
	again.waitFor("listening on")
	again.waitFor(`view begun`)
	if got := cluster(0); got != want {
		t.Errorf("a founder without its directory is in cluster %s, want %s", got, want)
	}
	if after := token(t, addresses[0], "x"); !before.Less(after) {
		t.Errorf("token %v after %v", after, before)
	}
}
