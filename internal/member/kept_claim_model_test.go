package member

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/nightly"
)

// A moveModel explores everything that can happen to a client that holds a kept lock
// through the first of two or three members, and claims it at the second one, while a process
// of one of them wants the lock too. The view changes up to twice, members are evicted while
// they can still act, and sessions expire. It runs the member itself. A state is reached by
// repeating the actions that lead to it.
type moveModel struct {
	tb      testing.TB
	name    string
	terms   Terms   // of the client
	other   Terms   // of the process, which are not compatible with the first
	n       int     // number of members
	at      int     // where that process is
	changes [][]int // which members the first change of the view may evict, and the second; none if it is -1
	brief   bool    // no session expires, and until it has moved the client releases nothing

	*moveRun
	states, moves int
}

// A moveRun is one run.
type moveRun struct {
	members [3]*Member
	wires   [4][3][3][][]byte // by epoch, sender and receiver
	view    View
	over    [3]bool // their leases have ended
	failed  string

	token   Token // of the client's hold
	holds   bool
	rests   int    // on this member
	late    bool   // its time at the first member is over
	expired bool   // so is its session there
	claim   Ticket // at the second member; 0 if there is none
	claimed bool   // it has made a claim
	told    bool   // the second member has honoured it, and the client has not heard of that
	owes    [2]bool

	wants   Ticket // of the other process
	entered Token
	asked   bool
}

func (k *moveModel) fail(format string, args ...any) {
	if k.failed == "" {
		k.failed = fmt.Sprintf(format, args...)
	}
}

// begin starts a run, in which the client holds the lock through the first member.
func (k *moveModel) begin() {
	k.moveRun = &moveRun{holds: true}
	k.view = View{Epoch: 1, Choices: []Choice{{"", "kept:none", 1}}, Members: []Who{{"m1", 1}, {"m2", 2}, {"m3", 3}}[:k.n]}
	for i := range k.n {
		m, err := New(Config{Inc: uint64(i + 1), Settings: Usual(), Spec: specs})
		if err != nil {
			k.tb.Fatal(err)
		}
		m.lease, m.renewAt = Never-1, Never
		k.members[i] = m
		k.install(i)
		if _, err := m.Renew(0, moving, 100*Second); err != nil {
			k.tb.Fatal(err)
		}
	}
	ticket, err := k.members[0].Lock(0, k.name, Ask{Client: moving, Deadline: Never, Terms: k.terms})
	if err != nil {
		k.tb.Fatal(err)
	}
	for k.take(0); len(k.flying()) > 0; {
		for _, x := range k.flying() {
			k.do(x)
		}
	}
	if p := k.members[0].waiter(ticket); p == nil || !p.holds() {
		k.tb.Fatal("the client does not hold the lock")
	}
	k.token = k.members[0].waiter(ticket).part.token
}

func (k *moveModel) install(i int) {
	if err := k.members[i].Install(0, k.view); err != nil {
		k.fail("%v", err)
	}
	k.take(i)
}

func (k *moveModel) deliver(from, to int) {
	m := k.members[to]
	at := &k.wires[m.epoch.view.Epoch][from][to]
	b := (*at)[0]
	*at = (*at)[1:]
	if err := m.Deliver(m.now, uint64(from+1), b); err != nil {
		k.fail("%v", err)
	}
	k.take(to)
}

// take does what a member wants done.
func (k *moveModel) take(i int) {
	m := k.members[i]
	all(m)
	for _, f := range m.Out.Frames {
		at := &k.wires[m.epoch.view.Epoch][i][f.To-1]
		*at = append(*at, slices.Clone(f.Bytes))
	}
	events := slices.Clone(m.Out.Events)
	m.Out.Reset()
	for _, e := range events {
		switch {
		case i == k.at && e.Ticket == k.wants && e.Kind == Held:
			k.entered = e.Token
			k.judge()
		case i == 1 && e.Ticket == k.claim && e.Kind == Held:
			k.told = true
		case i == 1 && e.Ticket == k.claim:
			k.claim, k.told = 0, false
		}
	}
}

// flying returns the deliveries that can happen.
func (k *moveModel) flying() (acts []keptAct) {
	for i, m := range k.members[:k.n] {
		for from := range k.n {
			if !k.over[i] && len(k.wires[m.epoch.view.Epoch][from][i]) > 0 {
				acts = append(acts, keptAct{'d', k.n*from + i})
			}
		}
	}
	return acts
}

// valid reports whether the client may act on its hold.
func (k *moveModel) valid() bool { return k.holds && (k.rests == 1 || !k.late) }

// judge checks that not both hold the lock.
func (k *moveModel) judge() {
	if k.valid() && !k.entered.IsNone() && !k.over[k.at] {
		k.fail("the client holds %v of the lock with %v through m%d, and a process of m%d %v with %v", k.terms.Mode, k.token, k.rests+1, k.at+1, k.other.Mode, k.entered)
	}
}

// enabled returns what can happen.
func (k *moveModel) enabled() (acts []keptAct) {
	add := func(what byte, who int, ok bool) {
		if ok {
			acts = append(acts, keptAct{what, who})
		}
	}
	a := k.members[0]
	out := func(i int) bool { return k.view.Rank(uint64(i+1)) < 0 }
	acts = k.flying()
	for i, m := range k.members[:k.n] {
		add('i', i, !out(i) && m.epoch.view.Epoch < k.view.Epoch)
		add('u', i, i < 2 && k.owes[min(i, 1)] && !k.over[i]) // it hears that the client has released the lock
		add('o', i, out(i) && !k.over[i])
		for j, g := range m.epoch.view.Ghosts {
			add('g', k.n*i+int(g.Inc)-1, !k.over[i] && k.over[g.Inc-1] && !m.epoch.over.has(m.epoch.survivors()+j))
		}
	}
	add('s', k.at, !k.over[k.at] && (!k.asked || !k.entered.IsNone()))
	add('c', 1, k.valid() && !k.claimed && !k.over[1])
	add('k', 1, k.told && !k.over[1])
	add('x', 0, !k.late && !k.brief)
	add('e', 0, !k.over[0] && !k.expired && !k.brief && (k.late || k.rests == 1))
	add('p', 0, !k.over[0] && !out(0) && slices.ContainsFunc(a.kept.parts, func(p *part) bool { return p.state == lapsed && p.proof > 0 }))
	add('r', 0, k.valid() && (!k.brief || k.rests == 1))
	if done := int(k.view.Epoch) - 1; done < len(k.changes) {
		for _, who := range k.changes[done] {
			add('v', who+1, who < 0 || !out(who))
		}
	}
	return acts
}

// do lets one thing happen.
func (k *moveModel) do(x keptAct) {
	i := x.who % k.n
	m := k.members[i]
	switch x.what {
	case 'd':
		k.deliver(x.who/k.n, i)
		return
	case 'i':
		k.install(i)
		return
	case 's':
		k.step(m)
	case 'c':
		k.claimed = true
		ticket, err := m.Claim(m.now, k.name, k.token, moving, []uint64{1}, k.terms)
		if err != nil {
			k.fail("claim: %v", err)
		}
		k.claim = ticket
	case 'k': // the answer reaches the client
		if k.told = false; k.valid() {
			k.rests = 1
			k.moves++
			k.judge()
		} else {
			k.owes[1] = true
		}
	case 'x':
		if k.late = true; k.rests == 0 && k.holds {
			k.ends(false)
		}
	case 'e':
		k.expired = true
		m.close(m.clients[moving], Session)
		m.Wake(m.now)
	case 'p':
		m.renewal++
		m.proven = m.renewal
		m.pass()
		m.Wake(m.now)
	case 'r':
		k.ends(true)
	case 'u':
		k.unlock(m, i)
	case 'o':
		k.over[i] = true
		if i == 0 {
			k.late = k.late || k.rests == 0
		}
		if k.holds && k.rests == i {
			k.ends(false)
		}
		return
	case 'g': // the lease of another one has ended
		i = x.who / k.n
		k.buries(k.members[i], uint64(x.who%k.n)+1)
	case 'v':
		v := View{Epoch: k.view.Epoch + 1, BeforeEpoch: k.view.Epoch, Choices: k.view.Choices, Ghosts: slices.Clone(k.view.Ghosts)}
		for j, w := range k.view.Members {
			v.Before = append(v.Before, w.Inc)
			if j == slices.IndexFunc(k.view.Members, func(o Who) bool { return int(o.Inc) == x.who }) {
				v.Ghosts = append(v.Ghosts, Ghost{w.Inc, Second})
			} else {
				v.Members = append(v.Members, w)
			}
		}
		k.view = v
		return
	}
	k.take(i)
}

// buries has a member note that the lease of a ghost has ended.
func (k *moveModel) buries(m *Member, ghost uint64) {
	for _, e := range []*epoch{m.epoch, m.frozen} {
		if e == nil {
			continue
		}
		for j, g := range e.view.Ghosts {
			if g.Inc == ghost {
				e.ghosts[j], e.next = m.now, m.now
			}
		}
	}
	m.Wake(m.now)
}

// ends ends the client's hold, by its own will or because its time is over.
func (k *moveModel) ends(released bool) {
	k.holds = false
	k.owes[0] = released && !k.expired
	k.owes[1] = k.claim != 0
}

// unlock tells a member that the client no longer holds or claims the lock.
func (k *moveModel) unlock(m *Member, i int) {
	k.owes[i] = false
	if i == 1 && m.waiter(k.claim) != nil && !m.waiter(k.claim).holds() {
		m.Cancel(m.now, k.claim)
		k.claim = 0
		return
	}
	_ = m.Unlock(m.now, k.name, k.token)
	if i == 1 {
		k.claim, k.told = 0, false
	}
}

// step lets the other process request the lock, and release it.
func (k *moveModel) step(m *Member) {
	if k.asked {
		if err := m.Unlock(m.now, k.name, k.entered); err != nil {
			k.fail("release: %v", err)
		}
		k.entered = Token{}
		return
	}
	ticket, err := m.Lock(m.now, k.name, Ask{Deadline: Never, Terms: k.other})
	if err != nil {
		k.fail("%v", err)
	}
	k.wants, k.asked = ticket, true
}

// frozen writes what the previous epoch testifies.
func (k *moveModel) frozen(h *maphash.Hash, f *epoch) {
	fmt.Fprint(h, f.view.Epoch, f.reported, f.over)
	for n, b := range f.books { // there is one lock
		fmt.Fprint(h, f.table.lock(n).is(opened), b.latest)
		dump(h, reflect.ValueOf(b.keeper).Elem())
	}
}

// key identifies a state.
func (k *moveModel) key(h *maphash.Hash) uint64 {
	h.Reset()
	for _, m := range k.members[:k.n] {
		e := m.epoch
		if f := m.frozen; f != nil {
			k.frozen(h, f)
		}
		fmt.Fprint(h, m.clock, m.kept.serial, e.view.Epoch, e.reported, e.over, e.next == Never, len(m.clients))
		for _, p := range m.kept.parts {
			fmt.Fprint(h, p.Attempt, p.Mode, p.state, p.owed, p.token, p.by, p.proof > 0)
		}
		for _, b := range e.bookList {
			fmt.Fprint(h, b.where, b.asked, b.latest)
			dump(h, reflect.ValueOf(b.keeper).Elem())
		}
	}
	r := *k.moveRun
	r.members = [3]*Member{}
	fmt.Fprintf(h, "%+v", r)
	return h.Sum64()
}

// explore visits all states.
func (k *moveModel) explore() {
	var h maphash.Hash
	h.SetSeed(maphash.MakeSeed())
	known := map[uint64]bool{}
	paths := [][]keptAct{nil}
	for len(paths) > 0 {
		path := paths[len(paths)-1]
		paths = paths[:len(paths)-1]
		k.again(path)
		k.states++
		acts := k.enabled()
		if len(acts) == 0 && !k.over[k.at] && (!k.asked || !k.entered.IsNone() || k.members[k.at].waiter(k.wants) != nil) {
			k.tb.Fatalf("stuck: %+v, after %s", k.moveRun, actions(path))
		}
		for i, a := range acts {
			if i > 0 { // the first one goes on from here
				k.again(path)
			}
			if k.do(a); k.failed != "" {
				k.tb.Fatalf("%s, after %s", k.failed, actions(append(path, a)))
			}
			if x := k.key(&h); !known[x] {
				known[x] = true
				paths = append(paths, append(slices.Clone(path), a))
			}
		}
	}
}

// again repeats actions from the start.
func (k *moveModel) again(path []keptAct) {
	k.begin()
	for _, a := range path {
		k.do(a)
	}
}

// A client moves with a kept lock from one member to another: whatever happens, no process
// holds what is not compatible with its hold, and nothing is stuck.
func TestKeptClaimModel(t *testing.T) {
	v := View{Members: []Who{{"m1", 1}, {"m2", 2}}}
	long := nightly.On()
	usual := []string{"exclusive/home m2/other m1", "shared/home m2/other m2", "units/home m1/other m1"}
	for what, terms := range map[string][2]Terms{
		"exclusive": {{}, {}}, "shared": {{Mode: deadlock.Shared}, {}}, "units": {{Mode: 2, Units: 3}, {Mode: 2, Units: 3}},
	} {
		for home := range 2 {
			for at := range 2 {
				name := fmt.Sprintf("%s/home m%d/other m%d", what, home+1, at+1)
				often := slices.Contains(usual, name)
				if !long && name != usual[1] {
					continue // it takes some seconds
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					k := &moveModel{tb: t, name: away(v, v, home, home), terms: terms[0], other: terms[1], n: 2, at: at, changes: [][]int{{0, -1}}}
					if long && often {
						k.changes = [][]int{{0, -1}, {0, -1}} // which takes a minute
					}
					k.explore()
					if t.Logf("%d states, %d moves", k.states, k.moves); k.moves == 0 {
						t.Error("no claim is honoured")
					}
				})
			}
		}
	}
}

// The same with three members and two changes of the view, between which leases end, and
// homes testify.
func TestKeptClaimModelOfThree(t *testing.T) {
	v := View{Members: []Who{{"m1", 1}, {"m2", 2}, {"m3", 3}}}
	long := nightly.On()
	modes := map[string][2]Terms{"exclusive": {{}, {}}, "shared": {{Mode: deadlock.Shared}, {}}, "units": {{Mode: 2, Units: 3}, {Mode: 2, Units: 3}}}
	for what, terms := range modes {
		for first := range 2 { // the first change evicts m1, or no member
			for second := range 4 {
				for home := range 3 {
					for at := range 3 {
						name := fmt.Sprintf("%s/%d %d/home m%d/other m%d", what, first, second, home+1, at+1)
						if first == 1 && second == 1 || !long && name != "exclusive/1 3/home m3/other m3" {
							continue
						}
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							k := &moveModel{tb: t, name: away(v, v, home, home), terms: terms[0], other: terms[1], n: 3, at: at, brief: true, changes: [][]int{{first - 1}, {second - 1}}}
							k.explore()
							t.Logf("%d states, %d moves", k.states, k.moves)
						})
					}
				}
			}
		}
	}
}
