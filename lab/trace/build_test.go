package trace_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/trace"
)

// load reads a recorded run. The runs are kept as files, so that these tests
// do not change when an algorithm or the simulator does.
func load(tb testing.TB, name string) *trace.Trace {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	t, err := trace.ReadJSON(b)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// A sketch builds a trace by hand.
type sketch struct {
	t  *trace.Trace
	at int64
}

func newScript(n int, title string) *sketch {
	return &sketch{t: &trace.Trace{N: n, Title: title, Kinds: []string{"REQUEST", "OK"}, Unit: 10}}
}

func (s *sketch) add(e trace.Event) {
	e.Step, e.At = len(s.t.Events), s.at
	s.t.Events = append(s.t.Events, e)
}

func (s *sketch) do(at int64, k trace.Kind, p algorithm.ID) {
	s.at = at
	s.add(trace.Event{Kind: k, Proc: p})
}

func (s *sketch) message(at int64, k trace.Kind, p, peer algorithm.ID, n int, name string) {
	s.at = at
	s.add(trace.Event{Kind: k, Proc: p, Peer: peer, Msg: n, Name: name})
}

// trouble is a run in which about everything goes wrong.
func trouble() *trace.Trace {
	s := newScript(4, `Everything <goes> "wrong" & more`)
	s.do(0, trace.Ask, 0)
	s.message(0, trace.Send, 0, 1, 1, "REQUEST")
	s.message(0, trace.Send, 0, 2, 2, "REQUEST")
	s.message(0, trace.Drop, 0, 2, 2, "REQUEST")
	s.message(0, trace.Send, 0, 3, 3, "REQUEST")
	s.message(0, trace.Duplicate, 0, 3, 4, "REQUEST")
	s.message(0, trace.Send, 0, 3, 4, "REQUEST")
	s.message(10, trace.Receive, 1, 0, 1, "REQUEST")
	s.message(10, trace.Send, 1, 0, 5, "OK")
	s.message(12, trace.Receive, 3, 0, 3, "REQUEST")
	s.message(15, trace.Receive, 3, 0, 4, "REQUEST")
	s.do(18, trace.Ask, 1)
	s.message(18, trace.Send, 1, 3, 6, "REQUEST")
	s.message(20, trace.Receive, 0, 1, 5, "OK")
	s.do(20, trace.Enter, 0)
	s.do(22, trace.Crash, 3)
	s.do(24, trace.Partition, algorithm.None)
	s.do(25, trace.Pause, 2)
	s.message(28, trace.Drop, 1, 3, 6, "REQUEST") // P4 is down
	s.do(30, trace.Expire, 1)
	s.do(30, trace.Enter, 1)
	s.add(trace.Event{Kind: trace.Violation, Proc: 1, Peer: 0, Name: "mutual-exclusion", Words: "P2 entered while P1 was inside"})
	s.do(34, trace.Exit, 0)
	s.do(36, trace.Resume, 2)
	s.add(trace.Event{Kind: trace.Suspect, Proc: 2, Peer: 3})
	s.do(38, trace.Heal, algorithm.None)
	s.do(40, trace.Restart, 3)
	s.add(trace.Event{Kind: trace.Trust, Proc: 2, Peer: 3})
	s.do(42, trace.Exit, 1)
	s.do(43, trace.Ask, 2)
	s.message(43, trace.Send, 2, 0, 7, "REQUEST") // still on its way at the end
	s.do(44, trace.Deny, 2)
	s.add(trace.Event{Kind: trace.Note, Proc: algorithm.None, Name: "the end"})
	return s.t
}

// random makes a trace that Check accepts, of anything in any order.
func random(seed uint64, n, events int) *trace.Trace {
	r := rand.New(rand.NewPCG(seed, 7))
	s := newScript(n, "chance "+strconv.FormatUint(seed, 10))
	type letter struct {
		n        int
		from, to algorithm.ID
		name     string
	}
	var onTheWay []letter
	msgs := 0
	for len(s.t.Events) < events {
		s.at += int64(r.IntN(3))
		p := algorithm.ID(r.IntN(n))
		switch c := r.IntN(10); {
		case c < 4:
			msgs++
			l := letter{msgs, p, algorithm.ID(r.IntN(n)), []string{"REQUEST", "OK", "TOKEN"}[r.IntN(3)]}
			onTheWay = append(onTheWay, l)
			if r.IntN(8) == 0 {
				s.message(s.at, trace.Duplicate, l.from, l.to, l.n, l.name)
			}
			if r.IntN(8) > 0 {
				s.message(s.at, trace.Send, l.from, l.to, l.n, l.name)
			}
			if k := len(s.t.Events); k == 0 || s.t.Events[k-1].Msg != l.n {
				continue // it was sent before the trace began
			}
			s.t.Events[len(s.t.Events)-1].Fields = []host.Field{{Name: "stamp", Value: "<1,2>"}, {Name: "n", Value: strconv.Itoa(msgs)}}
		case c < 8 && len(onTheWay) > 0:
			i := r.IntN(len(onTheWay))
			l := onTheWay[i]
			if r.IntN(6) == 0 {
				s.message(s.at, trace.Drop, l.from, l.to, l.n, l.name)
			} else {
				s.message(s.at, trace.Receive, l.to, l.from, l.n, l.name)
			}
			if r.IntN(10) > 0 { // otherwise it comes again
				onTheWay = append(onTheWay[:i], onTheWay[i+1:]...)
			}
		case c == 9:
			kinds := []trace.Kind{trace.Expire, trace.Crash, trace.Restart, trace.Pause, trace.Resume, trace.Lead, trace.Suspect, trace.Trust, trace.Deny}
			s.do(s.at, kinds[r.IntN(len(kinds))], p)
			if r.IntN(4) == 0 {
				s.add(trace.Event{Kind: trace.Partition, Proc: algorithm.None})
				s.add(trace.Event{Kind: trace.Violation, Proc: p, Peer: algorithm.None, Name: "order"})
			}
		default:
			s.do(s.at, []trace.Kind{trace.Ask, trace.Enter, trace.Exit}[r.IntN(3)], p)
		}
	}
	return s.t
}
