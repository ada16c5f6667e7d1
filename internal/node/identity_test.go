package node

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/views"
)

// fails waits until a node has ended by itself, and returns why.
func fails[E error](t *testing.T, n *Node) E {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	select {
	case <-n.Done():
	case <-ctx.Done():
		t.Fatalf("%s goes on: %+v", n.Name(), n.Status())
	}
	return because[E](t, n.Err())
}

// because returns the error of a kind that another one wraps.
func because[E error](t *testing.T, err error) (e E) {
	t.Helper()
	if !errors.As(err, &e) {
		t.Fatalf("%v, want %T", err, e)
	}
	return e
}

// A node whose folder belongs to a cluster does not start if it is told to join another
// one; the folder stays as it is.
func TestToldToJoinAnotherCluster(t *testing.T) {
	a := start(t, 1, nil)[0]
	c := Config{Name: "b", Listen: "127.0.0.1:0", Data: filepath.Join(t.TempDir(), "b")}
	b := run(t, c)
	ready(t, b)
	own := b.Status().Cluster
	b.Kill()
	c.Join = []string{a.Address()}
	n, err := Start(c)
	if err == nil {
		n.Kill()
	}
	e := because[*views.OtherCluster](t, err)
	if clusterID(e.Own) != own || clusterID(e.Theirs) != a.Status().Cluster || e.Address != a.Address() {
		t.Errorf("%+v", e)
	}
	c.Join = nil
	b = run(t, c)
	if ready(t, b); b.Status().Cluster != own {
		t.Errorf("%+v", b.Status())
	}
}

// If the other cluster comes up later, the node ends then, unless it is a member.
func TestToldToJoinAnotherClusterLater(t *testing.T) {
	a := start(t, 1, func(_ int, c *Config) { c.Lease = lease })[0]
	c := Config{Name: "b", Listen: "127.0.0.1:0", Lease: lease, Join: []string{a.Address()}, Data: filepath.Join(t.TempDir(), "b")}
	b := run(t, c)
	ready(t, b)
	own := b.Status().Cluster
	b.Kill()
	a.Kill()
	b = run(t, c)
	other := run(t, Config{Name: "a", Listen: a.Address(), Lease: lease})
	ready(t, other)
	if e := fails[*views.OtherCluster](t, b); clusterID(e.Own) != own || clusterID(e.Theirs) != other.Status().Cluster {
		t.Errorf("%+v", e)
	}
}

// Two clusters that meet are not linked, and both logs say so.
func TestClustersMeet(t *testing.T) {
	var one, two journal
	a := start(t, 1, func(_ int, c *Config) { c.Log = one.logger() })[0]
	b := start(t, 1, func(_ int, c *Config) { c.Name, c.Log = "b", two.logger() })[0]
	a.pool.Dial(b.Address())
	one.says(t, "clusters cannot be merged")
	two.says(t, "clusters cannot be merged")
	release(t, acquire(t, a, "x"))
	release(t, acquire(t, b, "x"))
}

// A node with the name of another one ends, and says where that is.
func TestNameOfAnother(t *testing.T) {
	all := start(t, 3, nil)
	x := run(t, Config{Name: "b", Listen: "127.0.0.1:0", Join: []string{all[0].Address()}})
	if e := fails[*views.InUse](t, x); *e != (views.InUse{Name: "b", Bearer: "b", Address: all[1].Address()}) {
		t.Errorf("%+v", e)
	}
	release(t, acquire(t, all[1], "x"))
}

// A copied folder is refused before its voter acts, whatever the name of the node is.
func TestCopiedFolder(t *testing.T) {
	dir := t.TempDir()
	all := start(t, 3, func(i int, c *Config) { c.Data = filepath.Join(dir, c.Name) })
	voters(t, all[0], 3)
	stored(t, filepath.Join(dir, "b"), func(b *Backup) bool { return len(b.Record.Voters) == 3 })
	for _, name := range []string{"b", "x"} {
		c := Config{Name: name, Listen: "127.0.0.1:0", Data: filepath.Join(dir, "copy of b for "+name)}
		if err := os.CopyFS(c.Data, os.DirFS(filepath.Join(dir, "b"))); err != nil {
			t.Fatal(err)
		}
		n, err := Start(c)
		if err == nil {
			n.Kill()
		}
		want := &views.InUse{Name: name, Copy: true, Bearer: "b", Address: all[1].Address()}
		if e := because[*views.InUse](t, err); *e != *want {
			t.Errorf("%+v, want %+v", e, want)
		}
	}
	release(t, acquire(t, all[1], "x"))
}

// stored waits until something is so of the record in the folder of a node that runs.
func stored(t *testing.T, dir string, so func(b *Backup) bool) {
	t.Helper()
	ctx, cancel := soon(t)
	defer cancel()
	for {
		text, err := os.ReadFile(filepath.Join(dir, recordFile))
		if err == nil {
			if b, err := ParseBackup(string(text)); err == nil && so(b) {
				return
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("never stored: %v, %s", err, text)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// voters waits until so many nodes vote, according to the one that leads.
func voters(t *testing.T, n *Node, want int) {
	t.Helper()
	becomes(t, n, "settled", func(s Status) bool {
		got := 0
		for _, m := range s.Members {
			if m.Voter {
				got++
			}
		}
		return got == want && s.Settled
	})
}

// What others say of themselves decides whether a node may start.
func TestJudge(t *testing.T) {
	says := func(address, name string, cluster uint64, from ...string) answered {
		return answered{address, Status{Node: name, Cluster: clusterID(cluster), Recovered: from}}
	}
	owner, errLost := views.Voter{Name: "b", Address: "B"}, errors.New("it is still there")
	for what, x := range map[string]struct {
		all  []answered
		want error
	}{
		"none answers":                     {nil, nil},
		"one knows no cluster yet":         {[]answered{says("J", "j", 0)}, nil},
		"its own":                          {[]answered{says("J", "j", 1)}, nil},
		"another":                          {[]answered{says("J", "j", 2)}, &views.OtherCluster{Own: 1, Theirs: 2, Address: "J"}},
		"another, where it was not told":   {[]answered{says("K", "k", 2)}, nil},
		"another, and its own":             {[]answered{says("J", "j", 2), says("K", "k", 1)}, nil},
		"the owner of its voter":           {[]answered{says("B", "b", 1)}, &views.InUse{Name: "x", Copy: true, Bearer: "b", Address: "B"}},
		"one in the place of the owner":    {[]answered{says("B", "c", 1)}, nil},
		"one of that name in another":      {[]answered{says("B", "b", 2)}, nil},
		"a later generation":               {[]answered{says("K", "k", 2, clusterID(1))}, &views.Recovered{Own: 1, Theirs: 2, Address: "K"}},
		"a later generation, and its own":  {[]answered{says("J", "j", 1), says("K", "k", 2, clusterID(1))}, &views.Recovered{Own: 1, Theirs: 2, Address: "K"}},
		"a later generation of another":    {[]answered{says("K", "k", 2, clusterID(3))}, nil},
		"the same, where it was told":      {[]answered{says("J", "j", 2, clusterID(3))}, &views.OtherCluster{Own: 1, Theirs: 2, Address: "J"}},
		"what is no cluster of any number": {[]answered{{"J", Status{Cluster: "none"}}}, nil},
		"the cluster that it recovers":     {[]answered{says("J", "j", 1), says("K", "k", 4)}, errLost},
	} {
		me := identity{name: "x", cluster: 1, join: []string{"J"}, owner: owner, lost: 4}
		got := me.judge(x.all)
		if x.want == errLost && got != nil && strings.Contains(got.Error(), "still runs") {
			continue
		}
		if !reflect.DeepEqual(got, x.want) {
			t.Errorf("%s: %v, want %v", what, got, x.want)
		}
	}
}
