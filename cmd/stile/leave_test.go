//go:build linux || darwin

package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// lonely starts three nodes, and kills two of them: the third has no majority.
func lonely(t *testing.T, lease string) (p *proc, address string) {
	t.Helper()
	p, address = serve(t, "--memory", "--name", "a", "--lease", lease)
	b, _ := serve(t, "--memory", "--name", "b", "--join", address)
	c, _ := serve(t, "--memory", "--name", "c", "--join", address)
	p.waitFor(`view begun epoch=\d+ members=3 voters=3`)
	for late := time.Now().Add(patience); !strings.Contains(at(t, address, 0, "status", "--json"), `"settled": true`); {
		if time.Now().After(late) {
			t.Fatal("b and c do not become voters")
		}
	}
	for _, o := range []*proc{b, c} {
		o.signal(syscall.SIGKILL)
		<-o.ended
	}
	return p, address
}

// A node that cannot leave, because it has no majority, says so, and so does who asked it.
func TestLeaveAlone(t *testing.T) {
	t.Parallel()
	p, a := lonely(t, "1s")
	l := begin(t, nil, "leave", "--addr", a, "--json")
	l.waitExit(1)
	l.waitFor("^stile: node a has stopped without leaving the cluster: ")
	p.waitExit(1)
	p.waitFor("^stile: node a: the node has stopped: ")
}

// A node that is killed while it leaves has not left.
func TestLeaveKilled(t *testing.T) {
	t.Parallel()
	p, a := lonely(t, "20s") // it tries to leave for three leases
	l := begin(t, nil, "leave", "--addr", a)
	p.waitFor("request carried out .* what=leave$")
	p.signal(syscall.SIGKILL)
	l.waitExit(1)
	l.waitFor("^stile: node a has ended and did not report that it has left: ")
}
