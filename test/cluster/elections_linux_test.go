package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/node/clock"
)

var leaders = flag.Int("leaders", 4, "how often the leader of an election, or its node, is killed")

// candidateEnv is set in a process that campaigns: the socket of a chronicle, its name, and
// the addresses of the nodes.
const candidateEnv = "STILE_TEST_CANDIDATE"

// A claim is what a leader reports: that it was elected, or that it still leads.
type claim struct {
	Who   string
	Term  stile.Token
	At    member.Instant // before it was seen to lead; of a beginning, after it was elected
	Begin bool
	Late  bool // it does not lead any more, and writes all the same
}

// candidate campaigns, and reports as long as it leads, until it is killed.
func candidate(text string) int {
	var socket, name, nodes string
	if _, err := fmt.Sscan(text, &socket, &name, &nodes); err != nil {
		fmt.Println(err)
		return 2
	}
	ctx := context.Background()
	to, err := net.Dial("unix", socket)
	if err != nil {
		fmt.Println(err)
		return 2
	}
	x, err := stile.Dial(ctx, stile.DialConfig{Nodes: strings.Split(nodes, ","), Name: name, Timeout: longest})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	report := json.NewEncoder(to)
	for {
		l, err := x.Election("leader").Campaign(ctx, name)
		if err != nil {
			fmt.Println(err)
			continue
		}
		err = report.Encode(claim{name, l.Term(), clock.Now(), true, false})
		for err == nil {
			now := clock.Now()
			if l.Err() != nil {
				break
			}
			err = report.Encode(claim{name, l.Term(), now, false, false})
			time.Sleep(2 * time.Millisecond)
		}
		err = errors.Join(err, report.Encode(claim{name, l.Term(), 0, false, true}))
		fmt.Println("term", l.Term(), "ended:", l.Err(), l.Resign(), err)
	}
}

// A term is what is known of one leader.
type term struct {
	stile.Token
	who   string
	begun member.Instant // 0 if that is not reported yet
	last  member.Instant // when it was last seen to lead; 0 if never
}

// A chronicle is the resource that leaders write to. It has a fence, and judges them by
// their own words: a leader may not lead after one with a higher term has begun.
type chronicle struct {
	path    string
	mu      sync.Mutex
	fence   stile.Fence
	terms   []*term // in their order
	writes  int
	refused int // by the fence
	wrong   []error
}

func newChronicle(t *testing.T) *chronicle {
	c := &chronicle{path: filepath.Join(t.TempDir(), "chronicle")}
	l, err := net.Listen("unix", c.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer from.Close()
				for d := json.NewDecoder(from); ; {
					var x claim
					if d.Decode(&x) != nil {
						return
					}
					c.take(x)
				}
			}()
		}
	}()
	return c
}

// take judges what a leader reports.
func (c *chronicle) take(x claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := slices.BinarySearchFunc(c.terms, x.Term, func(t *term, k stile.Token) int {
		switch {
		case t.Less(k):
			return -1
		case k.Less(t.Token):
			return 1
		}
		return 0
	})
	if !ok {
		c.terms = slices.Insert(c.terms, i, &term{Token: x.Term, who: x.Who})
	}
	t := c.terms[i]
	if t.who != x.Who {
		c.wrong = append(c.wrong, fmt.Errorf("term %v is that of %s and of %s", x.Term, t.who, x.Who))
	}
	if x.Begin {
		t.begun = x.At
		c.judge(i)
		return
	}
	t.last = max(t.last, x.At)
	if c.writes++; !c.fence.Pass(x.Term) {
		c.refused++
	}
	c.judge(i)
}

// judge compares a term with the others.
func (c *chronicle) judge(i int) {
	t := c.terms[i]
	for _, low := range c.terms[:i] {
		if t.begun != 0 && low.last > t.begun {
			c.wrong = append(c.wrong, fmt.Errorf("%s leads in term %v %v after %s was elected for term %v", low.who, low.Token, time.Duration(low.last-t.begun), t.who, t.Token))
		}
	}
	for _, high := range c.terms[i+1:] {
		if high.begun != 0 && t.last > high.begun {
			c.wrong = append(c.wrong, fmt.Errorf("%s leads in term %v %v after %s was elected for term %v", t.who, t.Token, time.Duration(t.last-high.begun), high.who, high.Token))
		}
	}
}

// refusals returns how many writes the fence has refused.
func (c *chronicle) refusals() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

// leads returns the last leader, if it was seen to lead after a time.
func (c *chronicle) leads(after member.Instant) (term, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := errors.Join(c.wrong...); err != nil {
		return term{}, err
	}
	if len(c.terms) == 0 {
		return term{}, errors.New("none was elected")
	}
	t := *c.terms[len(c.terms)-1]
	if t.begun == 0 || t.last <= after {
		return term{}, fmt.Errorf("%s does not report that it leads in term %v", t.who, t.Token)
	}
	return t, nil
}

// A watcher is an observer of the election.
type watcher struct {
	mu     sync.Mutex
	seen   []stile.Leader // without repetitions of a term
	none   int            // how often there was none
	failed int            // errors
	wrong  []error
}

func (w *watcher) watch(ctx context.Context, x *stile.Client) {
	for l, err := range x.Election("leader").Observe(ctx) {
		w.take(l, err)
	}
}

func (w *watcher) take(l stile.Leader, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var last stile.Leader
	if len(w.seen) > 0 {
		last = w.seen[len(w.seen)-1]
	}
	switch {
	case err != nil:
		w.failed++
	case l == stile.Leader{}:
		w.none++
	case l.Term.Less(last.Term):
		w.wrong = append(w.wrong, fmt.Errorf("an observer sees term %v after term %v", l.Term, last.Term))
	case l.Term == last.Term && l.Value == last.Value:
		w.seen[len(w.seen)-1] = l // its node is another
	default:
		w.seen = append(w.seen, l)
	}
}

// sees returns the last leader seen, which must be this one.
func (w *watcher) sees(t *term) (l stile.Leader, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := errors.Join(w.wrong...); err != nil {
		return l, err
	}
	if len(w.seen) > 0 {
		l = w.seen[len(w.seen)-1]
	}
	if l.Term != t.Token || l.Value != t.who {
		return l, fmt.Errorf("an observer sees %+v, and not the leader in term %v", l, t.Token)
	}
	return l, nil
}

// An electoral is a cluster with an election, its candidates and its observers.
type electoral struct {
	*trial
	chronicle  *chronicle
	candidates map[string]*shell
	watchers   []*watcher
}

func newElectoral(t *testing.T) *electoral {
	t.Helper()
	e := &electoral{trial: newTrial(t, 3, time.Second), chronicle: newChronicle(t), candidates: map[string]*shell{}}
	for i := range 3 {
		e.campaign(fmt.Sprint("candidate", i))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	for i := range 2 {
		x, err := stile.Dial(ctx, stile.DialConfig{Nodes: e.addresses(i), Name: fmt.Sprint("observer ", i), Timeout: longest})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		w := &watcher{}
		e.watchers = append(e.watchers, w)
		wg.Go(func() { w.watch(ctx, x) })
	}
	return e
}

// campaign starts a candidate.
func (e *electoral) campaign(name string) {
	e.t.Helper()
	me, err := os.Executable()
	if err != nil {
		e.t.Fatal(err)
	}
	first := rand.IntN(len(e.nodes))
	text := fmt.Sprintf("%s=%s %s %s", candidateEnv, e.chronicle.path, name, strings.Join(e.addresses(first), ","))
	e.candidates[name] = (*world)(nil).run(e.t, 0, "/usr/bin/env", "env", text, me)
}

// leader waits until one leads, after a time, and all observers see that.
func (e *electoral) leader(after member.Instant) (t term, l stile.Leader) {
	e.t.Helper()
	e.until("one leads, and all observers see it", func() (err error) {
		if t, err = e.chronicle.leads(after); err != nil {
			return err
		}
		for _, w := range e.watchers {
			if l, err = w.sees(&t); err != nil {
				return err
			}
		}
		return nil
	})
	return t, l
}

// strike kills the leader, or its node, and waits until one leads again.
func (e *electoral) strike(node bool) {
	e.t.Helper()
	t, l := e.leader(clock.Now())
	time.Sleep(time.Duration(rand.Int64N(int64(e.lease / 2)))) // kills come at any time between renewals
	if !node {
		s := e.candidates[t.who]
		_ = s.cmd.Process.Kill() // if it is gone, that shows elsewhere
		<-s.gone
		killed := clock.Now()
		e.campaign(t.who)
		if next, _ := e.leader(killed); !t.Less(next.Token) {
			e.t.Fatalf("the leader in term %v was killed, and one leads in term %v", t.Token, next.Token)
		}
		return
	}
	i := slices.IndexFunc(e.nodes, func(n *voter) bool { return n.name == l.Node })
	if i < 0 {
		e.t.Fatalf("the leader leads through node %q", l.Node)
	}
	e.kill(i)
	killed := clock.Now()
	e.leader(killed + member.Instant(e.lease)) // through another node
	e.start(i)
	e.serves()
}

// pause stops the leader until another one leads, and lets it write then: the fence refuses
// that.
func (e *electoral) pause() {
	e.t.Helper()
	t, _ := e.leader(clock.Now())
	p := e.candidates[t.who].cmd.Process
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		e.t.Fatal(err)
	}
	stopped := clock.Now()
	e.until("another one leads", func() error {
		next, err := e.chronicle.leads(stopped)
		if err == nil && !t.Less(next.Token) {
			err = fmt.Errorf("%s still leads in term %v", next.who, next.Token)
		}
		return err
	})
	before := e.chronicle.refusals()
	if err := p.Signal(syscall.SIGCONT); err != nil {
		e.t.Fatal(err)
	}
	e.until("the fence refuses the leader that was paused", func() error {
		if e.chronicle.refusals() == before {
			return errors.New("none was refused")
		}
		return nil
	})
}

// The leader or its node is killed again and again. Never do two lead at a time, terms rise,
// and observers see every leader in this order.
func TestElections(t *testing.T) {
	nightly.Only(t)
	if _, err := command(); err != nil {
		t.Fatal(err)
	}
	clusters := 1
	if *leaders > 4 {
		clusters = 4
	}
	for i := range clusters {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			e := newElectoral(t)
			for k := range *leaders / clusters {
				e.strike(k%2 == 1)
			}
			e.pause()
			e.judge()
		})
	}
}

// judge compares what leaders and observers have seen.
func (e *electoral) judge() {
	e.t.Helper()
	e.leader(clock.Now())
	c := e.chronicle
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.terms[0].Token // before the observers began there may have been others
	for i, w := range e.watchers {
		w.mu.Lock()
		e.t.Logf("observer %d: %d leaders, %d times none, %d errors", i, len(w.seen), w.none, w.failed)
		for _, t := range c.terms {
			if w.seen[0].Term.Less(t.Token) && !slices.ContainsFunc(w.seen, func(l stile.Leader) bool { return l.Term == t.Token && l.Value == t.who }) {
				e.t.Errorf("observer %d has not seen %s lead in term %v", i, t.who, t.Token)
			}
		}
		w.mu.Unlock()
	}
	e.t.Logf("%d leaders, from term %v to %v, %d writes, %d refused by the fence", len(c.terms), first, c.terms[len(c.terms)-1].Token, c.writes, c.refused)
	if err := errors.Join(c.wrong...); err != nil {
		e.t.Error(err)
	}
}

// A chronicle finds two leaders at a time, whichever report comes first, and a term of two.
func TestChronicle(t *testing.T) {
	nightly.Only(t)
	one, two := stile.Token{Epoch: 1, Count: 1}, stile.Token{Epoch: 1, Count: 2}
	for i, x := range []struct {
		claims []claim
		wrong  bool
	}{
		{[]claim{{"a", one, 1, true, false}, {"a", one, 2, false, false}, {"b", two, 3, true, false}, {"b", two, 4, false, false}}, false},
		{[]claim{{"b", two, 3, true, false}, {"a", one, 1, true, false}, {"a", one, 2, false, false}}, false},
		{[]claim{{"a", one, 1, true, false}, {"b", two, 3, true, false}, {"a", one, 4, false, false}}, true},
		{[]claim{{"a", one, 4, false, false}, {"b", two, 3, true, false}}, true},
		{[]claim{{"a", one, 1, true, false}, {"b", one, 3, true, false}}, true},
	} {
		var c chronicle
		for _, x := range x.claims {
			c.take(x)
		}
		if (len(c.wrong) > 0) != x.wrong {
			t.Errorf("%d: %v", i, c.wrong)
		}
	}
	var w watcher
	w.take(stile.Leader{Term: two}, nil)
	w.take(stile.Leader{}, nil)
	if w.take(stile.Leader{Term: one}, nil); len(w.wrong) != 1 {
		t.Error("an observer that goes back is not found")
	}
}
