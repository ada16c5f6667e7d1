package storm

import (
	"fmt"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/trace"
	"math"
	"os"
	"strconv"
	"testing"
)

func TestDbg(t *testing.T) {
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	c := pick(uint64(seed))
	if os.Getenv("CALM") != "" {
		c.Faults &= Drift
		c.Strikes = []Strike{}
	}
	before := member.Span(math.MaxInt64)
	if b, err := strconv.Atoi(os.Getenv("LAST")); err == nil {
		before = member.Span(b) * member.Millisecond
	}
	tr, r, err := Record(c, before, 4000)
	fmt.Println(c.Nodes, c.Voters, c.Shelter, c.Algorithms[0], c.Settings, err, r.Violation, r.Terms, r.Views)
	if tr != nil {
		os.WriteFile("/tmp/dbg.txt", []byte(tr.Text(trace.TextOptions{})), 0o644)
	}
}
func TestDbg2(t *testing.T) {
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	c := pick(uint64(seed))
	c.Strikes = Draw(c)
	w := newWorld(c, nil)
	w.begin()
	for w.Pending() && w.result.Violation == nil && w.phase != drained && w.Due() <= w.times.end {
		w.turn(w.Due())
		before := make([]int, len(w.procs))
		for i, q := range w.procs {
			if q.disk != nil {
				before[i] = q.disk.Saves()
			}
		}
		w.Step()
		if w.phase >= draining {
			for i, q := range w.procs {
				if q.disk != nil && q.disk.Saves() != before[i] {
					fmt.Println(w.Now()/1000, w.Name(q.id), q.disk.Saves(), q.peer.Clerk() != nil && true, func() any {
						if q.clerk() != nil {
							return q.clerk().Lead()
						}
						return nil
					}())
				}
			}
		}
	}
	w.finish()
	fmt.Println(w.result.Violation, w.severed)
	for _, q := range w.procs {
		fmt.Printf("%s state %d inc %d epoch %d", w.Name(q.id), q.state, q.inc, q.epoch())
		if q.disk != nil {
			fmt.Printf(" disk %d", q.disk.Voter())
		}
		if k := q.clerk(); k != nil {
			fmt.Printf(" lead %+v rec epoch %d voters %+v members %+v", k.Lead(), k.Record().Epoch, k.Record().Voters, k.Record().Members)
		}
		fmt.Println()
	}
	for _, s := range c.Strikes {
		if s.Kind == Sever {
			fmt.Println(s)
		}
	}
}
func TestDbgMany(t *testing.T) {
	from, _ := strconv.Atoi(os.Getenv("FROM"))
	n, _ := strconv.Atoi(os.Getenv("N"))
	for s := from; s < from+n; s++ {
		r, err := Run(pick(uint64(s)))
		if err != nil || r.Violation != nil {
			fmt.Println("SEED", s, err, r.Violation)
		}
	}
}
func TestDbgTuned(t *testing.T) {
	for s := uint64(0); s < 300; s++ {
		x := control{tune: reigns}
		_, r, err := x.run(s)
		if err != nil || r.Violation != nil {
			fmt.Println("SEED", s, err, r.Violation)
		}
	}
}
