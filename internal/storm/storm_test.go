package storm

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views/raft"
	"github.com/stile-lock/stile/lab/trace"
)

// live returns all live algorithms.
func live() []member.Choice {
	var all []member.Choice
	for _, s := range catalog.Live() {
		all = append(all, member.Choice{Algorithm: s.Name, Version: s.Version})
	}
	return all
}

// pick returns the run of a seed, of all there is.
func pick(seed uint64) Config {
	c := Pick(seed, Choice{Algorithms: live(), Nodes: []int{1, 2, 3, 4, 5, 7, 9}, Voters: []int{1, 3, 5}, Faults: AllFaults | Beyond})
	c.Spec, c.Disk, c.Logs = catalog.MakeLive, newDisk, logs
	return c
}

func newDisk() Disk { return raft.NewDrive() }

// logs are those of a live cluster, but for their length: short ones are cut off often.
var logs = raft.Logs{Election: process.Election, Heartbeat: process.Heartbeat, MaxLog: 16}

// vouching returns algorithms whose instances vouch for every process, whatever it does.
func vouching(name string, version int) (algorithm.Spec, error) {
	spec, err := catalog.MakeLive(name, version)
	plan := spec.Plan
	spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return voucher{birth(self, v)} }, err
	}
	return spec, err
}

type voucher struct{ algorithm.Machine }

func (voucher) Alibi(algorithm.ID) bool { return true }

// Storms break nothing; and they are storms.
func TestStorm(t *testing.T) {
	var sum Result
	seeds := nightly.Pick(25, 100)
	for seed := range uint64(seeds) {
		c := pick(seed)
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			t.Errorf("seed %d, %s among %d: %v", seed, c.Algorithms[0].Algorithm, c.Nodes, r.Violation)
		}
		sum.Add(r)
	}
	t.Logf("%+v", sum)
	if sum.Entries < 200*seeds || sum.Views < 8*seeds || sum.Strikes < 8*seeds || sum.Lost < seeds/2 || sum.Tries < seeds || sum.Deposits < 50*seeds || sum.Refused < seeds || sum.Reads < 5*seeds || sum.Terms < 2*seeds || sum.Revotes < seeds || sum.Restores < seeds/16 || sum.Claims < seeds/8 || nightly.On() && (sum.Rollbacks < seeds/25 || sum.Returns == 0 || sum.KeptClaims == 0) || sum.Delegations < seeds || sum.Reentries < 10*seeds {
		t.Error("that was no storm")
	}
	for i, name := range FrameNames() {
		if (sum.Frames[i] > 0) == (name == "OTHER") && (nightly.On() || sum.Frames[i] > 0) { // some are rare
			t.Errorf("%d frames %s", sum.Frames[i], name)
		}
	}
}

// Reports in parts of a few bytes, on links with hardly any room for them, break
// nothing either.
func TestParts(t *testing.T) {
	reports := func(part, window int) (n int) {
		for seed := range nightly.Pick[uint64](2, 10) {
			c := pick(1000 + seed)
			c.Locks, c.Apps, c.Limits.Part, c.Links.Window = 64, 16, part, window
			r, err := Run(c)
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation != nil {
				t.Errorf("seed %d, %s among %d, parts of %d bytes, a window of %d: %v", c.Seed, c.Algorithms[0].Algorithm, c.Nodes, part, window, r.Violation)
			}
			n += r.Frames[frameNumber("REPORT")]
		}
		return n
	}
	whole, parts := reports(0, 0), reports(10, 20)
	if t.Logf("%d reports, %d parts", whole, parts); parts < whole*5/4 {
		t.Errorf("%d reports, and %d parts of reports: want more", whole, parts)
	}
}

// A sum has all that results have, but for the violation.
func TestResultAdd(t *testing.T) {
	var one, sum Result
	for _, v := range integers(reflect.ValueOf(&one).Elem()) {
		v.Set(reflect.ValueOf(3).Convert(v.Type()))
	}
	sum.Add(&one)
	if sum != one {
		t.Errorf("%+v: want %+v", sum, one)
	}
	sum.Add(&one)
	sum.Longest, sum.Bound = 2*sum.Longest, 2*sum.Bound // which are the longest of all
	for _, v := range integers(reflect.ValueOf(&sum).Elem()) {
		if v.Convert(reflect.TypeFor[int]()).Int() != 6 {
			t.Errorf("%+v: want 6 everywhere", sum)
		}
	}
}

// integers are all that a value has.
func integers(v reflect.Value) (all []reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range v.Fields() {
			all = append(all, integers(f)...)
		}
	case reflect.Array:
		for i := range v.Len() {
			all = append(all, integers(v.Index(i))...)
		}
	case reflect.Pointer: // the violation
	default:
		all = append(all, v)
	}
	return all
}

// Every kind of fault is tolerated on its own, and happens.
func TestFaults(t *testing.T) {
	for i, name := range FaultNames() {
		f, err := ParseFaults(name)
		if err != nil || f != 1<<i || f.String() != name {
			t.Fatalf("%s is %v, %v", name, f, err)
		}
		strikes := 0
		for seed := range uint64(2) {
			c := pick(seed)
			c.Faults, c.Clients, c.Intensity = f, 1, 15
			if f.has(Lead | Broken | Wipe | Restore | Rollback | Return) {
				c.Nodes, c.Voters, c.Shelter = 5, 3, false
			}
			if f == Return { // there must be a lost cluster
				c.Faults |= Restore
			}
			r, err := Run(c)
			if err != nil || r.Violation != nil {
				t.Errorf("%s, seed %d: %v %v", name, seed, r.Violation, err)
			}
			strikes += r.Strikes
		}
		if strikes < 2 {
			t.Errorf("%s: %d strikes", name, strikes)
		}
	}
}

// Without faults there are no views once the cluster has formed, the leader stays, and
// nothing is lost.
func TestCalm(t *testing.T) {
	for seed := range uint64(20) {
		c := pick(seed)
		c.Faults &= Drift
		c.Strikes = []Strike{}
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if most := 2*c.Nodes + 4; r.Violation != nil || r.Views > most || r.Terms != 1 || r.Lost != 0 || r.Entries == 0 {
			t.Errorf("seed %d: %d views, %d terms, %d lost, %v", seed, r.Views, r.Terms, r.Lost, r.Violation)
		}
	}
}

// A run opens as a space-time diagram that ends with its violation.
func TestRecord(t *testing.T) {
	for seed := range uint64(20) {
		c := pick(seed)
		c.Spec = vouching
		tr, r, err := Record(c, 30*member.Millisecond, 500)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation == nil {
			continue
		}
		if len(tr.Events) == 0 || len(tr.Events) > 500 {
			t.Errorf("seed %d: %d events", seed, len(tr.Events))
		}
		if !slices.ContainsFunc(tr.Events, func(e trace.Event) bool {
			return e.Kind == trace.Violation && e.Name == string(r.Violation.Invariant)
		}) {
			t.Errorf("seed %d: the trace does not show the violation of %s", seed, r.Violation.Invariant)
		}
		if tr.SVG(trace.Options{}) == "" || tr.Text(trace.TextOptions{}) == "" {
			t.Errorf("seed %d: nothing to be seen", seed)
		}
		return
	}
	t.Error("nothing was broken")
}

// Impossible configurations are refused.
func TestCheck(t *testing.T) {
	for _, f := range []func(c *Config){
		func(c *Config) { c.Nodes = 0 },
		func(c *Config) { c.Locks = maxLocks + 1 },
		func(c *Config) { c.Apps, c.Clients = 0, 0 },
		func(c *Config) { c.Algorithms = nil },
		func(c *Config) { c.Spec = nil },
		func(c *Config) { c.Length = -1 },
		func(c *Config) { c.Think = 2 * member.Second },
		func(c *Config) { c.Intensity = -1 },
		func(c *Config) { c.Settings.Lease = 1 },
		func(c *Config) { c.Algorithms = []member.Choice{{Algorithm: "dijkstra", Version: 1}} },
	} {
		c := pick(0)
		f(&c)
		if r, err := Run(c); err == nil && r.Violation == nil {
			t.Error("want an error")
		}
	}
	if _, err := ParseFaults("crash,storm"); err == nil {
		t.Error("want an error")
	}
}

// Clocks show what they should, and when is the reverse of at.
func TestClock(t *testing.T) {
	for _, rate := range []int64{-100_000, -1, 0, 1, 100_000} {
		c := clock{base: 7, read: 1000, rate: rate}
		last := c.at(7)
		for now := int64(8); now < 3_000_007; now += 9973 {
			x := c.at(now)
			if w := c.when(x); x < last || w > now || c.at(w) < x || c.at(w-1) >= x {
				t.Fatalf("rate %d: at %d it shows %d, which it does from %d on", rate, now, x, w)
			}
			last = x
		}
		c.tune(500, 3)
		if c.rate != 3 || c.at(500) != c.read {
			t.Errorf("rate %d: tuned to %+v", rate, c)
		}
	}
}

// Every seed that has ever broken something, of this harness, breaks nothing now.
// All are from before clients moved and were delegated locks, most from before there was Rollback
// or Return, and those up to 3000 from before clients asked for the record.
func TestSeeds(t *testing.T) {
	nightly.Only(t)
	for _, x := range []struct {
		what  string
		seeds []uint64
		disks bool // drawn since disks are rolled back and returned
	}{
		{"a disk trouble that was still pending came after all had healed", []uint64{46, 78}, false},
		{"one severed from the only voter waits for ever, and nobody can help it", []uint64{138, 165, 208}, false},
		{"voters became one that had just died, with its disk", []uint64{268}, false},
		{"two voters severed from each other, and the third wiped or leaving: there is no majority", []uint64{609, 1437}, false},
		{"a grant in the step that leaves", []uint64{887, 1073}, false},
		{"a full disk was taken for a damaged one", []uint64{1093}, false},
		{"all members left at once, and waited for each other", []uint64{3416, 20813}, false},
		{"a transaction waited for claims that no view decides", []uint64{200143, 203107}, true},
		{"a hold that had moved ended at its old member", []uint64{201257, 203450}, true},
		{"a request was over, and asked for again on another connection before its client heard so: nobody wanted the grant", []uint64{28037, 31461, 32008}, false},
		{"what followers write after a commit was taken for noise", []uint64{23, 859, 944, 2968}, false},
		{"an application that releases a lock as its lease lapses was taken for one that may still act", []uint64{5039}, false},
		{"the timer of a process that stood still was late when it went on", []uint64{5634}, false},
		{"a timer was late by more than the margin, by a clock that runs too fast", []uint64{24952}, false},
		{"a client that resumes at the moment at which another process enters had not had its timer yet", []uint64{35930, 61109}, false},
		{"a lock was on its way through a member that crashed and had never requested it", []uint64{42522}, false},
		{"reports about thousands of locks take many rounds", []uint64{46557}, false},
		{"a lock was requested in a view older than the one that spares it", []uint64{50153}, false},
		{"a disk had healed before its failed save was acknowledged", []uint64{11704, 13560}, false},
		{"a client lost a lock that had moved, and went on with a session in which it was still held", []uint64{204478}, false},
		{"a late answer to a process of an older generation reached one of the new cluster", []uint64{208552, 210563, 212778, 214299, 215036}, false},
		{"a process was still inside for a client that had released the lock, or from which an operator had taken it", []uint64{211245, 216546, 221996}, false},
		{"a home that leaves released what a client had claimed in a later view", []uint64{4487, 15707}, true},
		{"an operator took a lock from a process through which the client no longer held it", []uint64{17994}, true},
		{"a late message told a process with a disk of a lost cluster that it had gone back", []uint64{12954}, true},
		{"a process with a disk of a lost cluster was severed from the only voter", []uint64{18686}, true},
		{"an operator took a lock from a client that had moved, and holds it through two processes", []uint64{24883}, true},
		{"a cluster had gone back without losing a view, and a voter that cannot follow it did not say so", []uint64{36365}, true},
		{"a graph of waits was longer than its link could keep", []uint64{207856}, true},
		{"a late answer to a process of one older generation reached one of the next but one", []uint64{36595}, true},
		{"deadlock after deadlock at two locks, for which the bound had no time", []uint64{300267, 301456}, true},
		{"a voter whose log was not that of the others was elected, and they could not follow it", []uint64{70422}, true},
	} {
		for _, seed := range x.seeds {
			c := pick(seed)
			c.Questions = c.Questions && seed > 3000
			if c.Faults &^= Move; c.Eager {
				c.Eager, c.Locks = false, c.Locks-4
			}
			if !x.disks {
				c.Faults &^= Rollback | Return
			}
			if r, err := Run(c); err != nil || r.Violation != nil {
				t.Errorf("%s: seed %d: %v, %v", x.what, seed, r.Violation, err)
			}
		}
	}
}

// The same, drawn as they are now.
func TestLaterSeeds(t *testing.T) {
	for what, seeds := range map[string][]uint64{
		"a client entered by itself before it heard that its member had lost the lock":                      {402463, 405107},
		"a client stayed away from its only node, where its transaction held a lock, because of a lost one": {401173},
		"a member lost the hold of a transaction in the step in which that requested another lock":          {601583},
	} {
		for _, seed := range seeds {
			if r, err := Run(pick(seed)); err != nil || r.Violation != nil {
				t.Errorf("%s: seed %d: %v, %v", what, seed, r.Violation, err)
			}
		}
	}
}
