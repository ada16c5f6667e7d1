package storm

import (
	"math/bits"
	"slices"

	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
)

// Draw draws the strikes of a run from its seed.
func Draw(c Config) []Strike {
	r := kernel.NewRand(c.Seed, 17)
	var kinds []Faults
	for i := range faultKinds {
		if k := Faults(1) << i; c.Faults.has(k) && (!k.has(Client|Move) || c.Clients > 0) {
			for range weight(k) {
				kinds = append(kinds, k)
			}
		}
	}
	all := []Strike{}
	if len(kinds) == 0 || c.Length == 0 {
		return all
	}
	n := int(c.Length) / int(member.Millisecond) * c.Intensity / 1000
	for range n {
		s := Strike{
			At: member.Span(r.Below(int64(c.Length))), Kind: kinds[r.Below(int64(len(kinds)))],
			Who: int(r.Below(int64(c.Nodes + spare))), Peer: int(r.Below(int64(c.Nodes + spare))), How: int(r.Below(20)),
		}
		s.For = lasting(&c, s.Kind, &r)
		if s.Kind == Roll {
			all = append(all, roll(&c, s)...)
			continue
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b Strike) int { return int(a.At - b.At) })
	return all
}

// weight returns how often a kind of fault is drawn: faults that end leases more often than
// those that only take time.
func weight(k Faults) int {
	switch k {
	case Pause, Partition, Client, Delay:
		return 4
	case Sever, Roll, Wipe, Restore:
		return 1
	}
	return 2
}

// lasting draws how long a fault lasts: most are short, some outlast a lease.
func lasting(c *Config, kind Faults, r *kernel.Rand) member.Span {
	lease := int64(c.Settings.Lease)
	switch kind {
	case Evict, Skip, Switch, Forget, Drift, Beyond, Sever, Release, Move:
		return 0
	case Break:
		return member.Span(1 + r.Below(lease/4))
	case Join:
		return member.Span(lease/2 + r.Below(2*lease))
	}
	if kind == Stall && r.Below(3) == 0 {
		return member.Span(1 + r.Below(4*lease))
	}
	long := int64(2)
	if kind.has(Partition | Oneway | Pause | Client | Lead | Jump) {
		long = 4
	}
	switch n := r.Below(6); {
	case n == 0:
		return member.Span(1 + r.Below(lease/10))
	case n <= long:
		return member.Span(1 + r.Below(2*lease))
	}
	return member.Span(1 + r.Below(lease*2/3))
}

// roll restarts all members, one after another.
func roll(c *Config, s Strike) []Strike {
	var all []Strike
	for i := range c.Nodes {
		one := s
		one.Who, one.At = i, s.At+member.Span(i)*max(c.Settings.Renew, 4*c.Settings.ViewLife)
		one.For = member.Span(ms)
		all = append(all, one)
	}
	return all
}

// A Choice says what Pick may pick from.
type Choice struct {
	Algorithms []member.Choice // one of them, and others to switch to
	Nodes      []int           // one of them
	Voters     []int           // one of them
	Faults     Faults          // some of them
	Bank       bool            // every run has a bank
	Unfenced   bool            // no run has a fence
}

// Pick returns the run of a seed: the algorithm, the number of members, the faults and
// their intensity, within a choice. The runs of many seeds cover all of it.
func Pick(seed uint64, from Choice) Config {
	r := kernel.NewRand(seed, 11)
	c := Config{Seed: seed, Settings: Quick(), Bank: from.Bank, Unfenced: from.Unfenced}
	if len(from.Algorithms) > 0 {
		at := int(seed % uint64(len(from.Algorithms)))
		c.Algorithms = append(slices.Clone(from.Algorithms[at:]), from.Algorithms[:at]...)
	}
	if len(from.Nodes) > 0 {
		c.Nodes = from.Nodes[r.Below(int64(len(from.Nodes)))]
	}
	if len(from.Voters) > 0 {
		c.Voters = from.Voters[r.Below(int64(len(from.Voters)))]
	}
	c.Shelter = c.Voters == 1 && r.Below(2) == 0
	c.Locks = 1 + int(r.Below(4))
	c.Apps = 1 + int(r.Below(3))
	c.Clients = int(r.Below(4))
	c.Prefixed = r.Below(4) == 0
	c.Settings.Handover = []int{1, 2, 4, 16}[r.Below(4)]
	c.Settings.ViewLife = []member.Span{0, 10 * member.Millisecond, 25 * member.Millisecond}[r.Below(3)]
	c.Length = member.Span(800+r.Below(900)) * member.Millisecond
	c.Intensity = []int{6, 15, 30}[r.Below(3)]
	c.Settings.Drift = []int64{10_000, 10_000, 50_000, 100_000}[r.Below(4)]
	c.Settings.Act = []int64{2, 10, 10, 25}[r.Below(4)]
	c.Think = member.Span(int64(c.Nodes*c.Apps)*2*ms + r.Below(12*ms))
	if r.Below(8) == 0 {
		c.Think = member.Span(ms)
	}
	c.Faults = some(from.Faults&^(Beyond|Rollback|Return|Move), &r)
	if r.Below(8) == 0 {
		c.Faults |= from.Faults & Beyond
	}
	c.Questions = r.Below(2) == 0
	if r.Below(8) == 0 {
		c.Locks = 16 + int(r.Below(49)) // so that members have nothing to do with most of them
	}
	if r.Below(50) == 0 {
		c.large(&r)
	}
	c.Faults |= some(from.Faults&(Rollback|Return), &r) // late, so that they change nothing else of a seed
	if r.Below(4) == 0 {                                // and so are these
		c.keep(&r)
	}
	if r.Below(2) == 0 {
		c.Faults |= from.Faults & Move
	}
	if c.Clients > 0 && r.Below(3) == 0 {
		c.Eager = true
		c.Locks += 4 // so that a lock is sometimes wanted by one client only
	}
	return c
}

// large gives a run thousands of names, hundreds of which are held and awaited at once, and
// links with little room: reports and queries go out in many parts, messages that arrive
// before their view do not fit, and a link to a paused process fills up.
func (c *Config) large(r *kernel.Rand) {
	c.Locks = 1000 + int(r.Below(3000))
	c.Apps = 50 + int(r.Below(150))
	c.Hold, c.Think = 3*c.Settings.Lease, c.Settings.Lease
	c.Length /= 2
	c.Limits.Part = 1 << (6 + r.Below(5))
	c.Links.Window = 1 << (6 + r.Below(7))
	c.Links.Early = 1 << (8 + r.Below(6))
	c.Links.Bytes = 1 << (12 + r.Below(3))
}

// some picks all of a set, half of it, or a few.
func some(f Faults, r *kernel.Rand) Faults {
	kinds := int64(bits.OnesCount64(uint64(f)))
	if kinds < 2 {
		return f
	}
	keep := Faults(0)
	odds := []int64{1, 2, 4}[r.Below(3)]
	for i := range faultKinds {
		if k := Faults(1) << i; f.has(k) && r.Below(odds) == 0 {
			keep |= k
		}
	}
	return keep
}

// Quick returns settings for storms: leases are short, so that much happens.
func Quick() member.Settings {
	s := member.Usual()
	s.Lease, s.Renew, s.ViewLife, s.Replace = 200*member.Millisecond, 30*member.Millisecond, 10*member.Millisecond, 600*member.Millisecond
	return s
}
