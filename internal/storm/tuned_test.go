package storm

import (
	"flag"
	"math"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
)

// Flags by which internal/controls selects what it runs.
var (
	tunedSeeds = flag.Uint64("seeds", nightly.Pick[uint64](3, 12), "number of seeds of each tuning")
	noFence    = flag.Bool("no-fence", false, "use a resource that ignores fencing tokens")
)

// A tuning makes runs in which some rules matter more than in the usual ones.
type tuning struct {
	name string
	tune func(c *Config)
}

func tunings() []tuning {
	return []tuning{
		{"usual", func(*Config) {}}, {"steady", steady}, {"reigns", reigns}, {"curiosity", curiosity}, {"power", power},
		{"skips", skips}, {"crowd", crowd}, {"waves", waves}, {"clients", clients}, {"late", late}, {"flaky", flaky},
		{"edge", edge}, {"quorums", quorums}, {"garbled", garbled}, {"restores", restores}, {"stops", stops},
		{"rollbacks", rollbacks}, {"returns", returns}, {"kept", kept}, {"switches", switches}, {"detects", detects}, {"lapses", lapses}, {"partings", partings}, {"deals", deals}, {"moves", moves}, {"eager", eager}, {"thief", thieves},
	}
}

// steady has one voter, which no fault affects.
func steady(c *Config) { c.Voters, c.Shelter = 1, true }

// reigns has voters crash and be cut off, the leader most of all.
func reigns(c *Config) {
	c.Nodes, c.Voters, c.Shelter = 3+int(c.Seed%3), 3, false
	c.Faults, c.Intensity = Lead|Pause|Partition|Oneway|Crash|Evict|Join|Leave|Drift, 40
}

// curiosity is reigns with clients that ask for the record.
func curiosity(c *Config) {
	reigns(c)
	c.Clients, c.Questions = 3, true
}

// stops has members stop, crash and return, with clients that hold locks meanwhile.
func stops(c *Config) {
	c.Nodes, c.Voters, c.Shelter, c.Clients = 3+int(c.Seed%3), 3, false, 3
	c.Faults, c.Intensity = Stop|Roll|Crash|Lead|Pause|Partition|Evict|Drift|Client|Stall, 40
}

// eager has clients that acquire the same lock again and again, so that it is delegated to
// them, and others that sometimes want it.
func eager(c *Config) {
	c.Nodes, c.Voters, c.Shelter = 2+int(c.Seed%2), 1, c.Seed%4 > 0
	c.Clients, c.Eager, c.Locks, c.Apps = 2, true, 3, 1
	c.Kept, c.Workers, c.Think, c.Intensity = 0, 0, member.Span(60*ms), 20
	c.Faults = []Faults{Client, Client | Break | Loss, Evict | Join | Leave | Move, Pause | Partition | Drift | Release, Crash | Stop | Roll | Switch | Forget}[c.Seed%5]
	if c.Seed%3 == 0 {
		c.Faults |= Client | Evict | Pause
	}
}

// power has voters whose power fails.
func power(c *Config) {
	c.Nodes, c.Voters, c.Shelter = 3+int(c.Seed%3), 3, false
	c.Faults, c.Intensity = Lead|Crash|Broken|Evict|Join, 40
}

// changing has many views, with all that ends them.
func changing(c *Config) {
	c.Nodes = 3 + int(c.Seed%3)
	c.Faults, c.Intensity = Crash|Pause|Evict|Skip|Join|Leave|Delay|Partition|Forget, 40
}

// skips has many views that some members miss.
func skips(c *Config) {
	changing(c)
	c.Faults = Crash | Pause | Evict | Skip | Delay
}

// crowd has one lock that many applications want all the time.
func crowd(c *Config) {
	c.Nodes, c.Locks, c.Apps, c.Clients, c.Think = 3, 1, 8, 0, member.Millisecond
	c.Faults, c.Settings.Handover = 0, 4
}

// waves is a crowd in many views, with loans and waiters that give up.
func waves(c *Config) {
	changing(c)
	c.Locks, c.Apps, c.Think, c.Faults = 1, 3, 5*member.Millisecond, Crash|Evict|Skip|Switch|Forget
}

// clients has clients that are cut off from members that crash.
func clients(c *Config) {
	c.Nodes, c.Clients, c.Apps, c.Locks = 3, 8, 1, 1
	c.Faults, c.Intensity = Client|Partition|Oneway|Pause|Evict|Crash, 30
}

// thieves has few honest clients, members that are evicted all the time, and a thief that acts
// often.
func thieves(c *Config) {
	clients(c)
	c.Nodes, c.Clients, c.Locks = 4, 6, 2
	c.Faults, c.Intensity = Client|Evict|Crash|Forget, 60
}

// late has clients whose answers are late, and members that crash.
func late(c *Config) {
	clients(c)
	c.Faults, c.Intensity = Client|Delay|Slow|Partition|Crash|Evict, 60
	c.Settings.Act, c.Settings.Drift = 1, 1000
}

// flaky has clients whose connections are slow and break.
func flaky(c *Config) {
	clients(c)
	c.Faults, c.Intensity = Client|Delay, 60
}

// edge has clocks at the ends of a wide drift margin, and hardly any other margin.
func edge(c *Config) {
	c.Nodes, c.Locks, c.Clients = 3, 1, 0
	c.Settings.Drift, c.Settings.Act = 100_000, 1
	c.Faults, c.Intensity = Drift|Pause|Partition|Evict|Oneway, 30
}

// restores has disasters, and clients that hold locks meanwhile.
func restores(c *Config) {
	clients(c)
	c.Nodes, c.Voters, c.Shelter = 2+int(c.Seed%4), 3, false
	c.Faults, c.Intensity = Restore|Client|Crash|Evict|Join|Switch, 15
}

// rollbacks has voters that start again from older copies of their disks.
func rollbacks(c *Config) {
	c.Nodes, c.Voters, c.Shelter = 3+int(c.Seed%4), 3+2*int(c.Seed/4%2), false
	c.Faults, c.Intensity = Rollback|Stop|Crash|Evict|Skip|Client, 30
}

// returns has disasters, and processes with disks of the lost cluster after them.
func returns(c *Config) {
	restores(c)
	c.Faults, c.Intensity = Restore|Return|Crash|Evict|Partition, 30
}

// quorums runs maekawa, where a request need not reach the home.
func quorums(c *Config) {
	c.Nodes = 4 + int(c.Seed%6)
	for i, a := range c.Algorithms {
		if a.Algorithm == "maekawa" {
			c.Algorithms = []member.Choice{c.Algorithms[i]}
			break
		}
	}
}

// kept has transactions over a few kept locks, and little else. Each method has its turn.
func kept(c *Config) {
	changing(c)
	c.Locks, c.Apps, c.Clients, c.Kept, c.Workers = 1, 1, 0, 2+int(c.Seed/6%2), 2
	c.Think, c.Length, c.Faults = 2*member.Millisecond, 600*member.Millisecond, Crash|Pause|Evict|Skip|Join|Delay|Partition|Oneway|Forget
	all := Methods()
	at := c.Seed % uint64(len(all))
	c.Methods = append(all[at:], all[:at]...)
}

// detects is kept with detection, and messages that are late.
func detects(c *Config) {
	kept(c)
	c.Methods, c.Workers, c.Faults = Methods()[:1], 3, Slow|Evict
}

// lapses is kept with leases that expire while members hear each other, and views then.
func lapses(c *Config) {
	kept(c)
	c.Settings.Act, c.Intensity, c.Faults = 25, 80, Oneway|Forget
}

// partings is lapses with members that leave or stop meanwhile, and transactions that hold
// their locks until then.
func partings(c *Config) {
	lapses(c)
	c.Nodes, c.Voters, c.Shelter = 3+int(c.Seed%3), 1, true
	c.Settings.Act, c.Hold, c.Length = 40, c.Settings.Lease/2, 2*member.Second
	c.Faults = Oneway | Leave | Stop | Join
}

// deals is kept with transactions of clients.
func deals(c *Config) {
	kept(c)
	c.Workers, c.Clients, c.Faults = 1, 4, c.Faults|Client|Release
}

// moves is deals with clients that hold locks while members stop, crash and return.
func moves(c *Config) {
	deals(c)
	c.Voters, c.Shelter, c.Hold = 3, false, c.Settings.Lease/2
	c.Faults = Stop | Roll | Crash | Evict | Client | Partition | Pause | Forget
}

// switches is kept with changes of the method, and of the kind of the locks.
func switches(c *Config) {
	kept(c)
	c.Intensity, c.Clients, c.Faults = 80, 1, Switch|Crash|Evict
}

// garbled has processes that send malformed messages while views change.
func garbled(c *Config) {
	c.Nodes = 2 + int(c.Seed%4)
	c.Faults, c.Intensity = Garble|Crash|Evict|Join|Lead, 40
}

// Nothing breaks in runs of any tuning. It stops at the first seed that does.
func TestTuned(t *testing.T) {
	for _, x := range tunings() {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			for seed := range *tunedSeeds {
				c := pick(seed)
				x.tune(&c)
				c.Unfenced = *noFence
				r, err := Run(c)
				if err != nil {
					t.Fatal(err)
				}
				if r.Violation != nil {
					t.Fatalf("seed %d, %s: %v", seed, c.Algorithms[0].Algorithm, r.Violation)
				}
			}
		})
	}
}

// Disks are rolled back, by themselves and so that the cluster goes back, which is noticed;
// and disks of lost clusters are refused.
func TestReplacedDisks(t *testing.T) {
	nightly.Only(t)
	var sum Result
	for seed := range uint64(30) {
		for _, tune := range []func(*Config){rollbacks, returns} {
			c := pick(seed)
			tune(&c)
			r, err := Run(c)
			if err != nil || r.Violation != nil {
				t.Fatalf("seed %d: %v, %v", seed, r.Violation, err)
			}
			sum.Add(r)
		}
	}
	if sum.Rollbacks < 20 || sum.Noticed < 5 || sum.Setbacks < 2 || sum.Returns < 10 {
		t.Errorf("%+v", sum)
	}
}

// Clients that are asked to move lose nothing, however often.
func TestMoved(t *testing.T) {
	var sum Result
	for seed := range uint64(12) {
		c := pick(seed)
		if clients(&c); seed%2 == 0 {
			moves(&c)
		} else {
			c.Locks, c.Kept, c.Workers = 4, 0, 0
		}
		c.Faults, c.Intensity, c.Length = Move, 100, 400*member.Millisecond
		tr, r, err := Record(c, member.Span(math.MaxInt64), 1_000_000)
		if err != nil || r.Violation != nil {
			t.Fatalf("seed %d: %v, %v", seed, r.Violation, err)
		}
		for i := range tr.Events {
			if e := &tr.Events[i]; strings.HasPrefix(e.Name, "loses ") {
				t.Errorf("seed %d: process %d %s at %v", seed, e.Proc, e.Name, member.Span(e.At))
			}
		}
		if r.Lost > 0 {
			t.Errorf("seed %d: members report %d losses", seed, r.Lost)
		}
		sum.Add(r)
	}
	if t.Logf("%+v", sum); sum.KeptClaims < 30 || sum.Claims-sum.KeptClaims < 15 {
		t.Errorf("%d claims, %d of kept locks: too few", sum.Claims, sum.KeptClaims)
	}
}

// When a view begins, one member may serve many requests of an older view while another
// one waits, in the order of first requests. That was taken for too many turns.
func TestCarriedTurns(t *testing.T) {
	for seed, without := range map[uint64]Faults{40: 0, 100: Restore, 216: Restore} {
		c := pick(seed)
		restores(&c)
		c.Faults &^= without
		if r, err := Run(c); err != nil || r.Violation != nil {
			t.Errorf("seed %d: %v, %v", seed, r.Violation, err)
		}
	}
}
