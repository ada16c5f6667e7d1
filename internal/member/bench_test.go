package member

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/nightly"
)

// at returns a fleet and a lock whose home is its first member, or is not.
func at(b testing.TB, alg string, n int, home bool) (*fleet, string) {
	f := newFleet(b, alg, n)
	for i := 0; ; i++ {
		if name := fmt.Sprint("lock-", i); (f.view.Home(name) == 0) == home {
			return f, name
		}
	}
}

// BenchmarkLocal is a lock and an unlock that need no message: at a home that has not
// released the lock, and where the algorithm's token is.
func BenchmarkLocal(b *testing.B) {
	b.Run("home", func(b *testing.B) {
		f, name := at(b, "naimi-trehel", 3, true)
		local(b, f.members[0], name)
	})
	b.Run("token", func(b *testing.B) {
		f, name := at(b, "naimi-trehel", 3, false)
		f.lock(0, name)
		f.settle()
		f.unlock(0, name)
		f.settle()
		local(b, f.members[0], name)
	})
}

func local(b *testing.B, m *Member, name string) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Lock(1, name, Ask{Deadline: Never}); err != nil {
			b.Fatal(err)
		}
		if len(m.Out.Events) != 1 || m.Out.Events[0].Kind != Held {
			b.Fatal("not held")
		}
		t := m.Out.Events[0].Token
		m.Out.Reset()
		if err := m.Unlock(1, name, t); err != nil {
			b.Fatal(err)
		}
	}
	if len(m.Out.Frames) > 0 {
		b.Fatal("it cost messages")
	}
}

// BenchmarkFrame measures the handling of one frame from another member, with everything
// that follows: nine members request a lock, one after the other, and each holds it for a
// moment.
func BenchmarkFrame(b *testing.B) {
	for _, alg := range append(live(), Kept(KeptMethods()[0])) {
		b.Run(alg, func(b *testing.B) {
			f, name := at(b, alg, 9, true)
			var spent time.Duration
			frames := 0
			for k := 0; frames < b.N; k = (k + 1) % 9 {
				f.lock(k, name)
				for done := false; !done || len(f.mail) > 0; {
					if !done && f.holds(k, name) {
						done = true
						f.unlock(k, name)
					}
					mail := f.mail
					f.mail = nil
					for _, l := range mail {
						m := f.members[l.to-1]
						begin := time.Now()
						err := m.Deliver(1, l.from, l.bytes)
						spent += time.Since(begin)
						if frames++; err != nil {
							b.Fatal(err)
						}
						f.take(int(l.to) - 1)
					}
				}
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(frames), "ns/frame")
		})
	}
}

// BenchmarkViewChange is a view change of nine members that know a million locks each, of
// which ten thousand are held by one and waited for by another: its cost to each member
// until all holders have released and all waiters have entered.
func BenchmarkViewChange(b *testing.B) {
	nightly.Only(b)
	for b.Loop() {
		b.StopTimer()
		f, active := busyFleet(b, 9, 1_000_000, 10_000)
		runtime.GC()
		b.StartTimer()
		begin := time.Now()
		f.rounds = 0
		f.install(f.next())
		f.settle()
		reports := f.rounds
		for i, name := range active {
			f.unlock(i%9, name)
		}
		f.settle()
		for i, name := range active {
			if !f.holds((i+4)%9, name) {
				b.Fatalf("%s: who waited does not hold it", name)
			}
		}
		b.ReportMetric(time.Since(begin).Seconds()/9, "s/member")
		b.ReportMetric(float64(reports), "latencies/reports")
		b.ReportMetric(float64(f.rounds), "latencies")
		b.ReportMetric(float64(f.total())/9, "frames/member")
	}
}

// busyFleet returns a fleet that knows many locks, and those of them that are
// held by one member and waited for by another.
func busyFleet(tb testing.TB, n, known, active int) (*fleet, []string) {
	f := newFleet(tb, "naimi-trehel", n)
	for i := range known {
		name := fmt.Sprintf("orders/customer-%09d/invoice", i)
		for _, m := range f.members {
			lockOf(m.epoch, name)
		}
	}
	var names []string
	for i := range active {
		name := fmt.Sprintf("orders/customer-%09d/invoice", i)
		names = append(names, name)
		f.lock(i%n, name)
		f.settle()
		f.lock((i+4)%n, name)
		f.settle()
	}
	clear(f.frames)
	return f, names
}

// A million locks known and ten thousand in use fit into 512 MiB, in a view
// change too; and none takes more than 200 bytes.
func TestMillion(t *testing.T) {
	nightly.Only(t)
	heap := func() uint64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	for alg, known := range map[string]int{"naimi-trehel": 1_000_000, "suzuki-kasami": 100_000} {
		before := heap()
		f := newFleet(t, alg, 9)
		m := f.members[0]
		fill := func() {
			for i := range known {
				lockOf(m.epoch, fmt.Sprintf("%064d", i))
				if i < 10_000 {
					m.Lock(1, fmt.Sprintf("%064d", i), Ask{Deadline: Never})
					m.Out.Reset()
				}
			}
		}
		fill()
		if each := (heap() - before) / uint64(known); each > 200 {
			t.Errorf("%s: a known lock takes %d bytes", alg, each)
		}
		v := f.next(9)
		v.Ghosts = []Ghost{{9, 10 * Second}}
		if err := m.Install(1, v); err != nil {
			t.Fatal(err)
		}
		m.Out = Out{}
		fill()
		all := heap() - before
		if m.frozen == nil || all > 512<<20 {
			t.Errorf("%s: two tables take %d MiB", alg, all>>20)
		}
		_, _, bytes := m.Known()
		t.Logf("%s: %d bytes for each lock of two tables, %d MiB by its own count", alg, all/uint64(2*known), bytes>>20)
	}
}
