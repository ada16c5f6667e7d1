//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/node"
)

// A node whose directory belongs to another cluster than the one to join does not start, nor
// does one with the name of another. Both say so with exit code 2.
func TestServeRefusesToJoin(t *testing.T) {
	t.Parallel()
	_, a := serve(t, "--memory", "--name", "a", "--lease", "1s")
	data := filepath.Join(t.TempDir(), "b")
	own, other := serve(t, "--name", "b", "--data", data, "--lease", "1s")
	var mine, theirs node.Status
	read(t, at(t, other, 0, "status", "--json"), &mine)
	read(t, at(t, a, 0, "status", "--json"), &theirs)
	own.signal(os.Kill)
	<-own.ended
	p := begin(t, nil, "serve", "--name", "b", "--listen", "127.0.0.1:0", "--data", data, "--join", a)
	p.waitExit(2)
	p.waitFor("^stile: .*" + mine.Cluster + ".*" + a + ".*" + theirs.Cluster + ".*--join")
	p = begin(t, nil, "serve", "--name", "a", "--listen", "127.0.0.1:0", "--memory", "--join", a)
	p.waitExit(2)
	p.waitFor("^stile: .*name a is in use by the node at " + a)
}

// A backup of a running node and that of its directory are the same; neither overwrites a
// file. A directory in use is neither read nor recovered.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "a"), filepath.Join(dir, "one")
	p, a := serve(t, "--name", "a", "--data", data)
	at(t, a, 0, "backup", file)
	at(t, a, 2, "backup", file)
	at(t, a, 2, "backup", file+"2", "--data", data)
	at(t, a, 2, "recover", "--data", data)
	p.signal(os.Kill)
	<-p.ended
	at(t, a, 2, "backup", file+"2")
	at(t, a, 0, "backup", file+"2", "--data", data)
	var all [2]string
	for i, name := range []string{file, file + "2"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = string(b)
	}
	one, err := node.ParseBackup(all[0])
	if err != nil {
		t.Fatal(err)
	}
	if two, err := node.ParseBackup(all[1]); err != nil || string(two.Record.AppendTo(nil)) != string(one.Record.AppendTo(nil)) || two.Seen < one.Seen {
		t.Errorf("%s and %s: %v", all[0], all[1], err)
	}
	var r node.Recovery
	read(t, at(t, a, 0, "recover", "--data", data, "--json"), &r)
	if said := at(t, a, 2, "recover", "--data", data); !strings.Contains(said, r.Cluster) {
		t.Errorf("recovered again: %s", said)
	}
	said := at(t, a, 0, "recover", "--data", filepath.Join(dir, "b"), "--backup", file)
	if !strings.Contains(said, r.Lost) || !strings.Contains(said, "a at "+a) {
		t.Error(said)
	}
}
