package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A role says what a node is to the record and to the log.
type role uint8

const (
	plain    role = iota // not a voter
	voting               // a voter of both
	coming               // a voter of the record that the log does not have
	retiring             // a voter of the log that the record retires
	retired              // a voter that the record retires, and the log no longer has
)

// A pulse says what a leader has heard from a node.
type pulse uint8

const (
	answers pulse = iota // a member that has renewed lately and answered the leader's call
	renews               // a member that has renewed lately, and has not answered
	late                 // a member that has missed three renewals
	quiet                // a member that is evicted for its silence
	absent               // not a member, for a short time
	overdue              // not a member for too long
)

// A profile is a node as its leader knows it.
type profile struct {
	role   role
	pulse  pulse
	leaves bool
	proven bool // it has renewed with this leader
}

func (p profile) member() bool { return p.pulse < absent }

// A situation is all that a leader's choice of voters depends on.
type situation struct {
	nodes    []profile
	leader   int
	wanted   int
	waited   bool // members have had enough time to answer
	learners bool
	joint    bool
}

func (s *situation) String() string {
	var all []string
	for i, p := range s.nodes {
		t := fmt.Sprintf("%c: %s, %s", 'A'+i, []string{"no voter", "voter", "coming", "retiring", "retired"}[p.role],
			[]string{"answers", "renews", "late", "quiet", "absent", "overdue"}[p.pulse])
		for _, x := range []struct {
			is   bool
			what string
		}{{i == s.leader, "leads"}, {p.leaves, "leaves"}, {!p.proven, "not proven"}} {
			if x.is {
				t += ", " + x.what
			}
		}
		all = append(all, t)
	}
	return fmt.Sprintf("%s; wanted %d, waited %v, learners %v, joint %v", strings.Join(all, "; "), s.wanted, s.waited, s.learners, s.joint)
}

// where returns the nodes of which something is true.
func (s *situation) where(f func(i int, p profile) bool) (all set) {
	for i, p := range s.nodes {
		if f(i, p) {
			all |= 1 << i
		}
	}
	return all
}

// facts returns what follows from a situation. If no member would be left, because
// some are evicted and all others leave, those that leave have to stay.
func (s *situation) facts(lonely bool) *facts {
	f := &facts{joint: s.joint, learners: s.learners, wanted: s.wanted}
	f.voters = s.where(func(_ int, p profile) bool { return p.role == voting || p.role == coming })
	f.list = s.where(func(_ int, p profile) bool { return p.role == voting || p.role == retiring })
	f.overdue = f.voters & s.where(func(_ int, p profile) bool { return p.pulse == overdue })
	stay := s.where(func(_ int, p profile) bool { return p.pulse <= late })
	leave := stay & s.where(func(_ int, p profile) bool { return p.leaves })
	evicts := s.where(func(_ int, p profile) bool { return p.pulse == quiet }) != 0
	switch {
	case stay != leave || evicts:
	case leave.has(s.leader):
		leave &^= 1 << s.leader // if all leave, the leader is the last
	default:
		leave &= leave - 1
	}
	if f.members = stay.len(); !lonely {
		f.members -= leave.len()
		f.leaving = leave & f.voters
	}
	heard := s.where(func(i int, p profile) bool { return p.pulse <= renews && !leave.has(i) })
	if f.known = heard; f.leaving != 0 {
		f.known &= s.where(func(i int, p profile) bool { return p.pulse == answers || i == s.leader })
	}
	f.awaited = heard != f.known && !s.waited
	f.fit = f.known &^ f.voters & s.where(func(_ int, p profile) bool { return p.proven })
	return f
}

// newLeader returns the leader.
func (s *situation) newLeader() *Leader {
	const now = 1000 * second
	w := &Leader{self: uint64(firstVoter + s.leader), now: now, leads: true, term: 1, steady: !s.joint, growing: s.learners}
	r := &w.record
	*r = Record{Cluster: 9, Epoch: 50, Before: 49, Settings: member.Usual(), Wanted: s.wanted, Choices: central()}
	r.Settings.Renew = member.Second // so that three renewals are less than half a lease
	r.Settings.Replace = 30 * member.Second
	since := []member.Instant{answers: now, renews: now, late: now - 4*second, quiet: now - 9*second, absent: now - second, overdue: now - 40*second}
	for i, p := range s.nodes {
		name := string(rune('A' + i))
		id := uint64(firstVoter + i)
		if p.role == voting || p.role == retiring {
			w.list = append(w.list, id)
		}
		if p.role != plain {
			r.Voters = append(r.Voters, Voter{ID: id, Name: name, Address: name, Leaves: p.role >= retiring})
		}
		switch {
		case p.member():
			m := Member{Name: name, Address: name, Nonce: uint64(firstNonce + i), Inc: uint64(firstInc + i)}
			if p.role != plain {
				m.Voter = id
			}
			r.Members = append(r.Members, m)
			n := standing{inc: m.Inc, heard: since[p.pulse], until: now + 5*second, proven: p.proven, leaves: p.leaves}
			if p.leaves {
				if n.asked = now - second; s.waited {
					n.asked = now - 6*second
				}
			}
			if p.pulse == answers {
				n.lived = now
			}
			w.standings = append(w.standings, n)
		case p.role == voting || p.role == coming:
			w.absent = append(w.absent, timed{id, since[p.pulse]})
		}
	}
	return w
}

// decide returns the voters after the leader's next change, those that leave with it, and
// what is wrong with it.
func (s *situation) decide() (voters, left set, wrong string) {
	w := s.newLeader()
	old := s.facts(false).voters
	x, ok := w.next()
	if !ok {
		return old, 0, ""
	}
	var forget set
	if !s.joint {
		forget = s.where(func(_ int, p profile) bool { return p.role == retired })
	}
	left = s.where(func(i int, _ profile) bool { return slices.Contains(x.Left, uint64(firstInc+i)) })
	voters = old &^ s.where(func(i int, _ profile) bool { return slices.Contains(x.Retire, uint64(firstVoter+i)) })
	voters |= s.where(func(i int, _ profile) bool { return slices.Contains(x.Promote, uint64(firstNonce+i)) })
	switch r, ok := Apply(w.record, 1, x.AppendTo(nil)); {
	case !ok:
		return voters, left, "the change is void"
	case !slices.Equal(x.Forget, forget.ids(firstVoter)):
		return voters, left, fmt.Sprintf("voters %d are forgotten", x.Forget)
	case len(r.staying()) != voters.len():
		return voters, left, fmt.Sprintf("the record has voters %d", r.staying())
	}
	return voters, left, ""
}

// judge returns what is wrong with what the leader does.
func (s *situation) judge() string {
	v, left, wrong := s.decide()
	if wrong == "" {
		wrong = s.facts(false).judge(v, left)
		others := s.where(func(_ int, p profile) bool { return p.pulse <= late && !p.leaves })
		if wrong != "" && others == 0 && left == 0 {
			wrong = s.facts(true).judge(v, left)
		}
	}
	if wrong == "" {
		return ""
	}
	return fmt.Sprintf("voters %v and %v leave: %s", v, left, wrong)
}

// judge returns what is wrong with voters, and with those that leave.
func (f *facts) judge(v, left set) string {
	// Safety.
	if v != f.voters {
		if why := f.forbids(v); why != "" {
			return why
		}
	}
	if left&f.voters != f.leaving&^v {
		return fmt.Sprintf("of the voters want %v to leave", f.leaving&^v)
	}
	// Liveness.
	for _, u := range f.allowed() {
		if v == f.voters {
			return fmt.Sprintf("voters could be %v", u)
		}
		if f.agreed() && f.leaving&^v == 0 && f.leaving&^u != 0 {
			return fmt.Sprintf("with voters %v some of %v could", u, f.leaving)
		}
	}
	return ""
}

// after returns the situation when the change is applied and the log has its voters.
func (s *situation) after(v, left set) situation {
	n := *s
	n.nodes = nil
	for i, p := range s.nodes {
		p.role = plain
		if v.has(i) {
			p.role = voting
		}
		if p.pulse == quiet || left.has(i) {
			p.pulse, p.leaves, p.proven = absent, false, false
		}
		n.nodes = append(n.nodes, p)
	}
	return n
}

// ends reports whether a leader that is asked again and again comes to rest, with
// voters that the rules do not let it change.
func (s *situation) ends() bool {
	for range 6 {
		f := s.facts(false)
		v, left, _ := s.decide()
		if v == f.voters && left == 0 {
			return len(f.allowed()) == 0
		}
		n := s.after(v, left)
		s = &n
	}
	return false
}

// situations calls f with all situations of up to some nodes of these kinds. The
// order of nodes, which is that of their ages, is that of the kinds or its reverse.
func situations(kinds []profile, most int, f func(s *situation)) {
	var nodes []profile
	try := func(s situation) {
		voters, awaited, leaves, stays := 0, false, false, false
		for _, p := range s.nodes {
			if p.role == voting || p.role == coming {
				voters++
			}
			awaited, leaves, stays = awaited || p.pulse == renews, leaves || p.leaves, stays || p.pulse <= late
		}
		if voters%2 == 0 || voters > MaxVoters || !stays {
			return // no view is like that, or nothing can be done
		}
		for i, p := range s.nodes {
			if p.role != voting && p.role != retiring || i > 0 && p == s.nodes[i-1] {
				continue // it cannot lead, or is like the one before
			}
			for _, s.wanted = range []int{1, 3, 5} {
				s.leader, s.waited = i, false
				if f(&s); awaited && leaves {
					s.waited = true
					f(&s)
				}
			}
		}
	}
	var add func(from int)
	add = func(from int) {
		s := situation{nodes: nodes}
		try(s)
		if s.nodes = slices.Clone(nodes); len(nodes) < most {
			slices.Reverse(s.nodes)
			try(s)
		}
		for k := from; k < len(kinds) && len(nodes) < most; k++ {
			nodes = append(nodes, kinds[k])
			add(k)
			nodes = nodes[:len(nodes)-1]
		}
	}
	add(0)
}

// Every change of voters that a leader proposes is one that the rules allow. If
// they allow any, it proposes one; and if they allow one that lets a leaving voter
// go, and the log's list agrees with the record, it proposes such a one.
func TestAllChoices(t *testing.T) {
	few := []profile{
		{voting, answers, false, true}, {voting, renews, false, true}, {voting, answers, true, true},
		{voting, absent, false, false}, {voting, overdue, false, false}, {plain, answers, false, true}, {plain, renews, false, true},
	}
	settled := append(slices.Clone(few), []profile{
		{voting, late, false, true}, {voting, quiet, false, true}, {voting, late, true, true},
		{plain, late, false, true}, {plain, quiet, false, true}, {plain, answers, true, true},
		{plain, answers, false, false}, {plain, renews, false, false},
	}...)
	unsettled := append(slices.Clone(settled), []profile{
		{coming, answers, false, true}, {coming, renews, false, true}, {coming, late, false, true}, {coming, answers, true, true},
		{coming, absent, false, false}, {retiring, answers, false, true}, {retiring, answers, true, true}, {retiring, absent, false, false},
		{retired, answers, false, true}, {retired, answers, true, true},
	}...)
	n := 0
	check := func(s *situation) {
		t.Helper()
		n++
		if wrong := s.judge(); wrong != "" && !t.Failed() {
			t.Errorf("%s\n%s", s, wrong)
		}
	}
	situations(settled, 4, func(s *situation) {
		if !s.ends() {
			t.Errorf("%s\nthe voters change again and again", s)
		}
	})
	situations(few, 7, check)
	situations(settled, 5, check)
	t.Logf("%d situations with a settled log", n)
	n = 0
	situations(unsettled, 4, func(s *situation) {
		for _, s.learners = range []bool{false, true} {
			check(s)
		}
	})
	situations(unsettled, 3, func(s *situation) {
		s.joint = true
		check(s)
	})
	t.Logf("%d others", n)
}
