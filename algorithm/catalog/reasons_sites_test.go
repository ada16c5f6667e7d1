package catalog

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
)

// TestReasonsOfSites does the same for the methods against deadlock, in all their modes.
func TestReasonsOfSites(t *testing.T) {
	for _, m := range deadlock.Methods() {
		for _, mode := range append(m.Modes, "")[:max(1, len(m.Modes))] {
			t.Run(m.Name+" "+mode, func(t *testing.T) {
				fired := make(map[int]bool)
				var spec algorithm.Spec
				for seed := range uint64(64) {
					layout := deadlock.Spread(1+int(seed%4), 2+int(seed%5), 2+int(seed%3))
					var err error
					if spec, err = m.Spec(layout, mode); err != nil {
						t.Fatal(err)
					}
					b, err := newBench(spec, layout.Sites, 1+seed*7919, fired)
					if err == nil {
						err = b.transact(m, layout, 400)
					}
					judged(t, b, err)
				}
				covered(t, spec, fired)
			})
		}
	}
}

// A customer is a transaction as its application knows it.
type customer struct {
	phase  string // idle, running, waiting or doomed
	has    []int
	wants  int
	claims []int
}

// transact runs transactions that request locks at random, at sites of which some die.
func (b *bench) transact(m deadlock.Method, layout deadlock.Layout, steps int) error {
	txs := make([]customer, len(layout.Home))
	for i := range txs {
		txs[i].phase = "idle"
	}
	act := func(self algorithm.ID, in host.Input) error {
		if err := b.step(self, in); err != nil {
			return err
		}
		for _, n := range b.out.Notices {
			switch n.Kind {
			case host.Granted:
				txs[n.Who].phase, txs[n.Who].has = "running", append(txs[n.Who].has, txs[n.Who].wants)
			case host.Denied:
				txs[n.Who].phase = "running"
				if len(txs[n.Who].has) == 0 {
					txs[n.Who].phase = "idle"
				}
			case host.Victim:
				txs[n.Who].phase = "doomed"
			}
		}
		return nil
	}
	for range steps {
		who := algorithm.ID(b.dice.below(len(txs)))
		home, tx, lock := layout.Home[who], &txs[who], b.dice.below(len(layout.At))
		var err error
		switch roll := b.dice.below(200); {
		case roll < 110 && len(b.flight) > 0:
			l := b.next()
			err = act(l.to, host.Input{Kind: host.Receive, From: l.from, Bytes: l.bytes})
		case roll < 130 && len(b.timers) > 0:
			a := b.timers[b.dice.below(len(b.timers))]
			b.timers = slices.DeleteFunc(b.timers, func(o alarm) bool { return o == a })
			err = act(a.at, host.Input{Kind: host.Expire, Timer: a.timer})
		case roll == 199 && b.dead.Len() < layout.Sites-1:
			err = b.dies(algorithm.ID(b.dice.below(layout.Sites)), act)
		case b.dead.Has(home):
		case tx.phase == "doomed":
			*tx = customer{phase: "idle", claims: tx.claims}
			err = act(home, host.Input{Kind: host.Abort, From: who})
		case tx.phase == "waiting" && roll > 190:
			tx.phase = "running"
			err = act(home, host.Input{Kind: host.Cancel, From: who})
		case tx.phase == "waiting":
		case tx.phase == "running" && (roll > 185 || len(tx.has) == len(layout.At)):
			*tx = customer{phase: "idle"}
			err = act(home, host.Input{Kind: host.Release, From: who})
		case m.Claims && tx.phase == "idle" && len(tx.claims) == 0:
			for k := range layout.At {
				if b.dice.below(3) > 0 && err == nil {
					tx.claims = append(tx.claims, k)
					err = b.step(home, host.Input{Kind: host.Claim, From: who, Arg: k})
				}
			}
		case slices.Contains(tx.has, lock):
		default:
			tx.phase, tx.wants = "waiting", lock
			mode := []int{0, 0, 0, -1, -1, 2}[b.dice.below(6)]
			err = act(home, host.Input{Kind: host.Request, From: who, Arg: lock, Mode: mode})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dies ends a site, after all that it has sent has arrived, and notifies the others.
func (b *bench) dies(site algorithm.ID, act func(algorithm.ID, host.Input) error) error {
	if b.dead.Has(site) {
		return nil
	}
	for i := 0; i < len(b.flight); {
		l := b.flight[i]
		if l.from != site {
			i++
			continue
		}
		b.flight = slices.Delete(b.flight, i, i+1)
		if err := act(l.to, host.Input{Kind: host.Receive, From: l.from, Bytes: l.bytes}); err != nil {
			return err
		}
	}
	b.dead.Add(site)
	b.flight = slices.DeleteFunc(b.flight, func(l letter) bool { return l.to == site })
	b.timers = slices.DeleteFunc(b.timers, func(a alarm) bool { return a.at == site })
	for id := range algorithm.ID(len(b.ms)) {
		if id == site || b.dead.Has(id) {
			continue
		}
		if err := act(id, host.Input{Kind: host.Suspect, From: site}); err != nil {
			return err
		}
	}
	return nil
}
