package deadlock

import "testing"

// TestPaths: two members find a deadlock between them, with numbers that no slice could
// have as indices.
func TestPaths(t *testing.T) {
	a, b := begun(1, 1<<40, 1, Exclusive).Attempt, begun(2, 1<<40, 2, Exclusive).Attempt
	// At the first member a holds the lock for which b waits; a waits at the second one.
	first, second := NewPaths(PathsConfig{}), NewPaths(PathsConfig{})
	first.Requested(b)
	first.Queued(Request{Attempt: b})
	first.Waits(a, 7)
	_, push := first.Search([]Arc{arc(b, a, 0)}, []Attempt{b})
	if len(push) != 1 || push[0].Lock != 7 || push[0].first() != b || push[0].last() != a {
		t.Fatalf("the first member pushes %v", push)
	}
	if _, again := first.Search([]Arc{arc(b, a, 0)}, []Attempt{b}); again != nil {
		t.Errorf("and again %v", again)
	}
	second.Requested(a)
	second.Queued(Request{Attempt: a})
	if found, _ := second.Search([]Arc{arc(a, b, 0)}, []Attempt{a}); found != nil {
		t.Errorf("found alone: %v", found)
	}
	second.Receive(push[0])
	found, _ := second.Search([]Arc{arc(a, b, 0)}, []Attempt{a})
	if len(found) != 1 || found[0].Victim != b || len(found[0].Behind) != 2 {
		t.Fatalf("the second member finds %v", found)
	}
	if d := second.Answered(a, true); d != nil {
		t.Errorf("one has confirmed %v", d)
	}
	if d := second.Answered(b, true); d == nil || d.Victim != b {
		t.Errorf("both have confirmed %v", d)
	}
	second.Receive(push[0])
	if second.Due() {
		t.Error("a path of the victim is taken again")
	}
}

// TestPathsForget: memory does not grow with the number of transactions served.
func TestPathsForget(t *testing.T) {
	p := NewPaths(PathsConfig{})
	kept := begun(9, 9, 9, Exclusive).Attempt
	p.Waits(kept, 3)
	for tx := range 10 * maxIdle {
		who := begun(1, tx, 1, Exclusive).Attempt
		p.Requested(who)
		p.Queued(Request{Attempt: who})
		p.Search([]Arc{arc(who, kept, 0)}, nil)
		who.Seq = 0
		p.Ended(who)
	}
	if p.roster.size > 2*maxIdle || len(p.known) > 2*maxIdle || len(p.web.nodes) > 2*maxIdle {
		t.Errorf("%d indices, %d records, %d nodes", p.roster.size, len(p.known), len(p.web.nodes))
	}
	who := begun(1, 1, 1, Exclusive).Attempt
	p.Requested(who)
	p.Queued(Request{Attempt: who})
	who.Origin = 10 // its number is larger, so the path may go on
	if _, push := p.Search([]Arc{arc(who, kept, 0)}, []Attempt{who}); len(push) != 0 {
		t.Errorf("a path without news was pushed: %v", push)
	}
	p.Queued(Request{Attempt: who})
	if _, push := p.Search([]Arc{arc(who, kept, 0)}, []Attempt{who}); len(push) != 1 || push[0].last() != kept {
		t.Errorf("what was known before is forgotten: %v", push)
	}
}
