package page

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A wire is what a node is reached through. The network behind it can be cut: then what is sent
// is lost, and no connection ends.
type wire struct {
	in net.Listener
	to string

	mu       sync.Mutex
	lost     func(from net.Conn) bool // callers for whom the network is cut; nil if it is whole
	passages []*passage               // in the order in which they were opened
}

// A passage is a connection by a wire.
type passage struct {
	ends [2]net.Conn
	shut atomic.Bool
}

// newWire lays a wire to an address.
func newWire(t testing.TB, to string) *wire {
	t.Helper()
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &wire{in: in, to: to}
	t.Cleanup(func() {
		in.Close()
		g.end(false)
	})
	go g.run()
	return g
}

// address is where the wire begins.
func (g *wire) address() string { return g.in.Addr().String() }

// run passes on what is sent until the wire is gone.
func (g *wire) run() {
	for {
		from, err := g.in.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", g.to)
		if err != nil {
			from.Close()
			continue
		}
		p := &passage{ends: [2]net.Conn{from, to}}
		g.mu.Lock()
		p.shut.Store(g.lost != nil && g.lost(from))
		g.passages = append(g.passages, p)
		g.mu.Unlock()
		go p.pass(from, to)
		go p.pass(to, from)
	}
}

// pass copies what one end sends to the other.
func (p *passage) pass(from, to net.Conn) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if !p.shut.Load() && err == nil {
			_, err = to.Write(b[:n])
		}
		if err != nil && !p.shut.Load() {
			to.Close()
		}
		if err != nil {
			return
		}
	}
}

// cut cuts the network for these callers.
func (g *wire) cut(lost func(from net.Conn) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lost = lost
	for _, p := range g.passages {
		p.shut.Store(lost(p.ends[0]))
	}
}

// anyone is all callers.
func anyone(net.Conn) bool { return true }

// dialledBy is the callers that are connections of a process, as Linux tells.
func dialledBy(pid int) func(from net.Conn) bool {
	return func(from net.Conn) bool {
		tcp, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			return false
		}
		local := fmt.Sprintf(":%04X", from.RemoteAddr().(*net.TCPAddr).Port)
		for line := range strings.Lines(string(tcp)) {
			f := strings.Fields(line)
			if len(f) < 10 || !strings.HasSuffix(f[1], local) {
				continue
			}
			files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
			for _, file := range files {
				if to, err := os.Readlink(file); err == nil && to == "socket:["+f[9]+"]" {
					return true
				}
			}
		}
		return false
	}
}

// heal repairs the network. Connections that were cut end.
func (g *wire) heal() {
	g.mu.Lock()
	g.lost = nil
	g.mu.Unlock()
	g.end(true)
}

// end ends connections: all, or those that were cut.
func (g *wire) end(cut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.passages {
		if !cut || p.shut.Load() {
			for _, c := range p.ends {
				c.Close()
			}
		}
	}
}
