package main

import "fmt"

// A goal is what a figure should be. The limits and the peers are of the same run.
type goal struct {
	text     string
	measured string
	met      bool
}

// goals compares the result with the goals. A goal whose figures are missing is left out.
func goals(r *Result) (all []goal) {
	value := func(workload, entrant, figure string) (float64, bool) {
		s, ok := r.find(workload, entrant).of(figure)
		return s.median, ok
	}
	add := func(text, unit string, met func(v float64) bool, v float64, ok bool) {
		if ok {
			all = append(all, goal{text, short(v) + " " + unit, met(v)})
		}
	}
	for _, x := range []struct{ entrant, limit, how string }{{"stile", limitTLS, "TLS"}, {"stile-plain", limitTCP, "plain TCP"}} {
		v, ok := value("other-locks", x.entrant, figP50)
		raw, also := value("uncontended", x.limit, figP50)
		if ok && also && raw > 0 {
			add(fmt.Sprintf("acquire and release another lock by a Go client over %s: at most 1.1 times two raw round trips", x.how), "times", func(v float64) bool { return v <= 1.1 }, v/raw, true)
		}
	}
	v, ok := value("uncontended", "stile", figMean)
	add("acquire and release the same lock again by a Go client: at most 2 µs", "µs", func(v float64) bool { return v <= 2 }, v, ok)
	v, ok = value("uncontended", "stile-embedded", figMean)
	add("acquire and release in an embedded node: at most 0.4 µs", "µs", func(v float64) bool { return v <= 0.4 }, v, ok)
	v, ok = value("clients-2", "stile", figRate)
	add("two clients on one lock: at least 30,000 holds/s", "holds/s", func(v float64) bool { return v >= 30_000 }, v, ok)
	v, ok = value("idle", "stile", figIdle)
	add("an idle cluster: under 0.5 % of a core", "%", func(v float64) bool { return v < 0.5 }, v, ok)
	return all
}

// An ahead is a figure in which a peer is better than stile.
type ahead struct {
	workload *workload
	figure   string
	ours     *entrant
	own      float64
	peer     *entrant
	best     float64
}

// compared are the figures in which entrants are compared. Only of the rate more is better.
var compared = []string{figRate, figP50, figMean, figP99, figCPU, figIdle, figLock, figWaiter, figOutage}

// peersAhead returns every figure in which a peer is ahead of the Go client with the same
// transport security, and how many were compared.
func peersAhead(r *Result) (all []ahead, of int) {
	for _, w := range workloads {
		for _, name := range []string{"stile", "stile-plain"} {
			ours := named(name)
			for _, figure := range compared {
				own, ok := r.find(w.Name, name).of(figure)
				if !ok {
					continue
				}
				best, found := bestPeer(r, w, ours, figure)
				if !found {
					continue
				}
				of++
				v := r.find(w.Name, best.Name).median(figure)
				if better(figure, v, own.median) {
					all = append(all, ahead{w, figure, ours, own.median, best, v})
				}
			}
		}
	}
	return all, of
}

// better reports whether a value of a figure is better than another one.
func better(figure string, v, than float64) bool {
	if figure == figRate {
		return v > than
	}
	return v < than
}

// bestPeer returns the peer with the best value of a figure among those with the same
// transport security. Over TLS, peers without it do not count.
func bestPeer(r *Result, w *workload, ours *entrant, figure string) (best *entrant, ok bool) {
	for _, e := range entrants {
		if e.ours || e.Security != ours.Security {
			continue
		}
		s, measured := r.find(w.Name, e.Name).of(figure)
		if measured && (best == nil || better(figure, s.median, r.find(w.Name, best.Name).median(figure))) {
			best = e
		}
	}
	return best, best != nil
}
