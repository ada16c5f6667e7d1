package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

// A cluster whose other voters are lost goes on from the folder of one: as another cluster,
// with higher tokens. Nodes with folders of the lost cluster are refused, and join with
// empty ones.
func TestRecover(t *testing.T) {
	dir := t.TempDir()
	data := func(name string) string { return filepath.Join(dir, name) }
	all := start(t, 3, func(i int, c *Config) { c.Lease, c.Data = lease, data(c.Name) })
	voters(t, all[0], 3)
	last := acquire(t, all[2], "x").Token()
	was := all[0].Status()
	if _, err := Recover(data("b"), nil, 0); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Fatalf("a folder in use: %v", err)
	}
	for _, n := range all {
		n.Kill()
	}
	r, err := Recover(data("b"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if r.Lost != was.Cluster || r.Cluster == r.Lost || r.Seen < was.Epoch || r.First < r.Seen+views.Jump || len(r.Members) != 3 || len(r.Forgotten) != 2 || len(r.Kept) < 2 || r.Lease != 1 || r.Voters != 3 {
		t.Errorf("%+v", r)
	}
	if _, err := Recover(data("b"), nil, 0); err == nil {
		t.Error("recovered twice")
	}
	left := run(t, Config{Name: "c", Listen: all[2].Address(), Lease: lease, Data: data("c")})
	if _, err := Start(Config{Name: "b", Listen: "127.0.0.1:0", Data: data("b")}); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("a node of the lost cluster runs: %v", err)
	}
	left.Kill()
	b := run(t, Config{Name: "b", Listen: "127.0.0.1:0", Data: data("b")})
	ready(t, b)
	if s := b.Status(); s.Cluster != r.Cluster || s.Epoch < r.First || s.Lease != 1 || len(s.Recovered) != 1 || s.Recovered[0] != r.Lost {
		t.Errorf("%+v", s)
	}
	join := []string{b.Address()}
	_, err = Start(Config{Name: "c", Listen: "127.0.0.1:0", Lease: lease, Data: data("c"), Join: join})
	if e := because[*views.Recovered](t, err); clusterID(e.Own) != r.Lost || clusterID(e.Theirs) != r.Cluster {
		t.Errorf("%+v", e)
	}
	c := run(t, Config{Name: "c", Listen: "127.0.0.1:0", Data: data("new c"), Join: join})
	ready(t, c)
	if next := acquire(t, c, "x").Token(); !last.Less(next) {
		t.Errorf("token %v after %v", next, last)
	}
	b.Kill()
	b = run(t, Config{Name: "b", Listen: "127.0.0.1:0", Data: data("b")})
	ready(t, b)
	if s := b.Status(); s.Cluster != r.Cluster {
		t.Errorf("started again: %+v", s)
	}
	for _, name := range r.Kept {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

// The folder of a member that is not a voter is enough, and so is a backup.
func TestRecoverWithoutVoter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	a := start(t, 1, func(i int, c *Config) { c.Lease = lease })[0]
	b := run(t, Config{Name: "b", Listen: "127.0.0.1:0", Data: dir, Join: []string{a.Address()}})
	ready(t, b)
	a.Kill()
	b.Kill()
	from, err := ReadBackup(dir)
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(t.TempDir(), "c")
	if _, err := Recover(dir, from, 0); err == nil {
		t.Error("a backup for a folder that has a state")
	}
	one, err := Recover(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Recover(fresh, from, from.Seen+1<<50)
	if err != nil {
		t.Fatal(err)
	}
	if one.Lost != two.Lost || one.Cluster == two.Cluster || two.First < 1<<50 {
		t.Errorf("%+v and %+v", one, two)
	}
	c := run(t, Config{Name: "c", Listen: "127.0.0.1:0", Data: fresh})
	ready(t, c)
	if s := c.Status(); s.Cluster != two.Cluster || s.Epoch < two.First || s.Lease != 1 {
		t.Errorf("%+v", s)
	}
}

// Without folder and backup, only the epoch is left. The settings are those of the node.
func TestRecoverFromNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	if _, err := Recover(dir, nil, 0); err == nil {
		t.Error("recovered from nothing")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it has made the directory")
	}
	r, err := Recover(dir, nil, 81)
	if err != nil || r.Lost != "" || r.Seen != 81 {
		t.Fatalf("%+v, %v", r, err)
	}
	n := run(t, Config{Name: "a", Listen: "127.0.0.1:0", Lease: lease, Data: dir})
	ready(t, n)
	if s := n.Status(); s.Cluster != r.Cluster || s.Epoch < 81+views.Jump || s.Epoch < r.First || s.Lease != 1 {
		t.Errorf("%+v", s)
	}
}

// A recovery that was interrupted is completed by the next start, whatever is missing.
func TestRecoverInterrupted(t *testing.T) {
	for _, done := range []int{0, 1, 2} {
		dir := filepath.Join(t.TempDir(), "a")
		c := Config{Name: "a", Listen: "127.0.0.1:0", Lease: lease, Data: dir}
		n := run(t, c)
		ready(t, n)
		n.Kill()
		f, err := openFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		b, err := f.backup()
		if err != nil {
			t.Fatal(err)
		}
		x := &recovery{views.Restore{Cluster: 7, Seen: b.Seen}, b}
		if err := f.write(recoverFile, x.text()); err != nil {
			t.Fatal(err)
		}
		if done > 0 {
			if err := f.store.SetAside(".before-0000000000000007"); err != nil {
				t.Fatal(err)
			}
		}
		if done > 1 {
			path := filepath.Join(dir, recordFile)
			if err := os.Rename(path, path+".before-0000000000000007"); err != nil {
				t.Fatal(err)
			}
		}
		f.close()
		n = run(t, c)
		if ready(t, n); n.Status().Cluster != clusterID(7) {
			t.Errorf("%d: %+v", done, n.Status())
		}
		if kept, _ := filepath.Glob(filepath.Join(dir, "*.before-*")); len(kept) < 2 { // what the process remembers may not have been saved yet
			t.Errorf("%d: %q", done, kept)
		}
	}
}

// A backup is read as it was written, and nothing else is.
func TestBackup(t *testing.T) {
	x := views.Birth(views.Start{Cluster: 7, Epoch: 3, Settings: member.Usual()}, 3, []member.Choice{{Algorithm: "central", Version: 1}}, views.Joiner{Name: "a", Address: "b:1", Nonce: 5})
	r, _, err := views.Found(raft.Logs{}, views.Record{}, x)
	if err != nil {
		t.Fatal(err)
	}
	b := &Backup{r, 9}
	text := b.Text()
	back, err := ParseBackup(text)
	if err != nil || back.Text() != text || back.Seen != 9 || back.Record.Cluster != 7 {
		t.Errorf("%+v, %v", back, err)
	}
	for i := range text {
		for _, bad := range []string{text[:i], text[:i] + "x" + text[i:], text[:i] + "x" + text[i+1:]} {
			if _, err := ParseBackup(bad); err == nil && bad != text {
				t.Errorf("%q is read", bad)
			}
		}
	}
	for _, x := range []*recovery{{views.Restore{Cluster: 7, Seen: 8, Clock: 9}, b}, {views.Restore{Cluster: 7, Seen: 8}, nil}} {
		text := x.text()
		back, err := parseRecovery(text)
		if err != nil || back.text() != text {
			t.Errorf("%+v, %v", back, err)
		}
		for i := range text {
			if _, err := parseRecovery(text[:i]); err == nil {
				t.Errorf("%q is read", text[:i])
			}
		}
	}
}
