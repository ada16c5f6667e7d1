package raft

import "testing"

// lazy is a disk that never waits for what it writes.
type lazy struct{ *Disk }

func (l lazy) Save(b Batch) error { return l.write(b) }

// forgetful is a disk that does not keep whom it voted for.
type forgetful struct{ *Disk }

func (f forgetful) Save(b Batch) error {
	b.Hard.Vote = 0
	return f.Disk.Save(b)
}

// uncommitted is a disk that does not keep what is committed along with entries.
type uncommitted struct{ *Disk }

func (u uncommitted) Save(b Batch) error {
	b.Hard.Commit = u.state.Snapshot.Index
	if b.Snapshot != nil {
		b.Hard.Commit = b.Snapshot.Index
	}
	return u.Disk.Save(b)
}

// notSettled has a leader call a change settled as soon as it has ended.
func notSettled(n *Node) {
	n.settle = settling{term: n.status().GetTerm(), done: !n.log.conf.Joint()}
}

// Each of these breaks a rule, and some seed shows it.
func TestControls(t *testing.T) {
	for _, c := range []struct {
		name  string
		from  int // the seed to begin with: some are rare
		wrong func(*plan)
	}{
		{"fsync skipped", 0, func(p *plan) { p.storage = func(d *Disk) Storage { return lazy{d} } }},
		{"fsync skipped, order kept", 0, func(p *plan) {
			p.storage, p.ordered = func(d *Disk) Storage { return lazy{d} }, true
		}},
		{"forgets the vote", 50, func(p *plan) {
			p.fixed, p.voters = true, 3
			p.storage, p.restless = func(d *Disk) Storage { return forgetful{d} }, true
		}},
		{"forgets what is committed", 0, func(p *plan) { p.storage = func(d *Disk) Storage { return uncommitted{d} } }},
		{"reads without a quorum", 0, func(p *plan) { p.hasty = true }},
		{"a change is not settled", 4970, func(p *plan) { p.poke = notSettled }},
		{"learners must have what is committed now", 200, func(p *plan) {
			p.poke = func(n *Node) { n.goal = goal{n.status().GetTerm(), n.status().GetCommit()} }
		}},
		{"snapshots that are lost are waited for", 0, func(p *plan) {
			p.poke = func(n *Node) { n.snaps = nil }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const most = 3000
			for i, p := range plans(c.from + most)[c.from:] {
				c.wrong(&p)
				if w := run(p); w.wrong != nil {
					t.Logf("caught by seed %d with %d voters, after %d runs: %v", p.seed, p.voters, i+1, w.wrong)
					return
				}
			}
			t.Errorf("not caught by %d runs", most)
		})
	}
}
