package bench

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/live/node"
)

// workerName is how the processes with nodes are called, by what tells them from
// the command line of a user: nobody types the name of the program that runs.
const workerName = "stile-bench-node"

// What a process can be ordered to do.
const (
	opOpen   = "open"   // start a node
	opClose  = "close"  // stop it in good order
	opEcho   = "echo"   // send back what comes over raw TLS
	opRaw    = "raw"    // exchange something with who does so
	opSpin   = "spin"   // lock and unlock one lock
	opPair   = "pair"   // start another node, of a cluster where nobody enters twice in a row
	opTurns  = "turns"  // lock and unlock one lock there
	opPart   = "part"   // end that node
	opSpread = "spread" // lock and unlock many
	opClient = "client" // lock and unlock as a client of another process
	opHold   = "hold"   // lock
	opFree   = "free"   // unlock it
	opCrowd  = "crowd"  // make many clients wait for a lock
	opServed = "served" // wait until they have had it
	opUsage  = "usage"  // say what was used so far
	opBusy   = "busy"   // have clients of all nodes use some locks all the time
	opRested = "rested" // end that, and say what they saw
)

// An order is what a process is to do.
type order struct {
	Op            string
	Name, Dir     string
	CA, Cert, Key string
	Address       string
	Listen        string   // where a node was before; any port
	Nodes         []string // addresses of all nodes
	Lock          string
	Locks         int
	Users         int
	Seed          uint64
	For           time.Duration
}

// An answer is what has come of it.
type answer struct {
	Error    string `json:",omitempty"`
	Address  string
	Count    int // exchanges, or entries
	Handoffs int // entries after one of another process
	Took     time.Duration
	CPU      time.Duration // of the process: of what was measured; of all, before it was asked
	CPUThen  time.Duration // of all, after what it took to answer
	Heap     int64         // bytes that are alive
	Resident int64         // bytes of the process
	Written  int64         // bytes to disks
	Stall    time.Duration // the longest that nobody has entered one of some locks
	Failed   int           // requests
}

// Worker does the work of a process with a node and ends the process, if that is
// what it was started for; otherwise it does nothing. The program calls it before
// anything else.
func Worker() {
	if os.Args[0] != workerName {
		return
	}
	signal.Ignore(os.Interrupt) // whoever interrupts the program interrupts it there
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

// listen reads orders, and ends the process, whatever it is doing, when who has
// started it has ended or wants no more.
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

// A site is what such a process has.
type site struct {
	name  string
	files stile.Certificates
	node  *stile.Node
	pair  *node.Node
	raw   *tls.Conn
	held  holder
	guest *stile.Client
	crowd *crowd
	rush  *rush
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
	return answer{}, fmt.Errorf("nobody knows how to %s", o.Op)
}
