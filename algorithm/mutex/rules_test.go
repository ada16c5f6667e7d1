package mutex

import (
	"math"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// P1 is in, P2 and P3 queue; P2 and then P3 get in.
func TestCentralQueuesByArrival(t *testing.T) {
	r := newRig(t, Central(3), algorithm.View{N: 4})
	r.ask(1)
	r.settle()
	r.ask(2)
	r.settle()
	r.ask(3)
	r.settle()
	r.wantField(4, "granted", "1")
	r.wantField(4, "queue", "2 3")
	r.leave(1)
	r.settle()
	r.leave(2)
	r.settle()
	r.wantEntries(1, 2, 3)
}

// A REQUEST that overtakes the RELEASE before it waits its turn.
func TestCentralSurvivesOvertaking(t *testing.T) {
	r := newRig(t, Central(0), algorithm.View{N: 3, Holder: 1, Busy: true})
	r.ask(3)
	r.settle()
	r.leave(2)
	r.ask(2)
	r.take(1) // the REQUEST, before the RELEASE
	r.wantField(1, "queue", "3 2")
	r.settle()
	r.leave(3)
	r.settle()
	r.wantEntries(3, 2)
}

// Every entry costs three messages, but none at the coordinator.
func TestCentralCounts(t *testing.T) {
	for _, f := range []func(algorithm.ID) algorithm.Spec{Central, CentralStamped} {
		for n := 2; n <= 5; n++ {
			remote := 0
			r, err := sim.Run(sim.Config{
				Spec: f(1), Nodes: n, Entries: 100, Seed: 1,
				Latency: scenario.Always(scenario.T), Hold: scenario.Always(scenario.T),
				Observe: func(e trace.Event) {
					if e.Kind == trace.Enter && e.Proc != 1 {
						remote++
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Messages != 3*remote {
				t.Errorf("%s among %d: %d messages for %d entries of others", r.Algorithm, n, r.Messages, remote)
			}
		}
	}
}

// Whoever asks while somebody is inside is told so, and may try again.
func TestCentralDenies(t *testing.T) {
	r := newRig(t, CentralDeny(0), algorithm.View{N: 3, Holder: 0, Busy: true})
	r.ask(2)
	r.deliver(2, 1, "REQUEST")
	r.deliver(1, 2, "DENIED")
	r.wantField(2, "state", "RELEASED")
	if r.phase[1] != released {
		t.Fatal("the application was not told")
	}
	r.leave(1)
	r.ask(2)
	r.settle()
	r.wantEntries(2)
}

// Of those that the coordinator knows the smallest stamp goes first, whenever
// it arrived; of equal times the lower seat.
func TestCentralStampedQueuesByStamp(t *testing.T) {
	r := newRig(t, CentralStamped(0), algorithm.View{N: 4, Holder: 0, Busy: true})
	r.ask(4) // stamp 1
	r.deliver(4, 1, "REQUEST")
	r.leave(1)
	r.settle() // P4 goes in and knows time 2
	r.leave(4)
	r.ask(4) // stamp 2
	r.ask(1) // stamp 2, known to itself at once
	r.deliver(4, 1, "RELEASE")
	r.deliver(4, 1, "REQUEST")
	r.ask(3) // stamp 1, last to arrive
	r.ask(2) // stamp 1
	r.settle()
	r.wantField(1, "granted", "1")
	r.leave(1)
	for _, p := range []int{2, 3, 4} {
		r.settle()
		r.leave(p)
	}
	r.wantEntries(4, 1, 2, 3, 4)
}

// The token starts with Start, not before, and only once; a process that was
// faster keeps it.
func TestTokenRingStarts(t *testing.T) {
	r := newRig(t, TokenRing(), algorithm.View{N: 3, Holder: 1})
	r.ask(2)
	r.wantEntries(2)
	r.start()
	if r.sent != 0 {
		t.Fatal("the token ran away from the one inside")
	}
	r.leave(2)
	r.step(2, host.Input{Kind: host.Start})
	if r.sent != 1 {
		t.Fatalf("%d tokens sent, want 1", r.sent)
	}
	r.ask(2)
	r.deliver(2, 3, "TOKEN")
	r.deliver(3, 1, "TOKEN")
	r.deliver(1, 2, "TOKEN")
	r.wantEntries(2, 2)
}

// A process alone sends nothing.
func TestAloneIsSilent(t *testing.T) {
	for _, spec := range sound() {
		r := newRig(t, spec, algorithm.View{N: 1})
		r.start()
		for range 3 {
			r.ask(1)
			r.leave(1)
		}
		r.wantEntries(1, 1, 1)
		if r.sent != 0 {
			t.Errorf("%s alone sent %d messages", spec.Name, r.sent)
		}
	}
}

// A wish and the token that it wakes go once round together: N messages,
// wherever the wisher is. Where the token rests an entry is free, and nothing
// moves while nobody asks.
func TestTokenRingLazyGoesRoundOnce(t *testing.T) {
	const n = 6
	for p := 1; p <= n; p++ {
		r := newRig(t, TokenRingLazy(), algorithm.View{N: n, Holder: 2})
		r.ask(p)
		r.settle()
		r.leave(p)
		r.settle()
		want := n
		if p == 3 {
			want = 0
		}
		if r.sent != want {
			t.Errorf("P%d: %d messages, want %d", p, r.sent, want)
		}
		r.ask(p)
		r.leave(p)
		if r.sent != want {
			t.Errorf("P%d again: %d messages, want %d", p, r.sent, want)
		}
	}
}

// Rules 2 and 3: the token goes on to the last that wished, and everybody
// on the way that wants in gets in.
func TestTokenRingLazyGoal(t *testing.T) {
	r := newRig(t, TokenRingLazy(), algorithm.View{N: 5, Holder: 0, Busy: true})
	r.ask(5)
	r.deliver(5, 1, "WISH")
	r.wantField(1, "goal", "5")
	r.ask(3)
	r.deliver(3, 4, "WISH")
	r.deliver(4, 5, "WISH")
	if len(r.flight) != 0 {
		t.Fatal("P5 waits and must swallow the wish of P3")
	}
	r.leave(1)
	r.deliver(1, 2, "TOKEN")
	r.ask(1) // behind the token
	r.deliver(1, 2, "WISH")
	r.deliver(2, 3, "TOKEN")
	r.deliver(2, 3, "WISH")
	r.wantField(3, "goal", "1")
	r.leave(3)
	r.settle()
	r.leave(5)
	r.settle()
	r.leave(1)
	r.wantEntries(3, 5, 1)
}

// No run costs more than N messages for an entry.
func TestTokenRingLazyBound(t *testing.T) {
	for n := 2; n <= 12; n++ {
		for seed := range uint64(10) {
			for _, think := range []int64{0, 1, int64(n), 4 * int64(n), 30 * int64(n)} {
				r, err := sim.Run(sim.Config{
					Spec: TokenRingLazy(), Nodes: n, Entries: 100, Seed: seed,
					Latency: scenario.Exponential(scenario.T),
					Think:   scenario.Exponential(think * scenario.T),
				})
				if err != nil {
					t.Fatal(err)
				}
				if r.Violations > 0 || r.Messages > n*r.Entries {
					t.Errorf("among %d, seed %d, think %d: %v, %d messages for %d entries", n, seed, think, r.Found, r.Messages, r.Entries)
				}
			}
		}
	}
}

// P2 asks with (1,2), P1 with (2,1); both get all replies; P2 goes in first
// and P1 on P2's RELEASE.
func TestLamportExample(t *testing.T) {
	r := newRig(t, Lamport(), algorithm.View{N: 3})
	r.ask(2)
	r.deliver(2, 1, "REQUEST")
	r.ask(1)
	r.wantField(1, "requests", "2 1 0")
	r.settle()
	r.wantEntries(2)
	r.leave(2)
	r.deliver(2, 1, "RELEASE")
	r.wantEntries(2, 1)
}

// Rule 5: any later message will do, so two that ask at the same time need not
// wait for each other's REPLY.
func TestLamportCountsALaterRequest(t *testing.T) {
	r := newRig(t, Lamport(), algorithm.View{N: 2})
	r.ask(1)
	r.ask(2)
	r.deliver(2, 1, "REQUEST")
	r.wantEntries(1)
}

// A REPLY counts for the request that it names only. Here P1 got in on P2's
// REQUEST; the REPLY to that request comes when P1 asks again.
func TestLamportReplyNamesItsRequest(t *testing.T) {
	r := newRig(t, Lamport(), algorithm.View{N: 2})
	r.ask(1)
	r.ask(2)
	r.deliver(2, 1, "REQUEST")
	r.leave(1)
	r.deliver(1, 2, "REQUEST") // answered now, too late to matter
	r.deliver(1, 2, "REPLY")
	r.deliver(1, 2, "RELEASE")
	r.wantEntries(1, 2)
	r.leave(2)
	r.ask(2)
	r.ask(1)
	r.deliver(2, 1, "REPLY") // to P1's first request
	r.wantField(1, "missing", "2")
	r.settle()
	if r.both {
		t.Fatal("two are inside")
	}
}

// "Not in my queue" is no alibi: P1 can get in on P2's own REQUEST before P2
// has heard of its request.
func TestLamportAlibi(t *testing.T) {
	r := newRig(t, Lamport(), algorithm.View{N: 2})
	if !r.ms[1].Alibi(0) {
		t.Fatal("before anything happens P2 knows that P1 is not inside")
	}
	r.ask(1)
	r.ask(2)
	if r.ms[1].Alibi(0) {
		t.Fatal("P2 has sent a later stamp: P1 may be inside")
	}
	r.settle()
	r.leave(1)
	r.settle()
	r.leave(2)
	r.settle()
	if !r.ms[1].Alibi(0) || !r.ms[0].Alibi(1) {
		t.Fatal("when all is quiet both know that the other is not inside")
	}
}

// A clock that rose by what applications said counts as well: here P1 gets in
// on P2's RELEASE before P2 has heard of its request.
func TestLamportAlibiAfterHearing(t *testing.T) {
	r := newRig(t, Lamport(), algorithm.View{N: 2})
	r.ask(2)
	r.settle()
	r.step(2, host.Input{Kind: host.Hear, Time: 20})
	r.ask(1)
	r.leave(2)
	r.deliver(2, 1, "RELEASE")
	r.wantEntries(2, 1)
	if r.ms[1].Alibi(0) {
		t.Fatal("P2 gives P1 an alibi, which is inside")
	}
}

// A permission lasts: the second entry costs nothing and ticks no clock.
func TestCarvalhoRoucairolKeepsPermissions(t *testing.T) {
	r := newRig(t, CarvalhoRoucairol(), algorithm.View{N: 3})
	r.ask(2)
	r.settle()
	r.leave(2)
	if r.sent != 4 {
		t.Fatalf("%d messages for the first entry, want 4", r.sent)
	}
	r.wantField(2, "clock", "2")
	r.ask(2)
	r.leave(2)
	r.wantEntries(2, 2)
	r.wantField(2, "clock", "2")
	r.ask(3) // needs the OK of P1 and P2
	r.settle()
	r.leave(3)
	r.ask(2) // has that of P1 still
	r.settle()
	r.wantEntries(2, 2, 3, 2)
	if r.sent != 4+4+2 {
		t.Fatalf("%d messages, want 10", r.sent)
	}
}

// Who waits, has the permission of another and hears of its earlier request
// gives it back and asks again.
func TestCarvalhoRoucairolAsksAgain(t *testing.T) {
	r := newRig(t, CarvalhoRoucairol(), algorithm.View{N: 3})
	r.ask(2)
	r.settle()
	r.leave(2) // P2 has the permission of P1 and P3
	r.ask(3)
	r.deliver(3, 2, "REQUEST")
	r.deliver(2, 3, "OK") // now P2 misses P3's
	r.ask(2)
	r.ask(1)
	r.deliver(1, 2, "REQUEST") // (2,1) is earlier than (3,2)
	r.deliver(2, 1, "OK")
	r.deliver(2, 1, "REQUEST")
	r.finish()
	r.wantEntries(2, 1, 3, 2)
}

// Holder 2; 1 asks, then 3: 3 is served first, then 4 if it asks, else 1.
func TestRicartAgrawalaTokenScans(t *testing.T) {
	for _, fourth := range []bool{false, true} {
		r := newRig(t, RicartAgrawalaToken(), algorithm.View{N: 4, Holder: 1, Busy: true})
		r.ask(1)
		r.settle()
		r.ask(3)
		r.settle()
		r.leave(2)
		r.settle()
		want := []int{3, 1}
		if fourth {
			r.ask(4)
			r.settle()
			want = []int{3, 4, 1}
		}
		for _, p := range want {
			r.leave(p)
			r.settle()
		}
		r.wantEntries(want...)
	}
}

// A REQUEST that comes after it was granted is outdated and moves nothing.
func TestRicartAgrawalaTokenOutdated(t *testing.T) {
	r := newRig(t, RicartAgrawalaToken(), algorithm.View{N: 3})
	r.ask(3)
	r.deliver(3, 1, "REQUEST")
	r.deliver(1, 3, "TOKEN")
	r.leave(3)
	r.ask(2)
	r.deliver(2, 3, "REQUEST")
	r.take(2) // the TOKEN, which overtakes the REQUEST before it
	r.leave(2)
	r.deliver(3, 2, "REQUEST") // granted long ago
	r.wantField(2, "token", "yes")
}

// A request turns the guesses of all it comes past towards its sender, and
// waits behind the last that asked.
func TestNaimiTrehelTurnsThePath(t *testing.T) {
	r := newRig(t, NaimiTrehel(), algorithm.View{N: 4, Holder: 0, Busy: true})
	r.ask(2)
	r.settle()
	r.wantField(1, "next", "2")
	r.wantField(1, "last", "2")
	r.ask(3)
	r.deliver(3, 1, "REQUEST")
	r.deliver(1, 2, "REQUEST") // sent on
	r.wantField(1, "last", "3")
	r.wantField(2, "last", "3")
	r.wantField(2, "next", "3")
	r.wantField(1, "next", "2")
	r.ask(4)
	r.deliver(4, 1, "REQUEST")
	r.deliver(1, 3, "REQUEST") // past P2
	r.wantField(3, "next", "4")
	for p := 1; p <= 3; p++ {
		r.leave(p)
		r.deliver(p, p+1, "TOKEN")
	}
	r.wantEntries(2, 3, 4)
}

// With hardly anybody asking, the way of a request grows like log N.
func TestNaimiTrehelIsLogarithmic(t *testing.T) {
	for _, n := range []int{8, 64, 512} {
		r, err := sim.Run(sim.Config{
			Spec: NaimiTrehel(), Nodes: n, Entries: 2000, Seed: 1,
			Latency: scenario.Always(scenario.T), Hold: scenario.Always(scenario.T),
			Think: scenario.Exponential(1000 * int64(n) * scenario.T),
		})
		if err != nil {
			t.Fatal(err)
		}
		if bound := math.Log2(float64(n)); r.PerEntry > bound {
			t.Errorf("among %d: %.2f messages for an entry, want at most log N = %.2f", n, r.PerEntry, bound)
		}
	}
}

// The coordinator need not be the first process, nor the one that the lock is
// born with; one that is not among the processes is refused.
func TestAnotherCoordinator(t *testing.T) {
	for _, f := range []func(algorithm.ID) algorithm.Spec{Central, CentralDeny, CentralStamped} {
		for n := 3; n <= 4; n++ {
			for h := range algorithm.ID(n) {
				for seed := range uint64(4) {
					roam(t, f(2), algorithm.View{N: n, Holder: h, Busy: seed%2 == 0}, seed, 60*n)
				}
			}
		}
		for _, c := range []algorithm.ID{algorithm.None, 3, 100} {
			if f(c).Accepts(3) == nil {
				t.Errorf("%s: seat %d of 3 was accepted as coordinator", f(c).Name, c)
			}
		}
	}
	want := "coordinator 4 among 3 processes: it must be one of them, 1 to 3"
	if err := Central(3).Accepts(3); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Those that claim FIFO break without it: Lamport lets two in, the lazy ring
// loses a wish.
func TestNeedsFIFO(t *testing.T) {
	broken := map[string]int{}
	for seed := range uint64(100) {
		for _, spec := range []algorithm.Spec{Lamport(), TokenRingLazy()} {
			w := &walk{rig: group(t, spec, 4), rand: kernel.NewRand(seed, 0), asking: true}
			for i := 0; i < 300 && w.move(); i++ {
				w.asking = i < 150
			}
			if w.both || w.stuck() {
				broken[spec.Name]++
			}
		}
	}
	if broken["lamport"] == 0 || broken["token-ring-lazy"] == 0 {
		t.Errorf("broken in 100 walks: %v, want both", broken)
	}
}
