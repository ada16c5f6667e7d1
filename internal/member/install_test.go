package member

import (
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// A view that is not newer than the current one changes nothing.
func TestOldViewsChangeNothing(t *testing.T) {
	f := newFleet(t, "central", 2)
	first := f.view
	f.install(f.next())
	f.settle()
	name := away(f.view, f.view, 1, 1)
	f.lock(0, name)
	f.settle()
	m := f.members[0]
	for _, v := range []View{f.view, first} {
		if err := m.Install(0, v); err != nil || m.epoch.view.Epoch != 2 {
			t.Errorf("epoch %d: %v, now in epoch %d", v.Epoch, err, m.epoch.view.Epoch)
		}
		if y, _ := m.Inspect(name); y.Holder == nil || y.Holder.Carried || len(m.Out.Frames) > 0 || m.Bulk() {
			t.Errorf("epoch %d: held by %+v, %d frames", v.Epoch, y.Holder, len(m.Out.Frames))
		}
	}
}

// An evicted member installs no view any more.
func TestEvictedMemberInstallsNothing(t *testing.T) {
	f := newFleet(t, "central", 2)
	m := f.members[0]
	m.Gone(0)
	if err := m.Install(0, f.next()); !errors.Is(err, ErrGone) || m.epoch.view.Epoch != 1 {
		t.Errorf("%v, in epoch %d", err, m.epoch.view.Epoch)
	}
}

// A view is refused if its algorithm is, by the host or by the algorithm itself, which may
// not work for so many members.
func TestRefusedAlgorithms(t *testing.T) {
	refusal := errors.New("refused")
	for what, spec := range map[string]func(string, int) (algorithm.Spec, error){
		"by the host": func(name string, version int) (algorithm.Spec, error) {
			s, _ := specs(name, version)
			return s, refusal
		},
		"by the algorithm": func(name string, version int) (algorithm.Spec, error) {
			s, err := specs(name, version)
			s.Plan = func(int) (algorithm.Birth, error) { return nil, refusal }
			return s, err
		},
	} {
		f := newFleet(t, "central", 2)
		m := f.members[0]
		m.Spec = spec
		if err := m.Install(0, f.next()); !errors.Is(err, refusal) || m.epoch.view.Epoch != 1 {
			t.Errorf("%s: %v, in epoch %d", what, err, m.epoch.view.Epoch)
		}
	}
}

// The home counts the lease of a ghost from when it installs the view: see rule 6(b). A
// holder that is carried over has held its lock since it entered.
func TestInstallCountsFromNow(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next(3)
	v.Ghosts = []Ghost{{3, Second}}
	m := f.members[0]
	held, wanted := away(f.view, v, 0, 0), ""
	for _, name := range homed(v, 0, 20, 8) {
		if f.view.Home(name) == 2 { // the dead member's, so that no witness speaks for it
			wanted = name
		}
	}
	m.Wake(30)
	f.lock(0, held)
	const now = 1000
	if err := m.Install(now, v); err != nil {
		t.Fatal(err)
	}
	f.lock(0, wanted)
	y, _ := m.Inspect(wanted)
	i := slices.IndexFunc(y.Recovering, func(s Suspect) bool { return s.Inc == 3 })
	if i < 0 {
		t.Fatalf("the ghost is not among %+v", y.Recovering)
	}
	if s := y.Recovering[i]; s.Since != now || s.Until != now+Instant(m.Settings.outwait(Second)) {
		t.Errorf("the ghost is %+v", s)
	}
	if y, _ := m.Inspect(held); y.Holder == nil || y.Holder.Since != 30 || !y.Holder.Carried {
		t.Errorf("held by %+v", y.Holder)
	}
}

// A member that is left alone serves its waiters when it installs the view: no report will
// ever come.
func TestAloneInTheNextView(t *testing.T) {
	f := newFleet(t, "central", 2)
	name := away(f.view, f.view, 1, 1)
	f.lock(1, name)
	f.settle()
	f.lock(0, name)
	f.settle()
	f.members[1].Leave(0)
	f.install(f.next(2)) // what the leaver has released is lost with the epoch
	if !f.holds(0, name) {
		t.Error("the last member waits forever")
	}
}

// A lock for which only tries waited is not in use in the next view.
func TestTriesLeaveNothingBehind(t *testing.T) {
	f := newFleet(t, "central", 2)
	v := f.next()
	name := away(f.view, v, 1, 1)
	f.try(0, name)
	f.install(v)
	if _, busy, _ := f.members[0].Known(); busy != 0 {
		t.Errorf("%d locks are in use", busy)
	}
}

// A home remembers the previous view while a ghost's lease runs, even after all reports: the
// locks that no process can have held there need not wait for the ghost.
func TestWitnessUntilTheGhostIsGone(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next(3)
	v.Ghosts = []Ghost{{3, Second}}
	name := away(f.view, v, 0, 0)
	f.install(v)
	f.settle()
	m := f.members[0]
	f.lock(0, name)
	f.settle()
	if !f.holds(0, name) {
		t.Error("a lock that was never used waits for the ghost")
	}
	if m.frozen == nil {
		t.Error("the previous view is forgotten before the ghost's lease expires")
	}
	if m.Wake(2 * Instant(Second)); m.frozen != nil {
		t.Error("the previous view is kept after the ghost's lease has expired")
	}
}

// A member's time does not go back, whatever it is called with.
func TestTimeDoesNotGoBack(t *testing.T) {
	f := newFleet(t, "central", 2)
	m := f.members[0]
	m.Limits.Part = 1
	for _, name := range homed(f.view, 1, 9, 8) {
		f.lock(0, name)
		f.settle()
	}
	if err := m.Install(0, f.next()); err != nil {
		t.Fatal(err)
	}
	for i, call := range []func(now Instant){
		func(now Instant) { m.Wake(now) },
		func(now Instant) { m.More(now, 2) },
		func(now Instant) { _ = m.Install(now, f.view) },
	} {
		for _, now := range []Instant{100, 50} {
			call(now + 100*Instant(i))
			k, err := m.Lock(0, "a", Ask{Deadline: Never})
			if err != nil {
				t.Fatal(err)
			}
			if got := m.waiter(k).since; got != 100+100*Instant(i) {
				t.Errorf("call %d at %d: the time is %d", i, now, got)
			}
			m.Cancel(0, k)
		}
	}
}

// A ghost's rest counts once: a view that names it for longer than the one before does not
// begin it anew. A member that was not in the view before knows only this one: the clusters'
// disks may have been replaced by older copies in between, and the ghost renewed.
func TestGhostsRestOnce(t *testing.T) {
	for what, x := range map[string]struct {
		rest   Span
		before uint64
		over   Instant // when the ghost's lease has expired, by the new view
	}{
		"no longer":             {2 * Second, 2, Instant(3*Second + Usual().outwait(2*Second))},
		"longer":                {10 * Second, 2, Instant(Usual().outwait(8 * Second))},
		"longer, after another": {10 * Second, 3, Instant(3*Second + Usual().outwait(10*Second))},
	} {
		f := newFleet(t, "central", 3)
		v := f.next(3)
		v.Ghosts = []Ghost{{3, 8 * Second}}
		f.install(v)
		m := f.members[0]
		m.Wake(Instant(3 * Second))
		v = f.next()
		v.Epoch, v.BeforeEpoch, v.Ghosts = 4, x.before, []Ghost{{9, Second}, {3, x.rest}}
		if err := m.Install(Instant(3*Second), v); err != nil {
			t.Fatal(err)
		}
		if got := m.epoch.ghosts; got[1] != x.over || got[0] != Instant(3*Second+Usual().outwait(Second)) {
			t.Errorf("%s: the ghosts' leases expire at %d, want the second one at %d", what, got, x.over)
		}
	}
}

// A ghost that is over stays over: a view that names it again delays no lock.
func TestGhostStaysOver(t *testing.T) {
	f := newFleet(t, "central", 3)
	v := f.next(3)
	v.Ghosts = []Ghost{{3, 8 * Second}}
	f.install(v)
	f.settle()
	for _, m := range f.members[:2] {
		m.Wake(Instant(9 * Second))
	}
	v = f.next()
	v.Ghosts = []Ghost{{3, 10 * Second}}
	f.install(v)
	f.settle()
	name := away(f.view, v, 0, 0)
	f.lock(0, name)
	if f.settle(); !f.holds(0, name) || !f.members[0].epoch.settled() {
		t.Errorf("a lock waits for a ghost that was over: it counts until %d", f.members[0].epoch.ghosts)
	}
}
