package member

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/nightly"
)

// A keptModel explores everything that can happen to two transactions over two kept locks
// and two members, one of which may be evicted while it can still act: every order of
// steps, deliveries, installations and ends of leases. It runs the member itself. A state
// is reached by repeating the actions that lead to it.
type keptModel struct {
	tb       testing.TB
	method   string
	plans    [2][]keptWish
	attempts int
	cancels  bool

	*keptRun
	states, victims int
}

// A keptAct is one thing that happens: a letter and where.
type keptAct struct {
	what byte
	who  int
}

// A keptRun is one run.
type keptRun struct {
	members [2]*Member
	wires   [3][2][2][][]byte // by epoch, sender and receiver
	view    View
	over    [2]bool // the lease of an evicted member has ended
	txs     [2]keptTx
	seen    map[[2]deadlock.Attempt]bool // pairs that were deadlocked at some time
	failed  string
}

type keptTx struct {
	next    int // index in the plan
	waits   Ticket
	holds   []keptHeld
	doomed  bool
	ended   bool
	attempt int
	born    uint64
}

type keptHeld struct {
	keptWish
	ticket Ticket
	token  Token
}

func (k *keptModel) fail(format string, args ...any) {
	if k.failed == "" {
		k.failed = fmt.Sprintf(format, args...)
	}
}

// begin starts a run.
func (k *keptModel) begin() {
	k.keptRun = &keptRun{seen: map[[2]deadlock.Attempt]bool{}}
	k.view = View{Epoch: 1, Choices: []Choice{{"", keptPrefix + k.method, 1}}}
	for i := range k.members {
		k.view.Members = append(k.view.Members, Who{fmt.Sprint("m", i+1), uint64(i + 1)})
	}
	for i := range k.members {
		m, err := New(Config{Inc: uint64(i + 1), Settings: Usual(), Spec: specs})
		if err != nil {
			k.tb.Fatal(err)
		}
		m.lease, m.renewAt = Never-1, Never
		k.members[i] = m
		k.install(i)
	}
}

func (k *keptModel) install(i int) {
	if err := k.members[i].Install(0, k.view); err != nil {
		k.fail("%v", err)
	}
	k.take(i)
}

// take does what a member wants done.
func (k *keptModel) take(i int) {
	m := k.members[i]
	all(m)
	for _, f := range m.Out.Frames {
		at := &k.wires[m.epoch.view.Epoch][i][f.To-1]
		*at = append(*at, slices.Clone(f.Bytes))
	}
	events := slices.Clone(m.Out.Events)
	m.Out.Reset()
	for _, e := range events {
		k.event(i, e)
	}
	k.deadlocked()
}

func (k *keptModel) event(i int, e Event) {
	t := &k.txs[i]
	if e.Born != 0 {
		t.born = e.Born
	}
	switch e.Kind {
	case Held:
		if t.waits != e.Ticket {
			k.fail("m%d is granted what it does not want", i+1)
			return
		}
		h := keptHeld{k.plans[i][t.next-1], e.Ticket, e.Token}
		t.waits = 0
		k.judge(i, h)
		t.holds = append(t.holds, h)
	case Lost:
		t.holds = slices.DeleteFunc(t.holds, func(h keptHeld) bool { return h.ticket == e.Ticket })
		t.doomed = true
	case Doomed:
		t.doomed = true
	default:
		if t.waits, t.doomed = 0, true; e.Victim != nil {
			k.victims++
			k.judgeVictim(e.Victim)
		}
	}
}

// judge checks a new hold.
func (k *keptModel) judge(i int, h keptHeld) {
	for j := range k.txs {
		for _, o := range k.txs[j].holds {
			if j == i || o.name != h.name || k.over[j] {
				continue
			}
			if o.mode != deadlock.Shared || h.mode != deadlock.Shared {
				k.fail("%q is held by both, %v with %v and %v with %v", h.name, o.mode, o.token, h.mode, h.token)
			}
			if !o.token.Less(h.token) && h.mode == deadlock.Exclusive {
				k.fail("token %v after %v", h.token, o.token)
			}
		}
	}
}

// deadlocked notes whether the two wait for each other now.
func (k *keptModel) deadlocked() {
	var who [2]deadlock.Attempt
	for i := range k.txs {
		t, o := &k.txs[i], &k.txs[1-i]
		if t.waits == 0 {
			return
		}
		w := k.members[i].waiter(t.waits)
		if w == nil || !slices.ContainsFunc(o.holds, func(h keptHeld) bool {
			return h.name == w.part.name && (h.mode != deadlock.Shared || w.part.Mode != deadlock.Shared)
		}) {
			return
		}
		who[i] = w.part.Attempt
	}
	k.seen[who] = true
}

func (k *keptModel) judgeVictim(v *Victim) {
	if v.How != InCycle {
		return
	}
	for pair := range k.seen {
		if slices.ContainsFunc(v.Cycle, func(w Wait) bool { return w.Inc == pair[0].Origin && w.Tx == uint64(pair[0].Tx) }) &&
			slices.ContainsFunc(v.Cycle, func(w Wait) bool { return w.Inc == pair[1].Origin && w.Tx == uint64(pair[1].Tx) }) {
			return
		}
	}
	k.fail("phantom: %v", v)
}

// enabled returns what can happen.
func (k *keptModel) enabled() []keptAct {
	var acts []keptAct
	for i, m := range k.members {
		t := &k.txs[i]
		out := k.view.Rank(m.Inc) < 0
		if !k.over[i] && !t.ended && (t.waits == 0 || t.doomed) && !(m.gone) {
			acts = append(acts, keptAct{'s', i})
		}
		if k.cancels && t.waits != 0 && !t.doomed && t.attempt == 0 && !m.gone {
			acts = append(acts, keptAct{'c', i})
		}
		for from := range k.members {
			if len(k.wires[m.epoch.view.Epoch][from][i]) > 0 && !m.gone {
				acts = append(acts, keptAct{'d', 2*from + i})
			}
		}
		if !out && m.epoch.view.Epoch < k.view.Epoch {
			acts = append(acts, keptAct{'i', i})
		}
		if out && !k.over[i] {
			acts = append(acts, keptAct{'o', i})
		}
		if k.nudges(i) && m.waiter(t.waits).part.waits == 0 {
			acts = append(acts, keptAct{'n', i})
		}
		if e := m.epoch; !out && e.next != Never && k.over[1-i] {
			acts = append(acts, keptAct{'g', i})
		}
	}
	if k.view.Epoch == 1 {
		acts = append(acts, keptAct{'v', 0}, keptAct{'v', 1}, keptAct{'v', 2})
	}
	if len(acts) == 0 { // time passes
		for i := range k.members {
			if k.nudges(i) && k.txs[1-i].waits != 0 {
				return []keptAct{{'n', i}}
			}
		}
	}
	return acts
}

// nudges reports whether something will be done about the waiting of a transaction.
func (k *keptModel) nudges(i int) bool {
	w := k.members[i].waiter(k.txs[i].waits)
	return w != nil && w.part.nudge.place != 0 && !k.members[i].gone
}

// do lets one thing happen.
func (k *keptModel) do(a keptAct) {
	i := a.who % 2
	m, t := k.members[i], &k.txs[i]
	switch a.what {
	case 's':
		k.step(i)
		return
	case 'c':
		m.Cancel(m.now, t.waits)
		t.waits, t.doomed = 0, true
	case 'd':
		at := &k.wires[m.epoch.view.Epoch][a.who/2][i]
		b := (*at)[0]
		*at = (*at)[1:]
		if err := m.Deliver(m.now, uint64(a.who/2+1), b); err != nil {
			k.fail("%v", err)
		}
	case 'i':
		k.install(i)
		return
	case 'n':
		m.nudged(m.waiter(t.waits).part)
	case 'o': // the evicted member's lease ends: it may have been out of contact until now
		k.over[i] = true
		t.holds, t.ended = nil, true
		m.gone = true
		return
	case 'g':
		m.Wake(m.epoch.next)
	case 'v':
		v := View{Epoch: 2, BeforeEpoch: 1, Before: []uint64{1, 2}, Choices: k.view.Choices}
		for j, w := range k.view.Members {
			if j == a.who {
				v.Ghosts = []Ghost{{w.Inc, Second}}
			} else {
				v.Members = append(v.Members, w)
			}
		}
		k.view = v
		return
	}
	k.take(i)
}

// step lets a transaction go on.
func (k *keptModel) step(i int) {
	m, t := k.members[i], &k.txs[i]
	if t.doomed || t.next == len(k.plans[i]) {
		if t.waits != 0 {
			m.Cancel(m.now, t.waits)
			k.take(i)
			t.waits = 0
		}
		held := t.holds
		t.holds = nil
		for _, h := range held {
			if err := m.Unlock(m.now, h.name, h.token); err != nil {
				k.fail("release %q: %v", h.name, err)
			}
			k.take(i)
		}
		if t.attempt++; !t.doomed || t.attempt == k.attempts {
			t.ended = true
		}
		t.doomed, t.next = false, 0
		return
	}
	w := k.plans[i][t.next]
	t.next++
	ticket, err := m.Lock(m.now, w.name, Ask{Deadline: Never, Terms: Terms{w.mode, 0, uint64(1 + t.attempt), t.born}})
	if err != nil {
		k.fail("%q: %v", w.name, err)
		return
	}
	t.waits = ticket
	k.take(i)
}

// key identifies a state.
func (k *keptModel) key(h *maphash.Hash) uint64 {
	h.Reset()
	for _, m := range k.members {
		e := m.epoch
		fmt.Fprint(h, m.clock, m.gone, m.kept.serial, e.view.Epoch, e.reported, e.over, e.next == Never)
		for _, p := range m.kept.parts {
			fmt.Fprint(h, p.name, p.Attempt, p.Mode, p.state, p.owed, p.token, p.waits, p.nudge.place != 0, p.tx.doomed != nil)
		}
		for _, b := range e.bookList {
			fmt.Fprint(h, string(e.table.name(b.lock)), b.where)
			dump(h, reflect.ValueOf(b.keeper).Elem())
		}
		if e.detector != nil {
			dump(h, reflect.ValueOf(e.detector).Elem())
		}
		if e.paths != nil {
			dump(h, reflect.ValueOf(e.paths).Elem())
		}
	}
	fmt.Fprint(h, k.wires, k.view.Epoch, len(k.view.Members), len(k.view.Ghosts), k.over, k.seen)
	for i := range k.txs {
		fmt.Fprintf(h, "%+v", k.txs[i])
	}
	return h.Sum64()
}

// dump writes everything but functions.
func dump(h *maphash.Hash, v reflect.Value) {
	switch v.Kind() {
	case reflect.Func, reflect.Pointer: // a pointer leads to memory of a search
	case reflect.Struct:
		for i := range v.NumField() {
			dump(h, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			dump(h, v.Index(i))
		}
		_ = h.WriteByte(';')
	default:
		fmt.Fprint(h, v, ",")
	}
}

// explore visits all states.
func (k *keptModel) explore() {
	seed := maphash.MakeSeed()
	var h maphash.Hash
	h.SetSeed(seed)
	known := map[uint64]bool{}
	paths := [][]keptAct{nil}
	for len(paths) > 0 {
		path := paths[len(paths)-1]
		paths = paths[:len(paths)-1]
		k.begin()
		for _, a := range path {
			k.do(a)
		}
		k.states++
		acts := k.enabled()
		if len(acts) == 0 || k.failed != "" {
			k.settled(path)
			continue
		}
		for i, a := range acts {
			if i > 0 { // the first one goes on from here
				k.begin()
				for _, b := range path {
					k.do(b)
				}
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

// settled checks a state in which nothing more can happen.
func (k *keptModel) settled(path []keptAct) {
	for i := range k.txs {
		if !k.txs[i].ended && k.method != "none" {
			k.tb.Fatalf("stuck: the transaction of m%d does not end: %+v, after %s", i+1, k.txs[i], actions(path))
		}
	}
	if k.failed != "" {
		k.tb.Fatalf("%s, after %s", k.failed, actions(path))
	}
}

func actions(path []keptAct) string {
	var all []string
	for _, a := range path {
		all = append(all, fmt.Sprintf("%c%d", a.what, a.who))
	}
	return strings.Join(all, " ")
}

// Two members, two locks, two transactions and one change of the view: everything that can
// happen is safe, no victim is a phantom, and every transaction ends.
func TestKeptModel(t *testing.T) {
	v := View{Members: []Who{{"m1", 1}, {"m2", 2}}}
	var names [2]string
	for c := 'z'; c >= 'a'; c-- {
		names[v.Home(string(c))] = string(c)
	}
	a, b := names[0], names[1]
	if a > b {
		a, b = b, a
	}
	exclusive, shared := deadlock.Exclusive, deadlock.Shared
	for _, m := range KeptMethods() {
		for what, plans := range map[string][2][]keptWish{
			"exclusive": {{{a, exclusive}, {b, exclusive}}, {{b, exclusive}, {a, exclusive}}},
			"shared":    {{{a, shared}, {b, exclusive}}, {{b, shared}, {a, shared}}},
		} {
			if m.Sorted {
				slices.Reverse(plans[1])
			}
			t.Run(m.Name+"/"+what, func(t *testing.T) {
				long := nightly.On()
				if m.Name == "detect-central" && !long {
					t.Skip("it takes a minute")
				}
				k := &keptModel{tb: t, method: m.Name, plans: plans, attempts: 1}
				if m.Family == deadlock.Prevent && long {
					k.attempts, k.cancels = 2, true
				}
				k.explore()
				t.Logf("%d states, %d victims", k.states, k.victims)
			})
		}
	}
}
