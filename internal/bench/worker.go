package bench

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/node"
)

// workerName is the program name of the processes with nodes, which distinguishes them from
// a user's command line: users do not type the name of the program that runs.
const workerName = "stile-bench-node"

// The operations that a process can be ordered to do.
const (
	opOpen   = "open"   // start a node
	opClose  = "close"  // stop it gracefully
	opEcho   = "echo"   // echo what arrives over raw TLS
	opRaw    = "raw"    // exchange messages with the process that echoes
	opSpin   = "spin"   // lock and unlock one lock
	opPair   = "pair"   // start another node, of a cluster where no node enters twice in a row
	opTurns  = "turns"  // lock and unlock one lock there
	opPart   = "part"   // end that node
	opSpread = "spread" // lock and unlock many locks
	opClient = "client" // lock and unlock as a client of another process
	opHold   = "hold"   // lock
	opFree   = "free"   // unlock it
	opCrowd  = "crowd"  // make many clients wait for a lock
	opServed = "served" // wait until they have held it
	opUsage  = "usage"  // report what was used so far
	opBusy   = "busy"   // make clients of all nodes use some locks constantly
	opRested = "rested" // end that, and report what they saw
)

// An order is what a process must do.
type order struct {
	Op            string
	Name, Dir     string
	CA, Cert, Key string
	Address       string
	Listen        string   // previous address of the node; empty: any port
	Nodes         []string // addresses of all nodes
	Lock          string
	Locks         int
	Users         int
	Seed          uint64
	For           time.Duration
}

// An answer is the result of an order.
type answer struct {
	Error    string `json:",omitempty"`
	Address  string
	Count    int // exchanges or entries
	Handoffs int // entries after one of another process
	Took     time.Duration
	CPU      time.Duration // CPU time of the process: of the measurement, or in total before the question
	CPUThen  time.Duration // in total, including the time to answer
	Heap     int64         // bytes of live heap
	Resident int64         // resident bytes of the process
	Written  int64         // bytes to disks
	Stall    time.Duration // longest time without an entry of one of some locks
	Failed   int           // failed requests
}

// Worker does the work of a process with a node and exits, if this process was started for
// that; otherwise it does nothing. The program calls it before anything else.
func Worker() {
	if os.Args[0] != workerName {
		return
	}
	signal.Ignore(os.Interrupt) // an interrupt is handled by the parent process
	s, out, orders := &site{}, json.NewEncoder(os.Stdout), make(chan order)
	go listen(orders)
	for o := range orders {
		a, err := s.do(&o)
		if err != nil {
			a.Error = err.Error()
		}
		if out.Encode(a) != nil {
			os.Exit(0)
		}
	}
}

// listen reads orders, and ends the process, whatever it is doing, when the parent process
// has ended or has no more orders.
func listen(orders chan<- order) {
	in := json.NewDecoder(os.Stdin)
	for {
		var o order
		if in.Decode(&o) != nil {
			os.Exit(0)
		}
		orders <- o
	}
}

// A site is the state of such a process.
type site struct {
	name   string
	files  stile.Certificates
	node   *stile.Node
	pair   *node.Node
	raw    *tls.Conn
	held   holder
	dialed *stile.Client
	crowd  *crowd
	rush   *rush
}

func (s *site) do(o *order) (answer, error) {
	switch o.Op {
	case opOpen:
		return s.open(o)
	case opClose:
		return answer{}, s.node.Close()
	case opEcho:
		return s.echo()
	case opRaw:
		return s.exchange(o)
	case opSpin:
		return spin(o, s.here)
	case opPair:
		return s.openPair(o)
	case opTurns:
		return spin(o, s.paired)
	case opPart:
		s.pair.Kill()
		return answer{}, nil
	case opSpread:
		return s.spread(o)
	case opClient:
		return s.client(o)
	case opHold:
		return s.hold(o)
	case opFree:
		return answer{}, s.held.Unlock()
	case opCrowd:
		return s.gather(o)
	case opServed:
		return s.crowd.served()
	case opUsage:
		return usage(), nil
	case opBusy:
		return s.hurry(o)
	case opRested:
		return s.rush.rest(), nil
	}
	return answer{}, fmt.Errorf("unknown operation %q", o.Op)
}
