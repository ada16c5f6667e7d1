package gateway

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/node"
)

const (
	idleConns = 10_000
	slowConns = 2000
	crowdAt   = "STILE_TEST_CROWD" // the address for crowd, in a process of its own
)

// crowd opens connections: those that send one request, and those that send most of a body. It
// reports each kind on standard output, and keeps them until standard input ends. A process
// of its own has its own limit of open files.
func crowd(address string) {
	body := strings.Repeat(" ", maxBody)
	slow := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", pb.LocksOpenSessionProcedure, address, len(body), body[1:])
	idle := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", pb.ClusterStatusProcedure, address)
	var all []net.Conn // one that is not referenced would be closed
	for _, kind := range []struct {
		count int
		first string
	}{{idleConns, idle}, {slowConns, slow}} {
		for range kind.count {
			c, err := net.Dial("tcp", address)
			if err == nil {
				_, err = io.WriteString(c, kind.first)
			}
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			all = append(all, c)
		}
		fmt.Println("ready")
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(all)
}

// memory returns how many bytes are in use.
func memory() int {
	for range 2 { // the first shrinks stacks
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse + m.StackInuse)
}

// Many connections, idle or with slow bodies, cost a bounded amount of memory, and do not
// keep others from being served.
func TestCrowd(t *testing.T) {
	nightly.Only(t)
	a := serve(t, nil)
	a.call("Cluster/Status", nil)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crowdAt+"="+a.g.Address().String())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	before := memory()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	ready := func(conns int) {
		if !lines.Scan() || lines.Text() != "ready" {
			t.Fatalf("the crowd does not connect: %s", lines.Text())
		}
		eventually(t, "all are accepted", func() bool { clients, _ := a.g.node.Budget().Used(); return clients >= conns })
	}
	ready(idleConns)
	idle := memory()
	ready(idleConns + slowConns)
	eventually(t, "all bodies are being read", func() bool { return a.g.door.pools[calls].taken() >= slowConns })
	slow := memory()
	each, all := (idle-before)/idleConns, (slow-before)/(idleConns+slowConns)
	t.Logf("an idle connection costs %d bytes; with those with slow bodies, each costs %d", each, all)
	if each > 48<<10 || all > 64<<10 {
		t.Error("that is too much")
	}
	s := a.open(nil)
	if held := a.call("Locks/Acquire", object{"session": s, "name": "x"}); held.at("held") == nil {
		t.Errorf("not held: %v", held)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	eventually(t, "all connections are closed", func() bool { clients, strangers := a.g.node.Budget().Used(); return clients+strangers <= 1 })
}

// Clients over HTTP have places of the node's budget, of which there are --max-clients. An idle
// one makes room for another one; those that make calls do not.
func TestFull(t *testing.T) {
	a := serve(t, func(c *node.Config) { c.Clients = 2 })
	clients := func() int {
		all, _ := a.g.node.Budget().Used()
		return all
	}
	if a.call("Cluster/Status", nil); clients() != 1 {
		t.Fatalf("%d clients", clients())
	}
	waits := func() *api { // with a connection of its own, on which a call waits
		b := *a
		transport := &http.Transport{}
		b.client = &http.Client{Transport: transport}
		t.Cleanup(transport.CloseIdleConnections)
		return &b
	}
	held := a.open(nil)
	a.acquire(held, "x")
	results := make(chan int, 2)
	for range 2 {
		b := waits()
		key := rand.Text()
		go func() {
			status, reason := 0, manyCalls.reason
			for reason == manyCalls.reason { // the first connection is idle a moment after its last answer
				_, status, reason = b.try("Locks/Acquire", object{"session": held, "name": "x", "key": key, "wait": "60s"})
			}
			results <- status
		}()
	}
	eventually(t, "both wait", func() bool { return a.g.node.Status().Waiting == 2 })
	if clients() != 2 {
		t.Errorf("%d clients", clients())
	}
	_, _, reason := waits().try("Cluster/Status", nil)
	if reason != manyCalls.reason {
		t.Errorf("the third is told %q", reason)
	}
	if response, err := a.client.Get(a.url + "/readyz"); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("a probe gets %v %v", response, err)
	} else {
		response.Body.Close()
	}
	a.g.sessions.kill()
	<-results
	<-results
	eventually(t, "there is room", func() bool { _, status, _ := waits().try("Cluster/Status", nil); return status == http.StatusOK })
}

// A connection over HTTP/2 stays while any of its calls is in progress.
func TestFullOverHTTP2(t *testing.T) {
	_, one, two := certificates(t)
	n := startNode(t, func(c *node.Config) { c.Name, c.TLS, c.Clients = "one", one, 1 })
	base := gateWith(t, n, Config{Listen: "127.0.0.1:0", TLS: n.Keys()})
	a, b := base.as(one), base.as(two)
	s := a.open(nil)
	a.acquire(s, "x")
	ended := make(chan int, 1)
	go func() {
		_, status, _ := a.try("Locks/Acquire", object{"session": s, "name": "x", "key": "waits", "wait": "60s"})
		ended <- status
	}()
	eventually(t, "it waits", func() bool { return n.Status().Waiting == 1 })
	for range 3 {
		a.call("Cluster/Status", nil) // begins and ends beside it
		b.fails(manyCalls, "Cluster/Status", nil)
	}
	base.g.sessions.kill()
	<-ended
	eventually(t, "there is room", func() bool { _, status, _ := b.try("Cluster/Status", nil); return status == http.StatusOK })
}
