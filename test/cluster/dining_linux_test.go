package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
)

var meals = flag.Int("meals", 40, "how often philosophers eat, for each method against deadlock")

const (
	diners = 5

	// lasting is how long a deadlock may last while nodes are killed and paused. Without
	// faults the slowest method breaks one after two seconds.
	lasting = 30 * time.Second
)

// A fork is a kept lock, and what it protects.
type fork struct {
	name  string
	mu    sync.Mutex
	fence stile.Fence
	last  *stile.Lock // of the last philosopher that had it
	uses  int
}

// pick notes that a philosopher has a fork, and judges that.
func (f *fork) pick(l *stile.Lock) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	passes := f.fence.Pass(l.Token())
	if l.Err() != nil {
		return nil // lost meanwhile, which commit shows
	}
	before := f.last
	f.last = l
	switch {
	case before != nil && before.Err() == nil:
		return fmt.Errorf("%s is held with token %v, and still with token %v", f.name, l.Token(), before.Token())
	case !passes:
		return fmt.Errorf("%s is held with token %v, after a higher one", f.name, l.Token())
	case before != nil && before.Token() == l.Token():
		return fmt.Errorf("%s is held with token %v twice", f.name, l.Token())
	}
	return nil
}

// used returns how often the fork was used.
func (f *fork) used() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.uses
}

// use counts one more use, if the fence lets the holder do so.
func (f *fork) use(l *stile.Lock, before int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch held := l.Err() == nil; {
	case !f.fence.Pass(l.Token()):
		if held {
			return fmt.Errorf("the fence of %s refuses token %v, which is that of its holder", f.name, l.Token())
		}
		return nil
	case f.uses != before:
		return fmt.Errorf("%s was used beside the holder of token %v", f.name, l.Token())
	}
	f.uses++
	return nil
}

// A party is philosophers who share forks. Each of them acquires the left one and then the
// right one in a transaction.
type party struct {
	method deadlock.Method
	forks  [diners]*fork
	seated chan struct{} // closed when all have their first fork, for the first time

	mu      sync.Mutex
	first   int // number of those who have had their first fork
	eaten   [diners]int
	hungry  [diners]time.Time // since when; zero if the philosopher has ended
	hunger  time.Duration     // the longest
	waiting int               // number of those who have one fork and wait for the other
	ring    time.Time         // since when all do
	rings   int
	lasted  time.Duration // the longest ring
	aborts  int
	lost    int
	faults  int // number of those that struck while they dined
	wrong   []error
}

func newParty(m deadlock.Method) *party {
	t := &party{method: m, seated: make(chan struct{})}
	for i := range t.forks {
		t.forks[i] = &fork{name: fmt.Sprintf("%s/fork%d", m.Name, i)}
	}
	return t
}

// wait notes that a philosopher waits for its second fork, or no longer does.
func (t *party) wait(by int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == diners {
		t.lasted = max(t.lasted, time.Since(t.ring))
	}
	if t.waiting += by; t.waiting == diners {
		t.rings++
		t.ring = time.Now()
	}
}

// sit notes that a philosopher has its first fork. The first time, it waits for the others,
// so that all have one.
func (t *party) sit(ctx context.Context) {
	t.mu.Lock()
	if t.first++; t.first == diners {
		close(t.seated)
	}
	t.mu.Unlock()
	if !t.method.Sorted { // otherwise two of them share the first one
		select {
		case <-t.seated:
		case <-ctx.Done():
		}
	}
}

// dine has a philosopher eat until all have eaten enough.
func (t *party) dine(ctx context.Context, x *stile.Client, i int, enough func(total int) bool) {
	forks := []*fork{t.forks[i], t.forks[(i+1)%diners]}
	if t.method.Sorted {
		slices.SortFunc(forks, func(a, b *fork) int { return strings.Compare(a.name, b.name) })
	}
	for tries := 0; ; {
		t.mu.Lock()
		total := 0
		for _, n := range t.eaten {
			total += n
		}
		if enough(total) || ctx.Err() != nil {
			t.hungry[i] = time.Time{}
			t.mu.Unlock()
			return
		}
		t.hungry[i] = time.Now()
		t.mu.Unlock()
		if t.method.Starves {
			time.Sleep(rand.N(20 * time.Millisecond)) // a deadlock takes long there, so let it be rare
		}
		attempts := 0
		err := x.Transact(ctx, func(ctx context.Context, tx *stile.Tx) error {
			attempts++
			tries++
			return t.meal(ctx, tx, forks, tries == 1)
		})
		t.mu.Lock()
		t.aborts += attempts - 1
		switch {
		case err == nil:
			t.eaten[i]++
			t.hunger = max(t.hunger, time.Since(t.hungry[i]))
		case errors.Is(err, stile.ErrLost):
			t.lost++
		case ctx.Err() == nil:
			t.wrong = append(t.wrong, err)
		}
		t.mu.Unlock()
	}
}

// meal eats once.
func (t *party) meal(ctx context.Context, tx *stile.Tx, forks []*fork, first bool) error {
	a, err := tx.Lock(ctx, forks[0].name)
	if err != nil {
		return err
	}
	if err := forks[0].pick(a); err != nil {
		return err
	}
	if first {
		t.sit(ctx)
	}
	if !t.method.Starves {
		time.Sleep(rand.N(time.Millisecond)) // so that others get their first forks too
	}
	t.wait(1)
	b, err := tx.Lock(ctx, forks[1].name)
	t.wait(-1)
	if err != nil {
		return err
	}
	if err := forks[1].pick(b); err != nil {
		return err
	}
	before := []int{forks[0].used(), forks[1].used()}
	time.Sleep(rand.N(time.Millisecond)) // a meal takes a moment
	return errors.Join(forks[0].use(a, before[0]), forks[1].use(b, before[1]))
}

// fine returns an error if something is wrong at a table, or if it takes too long.
func (t *party) fine() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == diners {
		t.lasted = max(t.lasted, time.Since(t.ring))
	}
	if t.lasted > lasting {
		t.wrong = append(t.wrong, fmt.Errorf("%s: a deadlock lasted longer than %v", t.method.Name, lasting))
	}
	for i, since := range t.hungry {
		if !since.IsZero() && time.Since(since) > longest {
			t.wrong = append(t.wrong, fmt.Errorf("%s: philosopher %d starves", t.method.Name, i))
		}
	}
	return errors.Join(t.wrong...)
}

// A dinner is a cluster with a table for each method.
type dinner struct {
	*trial
	tables map[string]*party
	wg     sync.WaitGroup
}

func newDinner(t *testing.T) *dinner {
	t.Helper()
	d := &dinner{tables: map[string]*party{}}
	choices := []string{"naimi-trehel"}
	for _, m := range member.KeptMethods() {
		d.tables[m.Name] = newParty(m)
		choices = append(choices, fmt.Sprintf("%s/=%s", m.Name, member.Kept(m)))
	}
	d.trial = newTrialWith(t, strings.Join(choices, ","), 3, time.Second)
	return d
}

// serve lets the philosophers of a table dine, each through a client of its own. It returns
// one of the clients.
func (d *dinner) serve(ctx context.Context, t *party, enough func(total int) bool) (last *stile.Client) {
	d.t.Helper()
	for i := range diners {
		x, err := stile.Dial(ctx, stile.DialConfig{Nodes: d.addresses(i % len(d.nodes)), Name: fmt.Sprint(t.method.Name, " ", i), Timeout: longest})
		if err != nil {
			d.t.Fatal(err)
		}
		d.t.Cleanup(func() { x.Close() })
		d.wg.Go(func() { t.dine(ctx, x, i, enough) })
		last = x
	}
	return last
}

// strike kills a node and starts it again, or pauses one.
func (d *dinner) strike(kill bool) {
	d.t.Helper()
	time.Sleep(rand.N(d.lease)) // faults come at any time
	i := rand.IntN(len(d.nodes))
	if kill {
		d.kill(i)
		d.serves()
		d.start(i)
	} else {
		p := d.nodes[i].serve.cmd.Process
		if err := p.Signal(syscall.SIGSTOP); err != nil {
			d.t.Fatal(err)
		}
		time.Sleep(rand.N(2 * d.lease)) // some pauses are longer than a lease
		if err := p.Signal(syscall.SIGCONT); err != nil {
			d.t.Fatal(err)
		}
	}
	d.serves()
}

// ring follows who waits for whom, from one holder of a fork on, until it comes back there
// or does not go on. It returns the tokens of the holders on its way.
func ring(all []stile.LockInfo) (tokens []stile.Token, closed bool) {
	type who struct {
		node string
		tx   uint64
	}
	waits := map[who]int{} // for which lock
	for i, l := range all {
		for _, w := range l.Waiters {
			waits[who{w.Node, w.Tx}] = i
		}
	}
	for i, ok := 0, len(all) > 0; ok && len(tokens) < len(all); {
		tokens = append(tokens, all[i].Token)
		if i, ok = waits[who{all[i].Node, all[i].Tx}]; ok && i == 0 {
			return tokens, true
		}
	}
	return tokens, false
}

// deadlocked waits until the locks of a table are shown to be in a deadlock.
func (d *dinner) deadlocked(ctx context.Context, x *stile.Client, t *party) (tokens []stile.Token) {
	d.t.Helper()
	d.until("the list of locks shows the deadlock", func() error {
		all, err := x.Locks(ctx, t.method.Name+"/")
		if err != nil {
			return err
		}
		var closed bool
		if tokens, closed = ring(all); !closed || len(tokens) != diners {
			return fmt.Errorf("a ring of %d (closed: %v) in %+v", len(tokens), closed, all)
		}
		return nil
	})
	return tokens
}

// Philosophers dine with each method against deadlock, while nodes are killed and paused.
// Without a method they are deadlocked as long as they wait.
func TestDiningPhilosophers(t *testing.T) {
	nightly.Only(t)
	d := newDinner(t)
	ctx, cancel := context.WithCancel(context.Background())
	stuck, give := context.WithCancel(ctx)
	t.Cleanup(d.wg.Wait)
	t.Cleanup(cancel)
	none := d.tables[deadlock.None().Name]
	delete(d.tables, none.method.Name)
	x := d.serve(stuck, none, func(int) bool { return false })
	tokens := d.deadlocked(ctx, x, none)

	struck := make(chan struct{})
	for _, k := range d.tables {
		d.serve(ctx, k, func(total int) bool {
			select {
			case <-struck:
				return total >= *meals
			default:
				return false
			}
		})
	}
	d.until("there is a meal at each table", func() error {
		for _, k := range d.tables {
			if err := k.fine(); err != nil {
				t.Fatal(err)
			}
			k.mu.Lock()
			eaten := k.hunger > 0
			k.mu.Unlock()
			if !eaten {
				return errors.New(k.method.Name)
			}
		}
		return nil
	})
	if now := d.deadlocked(ctx, x, none); !slices.Equal(tokens, now) {
		t.Errorf("the deadlock of %v is one of %v now", tokens, now)
	}
	give()

	kills, pauses := 0, 0
	for kills+pauses < 2 || !d.over() {
		if kill := kills == pauses; kill {
			kills++
			d.strike(true)
		} else {
			pauses++
			d.strike(false)
		}
		for _, k := range d.tables {
			if err := k.fine(); err != nil {
				t.Fatal(err)
			}
			if k.dines() {
				k.faults++
			}
		}
		if kills+pauses == 2 {
			close(struck)
		}
	}
	t.Logf("%d nodes were killed and %d paused", kills, pauses)
	d.wg.Wait()
	for _, name := range slices.Sorted(maps.Keys(d.tables)) {
		d.tables[name].judge(t)
	}
}

// over reports whether the philosophers of all tables have ended.
func (d *dinner) over() bool {
	for _, k := range d.tables {
		if k.dines() {
			return false
		}
	}
	return true
}

// dines reports whether a philosopher of the table has not ended.
func (t *party) dines() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hungry != [diners]time.Time{}
}

// judge judges a table when all have ended.
func (k *party) judge(t *testing.T) {
	t.Helper()
	name := k.method.Name
	t.Logf("%s: meals %v over %d faults, %d aborts, %d lost, the longest hunger %v, %d rings, the longest %v", name, k.eaten, k.faults, k.aborts, k.lost, k.hunger.Round(time.Millisecond), k.rings, k.lasted.Round(time.Millisecond))
	if err := k.fine(); err != nil {
		t.Error(err)
	}
	if k.rings == 0 && (k.method.Family == deadlock.Detection) {
		t.Errorf("%s: there was no deadlock", name)
	}
	for i, f := range k.forks {
		if least := k.eaten[i] + k.eaten[(i+diners-1)%diners]; f.uses < least {
			t.Errorf("%s was used %d times for %d meals", f.name, f.uses, least)
		}
	}
	for i, n := range k.eaten {
		if !k.method.Starves && (n == 0 || n < *meals/diners/10) {
			t.Errorf("%s: philosopher %d has eaten %d times of %v", name, i, n, k.eaten)
		}
	}
}

// A ring is found only if those who wait come back to where they began.
func TestRing(t *testing.T) {
	nightly.Only(t)
	lock := func(holder, waiter uint64) stile.LockInfo {
		return stile.LockInfo{Node: "a", Tx: holder, Waiters: []stile.Waiter{{Node: "a", Tx: waiter}}}
	}
	for i, x := range []struct {
		locks  []stile.LockInfo
		length int
		closed bool
	}{
		{nil, 0, false},
		{[]stile.LockInfo{lock(1, 2), lock(2, 1)}, 2, true},
		{[]stile.LockInfo{lock(1, 3), lock(2, 1), lock(3, 2)}, 3, true},
		{[]stile.LockInfo{lock(1, 4), lock(2, 1), lock(3, 2)}, 3, false},
		{[]stile.LockInfo{lock(1, 4), lock(2, 3), lock(3, 2)}, 1, false},
	} {
		if tokens, closed := ring(x.locks); len(tokens) != x.length || closed != x.closed {
			t.Errorf("%d: %d, %v", i, len(tokens), closed)
		}
	}
}
