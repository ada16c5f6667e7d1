package teller

import (
	"bufio"
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
)

// A node that is cut off reaches no other one, and no other one reaches it, until the network
// is healed or the run ends. All others reach each other, and workers reach all.
func TestIsolate(t *testing.T) {
	for _, x := range []struct {
		a, b string
		cut  bool
	}{{"node1", "node2", true}, {"node2", "node1", true}, {"node2", "node3", false}, {"", "node1", false}, {"", "node2", false}} {
		for _, how := range []string{"healed", "ended"} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				w := &network{ctx: ctx}
				w.wait(x.a, x.b) // nothing is cut off yet
				w.isolate("node1")
				passed := make(chan struct{})
				go func() { defer close(passed); w.wait(x.a, x.b) }()
				synctest.Wait()
				select {
				case <-passed:
					if x.cut {
						t.Errorf("%q reaches %q", x.a, x.b)
					}
				default:
					if !x.cut {
						t.Errorf("%q does not reach %q", x.a, x.b)
					}
				}
				if how == "healed" {
					w.heal()
				} else {
					cancel()
				}
				<-passed
			})
		}
	}
}

// A proxy carries connections to its node both ways, ends them on both sides, and ends with
// the run.
func TestProxy(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, err := (&network{ctx: ctx}).proxy("node1")
	if err != nil {
		t.Fatal(err)
	}
	dial := func() net.Conn {
		c, err := net.Dial("tcp", p.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "first line of a worker\n"); err != nil {
			t.Fatal(err)
		}
		return c
	}
	if b, err := io.ReadAll(dial()); len(b) > 0 {
		t.Errorf("the node does not run, and says %q, %v", b, err)
	}
	node, err := net.Listen("tcp", p.target)
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	worker := dial()
	c, err := node.Accept()
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || line != "first line of a worker\n" {
		t.Errorf("the node hears %q, %v", line, err)
	}
	if _, err := io.WriteString(c, "answer"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if b, err := io.ReadAll(worker); err != nil || string(b) != "answer" {
		t.Errorf("the worker hears %q, %v", b, err)
	}
	worker = dial()
	if c, err = node.Accept(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := worker.Read(make([]byte, 1)); err == nil {
		t.Error("the connection outlives the run")
	}
	_, _ = io.Copy(io.Discard, c) // which ends, too
}
