package transport

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

var greeting = appendFrame([]byte(peerMagic), kindHello, (&Hello{1, 1, "x", "127.0.0.1:1", 7, nil}).append(nil))

// Whatever is said instead of a greeting is refused, and logged.
func TestGarbage(t *testing.T) {
	hello := (&Hello{1, 1, "x", "127.0.0.1:1", 7, nil}).append(nil)
	broken := append([]byte(nil), greeting...)
	broken[len(broken)-1] ^= 1
	huge := append([]byte(peerMagic), 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1)
	for _, c := range []struct {
		name, logged string
		send         []byte
	}{
		{"nothing", "first bytes", nil},
		{"too little", "first bytes", []byte(peerMagic[:5])},
		{"a magic alone", "during the greeting", []byte(peerMagic)},
		{"half a greeting", "in the middle of a frame", greeting[:len(greeting)-1]},
		{"no answer", "during the greeting", greeting},
		{"a wrong checksum", "checksum", broken},
		{"a huge length", "4294967295 bytes", huge},
		{"no hello", "want a Hello", appendFrame([]byte(peerMagic), kindData, hello)},
		{"half a hello", "truncated Hello", appendFrame([]byte(peerMagic), kindHello, hello[:9])},
		{"data at once", "want a Welcome", appendFrame(greeting, kindData, nil)},
		{"rubbish", "unknown protocol", []byte(strings.Repeat("rubbish ", 1000))},
		{"a browser", "unknown protocol", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")},
		{"a client", "unknown protocol", []byte(clientMagic)},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t, "a")
			s := connect(t, n.addr)
			s.write(t, c.send)
			s.Conn.(*net.TCPConn).CloseWrite()
			answer, _ := io.ReadAll(s)
			if c.send != nil && string(c.send[:3]) == "GET" && !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
				t.Errorf("a browser gets %q", answer)
			}
			logs(t, n, c.logged)
			if len(n.ups)+len(n.got) > 0 {
				t.Error("it was linked")
			}
		})
	}
}

// A node that is refused in the greeting gets the reason.
func TestRefusalIsTold(t *testing.T) {
	n := newNode(t, "a")
	s := connect(t, n.addr)
	s.write(t, appendFrame([]byte(peerMagic), kindHello, (&Hello{5, 6, "x", "127.0.0.1:1", 7, nil}).append(nil)))
	if k, text := s.answer(t); k != kindRefuse || !strings.Contains(text, "5 to 6, this one 1 to 1") {
		t.Errorf("kind %d: %s", k, text)
	}
}

// Frames of a later version that may be ignored do not end a link.
func TestOptionalFrames(t *testing.T) {
	n := newNode(t, "a")
	s := fake(t, n, Hello{Name: "x", Addr: "127.0.0.1:1", Nonce: 7})
	take(t, "link", n.ups)
	s.write(t, appendFrame(appendFrame(nil, 0x40, []byte("later")), kindData, []byte("good")))
	if got := take(t, "message", n.got); got != "x: good" || len(n.downs) > 0 {
		t.Errorf("%s, and %d links have ended", got, len(n.downs))
	}
}

// What a linked node sends must be frames: anything else ends the link, the owner
// hears why, and what came before was delivered.
func TestMalformedEndsLink(t *testing.T) {
	good := appendFrame(nil, kindData, []byte("good"))
	broken := appendFrame(nil, kindData, []byte("bad"))
	broken[0] ^= 1
	for _, c := range []struct {
		name, why string
		malformed bool
		send      []byte
	}{
		{"a wrong checksum", "checksum", true, broken},
		{"a huge length", "2147483647 bytes", true, []byte{0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 6}},
		{"an unknown kind", "kind 33", true, appendFrame(nil, 33, nil)},
		{"a second hello", "kind 1 after the greeting", true, appendFrame(nil, kindHello, nil)},
		{"a cut", "in the middle of a frame", false, good[:7]},
		{"a refusal", "refused by", false, appendFrame(nil, kindRefuse, []byte("changed my mind"))},
		{"the end", "closed the connection", false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t, "a")
			s := fake(t, n, Hello{Name: "x", Addr: "127.0.0.1:1", Nonce: 7})
			take(t, "link", n.ups)
			s.write(t, append(append([]byte(nil), good...), c.send...))
			if !c.malformed {
				s.Conn.(*net.TCPConn).CloseWrite()
			} else {
				s.write(t, good)
			}
			if got := take(t, "message", n.got); got != "x: good" {
				t.Error(got)
			}
			err := take(t, "end", n.downs)
			says(t, err, c.why)
			var m *Malformed
			if errors.As(err, &m) != c.malformed {
				t.Errorf("%v: is it malformed?", err)
			}
			s.over(t)
			if len(n.got) > 0 {
				t.Error("what came after was delivered")
			}
			logs(t, n, c.why)
		})
	}
}

// Silent connections do not keep others out: the oldest of them is closed.
func TestSilentConnections(t *testing.T) {
	few := func(p *plan) { p.mux.Budget, p.config.Pending = NewBudget(BudgetConfig{Strangers: 3}), 3 }
	n := newNode(t, "a", few)
	var mute []*stranger
	for range 3 {
		s := connect(t, n.addr)
		s.write(t, []byte(peerMagic)) // past the mux
	}
	eventually(t, "they are greeted", func() bool { return waiting(&n.pool.pending) == 3 })
	for range 3 {
		mute = append(mute, connect(t, n.addr))
	}
	eventually(t, "all are pending", func() bool { return strangers(n) == 3 })
	b := newNode(t, "b")
	link(t, b, n)
	logs(t, n, "too many connections")
	mute[0].over(t)
	if waiting(&n.pool.pending) != 2 || strangers(n) != 2 {
		t.Error("others had to go, too")
	}
}

// strangers returns how many connections have not identified themselves to a node.
func strangers(n *node) int {
	_, all := n.mux.c.Budget.Used()
	return all
}

func waiting(p *pending) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// A node that does not read costs at most its queue. Messages that may be lost get half of
// it and are dropped; the others end the link when it is full.
func TestPeerThatDoesNotRead(t *testing.T) {
	const queue = 256 << 10
	n := newNode(t, "a", func(p *plan) { p.config.Limits = Limits{Frame: 10_000, Queue: queue} })
	fake(t, n, Hello{Name: "x", Addr: "127.0.0.1:1", Nonce: 7})
	take(t, "link", n.ups)
	line := best(n, &node{addr: "127.0.0.1:1"})
	message := make([]byte, 10_000)
	most := 0
	flood := func(lossy bool, limit int) (err error) {
		for err == nil {
			err = n.pool.Send("127.0.0.1:1", message, lossy)
			n.pool.Flush()
			waits := line.Waits()
			if most = max(most, waits); waits > limit {
				t.Fatalf("%d bytes wait, lossy %t", waits, lossy)
			}
		}
		return err
	}
	if err := flood(true, queue/2); err != ErrDropped {
		t.Errorf("what may be lost: %v", err)
	}
	if len(n.downs) > 0 || most < queue/4 {
		t.Errorf("the link is gone, or it was no flood: %d bytes", most)
	}
	if err := flood(false, queue); !errors.Is(err, ErrFull) {
		t.Errorf("what may not be lost: %v", err)
	}
	says(t, take(t, "end", n.downs), "does not read")
	line.mu.Lock()
	defer line.mu.Unlock()
	line.sock.mu.Lock()
	defer line.sock.mu.Unlock()
	kept := cap(line.queue) + cap(line.batch) + cap(line.sock.rest) + cap(line.sock.spare)
	if kept > 3*queue || most < queue*3/4 {
		t.Errorf("buffers of %d bytes, and at most %d waited, for a queue of %d", kept, most, queue)
	}
}

// A node that reads late gets everything, also if the link is given up meanwhile.
func TestSlowReader(t *testing.T) {
	for _, drop := range []bool{false, true} {
		n := newNode(t, "a")
		s := fake(t, n, Hello{Name: "x", Addr: "127.0.0.1:1", Nonce: 7})
		take(t, "link", n.ups)
		line := best(n, &node{addr: "127.0.0.1:1"})
		text := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 100_000) }
		count := 0
		for ; count < 5 || line.Waits() < 1<<20; count++ {
			if err := n.pool.Send("127.0.0.1:1", []byte(text(count)), false); err != nil {
				t.Fatal(err)
			}
			n.pool.Flush()
		}
		if drop {
			n.pool.Drop("127.0.0.1:1")
		}
		for i := 0; i < count; {
			k, b, err := s.r.next()
			if err != nil {
				t.Fatalf("after %d of %d messages: %v", i, count, err)
			}
			if k == kindBeat {
				continue
			}
			if string(b) != text(i) {
				t.Fatalf("message %d is %.20q", i, b)
			}
			i++
		}
		if drop {
			s.over(t)
			says(t, take(t, "end", n.downs), errDropped.Error())
		} else {
			eventually(t, "nothing waits", func() bool { return line.Waits() == 0 })
		}
	}
}
