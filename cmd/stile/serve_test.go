//go:build linux || darwin

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/node"
)

// Three nodes, one lock: each node shows its holder and waiters, an operator can take it,
// and a node that is asked to leave does so.
func TestLiveCluster(t *testing.T) {
	_, a := serve(t, "--memory", "--name", "a", "--lease", "2s")
	_, b := serve(t, "--memory", "--name", "b", "--join", a)
	third, c := serve(t, "--memory", "--name", "c", "--join", a)
	third.waitFor(`view begun epoch=\d+ members=3 voters=3`)
	var members []struct {
		Name, Address string
		Voter         bool
		Incarnation   uint64
	}
	read(t, at(t, b, 0, "members", "--json"), &members)
	if len(members) != 3 || members[2].Name != "c" || members[2].Address != c || !members[2].Voter || members[2].Incarnation == 0 {
		t.Errorf("the members are %v", members)
	}
	if s := at(t, c, 0, "status"); !strings.Contains(s, "node       c at "+c+", member") || !strings.Contains(s, "3 members") {
		t.Errorf("the status is\n%s", s)
	}

	holder := begin(t, nil, "exec", "--addr", b, "demo", "sleep", "1000")
	for late := time.Now().Add(patience); !strings.Contains(at(t, b, 0, "locks", "demo"), "(label \"sleep@"); {
		if time.Now().After(late) {
			t.Fatalf("exec does not get the lock: %s", holder.output())
		}
	}
	waiter := begin(t, nil, "exec", "--addr", c, "demo", "--", "sh", "-c", "echo in; cat")
	waiter.waitFor("waiting for demo: held by a client .*sleep@.* at b")
	var s struct {
		Locks []struct {
			Name   string
			Holder struct {
				Who, Node, Token string
				Session          uint64
			}
			Waiters []struct{ Who, Node, Why string }
		}
		Unasked []any
	}
	read(t, at(t, a, 0, "locks", "--json"), &s)
	if len(s.Locks) != 1 || s.Locks[0].Holder.Node != "b" || len(s.Locks[0].Waiters) != 1 || s.Locks[0].Waiters[0].Node != "c" || s.Locks[0].Waiters[0].Why == "" || s.Unasked == nil || len(s.Unasked) != 0 {
		t.Fatalf("the locks are %+v", s)
	}
	text := at(t, c, 0, "locks", "de")
	for _, want := range []string{"demo\n", "held by a client (label \"sleep@", "token " + s.Locks[0].Holder.Token, "  1. a client (label \"sh@"} {
		if !strings.Contains(text, want) {
			t.Errorf("the locks are\n%s\nwithout %q", text, want)
		}
	}
	if none := at(t, c, 0, "locks", "x"); !strings.Contains(none, "no lock") {
		t.Errorf("with another name: %s", none)
	}

	at(t, a, 2, "move-session", "12", "--json")
	at(t, b, 2, "move-session", "demo")
	if said := at(t, b, 0, "move-session", fmt.Sprint(s.Locks[0].Holder.Session)); !strings.Contains(strings.Join(strings.Fields(said), " "), "it holds 1 lock and waits for 0") {
		t.Errorf("moved: %s", said)
	}
	for late := time.Now().Add(patience); s.Locks[0].Holder.Node == "b"; read(t, at(t, c, 0, "locks", "--json"), &s) {
		if time.Now().After(late) {
			t.Fatalf("it does not move: %+v", s)
		}
	}

	at(t, a, 2, "force-release", "demo") // there is no terminal to ask
	at(t, a, 2, "force-release", "nothing", "--yes")
	if said := at(t, a, 0, "force-release", "demo", "--yes"); !strings.Contains(strings.Join(strings.Fields(said), " "), "token "+s.Locks[0].Holder.Token) {
		t.Errorf("released: %s", said)
	}
	holder.waitExit(125)
	holder.waitFor("an operator released it")
	waiter.waitFor("^in$")

	at(t, c, 2, "choose", "de=raymond") // there is no terminal to ask
	at(t, c, 0, "choose", "de=raymond", "--yes")
	if text := at(t, a, 0, "status"); !strings.Contains(text, "de=raymond") {
		t.Errorf("with another algorithm, the status is\n%s", text)
	}

	leave := begin(t, nil, "leave", "--addr", c)
	leave.waitExit(0)
	third.waitExit(0)
	third.waitFor("left the cluster")
	if text := at(t, a, 0, "locks", "demo"); !strings.Contains(text, "held by a client (label \"sh@") { // it has moved to another node
		t.Errorf("after c has left: %s", text)
	}
	waiter.signal(syscall.SIGTERM)
	waiter.waitExit(143)
	read(t, at(t, a, 0, "members", "--json"), &members)
	if len(members) != 2 {
		t.Errorf("without c the members are %v", members)
	}

	inc := members[1].Incarnation
	at(t, a, 2, "evict", "nobody", "--yes")
	var left struct {
		Members []struct{ Incarnation uint64 }
	}
	read(t, at(t, b, 0, "evict", "b", "--yes", "--json"), &left)
	for _, m := range left.Members {
		if m.Incarnation == inc {
			t.Errorf("b was evicted, but is still a member: %v", left)
		}
	}
	members = members[:1]
	for late := time.Now().Add(patience); len(members) < 2; { // it joins again
		if time.Now().After(late) {
			t.Fatalf("b does not join again: %v", members)
		}
		read(t, at(t, a, 0, "members", "--json"), &members)
	}
	if members[1].Incarnation <= inc {
		t.Errorf("b has joined again with incarnation %d, after %d", members[1].Incarnation, inc)
	}
}

func read(t *testing.T, text string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), to); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

// A node that no cluster admits reports so in its status, and leaves when asked to.
func TestLiveJoining(t *testing.T) {
	t.Parallel()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	n, err := node.Start(node.Config{Name: "b", Listen: "127.0.0.1:0", Join: []string{nobody.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Kill()
	for late := time.Now().Add(patience); n.Status().Why == ""; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("it does not say why it is no member")
		}
	}
	s := at(t, n.Address(), 1, "status")
	for _, want := range []string{"b at " + n.Address() + ", joining", "why        looking for a node of the cluster, at " + nobody.Addr().String(), "stile: node b is not an active member: it is joining"} {
		if !strings.Contains(s, want) {
			t.Errorf("the status is\n%s\nwithout %q", s, want)
		}
	}
	at(t, n.Address(), 0, "members")
	for _, args := range [][]string{{"locks"}, {"locks", "--watch"}, {"force-release", "demo", "--yes"}} {
		s := at(t, n.Address(), 2, args...)
		for _, want := range []string{"node b at " + n.Address() + " is not a member at present (joining: looking for a node of the cluster, at " + nobody.Addr().String(), "name another node with --addr", "'stile status'"} {
			if !strings.Contains(s, want) {
				t.Errorf("%q says %s\nwithout %q", args, s, want)
			}
		}
	}
	_, a := serve(t, "--memory", "--name", "a")
	if s := at(t, n.Address()+","+a, 0, "locks"); !strings.Contains(s, "no lock is held") {
		t.Errorf("with a member beside it: %s", s)
	}
	at(t, n.Address(), 0, "leave")
	<-n.Done()
}

// A member without contact to a majority of voters is not active, and says so.
func TestLiveAlone(t *testing.T) {
	t.Parallel()
	_, a := serve(t, "--memory", "--name", "a", "--lease", "1s")
	b, _ := serve(t, "--memory", "--name", "b", "--join", a)
	c, _ := serve(t, "--memory", "--name", "c", "--join", a)
	c.waitFor(`view begun epoch=\d+ members=3 voters=3`)
	for late := time.Now().Add(patience); !strings.Contains(at(t, a, 0, "status", "--json"), `"settled": true`); {
		if time.Now().After(late) {
			t.Fatal("b and c do not become voters")
		}
	}
	for _, p := range []*proc{b, c} {
		p.signal(syscall.SIGKILL)
		<-p.ended
	}
	for late := time.Now().Add(patience); ; {
		p := begin(t, nil, "status", "--addr", a)
		<-p.ended
		p.waitSilent()
		if p.cmd.ProcessState.ExitCode() == 0 && time.Now().Before(late) {
			continue // its lease still runs
		}
		p.waitExit(1)
		p.waitFor("^stile: node a is not an active member: no lease")
		if s := at(t, a, 1, "locks"); !strings.Contains(s, "node b did not answer") { // it answers all the same
			t.Errorf("the locks are %s", s)
		}
		return
	}
}

// A whole cluster in one process serves, and stops cleanly.
func TestLiveNodes(t *testing.T) {
	t.Parallel()
	p, a := serve(t, "--nodes", "3", "--name", "x")
	p.waitFor("node x-3 listening on")
	token(t, a, "demo")
	if s := at(t, a, 0, "status", "--json"); !strings.Contains(s, `"name": "x-3"`) {
		t.Errorf("the status is %s", s)
	}
	p.signal(syscall.SIGTERM)
	p.waitExit(0)
}

// A node that is stopped or killed continues after a restart: tokens never go back, even
// if it listens elsewhere.
func TestLiveRestart(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p, a := serve(t, "--name", "a", "--data", data, "--lease", "1s")
	last := token(t, a, "demo")
	for _, how := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGINT} {
		p.signal(how)
		<-p.ended
		p, a = serve(t, "--name", "a", "--data", data, "--lease", "1s")
		next := token(t, a, "demo")
		if !last.Less(next) {
			t.Errorf("after %v the token %v comes after %v", how, next, last)
		}
		last = next
	}
	other := begin(t, nil, "serve", "--name", "b", "--listen", "127.0.0.1:0", "--data", data)
	other.waitExit(2)
	other.waitFor("is in use by")
	other = begin(t, nil, "serve", "--name", "b", "--listen", a, "--memory")
	other.waitExit(2)
	other.waitFor("is in use, perhaps by another node")
}

// A node whose disk fails exits with an error.
func TestLiveDiskFails(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	p, a := serve(t, "--name", "a", "--data", data, "--lease", "1s")
	if err := os.Truncate(filepath.Join(data, "voter.db"), 0); err != nil {
		t.Fatal(err)
	}
	begin(t, nil, "serve", "--listen", "127.0.0.1:0", "--memory", "--name", "b", "--join", a) // which a is to note
	p.waitExit(1)
	p.waitFor(`^stile: .*node a: .*voter\.db`)
}

// A cluster with certificates refuses clients without one.
func TestLiveTLS(t *testing.T) {
	nightly.Only(t)
	t.Parallel()
	dir := t.TempDir()
	for _, line := range []string{"cert ca --dir " + dir, "cert node a --host 127.0.0.1 --dir " + dir, "cert node me --host localhost --dir " + dir} {
		if out, err := exec.Command("stile", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	with := func(name string) []string {
		return []string{"--ca", dir + "/ca.crt", "--cert", dir + "/" + name + ".crt", "--key", dir + "/" + name + ".key"}
	}
	_, a := serve(t, append(with("a"), "--memory", "--name", "a")...)
	at(t, a, 0, append(append([]string{"exec"}, with("me")...), "demo", "true")...)
	at(t, a, 0, append([]string{"locks"}, with("me")...)...)
	p := begin(t, []string{"STILE_ADDR=" + a, "STILE_CA=" + dir + "/ca.crt", "STILE_CERT=" + dir + "/me.crt", "STILE_KEY=" + dir + "/me.key"}, "status")
	p.waitExit(0)
	if said := at(t, a, 125, "exec", "-w", "1", "demo", "true"); !strings.Contains(said, "TLS") {
		t.Errorf("without a certificate: %s", said)
	}
}

// A file, the environment and flags set up a node, each overriding the one before.
func TestLiveConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "stile.toml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("name = \"file\"\nlisten = \"127.0.0.1:0\"\nmemory = true\nvoters = 1\nlease = 5\nlog = \"json\"\n")
	env := []string{"STILE_NAME=environment", "STILE_CONFIG=" + file}
	p := begin(t, env, "serve")
	a := p.waitFor(`^node environment listening on (\S+), data in memory$`)
	p.waitFor(`^\{.*"level":"INFO","msg":"view begun"`)
	if s := at(t, a, 0, "status"); !strings.Contains(s, "lease      5 s") {
		t.Errorf("the status is\n%s", s)
	}
	p.signal(os.Interrupt)
	p.waitExit(0)
	p = begin(t, env, "serve", "--name", "flag")
	p.waitFor(`^node flag listening`)
	for text, says := range map[string]string{
		"nam = \"x\"":           `unknown key "nam": .*did you mean name\?`,
		"lease = \"soon\"":      `lease = "soon": must be a time`,
		"name = {first = 1}":    "must be text, a number",
		"listen 127.0.0.1":      "cannot read the file",
		"memory = true\ndata=1": "give one of them",
	} {
		write(text)
		p := begin(t, nil, "serve", "--config", file)
		p.waitExit(2)
		p.waitFor(says)
	}
	p = begin(t, []string{"STILE_LEASE=never"}, "serve")
	p.waitExit(2)
	p.waitFor(`STILE_LEASE="never": must be a time`)
}

// A recording replays without a difference, even if the node was killed.
func TestLiveRecording(t *testing.T) {
	t.Parallel()
	for _, how := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		file := filepath.Join(t.TempDir(), "a.rec")
		p := begin(t, []string{"STILE_RECORD=" + file}, "serve", "--memory", "--name", "a", "--listen", "127.0.0.1:0")
		a := p.waitFor(`^node a listening on (\S+), data in memory$`)
		token(t, a, "demo")
		p.signal(how)
		<-p.ended
		out, err := exec.Command("stile-lab", "replay", file).CombinedOutput()
		if text := string(out); err != nil || !strings.Contains(text, "\nreplay     no difference\n") || !strings.Contains(text, "\nentries    1 granted, 0 lost\n") && how == syscall.SIGTERM {
			t.Errorf("after %v: %v\n%s", how, err, text)
		}
	}
}

// What the locks of three nodes do is a run of the model that the checker explores, also
// if the nodes are killed.
func TestLiveRecordings(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"central", "raymond", "ricart-agrawala", "suzuki-kasami"} {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var nodes []*proc
			var addresses []string
			args, join := []string{"replay", "--check", "--json"}, []string{"--algorithm", algorithm}
			for _, name := range []string{"a", "b", "c"} {
				file := filepath.Join(dir, name+".rec")
				p, address := serve(t, append([]string{"--memory", "--name", name, "--record", file}, join...)...)
				args, nodes, addresses, join = append(args, file), append(nodes, p), append(addresses, address), []string{"--join", address}
			}
			var users sync.WaitGroup
			for i, p := range nodes {
				p.waitFor(`view begun epoch=\d+ members=3`)
				users.Go(func() { useLocks(t, addresses[i]) })
			}
			users.Wait()
			for _, p := range nodes {
				p.signal(syscall.SIGKILL)
				<-p.ended
			}
			out, err := exec.Command("stile-lab", args...).Output()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			var r struct {
				Recordings   []struct{}
				Locks, Views struct{ All int }
				Steps        int
				Algorithms   map[string]int
				Refused      []struct{}
				Unchecked    any
			}
			read(t, string(out), &r)
			t.Logf("%d steps of %d locks in %d views; unchecked %+v", r.Steps, r.Locks.All, r.Views.All, r.Unchecked)
			if len(r.Recordings) != 3 || r.Views.All == 0 || r.Steps < 200 || r.Algorithms[algorithm] != r.Steps || len(r.Refused) > 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// useLocks has a client of a node use eight locks for a while, none so often that it is
// delegated to the client for more than one entry.
func useLocks(t *testing.T, address string) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := client.Dial(ctx, client.Config{Name: "client", Nodes: []string{address}})
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	for i := range 40 {
		l, err := c.Lock(ctx, string(rune('a'+i%8)), lock.Options{})
		if err == nil {
			err = l.Unlock()
		}
		if err != nil {
			t.Error(err)
			return
		}
	}
}
