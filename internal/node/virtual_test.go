package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views/raft"
)

// Here whole nodes run in virtual time: their goroutines, timers, sockets and the
// goroutine of the disk are the real ones; the network and the disks are fakes that
// take time, and stall. What package process decides is stormed elsewhere; this is for
// what only the node does.

// A virtual is a few nodes in virtual time.
type virtual struct {
	t       *testing.T
	chance  *rand.Rand
	mu      sync.Mutex
	hosts   map[string]*virtualHost
	nodes   []*Node
	judged  map[string]*judged
	entries int
	lost    int
}

// A virtualHost is where a node listens.
type virtualHost struct {
	addr  *net.TCPAddr
	conns chan net.Conn
	down  chan struct{} // closed when it no longer listens
	once  sync.Once
	cut   bool          // nothing reaches it, nor leaves it
	whole chan struct{} // closed when it is no longer cut off
	stall time.Duration // how long a save takes
	rate  int64         // how much faster than true time its clock is, in millionths
	begin time.Time
}

func (h *virtualHost) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.down:
		return nil, net.ErrClosed
	}
}

func (h *virtualHost) Close() error {
	h.once.Do(func() { close(h.down) })
	return nil
}

func (h *virtualHost) Addr() net.Addr { return h.addr }

// clock is the node's own: off by something, and drifting.
func (h *virtualHost) clock() member.Instant {
	d := int64(time.Since(h.begin))
	return member.Instant(d + d/1_000_000*h.rate + 1)
}

// A virtualDisk is a disk that takes its time.
type virtualDisk struct {
	raft.Storage
	w *virtual
	h *virtualHost
}

func (d virtualDisk) Save(b raft.Batch) error {
	d.w.mu.Lock()
	takes := d.h.stall
	d.w.mu.Unlock()
	time.Sleep(takes)
	return d.Storage.Save(b)
}

// blocked returns a channel that is closed when nothing keeps two hosts apart any
// more, or nil if nothing does.
func (w *virtual) blocked(a, b *virtualHost) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case a.cut:
		return a.whole
	case b.cut:
		return b.whole
	}
	return nil
}

// dial connects two hosts: what is written arrives some time later.
func (w *virtual) dial(from *virtualHost) func(ctx context.Context, address string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		w.mu.Lock()
		to := w.hosts[address]
		w.mu.Unlock()
		if to == nil || w.blocked(from, to) != nil {
			return nil, fmt.Errorf("%s cannot be reached", address)
		}
		mine, far := net.Pipe()
		near, theirs := net.Pipe()
		go w.carry(from, to, far, near)
		go w.carry(to, from, near, far)
		select {
		case to.conns <- addressed{theirs, from.addr}:
			return mine, nil
		case <-to.down:
		case <-ctx.Done():
		}
		mine.Close()
		theirs.Close()
		return nil, fmt.Errorf("%s does not listen", address)
	}
}

// An addressed is a connection that says from where it is.
type addressed struct {
	net.Conn
	from net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.from }

// carry copies what is written at one end to the other.
func (w *virtual) carry(from, to *virtualHost, r, s net.Conn) {
	defer r.Close()
	defer s.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if err != nil {
			return
		}
		time.Sleep(200 * time.Microsecond)
		if wait := w.blocked(from, to); wait != nil {
			<-wait // as TCP does, it comes when it can
		}
		if _, err := s.Write(buf[:n]); err != nil {
			return
		}
	}
}

// cut separates a host from all others, or connects it again.
func (w *virtual) cut(i int, cut bool) {
	h := w.host(i)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case cut && !h.cut:
		h.cut, h.whole = true, make(chan struct{})
	case !cut && h.cut:
		h.cut = false
		close(h.whole)
	}
}

// slow has the saves of a host take so long.
func (w *virtual) slow(i int, takes time.Duration) {
	h := w.host(i)
	w.mu.Lock()
	defer w.mu.Unlock()
	h.stall = takes
}

func virtualAddress(i int) string { return fmt.Sprintf("127.0.0.1:%d", 7420+i) }

func (w *virtual) host(i int) *virtualHost {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.hosts[virtualAddress(i)]
	if h == nil {
		h = &virtualHost{
			addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7420 + i}, conns: make(chan net.Conn), down: make(chan struct{}),
			rate: w.chance.Int64N(16_000) - 8_000, begin: time.Now().Add(-time.Duration(w.chance.Int64N(int64(time.Hour)))),
		}
		w.hosts[virtualAddress(i)] = h
	}
	return h
}

// virtualLease is that of nodes in virtual time.
const virtualLease = time.Second

func newVirtual(t *testing.T, seed uint64, nodes int) *virtual {
	w := &virtual{t: t, chance: rand.New(rand.NewPCG(seed, 1)), hosts: map[string]*virtualHost{}, judged: map[string]*judged{}}
	for i := range nodes {
		h := w.host(i)
		c := Config{
			Name: string(rune('a' + i)), Listen: virtualAddress(i), Lease: virtualLease, Insecure: true,
			listen:  func(string) (net.Listener, error) { return h, nil },
			dial:    w.dial(h),
			clock:   h.clock,
			storage: func(s raft.Storage) raft.Storage { return virtualDisk{s, w, h} },
		}
		if i > 0 {
			c.Join = []string{virtualAddress(0)}
		}
		n, err := Start(c)
		if err != nil {
			t.Fatal(err)
		}
		w.nodes = append(w.nodes, n)
	}
	for _, n := range w.nodes {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := n.Ready(ctx); err != nil {
			t.Fatal(n.Name(), err)
		}
		cancel()
	}
	return w
}

// A judged is what is known of one lock: its holder, and the highest token.
type judged struct {
	holds []lock.Handle
	high  member.Token
}

// valid reports whether an application that looks at a hold, in whichever way, sees it
// as valid.
func valid(h lock.Handle) bool {
	return h.Err() == nil || h.Deadline().After(time.Now()) || h.Context().Err() == nil
}

// entered judges an entry: no application sees another hold as valid, whichever way it
// looks, and tokens rise.
func (w *virtual) entered(h lock.Handle) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries++
	j := w.judged[h.Name()]
	if j == nil {
		j = &judged{}
		w.judged[h.Name()] = j
	}
	if !j.high.Less(h.Token()) {
		w.t.Errorf("%s: %v after %v", h.Name(), h.Token(), j.high)
	}
	j.high = h.Token()
	for _, o := range j.holds {
		if valid(o) {
			w.t.Errorf("%s: entered with %v while %v is valid: error %v, deadline %v, context %v", h.Name(), h.Token(), o.Token(), o.Err(), o.Deadline(), o.Context().Err())
		}
	}
	j.holds = append(j.holds, h)
}

// count returns how many entries there were.
func (w *virtual) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.entries
}

// leaves notes that a hold is about to be released.
func (w *virtual) leaves(h lock.Handle) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.judged[h.Name()]
	for i, o := range j.holds {
		if o == h {
			j.holds = append(j.holds[:i], j.holds[i+1:]...)
			return
		}
	}
}

// use has an application use locks until the context ends.
func (w *virtual) use(ctx context.Context, l locker, seed uint64) {
	chance := rand.New(rand.NewPCG(seed, 7))
	for ctx.Err() == nil {
		h, err := l.Lock(ctx, string(rune('x'+chance.IntN(2))), lock.Options{})
		if err != nil {
			continue
		}
		w.entered(h)
		held := time.Duration(chance.Int64N(int64(20 * time.Millisecond)))
		if chance.IntN(8) == 0 {
			held = time.Duration(chance.Int64N(int64(2 * virtualLease)))
		}
		select {
		case <-time.After(held):
		case <-h.Context().Done():
		}
		w.leaves(h)
		if err := h.Unlock(); errors.Is(err, lock.ErrLost) {
			w.mu.Lock()
			w.lost++
			w.mu.Unlock()
		}
	}
}

// Nodes in virtual time, with disks that stall for several leases and a network that
// is cut, for minutes of their time.
func TestVirtual(t *testing.T) {
	entries, lost := 0, 0
	for seed := range uint64(6) {
		synctest.Test(t, func(t *testing.T) {
			w := newVirtual(t, seed, 3)
			ctx, stop := context.WithCancel(t.Context())
			var all sync.WaitGroup
			for i, n := range w.nodes {
				for k := range 2 {
					all.Go(func() { w.use(ctx, n, seed<<8|uint64(2*i+k)) })
				}
			}
			for range 12 {
				i := w.chance.IntN(3)
				takes := time.Duration(w.chance.Int64N(int64(3 * virtualLease)))
				w.slow(i, takes)
				if w.chance.IntN(2) == 0 {
					w.cut(w.chance.IntN(3), true)
				}
				time.Sleep(time.Duration(w.chance.Int64N(int64(4 * virtualLease))))
				for k := range 3 {
					w.cut(k, false)
				}
				w.slow(i, time.Duration(w.chance.Int64N(int64(20*time.Millisecond))))
				time.Sleep(time.Duration(w.chance.Int64N(int64(4 * virtualLease))))
			}
			time.Sleep(10 * virtualLease)
			before := w.count()
			time.Sleep(2 * virtualLease)
			if w.count() == before {
				t.Errorf("seed %d: nothing is entered after all is whole again", seed)
			}
			stop()
			all.Wait()
			for _, n := range w.nodes {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				if err := n.Stop(ctx); err != nil {
					t.Errorf("seed %d: %s: %v", seed, n.Name(), err)
				}
				cancel()
			}
			entries, lost = entries+w.entries, lost+w.lost
		})
	}
	if entries < 1000 || lost == 0 {
		t.Errorf("%d entries, %d of them lost: the test is too tame", entries, lost)
	}
	t.Logf("%d entries, %d of them lost", entries, lost)
}
