package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/nightly"
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
	idle := fmt.Sprintf("GET / HTTP/1.1\r\nHost: %s\r\n\r\n", address)
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
		eventually(t, "all are accepted", func() bool { return a.g.listener.count.Load() >= int64(conns) })
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
	eventually(t, "all connections are closed", func() bool { return a.g.listener.count.Load() <= 1 })
}

// Connections beyond the maximum are closed at once, and their places are free again when
// others end.
func TestFull(t *testing.T) {
	a := serve(t, nil)
	a.g.listener.most.Store(2)
	var conns []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", a.g.Address().String())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		defer c.Close()
	}
	eventually(t, "both are accepted", func() bool { return a.g.listener.count.Load() == 2 })
	c, err := net.Dial("tcp", a.g.Address().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a connection too many is served")
	}
	conns[0].Close()
	eventually(t, "there is room", func() bool { return a.g.listener.count.Load() == 1 })
	a.call("Cluster/Status", nil)
}
