package bench

import (
	"fmt"
	"slices"
	"time"
)

// slice is how long one thing is measured at a time, before the other gets its turn where
// two are compared: so other load on the machine affects both.
const slice = 100 * time.Millisecond

func micro(d time.Duration, count int) float64 {
	return float64(d.Nanoseconds()) / 1000 / float64(max(count, 1))
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// A measure is one of the measurements.
type measure struct {
	what string
	run  func() ([]Row, error)
}

func (g *group) measures() []measure {
	return []measure{
		{"raw TLS", g.first},
		{"a local lock", g.local},
		{"handoffs", g.handoff},
		{"a contended lock", g.shared},
		{"a client", g.client},
		{"many locks", g.many},
		{"raw TLS again", g.last},
		{"waiting clients", g.crowd},
		{"an idle cluster", g.idle},
		{"a rolling restart", g.roll},
	}
}

// raw is the mean time of a raw exchange between two of the processes.
func (g *group) raw(d time.Duration) (float64, error) {
	r, err := g.all[0].ask(order{Op: opRaw, Address: g.echo, For: d})
	return micro(r.Took, r.Count), err
}

func (g *group) first() ([]Row, error) { return g.rawRow("raw TLS round trip, before") }
func (g *group) last() ([]Row, error)  { return g.rawRow("raw TLS round trip, after") }

func (g *group) rawRow(name string) ([]Row, error) {
	v, err := g.raw(g.Time / 2)
	if err != nil {
		return nil, err
	}
	return []Row{plain(name, v, "µs")}, nil
}

// local measures a lock without contention: the median of many slices of time.
func (g *group) local() ([]Row, error) {
	var values, cpus []float64
	for range max(int(g.Time/slice), 1) {
		r, err := g.all[0].ask(order{Op: opSpin, Lock: "local", Users: 1, For: slice})
		if err != nil {
			return nil, err
		}
		values, cpus = append(values, micro(r.Took, r.Count)), append(cpus, micro(r.CPU, r.Count))
	}
	return []Row{
		bounded("lock+unlock, embedded, local", median(values), "µs", localLimit),
		plain("CPU time per lock+unlock", median(cpus), "µs"),
	}, nil
}

// against measures something and the raw exchange in turns, and returns the medians.
func (g *group) against(measure func(d time.Duration) (float64, error)) (value, raw float64, err error) {
	if _, err := measure(slice / 4); err != nil { // warm-up
		return 0, 0, err
	}
	var values, raws []float64
	for range max(int(g.Time/slice), 1) {
		r, err := g.raw(slice)
		if err != nil {
			return 0, 0, err
		}
		v, err := measure(slice)
		if err != nil {
			return 0, 0, err
		}
		values, raws = append(values, v), append(raws, r)
	}
	return median(values), median(raws), nil
}

// handoff measures one lock that two nodes constantly request: at each release a request
// waits at the other node.
func (g *group) handoff() ([]Row, error) {
	var first answer
	for _, w := range g.all[:2] {
		a, err := w.ask(order{Op: opPair, Address: first.Address})
		if err != nil {
			return nil, err
		}
		if first.Address == "" {
			first = a
		}
		defer w.ask(order{Op: opPart})
	}
	v, raw, err := g.against(func(d time.Duration) (float64, error) {
		sum, err := g.together(g.all[:2], func(int) order { return order{Op: opTurns, Lock: "handoff", Users: 4, For: d} })
		return micro(sum.Took, sum.Handoffs), err
	})
	if err != nil {
		return nil, err
	}
	return []Row{bounded("handoff between two members", v, "µs", handoffLimit*raw)}, nil
}

// shared measures one lock that many goroutines request at all nodes.
func (g *group) shared() ([]Row, error) {
	sum, err := g.together(g.all, func(i int) order {
		return order{Op: opSpin, Lock: "shared", Users: (sharers + nodes - 1 - i) / nodes, For: g.Time}
	})
	if err != nil {
		return nil, err
	}
	return rates(fmt.Sprintf("one lock, %d goroutines, 3 members", sharers), sum, sharedLimit), nil
}

// rates returns entries per second, and CPU time per entry, which says more on a busy
// machine.
func rates(name string, sum answer, limit float64) []Row {
	return []Row{
		atLeast(name, float64(sum.Count)/sum.Took.Seconds(), "entries/s", limit),
		plain("CPU time per entry, all members", micro(sum.CPU, sum.Count), "µs"),
	}
}

// client measures a client of a node that acquires locks without contention. Another lock
// each time costs messages. The same lock again costs none, because the node delegates it.
func (g *group) client() ([]Row, error) {
	acquired := func(locks int) func(d time.Duration) (float64, error) {
		return func(d time.Duration) (float64, error) {
			r, err := g.all[1].ask(order{Op: opClient, Address: g.all[0].address, Lock: "client", Locks: locks, For: d})
			return micro(r.Took, r.Count), err
		}
	}
	other, raw, err := g.against(acquired(clientLocks))
	if err != nil {
		return nil, err
	}
	same, _, err := g.against(acquired(1))
	if err != nil {
		return nil, err
	}
	return []Row{
		bounded("lock+unlock, Go client, another lock", other, "µs", clientLimit*raw),
		bounded("lock+unlock, Go client, same lock", same, "µs", againLimit),
	}, nil
}

// many measures many locks that all nodes use.
func (g *group) many() ([]Row, error) {
	sum, err := g.together(g.all, func(i int) order {
		return order{Op: opSpread, Users: users, Locks: names, Seed: uint64(i), For: g.Time}
	})
	if err != nil {
		return nil, err
	}
	return rates(fmt.Sprintf("%d random locks, 3 members", names), sum, manyLimit), nil
}

// crowd measures many clients that wait for one lock at one node.
func (g *group) crowd() ([]Row, error) {
	before, err := g.all[0].ask(order{Op: opUsage})
	if err != nil {
		return nil, err
	}
	if _, err := g.all[0].ask(order{Op: opHold, Lock: "crowd"}); err != nil {
		return nil, err
	}
	if _, err := g.all[1].ask(order{Op: opCrowd, Address: g.all[0].address, Lock: "crowd", Users: g.Clients}); err != nil {
		return nil, err
	}
	during, err := g.all[0].ask(order{Op: opUsage})
	if err != nil {
		return nil, err
	}
	if _, err := g.all[0].ask(order{Op: opFree}); err != nil {
		return nil, err
	}
	served, err := g.all[1].ask(order{Op: opServed})
	if err != nil {
		return nil, err
	}
	each := func(a, b int64) float64 { return float64(max(a-b, 0)) / 1024 / float64(g.Clients) }
	return []Row{
		plain(fmt.Sprintf("memory per waiter, %d clients", g.Clients), each(during.Resident, before.Resident), "KiB"),
		plain("heap memory per waiter", each(during.Heap, before.Heap), "KiB"),
		bounded("waiters never granted", float64(g.Clients-served.Count), "clients", 0),
	}, nil
}

// idle measures a cluster without load.
func (g *group) idle() ([]Row, error) {
	g.sleep(time.Second) // closed connections are cleaned up
	before, err := g.usage()
	if err != nil {
		return nil, err
	}
	since, were := time.Now(), g.files()
	g.sleep(g.Idle)
	took, are := time.Since(since), g.files()
	after, err := g.usage()
	if err != nil {
		return nil, err
	}
	changed := 0
	for name, at := range are {
		if were[name] != at {
			changed++
		}
	}
	return []Row{
		bounded(fmt.Sprintf("idle for %v: total CPU time", g.Idle), 100*float64(after.CPU-before.CPUThen)/float64(took), "% of a core", idleLimit),
		bounded("idle: written to disk", float64(after.Written-before.Written), "bytes", 0),
		bounded("idle: files changed", float64(changed), "files", 0),
		bounded("idle: growth of live memory", float64(after.Heap-before.Heap)/1024, "KiB", growthLimit),
	}, nil
}

// usage returns what all nodes have used.
func (g *group) usage() (sum answer, err error) {
	for _, w := range g.all {
		u, err := w.ask(order{Op: opUsage})
		if err != nil {
			return sum, err
		}
		sum.Heap, sum.Written, sum.CPU, sum.CPUThen = sum.Heap+u.Heap, sum.Written+u.Written, sum.CPU+u.CPU, sum.CPUThen+u.CPUThen
	}
	return sum, nil
}
