package storm

import (
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	talk "github.com/stile-lock/stile/internal/session"
)

// ready returns a world of three members that have their first view and their leases,
// without requests.
func ready(t *testing.T) *world {
	t.Helper()
	c := pick(1)
	c.Nodes, c.Locks, c.Apps, c.Clients, c.Faults, c.Strikes = 3, 1, 1, 1, 0, []Strike{}
	c.Algorithms, c.Prefixed, c.Think = live()[:1], false, member.Second
	c.Voters = 3
	w := newWorld(c, nil)
	if err := w.begin(); err != nil {
		t.Fatal(err)
	}
	for w.phase == forming && w.Due() < formFor {
		w.Step()
	}
	for _, q := range w.procs[:3] {
		for i := range q.apps {
			q.apps[i].seq++ // they do nothing by themselves
		}
	}
	if w.phase != stormy || w.result.Violation != nil {
		t.Fatalf("phase %d, %v", w.phase, w.result.Violation)
	}
	return w
}

// at returns the home of the lock, and the others.
func at(w *world) (home, a, b *proc) {
	v := w.procs[0].view
	h := v.Home(w.names[0])
	place := func(i int) *proc { return w.at(v.Members[(h+i)%3].Inc) }
	return place(0), place(1), place(2)
}

// tok is a token of the present epoch, which is called 1 here, or of a later one.
func tok(w *world, epoch, count uint64) member.Token {
	return member.Token{Epoch: w.oracle.epoch() + epoch - 1, Count: count}
}

// enters lets a process enter with a token, as if its member had said so.
func enters(q *proc, t member.Token) *ask { return entersSince(q, t, q.w.oracle.mark(0)) }

// entersSince is enters for a request that has waited since then.
func entersSince(q *proc, t member.Token, m mark) *ask {
	x := &ask{app: -1, held: true, token: t, deadline: member.Never, mark: m, asked: q.w.Now(), stamp: member.Stamp{Epoch: q.epoch(), Clock: 1, Inc: q.inc}}
	q.asks = append(q.asks, x)
	q.w.oracle.entered(q, x)
	return x
}

// lent lets the home lend the lock.
func lent(w *world, to *proc) {
	home, _, _ := at(w)
	w.oracle.letsGo(home, 0, to.inc, "LEND")
}

// next lets a process be in the next epoch, with the same members.
func next(w *world, all ...*proc) {
	v := *w.procs[0].view
	v.BeforeEpoch, v.Epoch = v.Epoch, v.Epoch+1
	for _, q := range all {
		q.view = &v
		q.reports = nil
	}
}

// waits adds a request that has waited at a process since an older epoch.
func waits(q *proc, clock uint64) *ask {
	x := &ask{app: -1, deadline: member.Never, stamp: member.Stamp{Epoch: q.w.oracle.epoch(), Clock: clock, Inc: q.inc}}
	q.asks = append(q.asks, x)
	return x
}

// believes returns an application of a client that believes to be inside, until its
// clock shows more.
func believes(w *world, t member.Token) *hand {
	h := &w.clients[0].hands[0]
	*h = hand{c: h.c, request: 1, holds: true, token: t, until: h.c.now() + 1}
	return h
}

// granted lets a client acquire the lock, and returns the application that has it, as the
// oracle knows it before it enters: with another token, and nothing inside.
func granted(t *testing.T, w *world, to member.Token) *hand {
	t.Helper()
	h := &w.clients[0].hands[0]
	*h = hand{c: h.c, asked: w.Now(), mark: w.oracle.mark(0)}
	var err error
	if h.request, err = h.c.session.Lock(h.c.now(), w.names[0], talk.Opts{}); err != nil {
		t.Fatal(err)
	}
	for h.c.take(); !h.holds && w.Due() < formFor; {
		w.Step()
	}
	if w.oracle.locks[0].holds = nil; !h.holds || w.result.Violation != nil {
		t.Fatalf("the client does not enter: %v", w.result.Violation)
	}
	h.token = to
	w.oracle.locks[0].grants[to] = true
	return h
}

// Every check of the oracle finds what is planted, and is silent before.
func TestPlanted(t *testing.T) {
	for _, p := range []struct {
		what  string
		want  Invariant
		plant func(w *world, home, a, b *proc)
	}{
		{"a second one is inside", Exclusion, func(w *world, home, a, b *proc) {
			enters(home, tok(w, 1, 1))
			lent(w, a)
			enters(a, tok(w, 1, 2))
		}},
		{"an application still sees its lock as held", Exclusion, func(w *world, home, a, b *proc) {
			enters(home, tok(w, 1, 1))
			home.lease = home.now()
			lent(w, a)
			enters(a, tok(w, 1, 2))
		}},
		{"one that runs is not told before another enters", Told, func(w *world, home, a, b *proc) {
			enters(home, tok(w, 1, 1))
			home.lease = home.now()
			home.clock.read += home.p.Member().Deadline() - home.now()
			lent(w, a)
			enters(a, tok(w, 1, 2))
		}},
		{"a client is still inside", Exclusion, func(w *world, home, a, b *proc) {
			w.oracle.clientEntered(granted(t, w, tok(w, 1, 1)))
			*w.oracle.counted(0, home.epoch()) = 1
			enters(home, tok(w, 1, 2))
		}},
		{"a client enters beside a process", Exclusion, func(w *world, home, a, b *proc) {
			h := granted(t, w, tok(w, 1, 3))
			enters(home, tok(w, 1, 2))
			w.oracle.clientEntered(h)
		}},
		{"a client that has lost may still act", Exclusion, func(w *world, home, a, b *proc) {
			h := granted(t, w, tok(w, 1, 1))
			w.oracle.clientEntered(h)
			w.oracle.clientLost(h, member.Session)
			h.holds = false
			*w.oracle.counted(0, home.epoch()) = 1
			enters(home, tok(w, 1, 2))
		}},
		{"a client is not told", Told, func(w *world, home, a, b *proc) {
			h := believes(w, tok(w, 1, 1))
			h.until--
			h.c.take()
		}},
		{"a lease runs again", Exclusion, func(w *world, home, a, b *proc) {
			enters(home, tok(w, 1, 1))
			end := home.lease
			home.lease = 0
			lent(w, a)
			enters(a, tok(w, 1, 2))
			home.lease = end
			w.oracle.extended(home)
		}},
		{"a token twice", Tokens, func(w *world, home, a, b *proc) {
			w.oracle.left(home, enters(home, tok(w, 1, 1)))
			enters(home, tok(w, 1, 1))
		}},
		{"a count left out", Tokens, func(w *world, home, a, b *proc) { enters(home, tok(w, 1, 2)) }},
		{"a token of an older epoch", Tokens, func(w *world, home, a, b *proc) {
			w.oracle.locks[0].last = tok(w, 2, 1)
			enters(home, tok(w, 1, 1))
		}},
		{"no lease", Leased, func(w *world, home, a, b *proc) {
			home.lease = home.now() + w.oracle.act
			enters(home, tok(w, 1, 1))
		}},
		{"an epoch that is not installed", Epochs, func(w *world, home, a, b *proc) { enters(home, tok(w, 2, 1)) }},
		{"a frame without a view", Epochs, func(w *world, home, a, b *proc) { a.view = nil; w.oracle.sent(a, b.inc, []byte{0}) }},
		{"a frame to a stranger", Epochs, func(w *world, home, a, b *proc) { w.oracle.sent(a, 99, []byte{0}) }},
		{"a packet of another epoch", Epochs, func(w *world, home, a, b *proc) { a.transmits([]byte{process.Packet, 9, 1, 2}) }},
		{"a frame is heard without a view", Epochs, func(w *world, home, a, b *proc) { a.view = nil; w.oracle.delivered(a, b.inc, nil) }},
		{"somebody is inside by an older epoch", Clearing, func(w *world, home, a, b *proc) {
			lent(w, a)
			enters(a, tok(w, 1, 1))
			next(w, home)
			lent(w, b)
		}},
		{"somebody enters by an older epoch", Clearing, func(w *world, home, a, b *proc) {
			w.oracle.locks[0].letGo = w.procs[0].epoch() + 1
			enters(home, tok(w, 1, 1))
		}},
		{"one that is not home lends", Clearing, func(w *world, home, a, b *proc) { w.oracle.letsGo(a, 0, b.inc, "LEND") }},
		{"nobody has let go or lent", Clearing, func(w *world, home, a, b *proc) { enters(a, tok(w, 1, 1)) }},
		{"a loss is not told", Told, func(w *world, home, a, b *proc) {
			enters(home, tok(w, 1, 1))
			home.lease = home.now()
			home.checkTold()
		}},
		{"an entry too late", Waits, func(w *world, home, a, b *proc) {
			w.phase = demanding
			m := w.oracle.mark(0)
			w.Wait(w.times.demand + int64(member.Second))
			home.lease = home.now() + member.Instant(member.Second)
			entersSince(home, tok(w, 1, 1), m)
		}},
		{"somebody waits for too long", Waits, func(w *world, home, a, b *proc) {
			w.phase = demanding
			waits(a, 1)
			w.Wait(w.times.demand + int64(member.Second))
			w.oracle.look()
		}},
		{"a client waits for too long", Waits, func(w *world, home, a, b *proc) {
			w.phase = demanding
			w.clients[0].hands[0].request = 1
			w.Wait(w.times.demand + int64(member.Second))
			w.oracle.look()
		}},
		{"somebody waits at the end", Waits, func(w *world, home, a, b *proc) { waits(a, 1); w.oracle.final() }},
		{"a transaction takes too long", Waits, func(w *world, home, a, b *proc) {
			w.phase = draining
			a.apps[0].tx = &transaction{plan: []wish{{}}, begun: w.Now()}
			w.Wait(w.times.demand + w.txBound(0) + 1)
			w.oracle.tooLong(a)
		}},
		{"the victim is not the youngest of its cycle", Victims, func(w *world, home, a, b *proc) {
			x, y := &ask{born: 1, serial: 1, asked: w.Now()}, &ask{born: 2, serial: 1, asked: w.Now()}
			for q, z := range map[*proc]*ask{a: x, b: y} {
				i, _ := w.find(q.inc)
				w.incarnations[i].asks = []*ask{z}
			}
			w.oracle.cycle(a, x, &member.Victim{How: member.InCycle, Cycle: []member.Wait{{Inc: a.inc, Tx: 1, Lock: w.names[0]}, {Inc: b.inc, Tx: 1, Lock: w.names[0]}}})
		}},
		{"a client waits at the end", Waits, func(w *world, home, a, b *proc) { w.clients[0].hands[0].request = 1; w.oracle.final() }},
		{"a member goes on and on", Turns, func(w *world, home, a, b *proc) {
			w.phase = demanding
			x := waits(a, 1)
			w.Wait(w.Now() + 100*ms)
			x.mark = w.oracle.mark(0)
			for i := range uint64(2*w.Settings.Handover + 2) {
				home.lease = home.now() + member.Instant(member.Second)
				w.oracle.left(home, enters(home, tok(w, 1, 1+i)))
			}
		}},
		{"others go on and on", Turns, func(w *world, home, a, b *proc) {
			w.phase = demanding
			x := waits(a, 1)
			w.oracle.locks[0].usage.turns = w.rounds() + 1
			w.oracle.overtakes(a, x)
		}},
		{"a lock is idle that is waited for", Waits, func(w *world, home, a, b *proc) {
			w.phase = demanding
			waits(a, 1).mark = w.oracle.mark(0)
			w.Wait(w.Now() + w.passing() + 1)
			w.oracle.look()
		}},
		{"a lock is entered too late", Waits, func(w *world, home, a, b *proc) {
			w.phase = demanding
			waits(a, 1).mark = w.oracle.mark(0)
			w.Wait(w.Now() + w.passing() + 1)
			enters(home, tok(w, 1, 1))
		}},
		{"a try takes too long", Tries, func(w *world, home, a, b *proc) {
			w.phase = demanding
			waits(a, 1).try = true
			w.Wait(w.times.demand + w.tryBound() + 1)
			w.oracle.look()
		}},
		{"a try is refused too late", Tries, func(w *world, home, a, b *proc) {
			w.phase = demanding
			w.Wait(w.times.demand + w.tryBound() + 1)
			w.oracle.decided(a, &ask{try: true})
		}},
		{"one who asked before is overtaken", Order, func(w *world, home, a, b *proc) {
			next(w, home, a, b)
			waits(b, 5)
			home.reports = []report{{b.inc, 0}}
			lent(w, a)
			x := waits(a, 7)
			x.held, x.token = true, tok(w, 2, 1)
			w.oracle.entered(a, x)
		}},
		{"one who asked before at the home is overtaken", Order, func(w *world, home, a, b *proc) {
			next(w, home, a, b)
			waits(home, 5)
			lent(w, a)
			x := waits(a, 7)
			x.held, x.token = true, tok(w, 2, 1)
			w.oracle.entered(a, x)
		}},
		{"the home lets go too early", Order, func(w *world, home, a, b *proc) {
			next(w, home, a, b)
			waits(b, 5)
			home.reports = []report{{b.inc, 0}}
			w.oracle.letsGo(home, 0, a.inc, "ALG")
		}},
		{"the home lets go before its own", Order, func(w *world, home, a, b *proc) {
			next(w, home, a, b)
			waits(home, 5)
			w.oracle.letsGo(home, 0, a.inc, "ALG")
		}},
		{"a frame from the future", Order, func(w *world, home, a, b *proc) {
			a.lamport-- // one less than nothing
			if err := a.lock(&ask{app: -1, deadline: member.Never}); err != nil {
				t.Fatal(err)
			}
		}},
		{"a stale write is accepted", Fence, func(w *world, home, a, b *proc) {
			w.store.cells[0].written = tok(w, 2, 1)
			w.store.receive(w, a.id, writeMsg, numbers{0, 1, 1, 1, 1})
		}},
		{"a deposit is lost", Bank, func(w *world, home, a, b *proc) {
			w.store.receive(w, a.id, writeMsg, numbers{0, 1, 1, 5, 5})
			w.store.receive(w, a.id, writeMsg, numbers{0, 1, 2, 1, 1})
		}},
		{"held twice", Events, func(w *world, home, a, b *proc) {
			enters(home, tok(w, 1, 1))
			home.told(&member.Event{Kind: member.Held})
		}},
		{"lost, and not held", Events, func(w *world, home, a, b *proc) { waits(a, 1); a.told(&member.Event{Kind: member.Lost}) }},
		{"busy, and no try", Events, func(w *world, home, a, b *proc) { waits(a, 1); a.told(&member.Event{Kind: member.Busy}) }},
		{"late, and no deadline", Events, func(w *world, home, a, b *proc) { waits(a, 1); a.told(&member.Event{Kind: member.Late}) }},
		{"stopped, and held", Events, func(w *world, home, a, b *proc) {
			enters(home, tok(w, 1, 1))
			home.told(&member.Event{Kind: member.Stopped})
		}},
		{"nobody asked", Events, func(w *world, home, a, b *proc) { a.told(&member.Event{Ticket: 9}) }},
		{"held, and leaving", Events, func(w *world, home, a, b *proc) {
			waits(a, 1)
			a.state = leaving
			a.told(&member.Event{Kind: member.Held})
		}},
		{"somebody is not told that the member is gone", Events, func(w *world, home, a, b *proc) { waits(a, 1); w.oracle.stopped(a) }},
		{"an old token unlocks", Events, func(w *world, home, a, b *proc) {
			x := &ask{app: -1, deadline: member.Never}
			if err := home.lock(x); err != nil || !x.held {
				t.Fatalf("the home does not enter: %v", err)
			}
			home.lateUnlock(&app{lost: x.token})
		}},
		{"a frame that was not sent", Channels, func(w *world, home, a, b *proc) { w.oracle.delivered(a, b.inc, []byte{1}) }},
		{"a frame that is none", Errors, func(w *world, home, a, b *proc) { w.oracle.sent(a, b.inc, []byte{63}) }},
		{"a process that hears nonsense", Errors, func(w *world, home, a, b *proc) { a.receive(b.id, []byte{process.Service, 255}) }},
		{"a process that hears nonsense from a client", Errors, func(w *world, home, a, b *proc) {
			a.serve(&line{w: w, no: 1, c: w.clients[0], q: a}, []byte{255})
		}},
		{"a process that fails, and its disk is well", Errors, func(w *world, home, a, b *proc) {
			a.effect(&process.Effect{Kind: process.Failed})
		}},
		{"a link that ends", Errors, func(w *world, home, a, b *proc) {
			a.effect(&process.Effect{Kind: process.LinkEnded, Peer: b.inc})
		}},
		{"a question that no client asks", Errors, func(w *world, home, a, b *proc) {
			a.effect(&process.Effect{Kind: process.Ask})
		}},
		{"an unlock that fails", Errors, func(w *world, home, a, b *proc) { home.unlock(enters(home, tok(w, 1, 1))) }},
		{"a loss when all is well", Calm, func(w *world, home, a, b *proc) {
			w.phase = demanding
			w.oracle.lost(home, &ask{}, member.Session)
		}},
		{"an eviction when all is well", Calm, func(w *world, home, a, b *proc) {
			w.phase = demanding
			w.oracle.dropped(home.inc)
		}},
		{"noise when all is silent", Silence, func(w *world, home, a, b *proc) {
			w.oracle.quiet = true
			a.transmits([]byte{process.Packet, byte(a.epoch()), 1, 2})
		}},
	} {
		w := ready(t)
		if w.result.Violation != nil {
			t.Fatalf("%s: broken before: %v", p.what, w.result.Violation)
		}
		home, a, b := at(w)
		p.plant(w, home, a, b)
		if v := w.result.Violation; v == nil || v.Invariant != p.want {
			t.Errorf("%s: want %s broken, got %v", p.what, p.want, v)
		}
	}
}
