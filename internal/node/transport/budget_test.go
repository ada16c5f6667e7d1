package transport

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
)

// A crowd takes places of a budget.
type crowd struct {
	*Budget
	conns []*called
}

// enter lets a connection from an address in; nil if it must not stay.
func (c *crowd) enter(ip string) *Seat {
	x := &called{from: &net.TCPAddr{IP: net.ParseIP(ip), Port: len(c.conns) + 1}}
	c.conns = append(c.conns, x)
	return c.Enter(x, new(atomic.Bool))
}

// settle makes a connection from an address that of a client.
func (c *crowd) settle(t *testing.T, ip, identity string) (*Seat, error) {
	t.Helper()
	s := c.enter(ip)
	if s == nil {
		t.Fatal("it may not even identify itself")
	}
	err := s.Settle(identity)
	if err != nil {
		s.Leave() // its connection is closed
	}
	return s, err
}

// fill settles clients until there is no place for another one, and returns how many there are.
func (c *crowd) fill(t *testing.T, ip func(i int) string, identity string) (seats []*Seat) {
	for {
		s, err := c.settle(t, ip(len(seats)), identity)
		if err != nil {
			if !errors.Is(err, ErrCrowded) {
				t.Fatal(err)
			}
			return seats
		}
		seats = append(seats, s)
	}
}

func always(ip string) func(int) string { return func(int) string { return ip } }

func many(i int) string { return fmt.Sprintf("10.%d.%d.9", i/250, i%250) }

// One address, one network of IPv6, and one identity from wherever get half of the places of
// clients. Others then get half of the rest, and this machine all that is left.
func TestShares(t *testing.T) {
	for name, first := range map[string]struct {
		ip       func(int) string
		identity string
	}{
		"an address":          {always("10.0.0.1"), ""},
		"a network of IPv6":   {func(i int) string { return fmt.Sprintf("2001:db8::%x", i+1) }, ""},
		"an identity":         {many, "client/x"},
		"an identity, nearby": {always("127.0.0.1"), "client/x"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &crowd{Budget: NewBudget(BudgetConfig{Clients: 80})}
			taken := c.fill(t, first.ip, first.identity)
			if len(taken) != 40 {
				t.Fatalf("it has %d of 80 places, and not 40", len(taken))
			}
			if got := len(c.fill(t, always("10.9.9.9"), "client/y")); got != 20 {
				t.Errorf("the next one has %d, and not its share of 20", got)
			}
			if got := len(c.fill(t, always("127.0.0.1"), "")); got != 20 {
				t.Errorf("this machine has %d, and not all 20 that are left", got)
			}
			for _, s := range taken {
				s.Leave()
				s.Leave() // once too often changes nothing
			}
			if got := len(c.fill(t, many, "")); got != 40 {
				t.Errorf("%d get the places that are free again", got)
			}
			for _, x := range c.conns {
				if x.closed {
					t.Error("a client is closed, though none is idle")
				}
			}
		})
	}
}

// When there is no place for a client, the oldest idle one of the user with the most clients is
// closed. One that is not idle any longer stays.
func TestIdleClientsYield(t *testing.T) {
	c := &crowd{Budget: NewBudget(BudgetConfig{Clients: 8})}
	var seats []*Seat
	for i := range 8 {
		s, err := c.settle(t, []string{"127.0.0.1", "10.0.0.1", "10.0.0.2"}[max(0, i-5)], "")
		if err != nil {
			t.Fatal(err)
		}
		s.Idle(true)
		seats = append(seats, s)
	}
	seats[0].Idle(false)
	seats[0].Idle(false)
	for i, want := range []int{1, 2, 3, 4} {
		if _, err := c.settle(t, many(i), ""); err != nil {
			t.Fatal(err)
		}
		for j := range seats {
			if c.conns[j].closed != (1 <= j && j <= want) {
				t.Errorf("after %d others, client %d is closed: %t", i+1, j, c.conns[j].closed)
			}
		}
	}
	seats[1].Idle(true) // it is closed
	if clients, _ := c.Used(); clients != 8 {
		t.Errorf("%d clients", clients)
	}
}

// Strangers from everywhere cannot keep out this machine, nor a node that was linked, and take
// nothing from clients.
func TestReserve(t *testing.T) {
	c := &crowd{Budget: NewBudget(BudgetConfig{Clients: 3, Strangers: 20, Reserved: 2})}
	c.Node("10.0.0.200:4711")
	for i := range 20 {
		s := c.enter(many(i))
		if s == nil {
			t.Fatal("there is no room")
		}
		s.heard.Store(true)
	}
	for _, x := range []struct {
		from string
		in   bool
	}{{"10.0.0.100", false}, {"10.0.0.200", true}, {"127.0.0.1", true}, {"10.0.0.100", false}} {
		s := c.enter(x.from)
		if (s != nil) != x.in {
			t.Errorf("one from %s may enter: %t", x.from, s != nil)
		}
		if s != nil {
			s.heard.Store(true)
		}
	}
	if clients, all := c.Used(); clients != 0 || all != 22 {
		t.Errorf("%d clients, %d strangers", clients, all)
	}
}

// A connection that had to make room for another one is not a client afterwards.
func TestEvictedStranger(t *testing.T) {
	c := &crowd{Budget: NewBudget(BudgetConfig{Clients: 3, Strangers: 1})}
	first := c.enter("10.0.0.1")
	second := c.enter("10.0.0.1")
	if err := first.Settle(""); err != errEvicted {
		t.Errorf("the first one is told %v", err)
	}
	if first.Link() || !second.Link() {
		t.Error("the wrong one was evicted")
	}
	first.Leave()
	second.Leave()
	if clients, all := c.Used(); clients+all != 0 || len(c.users) != 0 {
		t.Errorf("%d clients, %d strangers, %d users", clients, all, len(c.users))
	}
}

// Probes have places of their own: silent ones make room for others, and the budget is used up
// meanwhile.
func TestProbes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := NewBudget(BudgetConfig{Clients: 1, Strangers: 1, Probes: 2})
	b.Enter(&called{from: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}}, new(atomic.Bool))
	probes := b.Probes(l)
	for range 5 {
		x := connect(t, l.Addr().String())
		c, err := probes.Accept()
		if err != nil {
			t.Fatal(err)
		}
		x.write(t, []byte("x"))
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if len(b.probes.conns) > 2 {
			t.Fatalf("%d connections", len(b.probes.conns))
		}
		if len(b.probes.conns) == 2 {
			c.Close()
			c.Close()
		}
	}
	if _, all := b.Used(); len(b.probes.conns) != 1 || all != 1 {
		t.Errorf("%d probes are left, and %d strangers", len(b.probes.conns), all)
	}
	for range 9 { // and now silent ones
		connect(t, l.Addr().String())
		if _, err := probes.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.probes.conns) != 2 {
		t.Errorf("%d silent ones are left", len(b.probes.conns))
	}
}
