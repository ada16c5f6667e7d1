package session

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// welcomes lets an attempt succeed; the node names its cluster, those that it was recovered from,
// and other nodes. It returns the connection, and what the client makes of it.
func (s *stage) welcomes(address string, cluster uint64, earlier []uint64, nodes ...string) (conn uint64, err error) {
	s.t.Helper()
	conn, h := s.greets(address)
	if h.Session == 0 {
		s.last++
		h.Session = s.last
	}
	s.alive[conn] = true
	f := Frame{
		Kind: Welcome, Number: h.Number, Protocol: Protocol, Session: h.Session, Inc: s.last, Length: 1000 * ms, Span: 900 * ms, Act: 100 * ms,
		Nodes: nodes, Cluster: cluster, Earlier: earlier,
	}
	err = s.g.Receive(s.now, conn, f.AppendTo(nil))
	s.take()
	return conn, err
}

// strange lets an attempt succeed at a node of another cluster. The client closes the session,
// and the host the connection.
func (s *stage) strange(address string, own, theirs uint64, earlier ...uint64) {
	s.t.Helper()
	conn, err := s.welcomes(address, theirs, earlier, "far")
	var other *OtherCluster
	if !errors.As(err, &other) || *other != (OtherCluster{own, theirs}) {
		s.t.Errorf("%s belongs to cluster %d, the client to %d: error %v", address, theirs, own, err)
	}
	s.hears(address, conn, "CLOSE")
	s.breaks(conn)
}

// A client stays with the cluster that it has met first. A node of another one, at an address
// that was used again, is an address that fails: nothing is requested or claimed there.
func TestOtherCluster(t *testing.T) {
	s := newStage(t, "a", "b", "c")
	conn, err := s.welcomes("a", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	held := s.grants(conn)
	waits := s.lock("y")
	s.hears("the request", conn, fmt.Sprint("LOCK ", waits))
	s.dies(conn, "a")
	s.strange("b", 1, 2)
	if slices.Contains(s.g.nodes, "far") {
		t.Error("addresses of another cluster are learned")
	}
	conn, err = s.welcomes("c", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.hears("its own cluster", conn, fmt.Sprint("LOCK ", waits), fmt.Sprint("CLAIM ", held))
	s.strange("a", 1, 2)
	s.rests("at its former node too", held, true, "a")
}

// A cluster that was recovered from the client's is the client's from then on, and the lost one
// no longer is.
func TestRecoveredCluster(t *testing.T) {
	s := newStage(t, "a", "b")
	conn, _ := s.welcomes("a", 1, nil)
	s.dies(conn, "a")
	s.refuses("a")
	conn, err := s.welcomes("b", 3, []uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	r := s.lock("x")
	s.hears("the recovered cluster", conn, fmt.Sprint("LOCK ", r))
	s.dies(conn, "b")
	s.refuses("b")
	s.strange("a", 3, 1)
	s.strange("b", 3, 4, 1, 2) // the lost one was recovered twice
}

// A client can be told its cluster before it meets a node.
func TestGivenCluster(t *testing.T) {
	g, err := NewClient(1, ClientConfig{Nodes: []string{"a"}, Cluster: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, "a")
	s.g, s.dials = g, nil
	s.take()
	s.strange("a", 1, 2)
}

// The list of nodes in a WELCOME replaces those that were learned before. Configured addresses
// stay, for when no other node answers.
func TestReplacedNodes(t *testing.T) {
	s := newStage(t, "a", "b")
	address := "a"
	for i := range 3 * MaxNodes {
		next := fmt.Sprint("n", i)
		conn, err := s.welcomes(address, 1, nil, address, next)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"a", "b", address, next}; i > 0 && !slices.Equal(s.g.nodes, want) {
			t.Fatalf("knows %q, want %q", s.g.nodes, want)
		}
		for s.breaks(conn); address != next; address = s.dials[0].Address {
			s.refuses(address)
			for len(s.dials) == 0 {
				s.pass(ms)
			}
		}
	}
	conn, _ := s.welcomes(address, 1, nil)
	if s.breaks(conn); len(s.g.nodes) != 4 {
		t.Errorf("a list of no nodes replaces %q", s.g.nodes)
	}
}

// A server names its cluster, and those that it was recovered from.
func TestServerNamesCluster(t *testing.T) {
	n := newNode(t)
	n.d.Cluster, n.d.Earlier = 3, []uint64{1, 2}
	if w := n.hello(1, Frame{}); w.Cluster != 3 || !slices.Equal(w.Earlier, n.d.Earlier) {
		t.Errorf("%+v", w)
	}
}
