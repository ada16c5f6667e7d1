package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
)

// workerEnv has the orders of a process that is a worker.
const workerEnv = "STILE_CLUSTER_WORKER"

// orders are what a worker is told when it starts.
type orders struct {
	Name      string
	Who       string // its name, and which start this is
	Client    bool   // it is no node
	Listen    string
	Advertise string
	Join      []string // of a client: the nodes
	Data      string
	Record    string // folder for recordings, one for each start; empty: none
	Voters    int
	Lease     time.Duration

	Resource string // the socket file
	Locks    []string
	Apps     int // how many use locks at a time
	Long     int // per cent of holds that last about as long as a lease
	Seed     uint64
	Careless bool // do not look at the hold between getting the counter and putting it back
	Contexts bool // judge by the context of a hold, too
}

// maxRecording is the maximum size of a recording, in bytes.
const maxRecording = 4 << 20

// What a worker is told later, a line each.
const (
	goOn      = "go"     // use locks
	rest      = "rest"   // no more
	probe     = "probe"  // enter each lock once
	askStatus = "status" // say how the cluster is
	leaveNow  = "leave"  // leave the cluster, and end
)

// A backend takes locks: a node or a client.
type backend interface {
	Lock(ctx context.Context, name string, o lock.Options) (lock.Handle, error)
}

// A worker is one process.
type worker struct {
	orders
	locks backend
	node  *node.Node // nil in a client
	asked atomic.Int64

	leaves atomic.Bool // nothing new is asked for
	left   chan error  // what came of it

	mu   sync.Mutex // of the output, and of locks until all is ready
	out  *json.Encoder
	stop context.CancelFunc // of the workload
	apps sync.WaitGroup
}

// work is the life of a worker, until it is told to end or its parent is gone.
func work(text string) int {
	w := &worker{out: json.NewEncoder(os.Stdout), stop: func() {}, left: make(chan error, 1)}
	if err := json.Unmarshal([]byte(text), &w.orders); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	lines := make(chan string)
	go func() {
		for s := bufio.NewScanner(os.Stdin); s.Scan(); {
			lines <- s.Text()
		}
		os.Exit(0) // nobody listens any more
	}()
	over, err := w.open()
	if err != nil {
		w.say(&report{Kind: ended, Err: err.Error()})
		return 1
	}
	for {
		select {
		case line := <-lines:
			w.obey(line)
		case err := <-w.left:
			if err != nil {
				w.say(&report{Kind: ended, Err: err.Error()})
			}
			return 0
		case <-over:
			if over = nil; w.leaves.Load() {
				continue
			}
			w.say(&report{Kind: ended, Err: w.node.Err().Error()})
			return 1
		}
	}
}

// open starts the node, or the client, and says when it is ready.
func (w *worker) open() (over <-chan struct{}, err error) {
	if w.Client {
		go func() {
			c, err := client.Dial(context.Background(), client.Config{Name: w.Name, Nodes: w.Join, Insecure: true})
			if err != nil {
				w.say(&report{Kind: ended, Err: err.Error()})
				os.Exit(1)
			}
			w.begin(c)
		}()
		return nil, nil
	}
	level := slog.LevelInfo
	if os.Getenv("STILE_CLUSTER_DEBUG") != "" {
		level = slog.LevelDebug
	}
	c := node.Config{
		Name: w.Name, Listen: w.Listen, Advertise: w.Advertise, Join: w.Join, Data: w.Data, Voters: w.Voters, Lease: w.Lease, Insecure: true,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})).With("who", w.Who),
	}
	if w.Record != "" {
		c.Record = node.Record{File: filepath.Join(w.Record, w.Who+".rec"), Bytes: maxRecording}
	}
	if w.node, err = node.Start(c); err != nil {
		return nil, err
	}
	go func() {
		if w.node.Ready(context.Background()) == nil {
			w.begin(w.node)
		}
	}()
	return w.node.Done(), nil
}

// begin says that there is somebody to ask for locks.
func (w *worker) begin(b backend) {
	w.mu.Lock()
	w.locks = b
	w.mu.Unlock()
	w.say(&report{Kind: ready})
}

func (w *worker) say(r *report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.out.Encode(r) != nil {
		os.Exit(0)
	}
}

// obey does what it is told. It is told to use locks only when it is ready.
func (w *worker) obey(line string) {
	switch line {
	case goOn:
		ctx, stop := context.WithCancel(context.Background())
		w.stop = stop
		for i := range w.Apps {
			w.apps.Go(func() { w.use(ctx, i) })
		}
	case rest:
		w.stop()
		go func() {
			w.apps.Wait()
			w.say(&report{Kind: rested})
		}()
	case probe:
		go func() {
			a := w.app(0)
			for _, l := range w.Locks {
				for !a.entry(context.Background(), l) {
				}
			}
			w.say(&report{Kind: probed})
		}()
	case askStatus:
		s := w.node.Status()
		w.say(&report{Kind: state, Status: &s})
	case leaveNow:
		w.leaves.Store(true)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*w.Lease)
			defer cancel()
			w.left <- w.node.Stop(ctx)
		}()
	}
}

// use takes locks until it is told not to.
func (w *worker) use(ctx context.Context, i int) {
	a := w.app(i)
	for ctx.Err() == nil && !w.leaves.Load() {
		a.entry(ctx, w.Locks[a.chance.IntN(len(w.Locks))])
	}
}

// An app is one user of locks in a worker.
type app struct {
	*worker
	chance *rand.Rand
	to     *json.Encoder
	from   *json.Decoder

	hold  lock.Handle
	id    int
	valid int64 // when the hold was last seen to be so
}

func (w *worker) app(i int) *app {
	c, err := net.Dial("unix", w.Resource)
	if err != nil {
		fmt.Fprintln(os.Stderr, "there is no resource:", err)
		os.Exit(0)
	}
	return &app{worker: w, chance: rand.New(rand.NewPCG(w.Seed, uint64(i))), to: json.NewEncoder(c), from: json.NewDecoder(c)}
}

// entry asks for a lock, uses what it protects, and lets go. It reports whether the
// lock was entered.
func (a *app) entry(ctx context.Context, name string) bool {
	a.id = int(a.asked.Add(1))
	a.valid = 0
	a.say(&report{Kind: ask, Hold: a.id, Lock: name, At: now()})
	h, err := a.locks.Lock(ctx, name, lock.Options{})
	if err != nil {
		a.say(&report{Kind: no, Hold: a.id, Err: err.Error(), End: now()})
		return false
	}
	a.hold = h
	end := now()
	a.still()
	a.say(&report{Kind: in, Hold: a.id, Token: h.Token(), At: a.valid, End: end})
	for range 1 + a.chance.IntN(2) {
		if !a.increment() {
			break
		}
	}
	at := now()
	r := &report{Kind: out, Hold: a.id, At: at}
	if err := h.Unlock(); err != nil {
		r.Err = err.Error()
	}
	r.End = now()
	a.say(r)
	return true
}

// still reports whether the hold is still valid, by whatever an application can look
// at: the error and the deadline, and the context if nothing stops the process (one
// that was stopped learns of a loss from its context a moment after it goes on). The
// clock is read before: it was valid then, too.
func (a *app) still() bool {
	at, now := now(), time.Now()
	if !a.hold.Deadline().After(now) && a.hold.Err() != nil && !(a.Contexts && a.hold.Context().Err() == nil) {
		return false
	}
	a.valid = at
	return true
}

// increment adds one to what has a fence, and to what has none. The fence judges
// by itself; what has none is put back only if the hold was valid right before, or
// carelessly, and then first, so that the fence sees who comes late.
func (a *app) increment() bool {
	if a.Careless {
		a.wish(putOp, a.wish(getOp, 0).Value)
	}
	r := a.wish(readOp, 0)
	if !r.Taken {
		return false
	}
	a.think(false)
	if !a.wish(writeOp, r.Value+1).Taken || !a.still() {
		return false
	}
	if a.Careless {
		return true
	}
	r = a.wish(getOp, 0)
	if !a.think(true) || !a.still() {
		return false
	}
	a.wish(putOp, r.Value)
	return true
}

// think takes its time, and reports whether the hold is still valid. Who leaves that
// to a fence goes on in any case.
func (a *app) think(look bool) bool {
	length := time.Duration(a.chance.IntN(2000)) * time.Microsecond
	if a.chance.IntN(100) < a.Long {
		length = a.Lease/4 + time.Duration(a.chance.Int64N(int64(a.Lease)))
	}
	for begun := now(); now() < begun+int64(length); {
		time.Sleep(min(length, 5*time.Millisecond))
		if !a.still() && look {
			return false
		}
		a.say(&report{Kind: ok, Hold: a.id, At: a.valid})
	}
	return true
}

// wish asks the resource for something.
func (a *app) wish(op string, value int64) answer {
	grace := a.Lease / 10 // Act, in the usual settings
	if a.Client {
		grace = a.Lease / 100 // a client's time ends that much before its session, for drift
	}
	w := &wish{op, a.hold.Name(), fmt.Sprintf("%s/%d", a.Who, a.id), a.hold.Token(), value, now(), a.valid, int64(grace)}
	var r answer
	if a.to.Encode(w) != nil || a.from.Decode(&r) != nil {
		os.Exit(0) // the test is over
	}
	return r
}
